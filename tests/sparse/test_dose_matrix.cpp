// SPDX-License-Identifier: BSD-3-Clause
// dose_matrix: the products of what it was made from, by rows or by columns, in both directions,
// and what it refuses.
#include <iso/sparse/dose_matrix.hpp>

#include <doctest/doctest.h>

#include "exact_sums.hpp"
#include "kokkos_events.hpp"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace {

using namespace sparse_support;
using iso::sparse::dose_matrix;
using iso::sparse::dose_matrix_options;
using iso::sparse::matrix_format;
using iso::test::refusal;
using direction = dose_matrix_options::directions;
using storage = dose_matrix_options::value_storage;
using list = std::vector<double>;

/// A matrix as arrays on the host.
template <class Value>
struct host_arrays {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<Value> values;
};

template <class Value>
host_arrays<Value> by_rows(lists const& m) {
  host_arrays<Value> a;
  for (auto const& row : m.rows) {
    for (auto const& e : row) {
      a.indices.push_back(e.column);
      a.values.push_back(Value(e.value));
    }
    a.offsets.push_back(std::int64_t(a.indices.size()));
  }
  return a;
}

lists turned(lists const& m) {
  lists t{m.num_rows(), std::vector<std::vector<item>>(std::size_t(m.cols))};
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    for (auto const& e : m.rows[r]) {
      t.rows[std::size_t(e.column)].push_back({std::int32_t(r), e.value});
    }
  }
  return t;
}

/// y = alpha A x + beta y, or A^T, of `vectors` side by side.
template <class T, class Exec, class Space>
std::vector<T> applied(Exec const& exec, dose_matrix<Space> const& a, direction to,
                       std::vector<T> const& x, std::vector<T> const& y, how const& h) {
  using several = Kokkos::View<T**, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;
  auto const in = on(exec, x);
  auto const out = on(exec, y);
  auto const k = std::size_t(h.vectors);
  several const from(in.data(), x.size() / k, k);
  several const into(out.data(), y.size() / k, k);
  iso::sparse::spmv_options const options{.sum = h.sum, .shape = h.shape};
  if (to == direction::transposed) {
    a.apply_transposed(exec, h.alpha, from, h.beta, into, options);
  } else {
    a.apply(exec, h.alpha, from, h.beta, into, options);
  }
  exec.fence();
  return to_vector(out);
}

template <class Value>
void check_plain(lists const& m, std::vector<double> const& x, std::vector<double> const& y) {
  auto const [sums, sizes] = exact_sums<Value>(m, x);
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    REQUIRE(double(std::abs(y[r] - sums[r])) <= 1e-11 * double(sizes[r]));
  }
}

template <class Value, class Exec>
void check_products(Exec const& exec, dose_matrix<typename Exec::memory_space> const& a,
                    lists const& m) {
  CHECK(a.num_rows() == m.num_rows());
  CHECK(a.num_cols() == m.cols);
  CHECK(a.num_entries() == m.entries());
  Kokkos::Serial const serial;
  auto const t = turned(m);
  for (auto const sum : {std::optional<summation>(), std::optional(summation::ordered),
                         std::optional(summation::reproducible)}) {
    for (std::int64_t const k : {1, 3}) {
      how const h{.sum = sum, .alpha = 1.5, .beta = 0.25, .vectors = k};
      auto const check = [&](direction to, lists const& of) {
        auto const x = some_vector(of.cols, k);
        auto const y = some_vector(of.num_rows(), k, 5);
        auto const found = applied(exec, a, to, x, y, h);
        // In the format that was chosen, on the host, one thread.
        auto const format = a.report(to).format;
        auto const csr_here = csr<Value, std::int32_t>(serial, of);
        auto const expected = [&] {
          if constexpr (sizeof(Value) == 2) {
            if (format == matrix_format::row_block4) {
              return product(serial, iso::sparse::make_row_blocks<4>(serial, csr_here), x, y, h);
            }
            if (format == matrix_format::row_block8) {
              return product(serial, iso::sparse::make_row_blocks<8>(serial, csr_here), x, y, h);
            }
          }
          return product(serial, csr_here, x, y, h);
        }();
        CHECK(difference(expected, found) == "");
      };
      check(direction::forward, m);
      check(direction::transposed, t);
    }
  }
  auto const x = some_vector(m.cols);
  std::vector<double> const nothing(std::size_t(m.num_rows()), nan_value);
  check_plain<Value>(m, x,
                     applied(exec, a, direction::forward, x, nothing,
                             {.sum = summation::ordered, .alpha = 1, .beta = 0}));
}

template <class Exec, class Value>
auto made(Exec const& exec, lists const& m, host_arrays<Value> const& a,
          dose_matrix_options const& options = {}) {
  return dose_matrix<typename Exec::memory_space>(
      exec, iso::sparse::csr_arrays(m.num_rows(), m.cols, a.offsets, a.indices, a.values), options);
}

}  // namespace

TEST_CASE_TEMPLATE("dose_matrix: products of CSR and CSC arrays, on the host and in memory", Value,
                   iso::half, bfloat16, float, double) {
  auto const m = synthetic(150, 400, 5, 0.4);
  auto const rows = by_rows<Value>(m);
  auto const columns = by_rows<Value>(turned(m));
  for_each_instance([&](auto const& exec) {
    using matrix = dose_matrix<typename std::decay_t<decltype(exec)>::memory_space>;
    dose_matrix_options const options{.vectors = 3};
    check_products<Value>(exec, made(exec, m, rows, options), m);
    check_products<Value>(exec,
                          matrix(exec,
                                 iso::sparse::csc_arrays(m.num_rows(), m.cols, columns.offsets,
                                                         columns.indices, columns.values),
                                 options),
                          m);
    auto const there = csr<Value, std::int32_t>(exec, m);
    check_products<Value>(exec,
                          matrix(exec,
                                 iso::sparse::csr_arrays(m.num_rows(), m.cols, there.row_offsets,
                                                         there.columns, there.values),
                                 options),
                          m);
  });
}

TEST_CASE(
    "dose_matrix: the documented rule chooses the format, and the report says what it costs") {
  using iso::sparse::processor;
  lists same{64, std::vector<std::vector<item>>(64)};
  for (auto& row : same.rows) {
    for (std::int32_t c = 0; c < 64; ++c) {
      row.push_back({c, 1 + 0.25 * (c % 3)});
    }
  }
  Kokkos::Serial const exec;
  auto const arrays = by_rows<iso::half>(same);
  auto const blocks = made(exec, same, arrays, {.kind = processor::device});
  CHECK(blocks.report().format == matrix_format::row_block8);
  auto const b = iso::sparse::make_row_blocks<8>(exec, csr<iso::half, std::int32_t>(exec, same));
  CHECK(blocks.report().matrix_bytes == iso::sparse::shape_of(b).bytes);
  CHECK(blocks.report().num_entries == 64 * 64);
  CHECK(blocks.bytes() >= 2 * blocks.report().matrix_bytes);
  CHECK(iso::sparse::to_string(blocks.report()) ==
        "row_block8 of half: 4096 entries in " + std::to_string(blocks.report().matrix_bytes) +
            " bytes, and " + std::to_string(blocks.report().plan_bytes) + " bytes of plan");
  // Rows that do not ascend, or store a negative zero, cannot be row blocks.
  auto backwards = same;
  std::reverse(backwards.rows[3].begin(), backwards.rows[3].end());
  CHECK(made(exec, backwards, by_rows<iso::half>(backwards), {.kind = processor::device})
            .report()
            .format == matrix_format::csr32);
  CHECK(made(exec, same, by_rows<float>(same)).report().format == matrix_format::csr32);
  CHECK(made(exec, same, by_rows<float>(same)).report().values == "float");
}

TEST_CASE("dose_matrix: a format that is asked for") {
  auto const m = synthetic(60, 300, 6, 0.3);
  Kokkos::Serial const exec;
  auto const x = some_vector(m.cols);
  std::vector<double> const y(std::size_t(m.num_rows()), nan_value);
  auto const expected = product(exec, csr<iso::half, std::int32_t>(exec, m), x);
  for (auto const format : {matrix_format::csr32, matrix_format::csr16, matrix_format::row_block4,
                            matrix_format::row_block8}) {
    auto const a = made(exec, m, by_rows<iso::half>(m), {.format = format});
    CHECK(a.report().format == format);
    CHECK(difference(expected, applied(exec, a, direction::forward, x, y, {})) == "");
  }
  CHECK(made(exec, m, by_rows<double>(m), {.format = matrix_format::csr16}).report().format ==
        matrix_format::csr16);
  CHECK(refusal([&] { made(exec, m, by_rows<float>(m), {.format = matrix_format::row_block4}); }) ==
        "iso::sparse::dose_matrix: row_block4 of values of float (row blocks are for values of 16 "
        "bits); ask for values of half");
}

namespace {

/// Every entry by products with unit vectors: of A, or of A^T.
template <class Exec>
lists entries_of(Exec const& exec, dose_matrix<typename Exec::memory_space> const& a,
                 direction to) {
  bool const forward = to == direction::forward;
  std::int64_t const rows = forward ? a.num_rows() : a.num_cols();
  std::int64_t const cols = forward ? a.num_cols() : a.num_rows();
  lists found{cols, std::vector<std::vector<item>>(std::size_t(rows))};
  for (std::int64_t c = 0; c < cols; ++c) {
    std::vector<double> x(std::size_t(cols), 0.0);
    x[std::size_t(c)] = 1;
    auto const column = applied(exec, a, to, x, std::vector<double>(std::size_t(rows), nan_value),
                                {.sum = summation::ordered});
    for (std::size_t r = 0; r < column.size(); ++r) {
      found.rows[r].push_back({std::int32_t(c), column[r]});
    }
  }
  return found;
}

/// Both directions hold the same numbers, from CSR and CSC arrays; these are returned.
template <class Exec>
lists check_both_directions(Exec const& exec, lists const& m, storage values) {
  dose_matrix_options const options{.values = values};
  auto const columns = by_rows<double>(turned(m));
  auto const a = made(exec, m, by_rows<double>(m), options);
  dose_matrix<typename Exec::memory_space> const b(
      exec,
      iso::sparse::csc_arrays(m.num_rows(), m.cols, columns.offsets, columns.indices,
                              columns.values),
      options);
  lists found;
  for (auto const* const matrix : {&a, &b}) {
    auto const entries = entries_of(exec, *matrix, direction::forward);
    auto const back = turned(entries_of(exec, *matrix, direction::transposed));
    for (std::size_t r = 0; r < entries.rows.size(); ++r) {
      for (std::size_t c = 0; c < entries.rows[r].size(); ++c) {
        CHECK(entries.rows[r][c].value == back.rows[r][c].value);
        CHECK((found.rows.empty() || found.rows[r][c].value == entries.rows[r][c].value));
      }
    }
    found = entries;
    // <A x, y> = <x, A^T y>
    auto const x = some_vector(m.cols);
    auto const y = some_vector(m.num_rows(), 1, 5);
    how const plain{.sum = summation::ordered, .alpha = 1, .beta = 0};
    auto const ax = applied(exec, *matrix, direction::forward, x, y, plain);
    auto const aty = applied(exec, *matrix, direction::transposed, y, x, plain);
    double forward = 0;
    double backward = 0;
    double size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      forward += ax[i] * y[i];
      size += std::abs(ax[i] * y[i]);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      backward += aty[i] * x[i];
      size += std::abs(aty[i] * x[i]);
    }
    CHECK(std::abs(forward - backward) <= 1e-12 * size);
  }
  return found;
}

}  // namespace

TEST_CASE("dose_matrix: values rounded to 16 bits keep their digits where one power of two does") {
  Kokkos::Serial const exec;
  auto const close = [](double found, double exact) {
    return std::abs(found - exact) <= 0x1p-11 * std::abs(exact);
  };
  for (double const size : {1e-30, 1e-9, 1e-6, 1.0, 3e6, 1e30}) {
    CAPTURE(size);
    lists const m{3, {{{0, size / 3}, {2, -size}}, {{1, 1e-3 * size}, {2, 0.7 * size}}}};
    auto const found = check_both_directions(exec, m, storage::half);
    CHECK(close(found.rows[0][0].value, size / 3));
    CHECK(close(found.rows[0][2].value, -size));
    CHECK(close(found.rows[1][1].value, 1e-3 * size));
    CHECK(close(found.rows[1][2].value, 0.7 * size));
    auto const report = made(exec, m, by_rows<double>(m), {.values = storage::half}).report();
    CHECK(report.values == "half");
    CHECK(report.rounding.overflowed + report.rounding.underflowed + report.rounding.lost == 0);
    CHECK((report.scale == 1) == (size == 1));
  }
  // Where the values fit, they are the nearest, as convert_values rounds them.
  lists const fits{2, {{{0, 1.0 / 3}, {1, 65504}}}};
  CHECK(check_both_directions(exec, fits, storage::half).rows[0][0].value ==
        double(iso::half(1.0 / 3)));
  CHECK(made(exec, fits, by_rows<double>(fits), {.values = storage::bfloat16}).report().values ==
        "bfloat16");
}

TEST_CASE("dose_matrix: values at the ends of double, rounded to 16 bits") {
  Kokkos::Serial const exec;
  auto const close = [](double found, double exact, double eps) {
    return std::abs(found - exact) <= eps * std::abs(exact);
  };
  for (double const size : {1.7e308, 1.1e306, 1e304, 1e-300, 1e-306}) {
    CAPTURE(size);
    lists const m{3, {{{0, size / 3}, {2, -size}}, {{1, 1e-3 * size}, {2, 0.7 * size}}}};
    for (auto const values : {storage::half, storage::bfloat16}) {
      double const eps = values == storage::half ? 0x1p-11 : 0x1p-8;
      auto const a = made(exec, m, by_rows<double>(m), {.values = values});
      for (auto const of : {direction::forward, direction::transposed}) {
        auto const& lost = a.report(of).rounding;
        CHECK(lost.overflowed + lost.underflowed + lost.lost == 0);
      }
      for (auto const sum : {summation::ordered, summation::reproducible}) {
        how const plain{.sum = sum, .alpha = 1, .beta = 0};
        auto const y = applied(exec, a, direction::forward, list{1, 0, 0}, list{0, 0}, plain);
        CHECK(close(y[0], size / 3, eps));
        CHECK(y[1] == 0);
        auto const x = applied(exec, a, direction::transposed, list{1, 0}, list{0, 0, 0}, plain);
        CHECK(close(x[0], size / 3, eps));
        CHECK(x[1] == 0);
        CHECK(close(x[2], -size, eps));
      }
    }
  }
  // What 16 bits hold no more is counted, at either end.
  lists const most{1, {{{0, std::numeric_limits<double>::max()}}}};
  CHECK(made(exec, most, by_rows<double>(most), {.values = storage::half})
            .report()
            .rounding.overflowed == 1);
  lists const least{1, {{{0, 0x1p-1074}}}};
  CHECK(
      made(exec, least, by_rows<double>(least), {.values = storage::half}).report().rounding.lost ==
      1);
}

TEST_CASE("dose_matrix refuses an alpha that the power of its values takes out of double") {
  Kokkos::Serial const exec;
  auto const times = [&](double value, double alpha) {
    lists const m{1, {{{0, value}}}};
    auto const a = made(exec, m, by_rows<double>(m), {.values = storage::half});
    return applied(exec, a, direction::forward, list{1}, list{0},
                   {.sum = summation::ordered, .alpha = alpha, .beta = 0})[0];
  };
  char const* const advice = " (their product is no normal double); take a part of alpha into x";
  CHECK(times(0x1p1020, 0x1p-1020) == 1);
  CHECK(refusal([&] { times(0x1p1020, 1e10); }) ==
        std::string("iso::sparse::dose_matrix: alpha 10000000000 for values divided by 2^1006") +
            advice);
  CHECK(refusal([&] {
          times(0x1p-1000, 0x1.8p-1060);
        }).ends_with(std::string(" for values divided by 2^-1014") + advice));
  CHECK(times(0x1p1020, 0) == 0);
  CHECK(times(0x1p1020, infinity) == infinity);
  CHECK(std::isnan(times(0x1p1020, nan_value)));
}

TEST_CASE("dose_matrix: both directions hold the same rounded values, over fourteen decades") {
  lists m{40, std::vector<std::vector<item>>(30)};
  for (std::int32_t i = 0; i < 300; ++i) {
    // From 1e-9 to 1e5, each row and column with small and large ones.
    m.rows[std::size_t(i % 30)].push_back(
        {std::int32_t(i / 30 * 4 + i % 3), std::pow(10.0, double(i * 37 % 141) / 10 - 9)});
  }
  for_each_instance([&](auto const& exec) {
    check_both_directions(exec, m, storage::half);
    check_both_directions(exec, m, storage::bfloat16);
  });
  Kokkos::Serial const exec;
  lists const two{2, {{{0, 1e5}, {1, 1.1e-6}}}};
  check_both_directions(exec, two, storage::half);
  auto const a = made(exec, two, by_rows<double>(two), {.values = storage::half});
  for (auto const of : {direction::forward, direction::transposed}) {
    CHECK(a.report(of).rounding.underflowed == 1);
    CHECK(iso::sparse::to_string(a.report(of))
              .ends_with(" bytes of plan; values divided by 2^2: 0 overflowed, 1 lost digits, 0 "
                         "became zero"));
  }
}

TEST_CASE("dose_matrix: what reproducible sums lose and ordered ones keep, as its page says") {
  Kokkos::Serial const exec;
  lists const m{2, {{{0, 1}}, {{1, 1}}}};
  auto const identity = made(exec, m, by_rows<iso::half>(m));
  std::vector<double> const x{1e10, 1e-9};
  std::vector<double> const y{nan_value, nan_value};
  CHECK(applied(exec, identity, direction::forward, x, y, {}) == std::vector<double>{1e10, 0});
  CHECK(applied(exec, identity, direction::forward, x, y, {.sum = summation::ordered}) == x);
}

TEST_CASE("dose_matrix refuses Views with gaps, and arrays without memory") {
  std::vector<std::int64_t> const offsets{0, 1, 2};
  std::vector<std::int32_t> const columns{0, 1};
  Kokkos::View<double**, Kokkos::LayoutRight, host> const table("table", 2, 3);
  auto const column = Kokkos::subview(table, Kokkos::ALL, 1);
  CHECK(refusal([&] {
          static_cast<void>(iso::sparse::csr_arrays(2, 2, offsets, columns, column));
        }).starts_with("iso::sparse::dose_matrix: an array of the matrix has gaps"));
  Kokkos::View<double*, host, Kokkos::MemoryUnmanaged> const nowhere(nullptr, 2);
  CHECK(refusal([&] {
          static_cast<void>(iso::sparse::csr_arrays(2, 2, offsets, columns, nowhere));
        }).starts_with("iso::sparse::dose_matrix: an array of the matrix has elements but no"));
}

TEST_CASE("dose_matrix refuses, in sentences") {
  Kokkos::Serial const exec;
  lists const m{4, {{{0, 1}, {3, 2}}, {{1, 1}}}};
  auto const good = by_rows<iso::half>(m);
  auto const with = [&](auto const& arrays, dose_matrix_options const& options = {}) {
    return refusal([&] { made(exec, m, arrays, options); });
  };
  CHECK(with(good) == "");
  auto bad = good;
  bad.indices[1] = 4;
  CHECK(with(bad) ==
        "iso::sparse::dose_matrix: entry 1 of row 0 lies in column 4 (there are 4; 1 are out of "
        "range); count columns from 0, or give the number of columns");
  bad = good;
  bad.offsets.pop_back();
  CHECK(with(bad) ==
        "iso::sparse::dose_matrix: 2 row offsets (3 are needed, one more than rows); give one more "
        "than there are rows");
  bad = good;
  bad.values[0] = iso::half(infinity);
  CHECK(with(bad) ==
        "iso::sparse::dose_matrix: row 0 has a value that is not finite (sums of its row would not "
        "be either; there are 1); replace it by a number");
  std::string const start = "iso::sparse::dose_matrix: ";
  std::string const options = " (none of its values); choose one of ";
  CHECK(with(good, {.products = direction(9)}) ==
        start + "products is 9" + options + "both, forward, transposed");
  CHECK(with(good, {.values = storage(7)}) ==
        start + "values is 7" + options + "as-given, half, bfloat16");
  CHECK(with(good, {.format = matrix_format(77)}) ==
        start + "format is 77" + options + "csr32, csr16, row_block4, row_block8");
  CHECK(with(good, {.kind = iso::sparse::processor(-1)}) ==
        start + "processor is -1" + options + "host, avx512-host, device");
  CHECK(with(good, {.vectors = 0}) ==
        start + "vectors is 0 (must be from 1 to inf); choose another");
  auto const forward = made(exec, m, good, {.products = direction::forward});
  std::vector<double> const x(4, 1.0);
  std::vector<double> const y(2, 0.0);
  CHECK(applied(exec, forward, direction::forward, x, y, {}) == std::vector<double>{3, 1});
  char const* const other =
      "iso::sparse::dose_matrix: a product in the other direction (it was not asked for); make the "
      "matrix for both directions";
  CHECK(refusal([&] { applied(exec, forward, direction::transposed, y, x, {}); }) == other);
  CHECK(refusal([&] { static_cast<void>(forward.report(direction::transposed)); }) == other);
  char const* const none =
      "iso::sparse::dose_matrix: no matrix (it was made by default, or moved from); make it from "
      "arrays";
  dose_matrix<host> const nothing;
  CHECK(refusal([&] { static_cast<void>(nothing.report()); }) == none);
  CHECK(refusal([&] { applied(exec, nothing, direction::forward, x, y, {}); }) == none);
  CHECK(refusal([&] { applied(exec, nothing, direction::transposed, y, x, {}); }) == none);
  CHECK(refusal([&] {
          applied(exec, forward, direction::forward, std::vector<double>(8, 1.0),
                  std::vector<double>(4, 0.0), {.vectors = 2});
        }) ==
        "iso::sparse::dose_matrix: 2 vectors (it was made for 1); ask for more in its options");
  CHECK(refusal([&] {
          applied(exec, forward, direction::forward, std::vector<float>(4, 1.0F),
                  std::vector<float>(2, 0.0F), {});
        }) ==
        "iso::sparse::dose_matrix: vectors of float (they go with values of float); use vectors of "
        "double");
}

TEST_CASE("dose_matrix: what was moved from has no matrix, and what was moved to outlives it") {
  Kokkos::Serial const exec;
  lists const m{4, {{{0, 1}, {3, 2}}, {{1, 1}}}};
  std::vector<double> const x(4, 1.0);
  std::vector<double> const y(2, 0.0);
  std::vector<double> const ones(2, 1.0);
  auto const multiplies = [&](dose_matrix<host> const& a) {
    return applied(exec, a, direction::forward, x, y, {}) == std::vector<double>{3, 1} &&
           applied(exec, a, direction::transposed, ones, x, {}) == std::vector<double>{1, 1, 0, 2};
  };
  auto const check_empty = [&](dose_matrix<host> const& a) {
    char const* const none =
        "iso::sparse::dose_matrix: no matrix (it was made by default, or moved from); make it from "
        "arrays";
    CHECK(a.num_rows() == 0);
    CHECK(a.num_cols() == 0);
    CHECK(a.num_entries() == 0);
    CHECK(a.bytes() == 0);
    CHECK(refusal([&] { static_cast<void>(a.report()); }) == none);
    CHECK(refusal([&] { applied(exec, a, direction::forward, x, y, {}); }) == none);
    CHECK(refusal([&] { applied(exec, a, direction::transposed, y, x, {}); }) == none);
  };
  auto a = made(exec, m, by_rows<iso::half>(m));
  {
    auto const inner = std::move(a);
    CHECK(multiplies(inner));
  }
  check_empty(a);  // NOLINT(bugprone-use-after-move): that is what is tested
  a = made(exec, m, by_rows<iso::half>(m));
  CHECK(multiplies(a));
  auto b = made(exec, m, by_rows<float>(m));
  b = std::move(a);
  CHECK(multiplies(b));
  check_empty(a);
  auto& same = b;
  b = std::move(same);
  CHECK(multiplies(b));
  auto const copy = b;
  b = {};
  check_empty(b);
  CHECK(multiplies(copy));
  static_assert(std::is_nothrow_move_constructible_v<dose_matrix<host>> &&
                std::is_nothrow_move_assignable_v<dose_matrix<host>>);
}

TEST_CASE_TEMPLATE("dose_matrix: its arrays take the memory that it asks for, and no tenth less",
                   Value, iso::half, float, double) {
  using iso::sparse::entry_order;
  Kokkos::Serial const exec;
  // Stretches of columns that move on from row to row.
  lists m{1200, {}};
  for (std::int32_t row = 0; row < 2000; ++row) {
    auto& entries = m.rows.emplace_back();
    for (std::int32_t n = 0; n < 60 + row % 40; ++n) {
      entries.push_back({row / 2 + 2 * n, 1.0 + n});
    }
  }
  auto const a = by_rows<Value>(m);
  std::vector<std::optional<matrix_format>> formats = {matrix_format::csr32, matrix_format::csr16,
                                                       std::nullopt};
  if (sizeof(Value) == 2) {
    formats.insert(formats.end(), {matrix_format::row_block4, matrix_format::row_block8});
  }
  for (auto const& format : formats) {
    for (auto const products : {direction::forward, direction::transposed, direction::both}) {
      for (bool const transposed : {false, true}) {
        dose_matrix_options const options{.products = products, .vectors = 2, .format = format};
        auto const stored = transposed ? entry_order::by_columns : entry_order::by_rows;
        std::int64_t const rows = transposed ? m.cols : m.num_rows();
        std::int64_t const cols = transposed ? m.num_rows() : m.cols;
        auto const asked = dose_matrix<host>::bytes_needed<Value>(
            stored, rows, cols, std::int64_t(a.values.size()), options);
        auto const taken = iso::test::peak_bytes_of([&] {
          if (transposed) {
            dose_matrix<host>(
                exec, iso::sparse::csc_arrays(rows, cols, a.offsets, a.indices, a.values), options);
          } else {
            dose_matrix<host>(
                exec, iso::sparse::csr_arrays(rows, cols, a.offsets, a.indices, a.values), options);
          }
        });
        CAPTURE(format ? std::string(iso::to_word(*format)) : "chosen");
        CAPTURE(iso::to_word(products));
        CAPTURE(transposed);
        CHECK(taken <= 1.02 * double(asked));
        bool const is_of_rows = format && *format < matrix_format::row_block4;
        CHECK(double(asked) <= (is_of_rows ? 1.1 : 2.0) * double(taken));
      }
    }
  }
}
