// SPDX-License-Identifier: BSD-3-Clause
// Every adversarial array is a typed error with its sentence, before any product.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;
using iso::sparse::csr_demands;
using iso::sparse::fault;

/// A sound matrix of 3 x 5 to be spoilt.
struct csr_arrays {
  std::int64_t rows = 3;
  std::int64_t cols = 5;
  std::vector<std::int64_t> offsets{0, 2, 2, 5};
  std::vector<std::int32_t> columns{1, 4, 0, 2, 3};
  std::vector<double> values{1, 2, 3, 4, 5};
  std::vector<double> scales = {};
  csr_demands demands = {};
};

template <class Exec>
iso::sparse::csr_report report_on(Exec const& exec, csr_arrays const& m) {
  csr_view<double, std::int32_t, typename Exec::memory_space> a;
  a.num_rows = m.rows;
  a.num_cols = m.cols;
  a.row_offsets = on(exec, m.offsets);
  a.columns = on(exec, m.columns);
  a.values = on(exec, m.values);
  if (!m.scales.empty()) {
    a.row_scales = on(exec, m.scales);
  }
  return iso::sparse::validate(exec, a, m.demands);
}

template <class F>
void check_csr(fault expected, char const* words, F const& spoil) {
  csr_arrays m;
  spoil(m);
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    auto const report = report_on(typename decltype(tag)::execution_space(), m);
    CHECK(report.found == expected);
    CHECK(iso::sparse::to_string(report) == words);
  });
}

}  // namespace

TEST_CASE("validate: a sound matrix, and what is counted in it") {
  check_csr(fault::none, "", [](csr_arrays&) {});
  check_csr(fault::none, "", [](csr_arrays& m) { m = {0, 0, {0}, {}, {}}; });
  check_csr(fault::none, "", [](csr_arrays& m) { m = {2, 0, {0, 0, 0}, {}, {}}; });
  iso::backend::for_each([&](auto tag) {
    csr_arrays m;
    m.columns = {4, 1, 2, 2, 3};
    m.values = {0.0, infinity, -0.0, nan_value, 1};
    auto const report = report_on(typename decltype(tag)::execution_space(), m);
    CHECK(report.sound());
    CHECK(report.descending == 1);
    CHECK(report.doubled == 1);
    CHECK(report.not_finite == 2);
    CHECK(report.stored_zeros == 2);
    CHECK(report.negative_zeros == 1);
    CHECK(report.longest_row == 3);
    CHECK(report.widest_row == 3);
    CHECK(report.empty_rows == 1);
  });
}

TEST_CASE("validate: what is looked at by stretches of entries is what rows say") {
  // Rows that begin and end anywhere in stretches, one spoilt entry at a time.
  auto const m = synthetic(3000, 500, 11, 0.4);
  for_each_instance([&](auto const& exec) {
    auto const a = csr<float, std::int32_t>(exec, m);
    auto const whole = iso::sparse::validate(exec, a);
    CHECK(whole.sound());
    std::int64_t longest = 0;
    std::int64_t widest = 0;
    std::int64_t empty = 0;
    for (auto const& row : m.rows) {
      longest = std::max(longest, std::int64_t(row.size()));
      widest =
          row.empty() ? widest : std::max<std::int64_t>(widest, row.back().column - row[0].column);
      empty += row.empty() ? 1 : 0;
    }
    CHECK(whole.longest_row == longest);
    CHECK(whole.widest_row == widest);
    CHECK(whole.empty_rows == empty);
    CHECK(whole.descending + whole.doubled + whole.stored_zeros + whole.not_finite == 0);
  });
  Kokkos::Serial const exec;
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 200; ++turn) {
    auto a = csr<float, std::int32_t>(exec, m);
    auto const at = std::int64_t(random() % std::uint64_t(a.num_entries() - 1)) + 1;
    bool const first_of_row = std::find(a.row_offsets.data(), a.row_offsets.data() + a.num_rows + 1,
                                        at) != a.row_offsets.data() + a.num_rows + 1;
    CAPTURE(at);
    switch (turn % 4) {
      case 0:
        a.values(at) = nan_value;
        CHECK(iso::sparse::validate(exec, a).not_finite == 1);
        break;
      case 1:
        a.values(at) = -0.0F;
        CHECK(iso::sparse::validate(exec, a).negative_zeros == 1);
        break;
      case 2:
        a.columns(at) = a.columns(at - 1);
        CHECK(iso::sparse::validate(exec, a).doubled == (first_of_row ? 0 : 1));
        break;
      default:
        a.columns(at) = 500;
        CHECK(iso::sparse::validate(exec, a).found == fault::column_beyond);
        CHECK(iso::sparse::validate(exec, a).entry == at);
    }
  }
}

TEST_CASE("validate: extents and lengths") {
  check_csr(fault::negative_extent,
            "matrix with an extent of -1 (none may be negative); give 0 or more",
            [](csr_arrays& m) { m.cols = -1; });
  check_csr(fault::extent_too_large,
            "matrix with an extent of 2147483648 (at most 2147483647); split the matrix",
            [](csr_arrays& m) { m.cols = std::int64_t(1) << 31; });
  check_csr(fault::row_offsets_length,
            "3 row offsets (4 are needed, one more than rows); give one more than there are rows",
            [](csr_arrays& m) { m.offsets.pop_back(); });
  check_csr(fault::row_offsets_length,
            "0 row offsets (4 are needed, one more than rows); give one more than there are rows",
            [](csr_arrays& m) { m.offsets.clear(); });
  check_csr(fault::lengths_disagree,
            "4 columns and 5 values (each entry has one of each); give as many columns as values",
            [](csr_arrays& m) { m.columns.pop_back(); });
  check_csr(fault::row_scales_length,
            "2 row scales (3 are needed, or none); give one for each row, or none",
            [](csr_arrays& m) { m.scales = {1, 1}; });
}

TEST_CASE("validate: row offsets") {
  check_csr(fault::first_row_offset, "row offsets start at 1 (must start at 0); start them at 0",
            [](csr_arrays& m) { m.offsets[0] = 1; });
  check_csr(fault::first_row_offset, "row offsets start at -3 (must start at 0); start them at 0",
            [](csr_arrays& m) { m.offsets[0] = -3; });
  check_csr(fault::negative_row_offset,
            "row offset 1 is -2 (must not be negative; 1 are wrong); make offsets running totals "
            "of row lengths",
            [](csr_arrays& m) { m.offsets[1] = -2; });
  check_csr(fault::non_monotone_row_offset,
            "row offset 2 is 1 (the one before it is 2, and they must not decrease; 1 are wrong); "
            "make offsets running totals of row lengths",
            [](csr_arrays& m) { m.offsets[2] = 1; });
  check_csr(fault::row_offset_beyond,
            "row offset 1 is 9223372036854775807 (there are 5 entries; 2 are wrong); make offsets "
            "running totals of row lengths",
            [](csr_arrays& m) { m.offsets[1] = std::numeric_limits<std::int64_t>::max(); });
  check_csr(fault::row_offset_beyond,
            "row offset 3 is 6 (there are 5 entries; 1 are wrong); make offsets running totals of "
            "row lengths",
            [](csr_arrays& m) { m.offsets[3] = 6; });
  check_csr(fault::last_row_offset,
            "row offsets end at 4 (there are 5 entries); end them at the number of entries",
            [](csr_arrays& m) { m.offsets[3] = 4; });
}

TEST_CASE("validate: columns, scales and values") {
  check_csr(fault::column_negative,
            "entry 3 of row 2 lies in column -1 (must not be negative; 2 are out of range); count "
            "columns from 0",
            [](csr_arrays& m) {
              m.columns[3] = -1;
              m.columns[4] = 5;
            });
  check_csr(fault::column_beyond,
            "entry 1 of row 0 lies in column 5 (there are 5; 1 are out of range); count columns "
            "from 0, or give the number of columns",
            [](csr_arrays& m) { m.columns[1] = 5; });
  check_csr(fault::row_scale,
            "the scale of row 1 is no power of two above zero (rows are scaled exactly; 2 are "
            "not); round it to a power of two",
            [](csr_arrays& m) { m.scales = {0.5, 3, -2}; });
  check_csr(fault::row_scale,
            "the scale of row 0 is no power of two above zero (rows are scaled exactly; 3 are "
            "not); round it to a power of two",
            [](csr_arrays& m) { m.scales = {0, infinity, nan_value}; });
  check_csr(fault::none, "", [](csr_arrays& m) { m.scales = {0.5, 1, 0x1p300}; });
  csr_demands const finite{.values = csr_demands::of_values::finite};
  csr_demands const ascending{.columns = csr_demands::of_columns::ascending};
  check_csr(fault::value_not_finite,
            "row 2 has a value that is not finite (sums of its row would not be either; there are "
            "2); replace it by a number",
            [&](csr_arrays& m) {
              m.values[2] = infinity;
              m.values[4] = nan_value;
              m.demands = finite;
            });
  check_csr(fault::columns_descend,
            "row 0 is not sorted by columns (1 entries lie left of the one before them); sort the "
            "entries of each row",
            [&](csr_arrays& m) {
              m.columns[1] = 0;
              m.demands = ascending;
            });
  check_csr(fault::column_doubled,
            "row 2 has two entries in one column (there are 1 such); add them up",
            [&](csr_arrays& m) {
              m.columns[4] = 2;
              m.demands = ascending;
            });
  check_csr(fault::none, "",
            [&](csr_arrays& m) { m.demands = {finite.values, ascending.columns}; });
}

TEST_CASE("validate: 16-bit columns from their bases, and null with a length") {
  Kokkos::Serial const exec;
  lists const m{100000, {{{70000, 1}, {99999, 1}}, {}, {{3, 1}}}};
  auto a = csr<iso::half, std::uint16_t>(exec, m);
  CHECK(iso::sparse::validate(exec, a).sound());
  CHECK(iso::sparse::validate(exec, a).widest_row == 29999);
  CHECK(iso::sparse::validate(exec, a).wide_rows == 0);
  lists const wide{70000, {{{0, 1}, {65536, 1}}, {{1, 1}, {65536, 1}}, {{0, 1}, {69999, 1}}}};
  CHECK(iso::sparse::validate(exec, csr<iso::half, std::int32_t>(exec, wide)).wide_rows == 2);
  a.num_cols = 99999;
  CHECK(iso::sparse::to_string(iso::sparse::validate(exec, a)) ==
        "entry 1 of row 0 lies in column 99999 (there are 99999; 1 are out of range); count "
        "columns from 0, or give the number of columns");
  a.row_bases(2) = -4;
  a.num_cols = 100000;
  CHECK(iso::sparse::validate(exec, a).found == fault::column_negative);
  a.row_bases = {};
  CHECK(
      iso::sparse::to_string(iso::sparse::validate(exec, a)) ==
      "0 row bases (3 are needed: one a row where columns have 16 bits, else none); give as many");
  auto b = csr<iso::half, std::int32_t>(exec, m);
  b.values = decltype(b.values)(static_cast<iso::half*>(nullptr), 3);
  CHECK(iso::sparse::validate(exec, b).found == fault::null_array);
  CHECK(iso::sparse::to_string(iso::sparse::validate(exec, b)) ==
        "an array that has a length and no memory (it is null); allocate it");
}

TEST_CASE("validate: a row too long for 32 bits") {
  // Offsets alone are looked at: the csr_arrays are never read.
  Kokkos::Serial const exec;
  std::int64_t const entries = std::int64_t(1) << 31;
  std::int32_t column = 0;
  iso::half value;
  csr_view<iso::half, std::int32_t, host> a;
  a.num_rows = 1;
  a.num_cols = 5;
  a.row_offsets = on(exec, std::vector<std::int64_t>{0, entries});
  a.columns = decltype(a.columns)(&column, std::size_t(entries));
  a.values = decltype(a.values)(&value, std::size_t(entries));
  CHECK(iso::sparse::to_string(iso::sparse::validate(exec, a)) ==
        "row 0 has 2147483648 entries (at most 2147483584); split the matrix by columns");
}
