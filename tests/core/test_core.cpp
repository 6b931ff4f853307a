// SPDX-License-Identifier: BSD-3-Clause
//! The vocabulary: messages, grids, views, workspaces, jobs, numerics.
#include <iso/core/job.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/space.hpp>
#include <iso/core/vec3.hpp>
#include <iso/core/workspace.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

template <class T>
using limits = std::numeric_limits<T>;
using host = iso::space::host;

/// What `f` throws as `Error` says; empty where it throws nothing.
template <class Error, class F>
std::string thrown(F const& f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return {};
}

std::string refused(iso::grid const& g) {
  return thrown<iso::invalid_argument>([&] { iso::validate(g, "iso::here"); });
}

}  // namespace

TEST_CASE("message: arguments of every kind, as fmt writes them") {
  CHECK(thrown<iso::invalid_argument>([] {
          iso::fail_argument("{} {} {} {} {}", -3, 7U, 0.5F, "text", std::string("more"));
        }) == "-3 7 0.5 text more");
  CHECK(thrown<iso::invalid_argument>([] {
          iso::fail_argument("{} {}", limits<std::int64_t>::min(), limits<std::uint64_t>::max());
        }) == "-9223372036854775808 18446744073709551615");
  CHECK(iso::message("nothing to put in", {}) == "nothing to put in");
}

TEST_CASE("check: ISO_VALIDATE throws where its condition is false alone") {
  int evaluated = 0;
  auto const once = [&](bool result) {
    ++evaluated;
    return result;
  };
  CHECK_NOTHROW([&] { ISO_VALIDATE(once(true), "never"); }());
  CHECK(thrown<iso::invalid_argument>([&] { ISO_VALIDATE(once(false), "n is {}", 4); }) ==
        "n is 4");
  CHECK(evaluated == 2);
}

TEST_CASE("error: everything thrown is an iso::error") {
  CHECK(std::is_base_of_v<iso::error, iso::invalid_argument>);
  CHECK(std::is_base_of_v<iso::error, iso::file_error>);
  CHECK(std::is_base_of_v<iso::error, iso::cancelled>);
  CHECK(std::is_base_of_v<iso::error, iso::out_of_memory>);
  CHECK(std::is_base_of_v<std::runtime_error, iso::error>);
  iso::out_of_memory const e("full", 10, 7);
  CHECK(e.requested() == 10);
  CHECK(e.available() == 7);
}

TEST_CASE("grid: a message for every field that is wrong") {
  iso::grid const good{{2, 3, 4}, {0.5, 0.5, 3}, {1, 2, 3}};
  CHECK(refused(good).empty());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t const n : {std::int64_t(0), std::int64_t(-1), limits<std::int64_t>::min()}) {
      iso::grid g = good;
      g.extent[axis] = n;
      auto const what = refused(g);
      CHECK(what.starts_with("iso::here: grid of ["));
      CHECK(what.find("every extent must be at least 1") != std::string::npos);
      CHECK(what.find(std::to_string(n)) != std::string::npos);
    }
    for (double const step : {0.0, -1.0, limits<double>::infinity(), limits<double>::quiet_NaN()}) {
      iso::grid g = good;
      g.spacing[int(axis)] = step;
      CHECK(refused(g).starts_with("iso::here: grid spacing ["));
    }
    for (double const x : {limits<double>::infinity(), limits<double>::quiet_NaN()}) {
      iso::grid g = good;
      g.origin[int(axis)] = x;
      CHECK(refused(g).starts_with("iso::here: grid origin ["));
    }
  }
  iso::grid g = good;
  g.spacing.y = -1;
  CHECK(refused(g) ==
        "iso::here: grid spacing [0.5, -1, 3] mm (must lie between 1e-150 and 1e150); check that "
        "the spacing is in mm");
  for (double const step : {1e-151, 1e151}) {
    g.spacing.y = step;
    CHECK(refused(g).find("grid spacing") != std::string::npos);
  }
  for (double const step : {1e-150, 1e150}) {
    g.spacing.y = step;
    g.origin.z = -step;
    CHECK(refused(g) == "");
  }
  g.origin.z = -1e151;
  CHECK(refused(g) ==
        "iso::here: grid origin [1, 2, -1e+151] mm (must be finite, at most 1e150 either way); "
        "check that the origin is in mm");
}

TEST_CASE("grid: the number of voxels must fit 63 bits") {
  auto const of = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return refused({{a, b, c}, {1, 1, 1}, {}});
  };
  std::int64_t const big = std::int64_t(1) << 31;
  CHECK(of(big, big, 1).empty());
  CHECK(of(limits<std::int64_t>::max(), 1, 1).empty());
  CHECK(of(big, big, 2).find("63 bits") != std::string::npos);
  CHECK(of(limits<std::int64_t>::max(), 1, 2).find("63 bits") != std::string::npos);
  CHECK(of(2, limits<std::int64_t>::max(), 1).find("63 bits") != std::string::npos);
}

TEST_CASE("grid: world and index coordinates") {
  auto const g = iso::grid::centred({4, 5, 1}, {0.5, 2, 3});
  CHECK(g.size() == 20);
  CHECK(g.origin == iso::vec3<double>{-0.75, -4, 0});
  CHECK(g.to_index(g.origin) == iso::vec3<double>{0, 0, 0});
  CHECK(g.to_index({0, 0, 0}) == iso::vec3<double>{1.5, 2, 0});
  CHECK(g.to_index({-1, 0, 1.5}) == iso::vec3<double>{-0.5, 2, 0.5});
  CHECK(g.to_index_vector({1, 1, 1}) == iso::vec3<double>{2, 0.5, 1.0 / 3});
  CHECK(g == iso::grid::centred({4, 5, 1}, {0.5, 2, 3}));
  CHECK_FALSE(g == iso::grid::centred({4, 5, 2}, {0.5, 2, 3}));
}

TEST_CASE("views: a const view is made from a mutable one, never the other way") {
  using mutable_volume = iso::volume_view<float, host>;
  using const_volume = iso::volume_view<float const, host>;
  using mutable_projections = iso::projection_view<double, host>;
  using const_projections = iso::projection_view<double const, host>;
  CHECK(std::is_convertible_v<mutable_volume, const_volume>);
  CHECK_FALSE(std::is_convertible_v<const_volume, mutable_volume>);
  CHECK(std::is_convertible_v<mutable_projections, const_projections>);
  CHECK_FALSE(std::is_convertible_v<const_projections, mutable_projections>);
  CHECK(std::is_same_v<const_volume::value_type, float>);
  CHECK(std::is_const_v<std::remove_reference_t<decltype(const_volume().data(0, 0, 0))>>);

  auto const v = iso::make_volume<float, host>("v", iso::grid::centred({2, 3, 4}, {1, 1, 1}));
  const_volume const c = v;
  CHECK(c.data.data() == v.data.data());
  CHECK(c.grid == v.grid);
  v.data(1, 2, 3) = 5;
  CHECK(c.data(1, 2, 3) == 5);
  CHECK(&c.data(0, 0, 1) == &c.data(0, 0, 0) + 1);
}

TEST_CASE("views: made zeroed, and refused with a message") {
  auto const p = iso::make_projections<double, host>("p", 2, 3, 4);
  CHECK(p.data.size() == 24);
  for (std::size_t i = 0; i < p.data.size(); ++i) {
    CHECK(p.data.data()[i] == 0);
  }
  CHECK(thrown<iso::invalid_argument>([] { iso::make_projections<float, host>("p", 1, 0, 4); }) ==
        "iso::make_projections: projections of [1, 0, 4] (every extent must be at least 1); give "
        "the numbers of views and of pixels along u and v");
  CHECK(thrown<iso::invalid_argument>([] {
          iso::make_volume<float, host>("v", {{2, 2, 0}, {1, 1, 1}, {}});
        }).starts_with("iso::make_volume: grid of [2, 2, 0] voxels"));

  auto v = iso::make_volume<float, host>("v", iso::grid::centred({2, 3, 4}, {1, 1, 1}));
  CHECK_NOTHROW(iso::validate(v, "iso::here"));
  v.grid.extent = {2, 4, 3};
  CHECK(thrown<iso::invalid_argument>([&] { iso::validate(v, "iso::here"); }) ==
        "iso::here: volume data of [2, 3, 4] (its grid has [2, 4, 3] voxels); give both the same "
        "extents");
  v.grid.spacing.x = 0;
  CHECK(thrown<iso::invalid_argument>([&] {
          iso::validate(v, "iso::here");
        }).starts_with("iso::here: grid spacing"));
}

TEST_CASE("views: without memory, of other extents, with gaps, overlapping") {
  auto const g = iso::grid::centred({2, 3, 4}, {1, 1, 1});
  float* const null = nullptr;
  iso::volume_view<float, host> const v{
      g, decltype(iso::volume_view<float, host>::data)(null, 2, 3, 4)};
  CHECK(
      thrown<iso::invalid_argument>([&] { iso::validate(v, "iso::here"); }) ==
      "iso::here: volume data has elements but no memory (its pointer is null); allocate it first");
  iso::projection_view<float, host> const p{decltype(v.data)(null, 2, 3, 4)};
  CHECK(
      thrown<iso::invalid_argument>([&] { iso::validate(p, {2, 3, 4}, "iso::here"); }) ==
      "iso::here: projections has elements but no memory (its pointer is null); allocate it first");
  CHECK(thrown<iso::invalid_argument>([&] { iso::validate(p, {2, 4, 3}, "iso::here"); }) ==
        "iso::here: projections of [2, 3, 4] (geometry has [2, 4, 3]: views, u, v); give them the "
        "geometry's extents");
  Kokkos::View<float*, host> const none(null, 0);
  Kokkos::View<float*, host> const all("all", 10);
  auto const part = [&](std::size_t first, std::size_t last) {
    return iso::memory_of(Kokkos::subview(all, std::pair(first, last)), "part");
  };
  CHECK_NOTHROW(iso::validate_memory({iso::memory_of(none, "none"), part(0, 3)}, "iso::here"));
  auto const apart = [&](iso::memory_range const& a, iso::memory_range const& b) {
    return thrown<iso::invalid_argument>([&] { iso::validate_apart(a, {b}, "iso::here"); });
  };
  for (auto const& [first, last] : {std::pair(0, 3), std::pair(5, 10), std::pair(4, 4)}) {
    CHECK(apart(part(3, 5), part(std::size_t(first), std::size_t(last))) == "");
    CHECK(apart(part(std::size_t(first), std::size_t(last)), part(3, 5)) == "");
  }
  for (auto const& [first, last] : {std::pair(0, 4), std::pair(4, 10), std::pair(3, 5)}) {
    CHECK(apart(part(3, 5), part(std::size_t(first), std::size_t(last))) ==
          "iso::here: part and part overlap (one is written while the other is read); copy one of "
          "them");
  }
  CHECK(apart(iso::memory_of(none, "none"), part(0, 10)) == "");
}

TEST_CASE("views: what does not fit memory is a typed error with both figures") {
  using bytes = std::uint64_t;
  std::int64_t const side = std::int64_t(1)
                            << 19;  // 2^57 voxels: more than any address space holds
  iso::grid const g{{side, side, side}, {1, 1, 1}, {}};
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const check = [](auto const& make, char const* label, bytes requested) {
    bool caught = false;
    try {
      make();
    } catch (iso::out_of_memory const& e) {
      caught = true;
      CHECK(e.requested() == requested);
      CHECK(e.available() > 0);
      CHECK(std::string(e.what()).starts_with(label + (": " + std::to_string(requested)) +
                                              " bytes do not fit Host ("));
    }
    CHECK(caught);
  };
  check([&] { iso::make_volume<float, host>("v", g); }, "v", bytes(1) << 59);
  check([&] { iso::make_volume<double, host>(exec, "w", g); }, "w", bytes(1) << 60);
  check([&] { iso::make_projections<float, host>("p", side, side, side); }, "p", bytes(1) << 59);
  check([&] { iso::make_projections<double, host>(exec, "q", side, side, side); }, "q",
        bytes(1) << 60);
  // 2^64 bytes and 2^66: a product that wraps would ask for nothing.
  iso::grid const wraps{{side, side, side * 16}, {1, 1, 1}, {}};
  check([&] { iso::make_volume<double, host>("v", wraps); }, "v", limits<bytes>::max());
  CHECK_THROWS_WITH_AS((iso::make_projections<double, host>("p", side * 4, side * 4, side * 4)),
                       "iso::make_projections: projections of [2097152, 2097152, 2097152] (2^59 "
                       "pixels at most); take fewer views",
                       iso::invalid_argument);
  CHECK(iso::make_volume<float, host>("v", iso::grid::centred({2, 2, 2}, {1, 1, 1})).data.size() ==
        8);
}

TEST_CASE(
    "allocate: one extent for each of the view's, none negative, and only want of memory is that") {
  using plane = Kokkos::View<double**, Kokkos::LayoutRight, host>;
  CHECK(iso::allocate<plane>("p", {3, 4}).size() == 12);
  auto const refused = [](std::initializer_list<std::int64_t> extents) {
    try {
      iso::allocate<plane>("p", extents);
    } catch (iso::invalid_argument const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused({3}) ==
        "p: 1 extents for a view of rank 2 (each index has one extent); give as many extents as "
        "the view has indices");
  CHECK(refused({3, 4, 5}) ==
        "p: 3 extents for a view of rank 2 (each index has one extent); give as many extents as "
        "the view has indices");
  CHECK(refused({3, -1}) == "p: an extent of -1 (none may be negative); give 0 or more");
  CHECK(iso::detail::is_want_of_memory(std::bad_alloc()));
  CHECK(iso::detail::is_want_of_memory(std::runtime_error("Kokkos failed to allocate memory")));
  CHECK(!iso::detail::is_want_of_memory(std::runtime_error("cudaErrorIllegalAddress")));
}

TEST_CASE("workspace: grows, never shrinks") {
  iso::workspace<host> scratch;
  CHECK(scratch.size() == 0);
  scratch.reserve(100);
  CHECK(scratch.size() == 100);
  CHECK(scratch.data() != nullptr);
  auto* const before = scratch.data();
  scratch.reserve(50);
  CHECK(scratch.size() == 100);
  CHECK(scratch.data() == before);
  scratch.reserve(1000);
  CHECK(scratch.size() == 1000);
  CHECK(iso::workspace<host>(64).size() == 64);
  CHECK(thrown<iso::invalid_argument>([&] { scratch.reserve(-1); }) ==
        "iso::workspace: -1 bytes (must not be negative); reserve what the function's "
        "_bytes_needed returns");
}

TEST_CASE("workspace: one list of parts gives the bytes and the pointers") {
  struct parts {
    explicit parts(iso::workspace_parts& memory)
        : bytes(memory.take<std::byte>({3})),
          numbers(memory.take<double>({5, 7})),
          nothing(memory.take<int>({4, 0})),
          last(memory.take<float>({1})) {}
    std::byte* bytes;
    double* numbers;
    int* nothing;
    float* last;
  };
  iso::workspace_parts counted("iso::here");
  parts const none(counted);
  CHECK(none.last == nullptr);
  CHECK(counted.bytes() == 256 + 512 + 256);
  iso::workspace<host> const scratch(counted.bytes());
  iso::workspace_parts taken(scratch, "iso::here");
  parts const some(taken);
  CHECK(taken.bytes() == counted.bytes());
  auto const at = [&](auto* p) { return reinterpret_cast<std::byte*>(p) - scratch.data(); };
  CHECK(at(some.bytes) == 0);
  CHECK(at(some.numbers) == 256);
  CHECK(at(some.nothing) == 768);
  CHECK(at(some.last) == 768);

  auto const refused = [](std::initializer_list<std::int64_t> extents) {
    return thrown<iso::invalid_argument>(
        [&] { iso::workspace_parts("iso::here").take<float>(extents); });
  };
  std::int64_t const side = std::int64_t(1) << 40;
  CHECK(refused({side, side}) ==
        "iso::here: scratch of 4398046511104 x 1099511627776 bytes (they do not fit 63 bits); call "
        "the function for a part at a time");
  CHECK(refused({3, -2}) ==
        "iso::here: scratch of -2 elements (must not be negative); check the extents");
  CHECK(refused({std::int64_t(1) << 59}) == "");
  iso::workspace_parts both("iso::here");
  both.take<float>({std::int64_t(1) << 59});
  CHECK(thrown<iso::invalid_argument>([&] { both.take<float>({std::int64_t(1) << 59}); }) ==
        "iso::here: scratch of 2305843009213693952 + 2305843009213693952 bytes (they do not fit 63 "
        "bits); call the function for a part at a time");
  CHECK(thrown<iso::invalid_argument>([&] { iso::validate(scratch, 1025, "iso::here"); }) ==
        "iso::here: scratch of 1024 bytes (1025 are needed); reserve what iso::here_bytes_needed "
        "returns");
  CHECK_NOTHROW(iso::validate(scratch, 1024, "iso::here"));
}

TEST_CASE("workspace: what does not fit is said with both figures") {
  // More than any address space holds.
  std::int64_t const bytes = std::int64_t(1) << 60;
  iso::workspace<host> scratch(10);
  bool caught = false;
  try {
    scratch.reserve(bytes);
  } catch (iso::out_of_memory const& e) {
    caught = true;
    std::string const what = e.what();
    CHECK(e.requested() == std::uint64_t(bytes));
    CHECK(e.available() > 0);
    CHECK(e.available() < std::uint64_t(bytes));
    CHECK(what.find("iso::workspace: 1152921504606846976 bytes do not fit") != std::string::npos);
    CHECK(what.find(std::to_string(e.available()) + " bytes are free") != std::string::npos);
  }
  CHECK(caught);
  CHECK(scratch.size() == 0);
  CHECK_NOTHROW(scratch.reserve(10));
}

TEST_CASE("job: reports and is told to stop") {
  CHECK_NOTHROW(iso::job{}.step(0.5));
  std::vector<double> seen;
  bool stop = false;
  iso::job const work{[&](double fraction) { seen.push_back(fraction); }, [&] { return stop; }};
  work.step(0.25);
  stop = true;
  CHECK_THROWS_AS(work.step(0.5), iso::cancelled);
  CHECK(seen == std::vector<double>{0.25, 0.5});
  CHECK_THROWS_AS((iso::job{{}, [] { return true; }}.step(0)), iso::cancelled);
}

TEST_CASE_TEMPLATE("numerics: finite numbers and the one NaN", T, float, double) {
  using word = iso::bits_of<T>;
  T const infinity = limits<T>::infinity();
  for (T const x :
       {T(0), T(-0.0), limits<T>::denorm_min(), limits<T>::max(), limits<T>::lowest()}) {
    CHECK(iso::is_finite(x));
    CHECK(Kokkos::bit_cast<word>(iso::canonical(x)) == Kokkos::bit_cast<word>(x));
  }
  for (T const x : {infinity, -infinity}) {
    CHECK_FALSE(iso::is_finite(x));
    CHECK(iso::canonical(x) == x);
  }
  for (T const x : {limits<T>::quiet_NaN(), -limits<T>::quiet_NaN(), limits<T>::signaling_NaN(),
                    Kokkos::bit_cast<T>(~word(0))}) {
    CHECK_FALSE(iso::is_finite(x));
    CHECK(Kokkos::bit_cast<word>(iso::canonical(x)) == iso::float_bits<T>::canonical_nan);
  }
}

TEST_CASE_TEMPLATE("vec3: arithmetic, and the dot product rounds as its fma chain", T, float,
                   double) {
  iso::vec3<T> const a{1, 2, 3};
  iso::vec3<T> const b{4, -5, 6};
  CHECK(a + b == iso::vec3<T>{5, -3, 9});
  CHECK(a - b == iso::vec3<T>{-3, 7, -3});
  CHECK(T(2) * a == iso::vec3<T>{2, 4, 6});
  CHECK(iso::dot(a, b) == 12);
  CHECK(iso::norm(iso::vec3<T>{2, 3, 6}) == 7);
  CHECK(a[0] == 1);
  CHECK(a[1] == 2);
  CHECK(a[2] == 3);
  // (1 + e)^2 - 1 - 2 e = e^2 survives in the fma, and nowhere else.
  T const e = limits<T>::epsilon();
  CHECK(iso::dot(iso::vec3<T>{-(1 + 2 * e), 1 + e, 0}, iso::vec3<T>{1, 1 + e, 0}) == e * e);
}
