// SPDX-License-Identifier: BSD-3-Clause
// Nothing is copied that need not be, what cannot fit is refused, and KokkosSparse::spmv and ours
// agree as far as their roundings allow.
#include <iso/sparse/kokkos_kernels.hpp>

#include <doctest/doctest.h>
#include <KokkosSparse_spmv.hpp>

#include "sparse_support.hpp"

#include <iso/oracle/products.hpp>

namespace {

using namespace sparse_support;
using iso::sparse::as_crs_matrix;
using iso::sparse::as_csr;
using iso::sparse::crs_matrix;
using iso::sparse::to_crs_matrix;
using iso::sparse::to_csr;

template <class Exec, class Value>
using csr_on = csr_view<Value, std::int32_t, typename Exec::memory_space>;

/// f(exec) with the default instance of each backend, which is the one KokkosSparse::spmv uses.
template <class F>
void for_each_backend(F const& f) {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    f(typename decltype(tag)::execution_space());
  });
}

template <class View>
void const* place(View const& v) {
  return v.data();
}

/// KokkosSparse::spmv of 2 A x - y.
template <class T, class Exec, class Matrix>
std::vector<T> their_product(Exec const& exec, Matrix const& m, std::vector<T> const& x,
                             std::vector<T> const& y) {
  auto const in = on(exec, x);
  auto const out = on(exec, y);
  KokkosSparse::spmv(exec, "N", T(2), m, in, T(-1), out);
  exec.fence();
  return to_vector(out);
}

/// How far 2 A x - y may be off in any order of additions and with or without fma, by row: a sum of
/// n terms, two scalings and one more addition each round within u of the sum of magnitudes.
template <class T>
std::vector<double> bounds(lists const& m, std::vector<T> const& x, std::vector<T> const& y) {
  std::vector<double> bound;
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    double size = std::abs(double(y[r]));
    for (auto const& e : m.rows[r]) {
      size += 2 * std::abs(double(T(e.value)) * double(x[std::size_t(e.column)]));
    }
    double const u = double(std::numeric_limits<T>::epsilon()) / 2;
    bound.push_back(1.01 * double(m.rows[r].size() + 4) * u * size);
  }
  return bound;
}

template <class T, class U>
void check_within(std::vector<T> const& a, std::vector<U> const& b, std::vector<double> const& by,
                  double times) {
  REQUIRE(a.size() == b.size());
  for (std::size_t r = 0; r < a.size(); ++r) {
    CAPTURE(r);
    auto const off = std::abs(static_cast<long double>(a[r]) - static_cast<long double>(b[r]));
    REQUIRE(off <= times * by[r]);  // NaN would not be
  }
}

template <class T>
struct setting {
  lists m = synthetic(300, 700, 11, 0.3);
  std::vector<T> x = some_vector<T>(m.cols);
  std::vector<T> y = some_vector<T>(m.num_rows(), 1, 8);
  std::vector<double> by = bounds(m, x, y);
  std::vector<long double> want = iso::oracle::exact_product<long double>(
      2, csr<T, std::int32_t>(Kokkos::Serial(), m), x, -1, y);
};

/// `theirs` is the matrix of `s` for Kokkos Kernels.
template <class T, class Exec, class Matrix>
void check_product(Exec const& exec, setting<T> const& s, Matrix const& theirs) {
  auto const ours = product(exec, csr<T, std::int32_t>(exec, s.m), s.x, s.y,
                            {.sum = summation::ordered, .alpha = 2, .beta = -1});
  auto const result = their_product(exec, theirs, s.x, s.y);
  check_within(result, s.want, s.by, 1);
  check_within(ours, s.want, s.by, 1);
  check_within(result, ours, s.by, 2);
}

template <class Exec, class Matrix>
concept viewable = requires(Exec exec, Matrix a) { as_crs_matrix(exec, a); };
template <class Exec, class Matrix>
concept readable = requires(Exec exec, Matrix m) { as_csr(exec, m); };

using serial = Kokkos::Serial;
static_assert(viewable<serial, csr_on<serial, double>>);
static_assert(viewable<serial, csr_on<serial, float const>>);
static_assert(!viewable<serial, csr_on<serial, iso::half>>);
static_assert(!viewable<serial, csr_on<serial, iso::bfloat16>>);
static_assert(!viewable<serial, csr_view<double, std::uint16_t, host>>);
static_assert(readable<serial, crs_matrix<double, std::int64_t, serial>>);
// Offsets of another size are no view.
static_assert(!readable<serial, crs_matrix<double, std::int32_t, serial>>);

}  // namespace

TEST_CASE_TEMPLATE("kokkos_kernels: as_ copies nothing, both ways", T, float, double) {
  for_each_backend([](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    auto const a = csr<T, std::int32_t>(exec, synthetic(50, 300, 3));
    auto const check = [&](auto const& m, auto const& back) {
      CHECK(m.numRows() == a.num_rows);
      CHECK(m.numCols() == a.num_cols);
      CHECK(std::int64_t(m.nnz()) == a.num_entries());
      CHECK(place(m.graph.row_map) == place(a.row_offsets));
      CHECK(place(m.graph.entries) == place(a.columns));
      CHECK(place(m.values) == place(a.values));
      CHECK(m.graph.row_map.extent(0) == a.row_offsets.extent(0));
      CHECK(back.num_rows == a.num_rows);
      CHECK(back.num_cols == a.num_cols);
      CHECK(place(back.row_offsets) == place(a.row_offsets));
      CHECK(place(back.columns) == place(a.columns));
      CHECK(place(back.values) == place(a.values));
      CHECK(back.row_offsets.extent(0) == a.row_offsets.extent(0));
      CHECK(back.num_entries() == a.num_entries());
    };
    auto const m = as_crs_matrix(exec, a);
    static_assert(
        std::is_same_v<std::decay_t<decltype(m)>, crs_matrix<T, std::int64_t, exec_space>>);
    check(m, as_csr(exec, m));
    auto const usual = as_crs_matrix<std::size_t>(exec, a);
    check(usual, as_csr(exec, usual));
    auto const fixed = as_crs_matrix(exec, a.as_const());
    static_assert(std::is_const_v<typename std::decay_t<decltype(fixed)>::value_type>);
    check(fixed, as_csr(exec, fixed));
  });
}

TEST_CASE("kokkos_kernels: a view keeps alive what it shows, either way") {
  for_each_backend([](auto const& exec) {
    lists const m = synthetic(50, 300, 3);
    auto const x = some_vector(m.cols);
    auto a = csr<double, std::int32_t>(exec, m);
    auto const before = product(exec, a, x);
    auto theirs = as_crs_matrix(exec, a);
    REQUIRE(a.row_offsets.use_count() == 2);
    a = {};
    REQUIRE(theirs.graph.row_map.use_count() == 1);
    REQUIRE(theirs.graph.entries.use_count() == 1);
    REQUIRE(theirs.values.use_count() == 1);
    auto const back = as_csr(exec, theirs);
    theirs = {};
    REQUIRE(back.row_offsets.use_count() == 1);
    REQUIRE(back.columns.use_count() == 1);
    REQUIRE(back.values.use_count() == 1);
    CHECK(difference(product(exec, back, x), before).empty());
  });
}

TEST_CASE("kokkos_kernels: a matrix whose Views own nothing is shown as well") {
  for_each_backend([](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    lists const m = synthetic(50, 300, 3);
    auto const x = some_vector(m.cols);
    auto const a = csr<double, std::int32_t>(exec, m);
    using unowned =
        KokkosSparse::CrsMatrix<double const, std::int32_t const, exec_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>, std::int64_t const>;
    auto const back = as_csr(exec, unowned(as_crs_matrix(exec, a)));
    CHECK(place(back.values) == place(a.values));
    CHECK(place(back.row_offsets) == place(a.row_offsets));
    CHECK(difference(product(exec, back, x), product(exec, a, x)).empty());
  });
}

TEST_CASE_TEMPLATE("kokkos_kernels: KokkosSparse::spmv and ours", T, float, double) {
  setting<T> const s;
  REQUIRE(s.m.entries() > 10000);
  for_each_backend([&](auto const& exec) {
    auto const a = csr<T, std::int32_t>(exec, s.m);
    check_product(exec, s, as_crs_matrix(exec, a));
    check_product(exec, s, as_crs_matrix<std::size_t>(exec, a));
    check_product(exec, s, as_crs_matrix(exec, a.as_const()));
    check_product(exec, s, to_crs_matrix(exec, a));
    check_product(exec, s, to_crs_matrix<std::uint32_t>(exec, a));
  });
}

TEST_CASE_TEMPLATE("kokkos_kernels: to_ copies the row offsets alone, both ways", T, float,
                   double) {
  lists const m = synthetic(50, 300, 3);
  auto const x = some_vector<T>(m.cols);
  for_each_backend([&](auto const& exec) {
    auto const a = csr<T, std::int32_t>(exec, m);
    auto const offsets = to_vector(a.row_offsets);
    auto const check = [&](auto const& theirs) {
      exec.fence();
      auto const copied = to_vector(theirs.graph.row_map);
      CHECK(sizeof(copied[0]) == 4);
      CHECK(std::equal(offsets.begin(), offsets.end(), copied.begin(), copied.end()));
      CHECK(place(theirs.graph.entries) == place(a.columns));
      CHECK(place(theirs.values) == place(a.values));
      auto const back = to_csr(exec, theirs);
      CHECK(place(back.columns) == place(a.columns));
      CHECK(place(back.values) == place(a.values));
      CHECK(place(back.row_offsets) != place(a.row_offsets));
      exec.fence();
      CHECK(to_vector(back.row_offsets) == offsets);
      CHECK(difference(product(exec, back, x), product(exec, a, x)).empty());
    };
    check(to_crs_matrix(exec, a));
    check(to_crs_matrix<std::uint32_t>(exec, a));
  });
}

TEST_CASE("kokkos_kernels: more entries than 32 bits count to") {
  for_each_backend([](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    // Long arrays without memory behind them: O(1) checks do not look.
    double number = 0;
    std::int32_t column = 0;
    auto const with = [&](std::uint64_t entries) {
      csr_on<exec_space, double> a =
          iso::sparse::make_csr<double, std::int32_t>(exec, "test", 3, 3, 0);
      a.columns = decltype(a.columns)(&column, entries);
      a.values = decltype(a.values)(&number, entries);
      return a;
    };
    CHECK(to_crs_matrix(exec, with(0x7fffffff)).nnz() == 0x7fffffff);
    CHECK_THROWS_WITH_AS(to_crs_matrix(exec, with(0x80000000)),
                         "iso::sparse::to_crs_matrix: 2147483648 entries (the offsets count to "
                         "2147483647); take offsets of 64 bits",
                         iso::invalid_argument);
    CHECK(to_crs_matrix<std::uint32_t>(exec, with(0xffffffff)).nnz() == 0xffffffff);
    CHECK_THROWS_AS(to_crs_matrix<std::uint32_t>(exec, with(0x100000000)), iso::invalid_argument);
    CHECK(as_crs_matrix(exec, with(0x100000000)).nnz() == 0x100000000);

    // And a matrix of theirs whose offsets have overflowed.
    using matrix = crs_matrix<double, std::int32_t, exec_space>;
    auto const theirs = [&](std::uint64_t entries) {
      auto const a = with(entries);
      typename matrix::row_map_type const offsets(
          Kokkos::View<std::int32_t*, typename exec_space::memory_space>("test", 4));
      return matrix("test", 3, a.values, typename matrix::staticcrsgraph_type(a.columns, offsets));
    };
    CHECK(to_csr(exec, theirs(0x7fffffff)).num_entries() == 0x7fffffff);
    CHECK_THROWS_AS(to_csr(exec, theirs(0x80000000)), iso::invalid_argument);
    exec.fence();
  });
}

TEST_CASE("kokkos_kernels: what does not fit together is refused") {
  serial const exec;
  auto const sound = csr<double, std::int32_t>(exec, synthetic(20, 30, 3));
  auto a = sound;
  a.row_scales = on(exec, std::vector<double>(20, 0.5));
  CHECK_THROWS_AS(as_crs_matrix(exec, a), iso::invalid_argument);
  CHECK_THROWS_AS(to_crs_matrix(exec, a), iso::invalid_argument);
  a = sound;
  a.num_rows = 21;
  CHECK_THROWS_AS(as_crs_matrix(exec, a), iso::invalid_argument);
  a = sound;
  a.num_cols = std::int64_t(1) << 31;
  CHECK_THROWS_AS(as_crs_matrix(exec, a), iso::invalid_argument);
  a = sound;
  a.columns = on(exec, std::vector<std::int32_t>{1, 2});
  CHECK_THROWS_AS(as_crs_matrix(exec, a), iso::invalid_argument);
  auto wide = as_crs_matrix(exec, sound);
  wide.values = on(exec, std::vector<double>{1, 2});
  CHECK_THROWS_AS(as_csr(exec, wide), iso::invalid_argument);
  auto narrow = to_crs_matrix(exec, sound);
  narrow.values = on(exec, std::vector<double>{1, 2});
  CHECK_THROWS_AS(to_csr(exec, narrow), iso::invalid_argument);
}

TEST_CASE("kokkos_kernels: matrices without entries, rows or memory") {
  for_each_backend([](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    auto const check = [&](csr_on<exec_space, double const> const& a, std::int64_t rows) {
      exec.fence();
      CHECK(a.num_rows == rows);
      CHECK(a.num_entries() == 0);
      CHECK(iso::sparse::validate(exec, a).found == iso::sparse::fault::none);
    };
    // One that was never filled has no row offsets either.
    check(as_csr(exec, crs_matrix<double, std::int64_t, exec_space>()), 0);
    check(as_csr(exec, crs_matrix<double, std::uint64_t, exec_space>()), 0);
    check(to_csr(exec, crs_matrix<double, std::int32_t, exec_space>()), 0);
    for (std::int64_t const rows : {0, 5}) {
      auto const a = iso::sparse::make_csr<double, std::int32_t>(exec, "test", rows, 3, 0);
      auto const wide = as_crs_matrix(exec, a);
      auto const narrow = to_crs_matrix(exec, a);
      CHECK(wide.numRows() == rows);
      CHECK(narrow.numRows() == rows);
      check(as_csr(exec, wide), rows);
      check(to_csr(exec, narrow), rows);
      std::vector<double> const x(3, 1);
      std::vector<double> const y(std::size_t(rows), 4);
      std::vector<double> const minus(std::size_t(rows), -4);
      CHECK(their_product(exec, wide, x, y) == minus);
      CHECK(their_product(exec, narrow, x, y) == minus);
    }
  });
}
