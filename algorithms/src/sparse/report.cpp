// SPDX-License-Identifier: BSD-3-Clause
// What validate's reports say, and what can be said without reading an array.
#include <iso/sparse/validate.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace iso::sparse {
namespace detail {
namespace {

constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max();

csr_report with_fault(fault what, std::int64_t value, std::int64_t limit) {
  return {.found = what, .value = value, .limit = limit};
}

csr_report check_extents(std::int64_t rows, std::int64_t cols, std::int64_t entries) {
  if (std::int64_t const least = std::min({rows, cols, entries}); least < 0) {
    return with_fault(fault::negative_extent, least, 0);
  }
  std::int64_t const most = std::max(rows, cols);
  return most > max_rows ? with_fault(fault::extent_too_large, most, max_rows) : csr_report();
}

}  // namespace

void throw_unless_sound(csr_report const& report, char const* function) {
  if (!report.sound()) {
    fail_argument("{}: {}", std::string_view(function), to_string(report));
  }
}

csr_report check_lengths(std::int64_t rows, std::int64_t cols, bool relative,
                         array_facts const& offsets, array_facts const& columns,
                         array_facts const& values, array_facts const& bases,
                         array_facts const& scales) {
  if (auto const report = check_extents(rows, cols, values.length); !report.sound()) {
    return report;
  }
  if (offsets.length != rows + 1) {
    return with_fault(fault::row_offsets_length, offsets.length, rows + 1);
  }
  if (columns.length != values.length) {
    return with_fault(fault::lengths_disagree, columns.length, values.length);
  }
  if (std::int64_t const wanted = relative ? rows : 0; bases.length != wanted) {
    return with_fault(fault::row_bases_length, bases.length, wanted);
  }
  if (scales.length != 0 && scales.length != rows) {
    return with_fault(fault::row_scales_length, scales.length, rows);
  }
  for (array_facts const& array : {offsets, columns, values, bases, scales}) {
    if (array.length > 0 && array.data == nullptr) {
      return with_fault(fault::null_array, 0, 0);
    }
  }
  return {};
}

void validate_extents(char const* function, std::int64_t rows, std::int64_t cols,
                      std::int64_t entries) {
  throw_unless_sound(check_extents(rows, cols, entries), function);
}

}  // namespace detail

std::string to_string(csr_report const& r) {
  // In the order of `fault`.
  constexpr std::string_view sentences[] = {
      "",
      "matrix with an extent of {2} (none may be negative); give 0 or more",
      "matrix with an extent of {2} (at most {3}); split the matrix",
      "{2} row offsets ({3} are needed, one more than rows); give one more than there are rows",
      "{2} columns and {3} values (each entry has one of each); give as many columns as values",
      "{2} row bases ({3} are needed: one a row where columns have 16 bits, else none); give as "
      "many",
      "{2} row scales ({3} are needed, or none); give one for each row, or none",
      "an array that has a length and no memory (it is null); allocate it",
      "row offsets start at {2} (must start at 0); start them at 0",
      "row offset {0} is {2} (must not be negative; {4} are wrong); make offsets running totals of "
      "row lengths",
      "row offset {0} is {2} (the one before it is {3}, and they must not decrease; {4} are "
      "wrong); make offsets running totals of row lengths",
      "row offset {0} is {2} (there are {3} entries; {4} are wrong); make offsets running totals "
      "of row lengths",
      "row offsets end at {2} (there are {3} entries); end them at the number of entries",
      "row {0} has {2} entries (at most {3}); split the matrix by columns",
      "entry {1} of row {0} lies in column {2} (must not be negative; {5} are out of range); count "
      "columns from 0",
      "entry {1} of row {0} lies in column {2} (there are {3}; {5} are out of range); count "
      "columns from 0, or give the number of columns",
      "the scale of row {0} is no power of two above zero (rows are scaled exactly; {6} are not); "
      "round it to a power of two",
      "row {0} has a value that is not finite (sums of its row would not be either; there are "
      "{7}); replace it by a number",
      "row {0} is not sorted by columns ({8} entries lie left of the one before them); sort the "
      "entries of each row",
      "row {0} has two entries in one column (there are {9} such); add them up",
  };
  static_assert(std::size(sentences) == int(fault::column_doubled) + 1);
  return message(sentences[int(r.found)],
                 {r.row, r.entry, r.value, r.limit, r.bad_row_offsets, r.bad_columns,
                  r.bad_row_scales, r.not_finite, r.descending, r.doubled});
}

}  // namespace iso::sparse
