// SPDX-License-Identifier: BSD-3-Clause
// Iterative methods against systems solved by hand and by elimination, and with the same bits on
// every backend and in every form of a processor's registers.
#include <iso/backend/host_vectors.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/core/wrap.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using iso::grid;
using iso::ct::geometry;
using iso::ct::iteration;
using host = Kokkos::HostSpace;

double const pi = std::acos(-1.0);

/// A circle whose detector is rolled and pitched: every ray takes the general path.
geometry tilted(std::int64_t views, std::int64_t side, double pitch) {
  auto const upright =
      iso::ct::circular_cone({.num_u = side, .num_v = side, .pitch_u = pitch, .pitch_v = pitch},
                             100, 150, iso::ct::even_angles(views, 2 * pi, 0.3));
  std::vector<iso::ct::view_vectors> turned;
  double const c = std::cos(0.02);
  double const s = std::sin(0.02);
  for (auto w : upright.views()) {
    auto const u = w.u_step;
    auto const v = w.v_step;
    auto const middle = w.detector_origin + 0.5 * double(side - 1) * (u + v);
    w.u_step = c * u + s * v;
    w.v_step = c * v - s * u;
    w.detector_origin = middle - 0.5 * double(side - 1) * (w.u_step + w.v_step);
    turned.push_back(w);
  }
  return {iso::ct::beam::cone, side, side, turned};
}

template <class T>
struct run {
  std::vector<T> x;
  std::vector<iteration> history;
};

/// Runs a method on the projections of `body` and returns what it found.
template <class Exec, class T, class Make>
run<T> run_on(geometry const& g, grid const& box, std::vector<T> const& body,
              std::int64_t iterations, Make const& make) {
  Exec const exec;
  using space = typename Exec::memory_space;
  auto const x = iso::make_volume<T, space>(exec, "x", box);
  auto const b = iso::make_projections<T, space>(exec, "b", g.num_views(), g.num_u(), g.num_v());
  auto const copy = Kokkos::create_mirror_view(x.data);
  std::copy(body.begin(), body.end(), copy.data());
  Kokkos::deep_copy(exec, x.data, copy);
  iso::ct::projector_pair<Exec, T> const pair(
      exec, g, box,
      iso::ct::split_views(g.num_views(), g.num_views(), iso::ct::block_order::sequential));
  pair.forward(0, x, b);
  Kokkos::deep_copy(exec, x.data, T(0));
  auto method = make(exec, g, iso::projection_view<T const, space>(b), x);
  run<T> result;
  result.history = iso::ct::iterate(method, {.iterations = iterations});
  Kokkos::deep_copy(exec, copy, x.data);
  exec.fence();
  result.x.assign(copy.data(), copy.data() + copy.size());
  return result;
}

/// Bodies of random voxels, a cube of zeros in their middle.
template <class T>
std::vector<T> random_body(grid const& box) {
  std::mt19937 random(7);
  std::vector<T> body;
  for (std::int64_t i = 0; i < box.extent[0] * box.extent[1] * box.extent[2]; ++i) {
    body.push_back(T(double(random() % 1000) / 1000));
  }
  return body;
}

template <class T>
void check_same(run<T> const& a, run<T> const& b) {
  CHECK(a.x == b.x);
  REQUIRE(a.history.size() == b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) {
    CHECK(a.history[i].residual == b.history[i].residual);
    CHECK((a.history[i].gap == b.history[i].gap ||
           (std::isnan(a.history[i].gap) && std::isnan(b.history[i].gap))));
  }
}

/// The same bits on all backends and with registers of 32 and 0 bytes, of float and double.
template <class T, class Make>
void check_bits(geometry const& g, grid const& box, Make const& make, std::int64_t iterations = 4) {
  auto const body = random_body<T>(box);
  auto const expected = run_on<Kokkos::Serial, T>(g, box, body, iterations, make);
  iso::backend::for_each([&](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    check_same(expected, run_on<exec, T>(g, box, body, iterations, make));
  });
  int const widest = iso::backend::host_vector_bytes();
  for (int const bytes : {32, 0}) {
    if (bytes < widest) {
      iso::backend::set_host_vector_bytes(bytes);
      check_same(expected, run_on<Kokkos::Serial, T>(g, box, body, iterations, make));
    }
  }
  iso::backend::set_host_vector_bytes(widest);
}

template <class Make>
void check_bits_of_both(Make const& make) {
  auto const box = grid::centred({9, 11, 10}, {1, 0.9, 1.1});
  for (auto const& g :
       {tilted(10, 15, 1.2), iso::ct::circular_cone({.num_u = 15, .num_v = 13}, 100, 150,
                                                    iso::ct::even_angles(10, 2 * pi))}) {
    check_bits<float>(g, box, make);
    check_bits<double>(g, box, make);
  }
}

template <template <class, class> class Method, class... Options>
auto make(Options const&... options) {
  return [=](auto const& exec, geometry const& g, auto const& b, auto const& x) {
    using exec_type = std::decay_t<decltype(exec)>;
    using T = typename std::decay_t<decltype(x)>::value_type;
    return Method<exec_type, T>(exec, g, b, x, options...);
  };
}

double mean(std::vector<double> const& x) {
  double sum = 0;
  for (double const value : x) {
    sum += value;
  }
  return sum / double(x.size());
}

/// SIRT's iterations by forward_project and back_project of so many views at once.
template <class T>
class batched_sirt {
 public:
  batched_sirt(geometry const& g, grid const& box, std::int64_t batch)
      : scan_(iso::ct::stage(exec_, g)),
        box_(box),
        batch_(batch),
        scratch_(std::max(iso::ct::forward_project_bytes_needed<T>(exec_, g, box, {}),
                          iso::ct::back_project_bytes_needed<T>(exec_, g, box, {.words = 3}))) {}

  /// Runs from zero on the projections of `body`.
  std::vector<T> run(std::vector<T> const& body, std::int64_t iterations,
                     iso::ct::sart_options const& options) const {
    auto const readings = project(body);
    auto rows = project(std::vector<T>(body.size(), T(1)));
    auto columns = adjoint(std::vector<T>(rows.size(), T(1)), 3);
    auto const& h = box_.spacing;
    double const shortest = std::sqrt(3.0) / 4 * std::min({h.x, h.y, h.z});
    for (auto* const sums : {&rows, &columns}) {
      double const most = double(*std::max_element(sums->begin(), sums->end()));
      T const least = T(1e-6 * most);
      T const floor = T(sums == &rows ? shortest : 1e-3 * most);
      for (T& sum : *sums) {
        sum = sum > least ? T(1) / std::max(sum, floor) : T(0);
      }
    }
    std::vector<T> x(body.size(), T(0));
    for (std::int64_t i = 0; i < iterations; ++i) {
      auto p = project(x);
      for (std::size_t k = 0; k < p.size(); ++k) {
        p[k] = rows[k] == T(0) ? T(0) : rows[k] * (readings[k] - p[k]);
      }
      auto const correction = adjoint(p);
      for (std::size_t k = 0; k < x.size(); ++k) {
        T const to = std::fma(T(options.relaxation) * columns[k], correction[k], x[k]);
        x[k] = std::clamp(to, T(options.box.lower), T(options.box.upper));
      }
    }
    return x;
  }

 private:
  using projections = iso::projection_view<T, host>;

  [[nodiscard]] projections batch_of(std::vector<T>& all, std::int64_t first) const {
    auto const& g = scan_.host();
    std::int64_t const count = std::min(batch_, g.num_views() - first);
    return iso::wrap_projections<host>(all.data() + first * g.num_u() * g.num_v(), count, g.num_u(),
                                       g.num_v());
  }
  [[nodiscard]] std::vector<T> project(std::vector<T> const& x) const {
    auto const& g = scan_.host();
    std::vector<T> all(std::size_t(g.num_views() * g.num_u() * g.num_v()));
    for (std::int64_t first = 0; first < g.num_views(); first += batch_) {
      auto const part = batch_of(all, first);
      iso::ct::forward_project<Kokkos::Serial, T>(
          exec_, scan_.subset(first, std::int64_t(part.data.extent(0))),
          iso::wrap_volume<host>(x.data(), box_), part, scratch_);
    }
    return all;
  }
  [[nodiscard]] std::vector<T> adjoint(std::vector<T> p, std::int32_t words = 0) const {
    std::vector<T> sums(std::size_t(box_.size()), T(0));
    iso::ct::back_project_options options{.max_abs = 0.0, .words = words};
    for (T const value : p) {
      options.max_abs = std::max(*options.max_abs, std::abs(double(value)));
    }
    for (std::int64_t first = 0; first < scan_.host().num_views(); first += batch_) {
      options.first_view = first;
      projections const part = batch_of(p, first);
      iso::ct::back_project<Kokkos::Serial, T>(
          exec_, scan_, part, iso::wrap_volume<host>(sums.data(), box_), scratch_, options,
          first == 0 ? iso::onto::zero : iso::onto::stored);
    }
    return sums;
  }

  Kokkos::Serial exec_;
  iso::ct::staged_geometry<host> scan_;
  grid box_;
  std::int64_t batch_;
  iso::workspace<host> scratch_;
};

std::string refusal(std::function<void()> const& call) {
  try {
    call();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("sums do not depend on the order") {
  std::mt19937_64 random(3);
  std::vector<double> x(100'003);
  std::vector<double> y(x.size());
  long double exact = 0;
  long double sizes = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(double(random() % 2000001) - 1e6, int(random() % 60) - 30);
    y[i] = std::ldexp(double(random() % 2000001) - 1e6, int(random() % 60) - 30);
    exact += static_cast<long double>(x[i]) * y[i];
    sizes += std::fabs(static_cast<long double>(x[i]) * y[i]);
  }
  auto const count = std::int64_t(x.size());
  double const serial = iso::dot(Kokkos::Serial(), x.data(), y.data(), count);
  CHECK(std::fabs(static_cast<long double>(serial) - exact) <= 1e-13L * sizes);
  CHECK(iso::dot(Kokkos::DefaultHostExecutionSpace(), x.data(), y.data(), count) == serial);
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = (i * 7919) % order.size();
  }
  std::vector<double> moved_x;
  std::vector<double> moved_y;
  for (std::size_t const i : order) {
    moved_x.push_back(x[i]);
    moved_y.push_back(y[i]);
  }
  CHECK(iso::dot(Kokkos::Serial(), moved_x.data(), moved_y.data(), count) == serial);
  x[17] = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(iso::dot(Kokkos::Serial(), x.data(), y.data(), count)));
  CHECK(iso::dot(Kokkos::Serial(), x.data(), y.data(), 0) == 0);
}

TEST_CASE("blocks hold every view once, neighbours in time far apart") {
  for (std::int64_t views : {1, 2, 7, 360, 361, 720}) {
    for (std::int64_t size : {std::int64_t(1), std::min<std::int64_t>(views, 8), views}) {
      for (auto order : {iso::ct::block_order::sequential, iso::ct::block_order::golden}) {
        auto const blocks = iso::ct::split_views(views, size, order);
        auto seen = blocks.views;
        std::sort(seen.begin(), seen.end());
        REQUIRE(std::int64_t(seen.size()) == views);
        for (std::int64_t v = 0; v < views; ++v) {
          CHECK(seen[std::size_t(v)] == v);
        }
        for (std::int64_t b = 0; b < blocks.count(); ++b) {
          CHECK(blocks.size(b) <= size);
          CHECK(blocks.size(b) >= 1);
        }
      }
    }
  }
  auto const golden = iso::ct::split_views(360, 1, iso::ct::block_order::golden);
  CHECK(golden.views[1] == 137);  // of 360 degrees
}

TEST_CASE("iterates and residuals have the same bits on every backend") {
  SUBCASE("sirt") { check_bits_of_both(make<iso::ct::sart>(iso::ct::sart_options{})); }
  SUBCASE("os-sart") {
    check_bits_of_both(
        make<iso::ct::sart>(iso::ct::sart_options{.block_views = 3, .relaxation = 0.7}));
  }
  SUBCASE("os-sart by the scan's columns") {
    check_bits_of_both(make<iso::ct::sart>(iso::ct::sart_options{
        .block_views = 3, .columns = iso::ct::column_sums::of_scan, .box = {0, 0.8}}));
  }
  SUBCASE("cgls") { check_bits_of_both(make<iso::ct::cgls>()); }
  SUBCASE("lsqr") {
    check_bits_of_both(make<iso::ct::lsqr>(iso::ct::lsqr_options{.damping = 0.5}));
  }
  SUBCASE("osem") {
    check_bits_of_both(make<iso::ct::mlem>(iso::ct::mlem_options{.block_views = 4}));
  }
  SUBCASE("tv") {
    check_bits_of_both(
        make<iso::ct::total_variation>(iso::ct::total_variation_options{.weight = 0.3}));
  }
}

TEST_CASE("os-sart waits for one norm an iteration, and tells that of all readings") {
  static int norms = 0;
  auto const box = grid::centred({9, 11, 10}, {1, 0.9, 1.1});
  auto const g = tilted(10, 15, 1.2);
  for (std::int64_t const block : {0, 1, 2, 3, 4}) {
    CAPTURE(block);
    // So short a step leaves A x below the rounding of any reading: the residual is the readings.
    iso::ct::sart_options const still{.block_views = block, .relaxation = 1e-30};
    auto const check = [&]<class T>(T) {
      auto const counted = [&](auto const&... arguments) {
        auto method = make<iso::ct::sart>(still)(arguments...);
        norms = 0;
        Kokkos::Tools::Experimental::set_begin_fence_callback(
            [](char const* name, std::uint32_t, std::uint64_t*) {
              norms += std::string_view(name) == "iso::sum_of: the sum is here" ? 1 : 0;
            });
        return method;
      };
      auto const found = run_on<Kokkos::Serial, T>(g, box, random_body<T>(box), 2, counted).history;
      Kokkos::Tools::Experimental::set_begin_fence_callback(nullptr);
      CHECK(norms == 2);
      CHECK(found[0].relative_residual == 1);
      CHECK(found[1].relative_residual == 1);
    };
    check(float());
    check(double());
  }
}

TEST_CASE("sart by one volume of column sums converges where few views see a voxel") {
  // Two views of twelve see the upper half of the box, the others the lower: steps by a twelfth of
  // the scan's column sums would be six times too long above.
  auto const box = grid::centred({9, 11, 10}, {1, 0.9, 1.1});
  auto const level = iso::ct::circular_cone({.num_u = 15, .num_v = 6, .pitch_u = 1.2}, 100, 150,
                                            iso::ct::even_angles(12, 2 * pi));
  auto views = level.views();
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].detector_origin = views[i].detector_origin + (i < 2 ? 4.0 : -4.0) * views[i].v_step;
  }
  auto const found = run_on<Kokkos::Serial, float>(
      {iso::ct::beam::cone, 15, 6, views}, box, random_body<float>(box), 4,
      make<iso::ct::sart>(
          iso::ct::sart_options{.block_views = 1, .columns = iso::ct::column_sums::of_scan}));
  for (std::size_t i = 1; i < found.history.size(); ++i) {
    CHECK(found.history[i].residual < found.history[i - 1].residual);
  }
  // Voxels that the first block does not see are taken in too.
  CHECK(found.history.back().residual < 0.1 * found.history.front().residual);
}

TEST_CASE("total variation balances its steps alike on every backend") {
  // Steps change after iteration 200, where averages of duals begin anew.
  auto const box = grid::centred({9, 11, 10}, {1, 0.9, 1.1});
  iso::ct::total_variation_options const options{.weight = 0.3, .box = {0, 1}};
  check_bits<float>(tilted(10, 15, 1.2), box, make<iso::ct::total_variation>(options), 210);
}

TEST_CASE_TEMPLATE("sirt in batches of views has the bits of sirt", T, float, double) {
  auto const box = grid::centred({9, 11, 10}, {1, 0.9, 1.1});
  auto const upright = iso::ct::circular_cone({.num_u = 15, .num_v = 13}, 100, 150,
                                              iso::ct::even_angles(40, 2 * pi));
  auto const body = random_body<T>(box);
  iso::ct::sart_options const options{.relaxation = 0.8, .box = {0, 0.9}};
  for (auto const& g : {tilted(40, 15, 1.2), upright}) {
    auto const whole = run_on<Kokkos::Serial, T>(g, box, body, 4, make<iso::ct::sart>(options)).x;
    for (std::int64_t const batch : {16, 32}) {
      CHECK(batched_sirt<T>(g, box, batch).run(body, 4, options) == whole);
    }
  }
}

TEST_CASE("FDK's backprojection in place of the adjoint keeps bits, and is not the adjoint") {
  auto const box = grid::centred({9, 11, 10}, {1, 0.9, 1.1});
  auto const g = iso::ct::circular_cone({.num_u = 15, .num_v = 13}, 100, 150,
                                        iso::ct::even_angles(40, 2 * pi));
  iso::ct::projector_options const fdk{.backprojection = iso::ct::backprojection::fdk};
  for (std::int64_t const block : {0, 5}) {
    iso::ct::sart_options const options{.block_views = block, .projector = fdk};
    check_bits<float>(g, box, make<iso::ct::sart>(options));
    check_bits<double>(g, box, make<iso::ct::sart>(options));
  }
  check_bits<float>(g, box, make<iso::ct::mlem>(iso::ct::mlem_options{.projector = fdk}));
  auto const body = random_body<double>(box);
  auto const after = [&](iso::ct::projector_options const& projector) {
    return run_on<Kokkos::Serial, double>(
        g, box, body, 8, make<iso::ct::sart>(iso::ct::sart_options{.projector = projector}));
  };
  auto const matched = after({});
  auto const unmatched = after(fdk);
  CHECK(unmatched.x != matched.x);
  // Both fit the readings as well as each other, nearly.
  CHECK(unmatched.history.back().residual < 0.3 * unmatched.history.front().residual);
  CHECK(unmatched.history.back().residual ==
        doctest::Approx(matched.history.back().residual).epsilon(0.5));
}

TEST_CASE("sirt of one voxel and one ray") {
  // The ray runs 2 mm through the voxel and reads 0.6: a step takes it by half of the way to 0.3.
  geometry const g(iso::ct::beam::parallel, 1, 1, {{{1, 0, 0}, {10, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  auto const box = grid::centred({1, 1, 1}, {2, 2, 2});
  auto const result = run_on<Kokkos::Serial, double>(
      g, box, {0.3}, 3,
      make<iso::ct::sart>(iso::ct::sart_options{
          .relaxation = 0.5, .projector = {.method = iso::ct::projector::siddon}}));
  CHECK(result.x[0] == doctest::Approx(0.3 * (1 - 0.125)).epsilon(1e-14));
  CHECK(result.history[0].residual == doctest::Approx(0.6).epsilon(1e-14));
  CHECK(result.history[2].residual == doctest::Approx(0.15).epsilon(1e-14));
}

TEST_CASE("sirt of a voxel of which a ray cuts a corner off") {
  // A ray runs 2 mm through one voxel, another 0.0014 mm through the other. That counts as a
  // quarter of the diagonal where it divides its reading, and as a thousandth of the largest column
  // sum, 2 mm, where it divides the step.
  double const cut = 1e-3 * std::sqrt(2.0);
  double const s = std::sqrt(0.5);
  geometry const g(iso::ct::beam::parallel, 1, 1,
                   {{{1, 0, 0}, {10, -1, 0}, {0, 1, 0}, {0, 0, 1}},
                    {{s, s, 0}, {10, 13 - 1e-3, 0}, {-s, s, 0}, {0, 0, 1}}});
  auto const box = grid::centred({1, 2, 1}, {2, 2, 2});
  auto const x =
      run_on<Kokkos::Serial, double>(g, box, {0.3, 0.5}, 1,
                                     make<iso::ct::sart>(iso::ct::sart_options{
                                         .projector = {.method = iso::ct::projector::siddon}}))
          .x;
  CHECK(x[0] == doctest::Approx(0.3).epsilon(1e-12));
  CHECK(x[1] == doctest::Approx(0.5 * cut * cut / (0.5 * std::sqrt(3.0) * 0.002)).epsilon(1e-9));
}

TEST_CASE("a cube of ones in an empty volume") {
  // Cube [8, 18)^3 of 26^3 voxels. Its edges ring: the mean is that of the inner voxels.
  auto const box = grid::centred({26, 26, 26}, {1, 1, 1});
  auto const voxel = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return std::size_t((i * 26 + j) * 26 + k);
  };
  std::vector<float> cube(26 * 26 * 26, 0);
  for (std::int64_t i = 8; i < 18; ++i) {
    for (std::int64_t j = 8; j < 18; ++j) {
      std::fill_n(cube.begin() + std::ptrdiff_t(voxel(i, j, 8)), 10, 1.0F);
    }
  }
  auto const scan =
      iso::ct::circular_cone({.num_u = 32, .num_v = 32, .pitch_u = 1.5, .pitch_v = 1.5}, 500, 750,
                             iso::ct::even_angles(60, 2 * pi));
  auto const inner = [&](auto const& method, std::int64_t iterations) {
    using exec = Kokkos::DefaultHostExecutionSpace;
    auto const found = run_on<exec, float>(scan, box, cube, iterations, method).x;
    double sum = 0;
    for (std::int64_t i = 10; i < 16; ++i) {
      for (std::int64_t j = 10; j < 16; ++j) {
        for (std::int64_t k = 10; k < 16; ++k) {
          sum += double(found[voxel(i, j, k)]);
        }
      }
    }
    return sum / 216;
  };
  CHECK(std::abs(inner(make<iso::ct::sart>(), 200) - 1) < 1e-2);
  CHECK(std::abs(inner(make<iso::ct::cgls>(), 20) - 1) < 1e-2);
}

TEST_CASE("a volume of ones") {
  auto const box = grid::centred({8, 8, 8}, {1, 1, 1});
  std::vector<double> const ones(8 * 8 * 8, 1);
  for (auto const& g :
       {tilted(16, 15, 1.2),
        iso::ct::circular_cone({.num_u = 15, .num_v = 15, .pitch_u = 1.2, .pitch_v = 1.2}, 100, 150,
                               iso::ct::even_angles(16, 2 * pi))}) {
    CHECK(mean(run_on<Kokkos::Serial, double>(g, box, ones, 200, make<iso::ct::sart>()).x) ==
          doctest::Approx(1).epsilon(1e-2));
    CHECK(mean(run_on<Kokkos::Serial, double>(g, box, ones, 20, make<iso::ct::cgls>()).x) ==
          doctest::Approx(1).epsilon(1e-2));
    // A constant has no variation and fits: no other volume is better.
    auto const tv = run_on<Kokkos::Serial, double>(
        g, box, ones, 300,
        make<iso::ct::total_variation>(iso::ct::total_variation_options{.weight = 1}));
    double worst = 0;
    for (double const value : tv.x) {
      worst = std::max(worst, std::abs(value - 1));
    }
    CHECK(worst < 2e-3);
  }
}

/// Makes a method of the exact line integrals of a head.
template <template <class, class> class Method, class... Options>
auto make_of_head(std::vector<iso::ct::ellipsoid> const& head, Options const&... options) {
  return [=](Kokkos::Serial const& exec, geometry const& g, auto const&, auto const& x) {
    auto const b = iso::make_projections<double, host>("b", g.num_views(), g.num_u(), g.num_v());
    iso::ct::project_ellipsoids<Kokkos::Serial, double>(exec, head, iso::ct::stage(exec, g), b);
    return Method<Kokkos::Serial, double>(exec, g, b, x, options...);
  };
}

TEST_CASE("a tilted scan of a phantom in closed form comes as near to it as an upright one") {
  auto const box = grid::centred({16, 16, 16}, {1, 1, 1});
  auto const head = iso::ct::shepp_logan(7.7);
  Kokkos::Serial const exec;
  auto const truth = iso::make_volume<double, host>("truth", box);
  iso::ct::rasterise_ellipsoids<Kokkos::Serial, double>(exec, head, truth);
  std::vector<double> const nothing(std::size_t(box.size()), 0);
  auto const errors = [&](geometry const& g) {
    auto const rms = [&](run<double> const& found) {
      double squares = 0;
      for (std::size_t i = 0; i < found.x.size(); ++i) {
        double const d = found.x[i] - truth.data.data()[i];
        squares += d * d;
      }
      return std::sqrt(squares / double(found.x.size()));
    };
    return std::vector<double>{
        rms(run_on<Kokkos::Serial, double>(
            g, box, nothing, 5,
            make_of_head<iso::ct::sart>(head, iso::ct::sart_options{.block_views = 4}))),
        rms(run_on<Kokkos::Serial, double>(g, box, nothing, 12, make_of_head<iso::ct::cgls>(head))),
        rms(run_on<Kokkos::Serial, double>(
            g, box, nothing, 100,
            make_of_head<iso::ct::total_variation>(
                head, iso::ct::total_variation_options{.weight = 0.05, .box = {0, 2}})))};
  };
  auto const upright =
      errors(iso::ct::circular_cone({.num_u = 24, .num_v = 24, .pitch_u = 1.4, .pitch_v = 1.4}, 100,
                                    150, iso::ct::even_angles(24, 2 * pi, 0.3)));
  auto const turned = errors(tilted(24, 24, 1.4));
  for (std::size_t i = 0; i < upright.size(); ++i) {
    CAPTURE(i);
    CHECK(upright[i] < 0.1);
    CHECK(turned[i] == doctest::Approx(upright[i]).epsilon(0.05));
  }
}

TEST_CASE("mlem keeps the readings' sum and positive voxels") {
  auto const box = grid::centred({8, 8, 8}, {1, 1, 1});
  auto const body = random_body<double>(box);
  auto const scan = [](double pitch) {
    return iso::ct::circular_cone({.num_u = 15, .num_v = 15, .pitch_u = pitch, .pitch_v = pitch},
                                  100, 150, iso::ct::even_angles(12, 2 * pi));
  };
  auto const sum = [&](geometry const& g, std::vector<double> const& x) {
    auto const volume = iso::make_volume<double, host>("x", box);
    std::copy(x.begin(), x.end(), volume.data.data());
    auto const p = iso::make_projections<double, host>("p", 12, 15, 15);
    iso::ct::projector_pair<Kokkos::Serial, double>(Kokkos::Serial(), g, box).forward(0, volume, p);
    double total = 0;
    for (std::size_t i = 0; i < p.data.size(); ++i) {
      total += p.data.data()[i];
    }
    return total;
  };
  // Every ray goes through the middle of the cube.
  auto const inner = scan(0.4);
  auto const found = run_on<Kokkos::Serial, double>(inner, box, body, 5, make<iso::ct::mlem>());
  CHECK(sum(inner, found.x) == doctest::Approx(sum(inner, body)).epsilon(1e-9));
  // Some cut a corner, and have a background: the sum is that of the others, and nearly the same.
  auto const outer = scan(1.5);
  auto const whole = run_on<Kokkos::Serial, double>(outer, box, body, 5, make<iso::ct::mlem>());
  CHECK(sum(outer, whole.x) == doctest::Approx(sum(outer, body)).epsilon(1e-3));
  CHECK(*std::min_element(whole.x.begin(), whole.x.end()) > 0);
  CHECK(whole.history[4].residual < whole.history[0].residual);
}

TEST_CASE("damped lsqr is the solution by elimination") {
  std::int64_t const side = 10;
  std::int64_t const views = 8;
  std::int64_t const pixels = 13;
  auto const box = grid::centred({side, side, side}, {1, 1, 1});
  auto const g = tilted(views, pixels, 1.3);
  auto const n = std::size_t(side * side * side);
  auto const rays = std::size_t(views * pixels * pixels);
  iso::ct::projector_pair<Kokkos::Serial, double> const pair(
      Kokkos::Serial(), g, box,
      iso::ct::split_views(views, views, iso::ct::block_order::sequential));
  // Each ray's voxels.
  std::vector<std::vector<std::pair<std::size_t, double>>> rows(rays);
  auto const unit = iso::make_volume<double, host>("unit", box);
  auto const p = iso::make_projections<double, host>("p", views, pixels, pixels);
  for (std::size_t i = 0; i < n; ++i) {
    unit.data.data()[i] = 1;
    pair.forward(0, unit, p);
    unit.data.data()[i] = 0;
    for (std::size_t r = 0; r < rays; ++r) {
      if (p.data.data()[r] != 0) {
        rows[r].emplace_back(i, p.data.data()[r]);
      }
    }
  }
  // A^T A + damping^2, its lower half, and A^T b.
  double const damping = 0.7;
  auto const body = random_body<double>(box);
  std::vector<std::vector<double>> normal;
  std::vector<double> solution(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    normal.emplace_back(i + 1, 0.0);
    normal[i][i] = damping * damping;
  }
  for (auto const& row : rows) {
    double b = 0;
    for (auto const& [j, a] : row) {
      b += a * body[j];
    }
    for (auto const& [i, a] : row) {
      solution[i] += a * b;
      for (auto const& [j, other] : row) {
        if (j <= i) {
          normal[i][j] += a * other;
        }
      }
    }
  }
  // Cholesky's factor, row by row, then forth and back.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = normal[i][j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= normal[i][k] * normal[j][k];
      }
      normal[i][j] = i == j ? std::sqrt(sum) : sum / normal[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      solution[i] -= normal[i][k] * solution[k];
    }
    solution[i] /= normal[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    solution[i] /= normal[i][i];
    for (std::size_t k = 0; k < i; ++k) {
      solution[k] -= normal[i][k] * solution[i];
    }
  }
  auto const found = run_on<Kokkos::Serial, double>(
      g, box, body, 500, make<iso::ct::lsqr>(iso::ct::lsqr_options{.damping = damping}));
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    worst = std::max(worst, std::abs(found.x[i] - solution[i]));
  }
  CHECK(worst < 1e-10);
}

TEST_CASE("cgls tells the residual that a projection gives") {
  auto const box = grid::centred({8, 8, 8}, {1, 1, 1});
  auto const g = tilted(8, 13, 1.2);
  auto const body = random_body<double>(box);
  auto const found = run_on<Kokkos::Serial, double>(g, box, body, 6, make<iso::ct::cgls>());
  auto const lsqr = run_on<Kokkos::Serial, double>(g, box, body, 6, make<iso::ct::lsqr>());
  auto const volume = iso::make_volume<double, host>("x", box);
  auto const p = iso::make_projections<double, host>("p", 8, 13, 13);
  for (std::size_t i = 0; i < body.size(); ++i) {
    volume.data.data()[i] = body[i] - found.x[i];
    CHECK(found.x[i] == doctest::Approx(lsqr.x[i]).epsilon(1e-9));
  }
  iso::ct::projector_pair<Kokkos::Serial, double> const pair(
      Kokkos::Serial(), g, box, iso::ct::split_views(8, 8, iso::ct::block_order::sequential));
  pair.forward(0, volume, p);
  double const norm = std::sqrt(
      iso::dot(Kokkos::Serial(), p.data.data(), p.data.data(), std::int64_t(p.data.size())));
  CHECK(found.history[5].residual == doctest::Approx(norm).epsilon(1e-10));
  CHECK(lsqr.history[5].residual == doctest::Approx(norm).epsilon(1e-10));
  // With damping, what is damped counts too: ||b - A x||^2 + damping^2 ||x||^2 from zero on.
  double const damping = 2;
  auto const damped = run_on<Kokkos::Serial, double>(
      g, box, body, 6, make<iso::ct::lsqr>(iso::ct::lsqr_options{.damping = damping}));
  double squares = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    volume.data.data()[i] = body[i] - damped.x[i];
    squares += damping * damping * damped.x[i] * damped.x[i];
  }
  pair.forward(0, volume, p);
  squares += iso::dot(Kokkos::Serial(), p.data.data(), p.data.data(), std::int64_t(p.data.size()));
  CHECK(damped.history[5].residual == doctest::Approx(std::sqrt(squares)).epsilon(1e-10));
}

/// Makes a method of a scan of 13 x 13 pixels of which views 2 and 5 do not count: their readings
/// are not finite.
template <template <class, class> class Method, class Options>
auto make_without_views(Options const& options) {
  return [=](Kokkos::Serial const& exec, geometry const& g, auto const& b, auto const& x) {
    auto const readings = iso::make_projections<double, host>("b", g.num_views(), 13, 13);
    auto const counts = iso::make_projections<double, host>("counts", g.num_views(), 13, 13);
    for (std::size_t i = 0; i < counts.data.size(); ++i) {
      bool const counted = i / 169 != 2 && i / 169 != 5;
      counts.data.data()[i] = counted ? 1 : 0;
      readings.data.data()[i] = counted ? b.data.data()[i] : std::nan("");
    }
    iso::ct::iterative_masks<double, host> masks;
    masks.readings = counts.data;
    return Method<Kokkos::Serial, double>(exec, g, readings, x, options, masks);
  };
}

TEST_CASE("views of which no reading counts are left out") {
  auto const box = grid::centred({8, 9, 7}, {1, 1, 1});
  auto const all = tilted(8, 13, 1.2);
  std::vector<iso::ct::view_vectors> counting;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i != 2 && i != 5) {
      counting.push_back(all.views()[i]);
    }
  }
  geometry const fewer(iso::ct::beam::cone, 13, 13, counting);
  auto const body = random_body<double>(box);
  auto const sequential = iso::ct::block_order::sequential;
  for (auto const columns : {iso::ct::column_sums::of_blocks, iso::ct::column_sums::of_scan}) {
    iso::ct::sart_options const options{.block_views = 1, .order = sequential, .columns = columns};
    CHECK(run_on<Kokkos::Serial, double>(all, box, body, 3,
                                         make_without_views<iso::ct::sart>(options))
              .x ==
          run_on<Kokkos::Serial, double>(fewer, box, body, 3, make<iso::ct::sart>(options)).x);
  }
  iso::ct::mlem_options const options{.block_views = 1, .order = sequential};
  CHECK(
      run_on<Kokkos::Serial, double>(all, box, body, 3, make_without_views<iso::ct::mlem>(options))
          .x ==
      run_on<Kokkos::Serial, double>(fewer, box, body, 3, make<iso::ct::mlem>(options)).x);
  // Methods of one block: sums of more numbers round otherwise.
  auto const check = [&](run<double> const& masked, run<double> const& without) {
    CHECK(masked.history[5].residual == doctest::Approx(without.history[5].residual).epsilon(1e-9));
    for (std::size_t i = 0; i < body.size(); ++i) {
      CHECK(masked.x[i] == doctest::Approx(without.x[i]).epsilon(1e-9));
    }
  };
  auto const of = [&](geometry const& g, auto const& method) {
    return run_on<Kokkos::Serial, double>(g, box, body, 6, method);
  };
  check(of(all, make_without_views<iso::ct::cgls>(iso::ct::cgls_options{})),
        of(fewer, make<iso::ct::cgls>()));
  iso::ct::lsqr_options const damped{.damping = 0.5};
  check(of(all, make_without_views<iso::ct::lsqr>(damped)), of(fewer, make<iso::ct::lsqr>(damped)));
  iso::ct::total_variation_options const tv{.weight = 0.5};
  check(of(all, make_without_views<iso::ct::total_variation>(tv)),
        of(fewer, make<iso::ct::total_variation>(tv)));
}

TEST_CASE("the gap bounds how far total variation is above the minimum") {
  auto const box = grid::centred({8, 9, 7}, {1, 1, 1});
  auto const g = tilted(10, 13, 1.2);
  auto body = random_body<double>(box);
  auto const options = iso::ct::total_variation_options{.weight = 0.5};
  auto const found =
      run_on<Kokkos::Serial, double>(g, box, body, 1500, make<iso::ct::total_variation>(options));
  CHECK(found.history.back().gap < 1e-3);
  CHECK(found.history.back().gap > -1e-9);
  for (auto const& now : found.history) {
    CHECK(now.gap >= -1e-9);
  }
}

/// Counts the iterations to a gap of 1e-3.
std::int64_t to_gap(std::vector<iteration> const& history) {
  auto const reached = std::find_if(history.begin(), history.end(),
                                    [](iteration const& now) { return now.gap <= 1e-3; });
  REQUIRE(reached != history.end());
  return reached->number;
}

TEST_CASE("total variation takes as many iterations in metres as in millimetres") {
  auto const in_unit = [&](double unit) {
    auto const box = grid::centred({8, 9, 7}, {1.5 * unit, 1.5 * unit, 1.2 * unit});
    auto const scan = tilted(10, 13, 1.8);
    std::vector<iso::ct::view_vectors> views;
    for (auto const& w : scan.views()) {
      views.push_back(
          {unit * w.source, unit * w.detector_origin, unit * w.u_step, unit * w.v_step});
    }
    auto body = random_body<double>(box);
    for (double& value : body) {
      value /= unit;
    }
    return run_on<Kokkos::Serial, double>(
               {iso::ct::beam::cone, 13, 13, views}, box, body, 1000,
               make<iso::ct::total_variation>(
                   iso::ct::total_variation_options{.weight = 0.5 * unit}))
        .history;
  };
  auto const millimetres = in_unit(1);
  auto const metres = in_unit(1e-3);
  auto const binary = in_unit(0x1p-10);
  CHECK(to_gap(metres) == to_gap(millimetres));
  CHECK(std::equal(binary.begin(), binary.end(), millimetres.begin(),
                   [](iteration const& a, iteration const& b) {
                     return a.gap == b.gap && a.residual == b.residual;
                   }));
}

TEST_CASE("total variation does not cut what is small and dense, whatever box it begins with") {
  auto const box = grid::centred({14, 14, 14}, {1, 1, 1});
  auto const g = tilted(12, 19, 1.3);
  std::vector<double> body(14 * 14 * 14, 0);
  for (std::size_t i = 6; i < 8; ++i) {
    for (std::size_t j = 6; j < 8; ++j) {
      for (std::size_t k = 6; k < 8; ++k) {
        body[(i * 14 + j) * 14 + k] = 1;
      }
    }
  }
  auto const made = [&](iso::ct::value_range const& range) {
    return run_on<Kokkos::Serial, double>(
        g, box, body, 700,
        make<iso::ct::total_variation>(
            iso::ct::total_variation_options{.weight = 0.5, .box = range}));
  };
  auto const free = made({});
  CHECK(free.history.back().gap < 1e-3);
  CHECK(*std::max_element(free.x.begin(), free.x.end()) > 0.9);
  auto const wide = made({-4, 4});
  double worst = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    worst = std::max(worst, std::abs(free.x[i] - wide.x[i]));
  }
  CHECK(worst < 1e-3);
}

/// Makes a method of readings to which `change` did something: change(index, reading).
template <template <class, class> class Method, class Change, class... Options>
auto make_of_changed(Change const& change, Options const&... options) {
  return [=](Kokkos::Serial const& exec, geometry const& g, auto const& b, auto const& x) {
    using value = std::remove_const_t<typename std::decay_t<decltype(b.data)>::value_type>;
    auto const copy =
        iso::make_projections<value, host>("changed", g.num_views(), g.num_u(), g.num_v());
    for (std::size_t i = 0; i < copy.data.size(); ++i) {
      copy.data.data()[i] = change(i, b.data.data()[i]);
    }
    return Method<Kokkos::Serial, value>(exec, g, copy, x, options...);
  };
}

TEST_CASE("the gap closes where rays beside the volume have readings") {
  // Half of the fan passes by; air reads noise.
  auto const box = grid::centred({8, 8, 6}, {1, 1, 1});
  auto const g = tilted(12, 25, 1.2);
  std::mt19937 random(3);
  std::vector<double> noise(12 * 25 * 25);
  for (double& value : noise) {
    value = 0.2 * (double(random() % 1000) / 1000 - 0.5);
  }
  auto const found =
      run_on<Kokkos::Serial, double>(g, box, random_body<double>(box), 1500,
                                     make_of_changed<iso::ct::total_variation>(
                                         [&](std::size_t i, double b) { return b + noise[i]; },
                                         iso::ct::total_variation_options{.weight = 0.5}));
  CHECK(std::abs(found.history.back().gap) < 1e-3);
}

TEST_CASE("osem leaves voxels that a block does not see") {
  // Views from above see the upper half, views from below the lower one.
  auto const box = grid::centred({6, 6, 12}, {1, 1, 1});
  auto const around = iso::ct::circular_parallel(
      {.num_u = 11, .num_v = 6, .pitch_u = 1, .pitch_v = 1}, iso::ct::even_angles(8, pi, 0.1));
  auto views = around.views();
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].detector_origin.z += i % 2 == 0 ? 3 : -3;
  }
  geometry const g(iso::ct::beam::parallel, 11, 6, views);
  auto body = random_body<double>(box);
  for (double& value : body) {
    value += 0.5;
  }
  auto const found = run_on<Kokkos::Serial, double>(
      g, box, body, 60, make<iso::ct::mlem>(iso::ct::mlem_options{.block_views = 1}));
  CHECK(*std::min_element(found.x.begin(), found.x.end()) > 0.1);
  CHECK(found.history.back().residual < 0.3 * found.history.front().residual);
}

TEST_CASE("conjugate gradients keep what they found when rounding has the word") {
  // More readings than voxels, which no volume fits.
  auto const box = grid::centred({10, 10, 10}, {4, 4, 4});
  auto const g = iso::ct::turn_detector(
      iso::ct::circular_cone({.num_u = 24, .num_v = 20, .pitch_u = 4, .pitch_v = 4}, 500, 800,
                             iso::ct::even_angles(16, 2 * pi)),
      {.yaw = 0.05, .pitch = 0.035, .roll = 0.017});
  std::mt19937 random(5);
  std::vector<float> noise(16 * 24 * 20);
  for (float& value : noise) {
    value = float(random() % 1000) / 1000;
  }
  auto const found = run_on<Kokkos::Serial, float>(
      g, box, random_body<float>(box), 1500,
      make_of_changed<iso::ct::cgls>([&](std::size_t i, float b) { return b + noise[i]; }));
  double least = found.history.front().residual;
  for (auto const& now : found.history) {
    least = std::min(least, now.residual);
  }
  CHECK(found.history.back().residual < 1.001 * least);
}

TEST_CASE("the misfit of a solved system is told ever after") {
  auto const noisy = [](std::size_t i, double b) { return b + (i % 3 == 0 ? 0.3 : 0); };
  auto const g = tilted(6, 13, 1.2);
  // One voxel, which one iteration solves.
  auto const box = grid::centred({1, 1, 1}, {4, 4, 4});
  std::vector<double> const body = {0.5};
  auto const by_lsqr =
      run_on<Kokkos::Serial, double>(g, box, body, 5, make_of_changed<iso::ct::lsqr>(noisy));
  auto const by_cgls =
      run_on<Kokkos::Serial, double>(g, box, body, 5, make_of_changed<iso::ct::cgls>(noisy));
  CHECK(by_cgls.history.back().residual > 0.1);
  CHECK(by_lsqr.history.back().residual ==
        doctest::Approx(by_cgls.history.back().residual).epsilon(1e-9));
}

TEST_CASE("rules end a run, and the last iteration is told") {
  struct halving {
    double residual = 1;
    std::int64_t number = 0;
    iteration step(iso::job const&) {
      residual /= 2;
      return {++number, residual, residual / 10, residual / 100};
    }
  };
  auto const made = [](iso::ct::stopping_rules rules) {
    halving method;
    std::int64_t told = 0;
    auto const before = rules.proceed;
    rules.proceed = [&](iteration const& now) {
      told = now.number;
      return !before || before(now);
    };
    auto const history = iso::ct::iterate(method, rules);
    CHECK(told == history.back().number);
    return std::int64_t(history.size());
  };
  CHECK(made({}) == 20);
  CHECK(made({.iterations = 3}) == 3);
  CHECK(made({.relative_residual = 0.05}) == 1);
  CHECK(made({.relative_residual = 0.02}) == 3);
  CHECK(made({.noise = 0.25}) == 2);
  CHECK(made({.gap = 0.001}) == 4);
  CHECK(made({.proceed = [](iteration const& now) { return now.number < 7; }}) == 7);
  halving method;
  CHECK(refusal([&] { iso::ct::iterate(method, {.iterations = 0}); }).find("0 iterations") !=
        std::string::npos);
  CHECK(refusal([&] { iso::ct::iterate(method, {.gap = -1}); }).find("stopping rule of -1") !=
        std::string::npos);
}

TEST_CASE("what cannot be is refused in a sentence") {
  auto const box = grid::centred({4, 4, 4}, {1, 1, 1});
  auto const g =
      iso::ct::circular_cone({.num_u = 7, .num_v = 7}, 100, 150, iso::ct::even_angles(5, 2 * pi));
  Kokkos::Serial const exec;
  auto const x = iso::make_volume<float, host>("x", box);
  auto const b = iso::make_projections<float, host>("b", 5, 7, 7);
  iso::projection_view<float const, host> const readings = b;
  using sart = iso::ct::sart<Kokkos::Serial, float>;
  using mlem = iso::ct::mlem<Kokkos::Serial, float>;
  iso::ct::iterative_masks<float, host> const none;
  auto const with = [&](iso::ct::sart_options const& options) {
    return refusal([&] { sart(exec, g, readings, x, options); });
  };
  CHECK(with({.relaxation = 2}) ==
        "iso::ct::sart (SIRT): relaxation 2 (must lie in (0, 2)); use 1, or less where readings "
        "are noisy");
  CHECK(with({.relaxation = std::nan("")}).find("must lie in (0, 2)") != std::string::npos);
  CHECK(with({.block_views = 6}).find("blocks of 6 views (must lie in 1 .. 5") !=
        std::string::npos);
  CHECK(with({.box = {1, 1}}).find("the box is empty") != std::string::npos);
  CHECK(with({.box = {1, 2}}).find("64 voxels of the start are not within [1, 2]") !=
        std::string::npos);
  auto masks = none;
  masks.voxels = typename decltype(masks.voxels)::non_const_type("mask", 4, 4, 4);
  CHECK(refusal([&] { sart(exec, g, readings, x, {}, masks); }) ==
        "iso::ct::sart (SIRT): the mask of voxels is zero everywhere (nothing is left); set what "
        "counts to 1");
  auto const weighted = typename decltype(none.voxels)::non_const_type("mask", 4, 4, 4);
  Kokkos::deep_copy(weighted, 1);
  weighted(0, 1, 2) = 255;
  weighted(3, 1, 2) = std::nanf("");
  masks.voxels = weighted;
  CHECK(refusal([&] { sart(exec, g, readings, x, {}, masks); }) ==
        "iso::ct::sart (SIRT): 2 numbers of the mask of voxels are neither 0 nor 1 (0 leaves out, "
        "1 keeps); set them to 0 or 1");
  b.data(1, 2, 3) = -1;
  CHECK(refusal([&] {
          mlem(exec, g, readings, x);
        }).find("1 readings are negative or not finite") != std::string::npos);
  b.data(1, 2, 3) = std::nanf("");
  CHECK(with({}).find("1 readings are not finite") != std::string::npos);
  auto reading_masks = none;
  auto const counts = iso::make_projections<float, host>("mask", 5, 7, 7);
  Kokkos::deep_copy(counts.data, 1);
  counts.data(1, 2, 3) = 0;
  reading_masks.readings = counts.data;
  CHECK(refusal([&] { sart(exec, g, readings, x, {}, reading_masks); }) == "nothing");
  counts.data(0, 2, 3) = -1;
  CHECK(refusal([&] { mlem(exec, g, readings, x, {}, reading_masks); }) ==
        "iso::ct::mlem (MLEM): 1 numbers of the mask of readings are neither 0 nor 1 (0 leaves "
        "out, 1 keeps); set them to 0 or 1");
  counts.data(0, 2, 3) = 1;
  auto const aside = iso::make_volume<float, host>("x", grid::centred({4, 4, 4}, {1, 1, 1}));
  auto far = aside;
  far.grid.origin.z = 500;
  b.data(1, 2, 3) = 0;
  CHECK(refusal([&] { sart(exec, g, readings, far); }).find("no ray meets a voxel") !=
        std::string::npos);
}

/// Tells what `Method` says of voxels that no ray meets, of a mask that leaves only rays beside
/// the voxels, and of readings of zero whose rays meet voxels.
template <template <class, class> class Method, class Options>
void check_unmet(std::string const& name, Options const& options) {
  CAPTURE(name);
  auto const g =
      iso::ct::circular_cone({.num_u = 7, .num_v = 7}, 100, 150, iso::ct::even_angles(5, 2 * pi));
  Kokkos::Serial const exec;
  auto const x = iso::make_volume<float, host>("x", grid::centred({2, 2, 2}, {1, 1, 1}));
  auto const b = iso::make_projections<float, host>("b", 5, 7, 7);
  iso::projection_view<float const, host> const readings = b;
  using method = Method<Kokkos::Serial, float>;
  auto const says = [&](auto const& volume, iso::ct::iterative_masks<float, host> const& masks) {
    return refusal([&] { method(exec, g, readings, volume, options, masks); });
  };
  std::string const unmet = name +
                            ": no ray meets a voxel (geometry and grid lie apart, or masks leave "
                            "nothing); check the grid's origin and the masks";
  CHECK(says(x, {}) == "nothing");
  Kokkos::deep_copy(b.data, 1);
  auto far = x;
  far.grid.origin.z = 500;
  CHECK(says(far, {}) == unmet);
  auto const counts = iso::make_projections<float, host>("counts", 5, 7, 7);
  for (int view = 0; view < 5; ++view) {
    counts.data(view, 0, 0) = 1;
  }
  iso::ct::iterative_masks<float, host> corners;
  corners.readings = counts.data;
  CHECK(says(x, corners) == unmet);
  // A volume of which the rays meet a part, and a mask that leaves the other.
  auto const tall = iso::make_volume<float, host>("x", grid::centred({2, 2, 40}, {1, 1, 1}));
  iso::ct::iterative_masks<float, host> end;
  auto const mask = iso::make_volume<float, host>("mask", tall.grid);
  mask.data(0, 0, 39) = 1;
  end.voxels = mask.data;
  CHECK(says(tall, end) == unmet);
}

TEST_CASE("every method refuses voxels that no ray meets") {
  check_unmet<iso::ct::sart>("iso::ct::sart (SIRT)", iso::ct::sart_options{});
  check_unmet<iso::ct::sart>("iso::ct::sart (SART)", iso::ct::sart_options{.block_views = 1});
  check_unmet<iso::ct::sart>("iso::ct::sart (OS-SART)", iso::ct::sart_options{.block_views = 2});
  check_unmet<iso::ct::cgls>("iso::ct::cgls", iso::ct::cgls_options{});
  check_unmet<iso::ct::lsqr>("iso::ct::lsqr", iso::ct::lsqr_options{});
  check_unmet<iso::ct::mlem>("iso::ct::mlem (MLEM)", iso::ct::mlem_options{});
  check_unmet<iso::ct::mlem>("iso::ct::mlem (OSEM)", iso::ct::mlem_options{.block_views = 2});
  check_unmet<iso::ct::total_variation>("iso::ct::total_variation",
                                        iso::ct::total_variation_options{.weight = 1});
}
