// SPDX-License-Identifier: BSD-3-Clause
// What validate's reports say, and what can be said without reading an array.
#include <iso/sparse/validate.hpp>

#include <algorithm>
#include <limits>

namespace iso::sparse {
namespace detail {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();

csr_report with_fault(fault what, std::int64_t value, std::int64_t limit) {
  csr_report r;
  r.found = what;
  r.value = value;
  r.limit = limit;
  return r;
}

csr_report check_extents(std::int64_t rows, std::int64_t cols, std::int64_t entries) {
  if (std::int64_t const least = std::min({rows, cols, entries}); least < 0) {
    return with_fault(fault::negative_extent, least, 0);
  }
  std::int64_t const most = std::max(rows, cols);
  return most > most_rows ? with_fault(fault::extent_too_large, most, most_rows) : csr_report();
}

void throw_unless_sound(csr_report const& report, char const* function) {
  if (!report.sound()) {
    fail_argument("{}: {}", std::string_view(function), to_string(report));
  }
}

}  // namespace

csr_report check_lengths(csr_lengths const& a) {
  if (auto const report = check_extents(a.rows, a.cols, a.values); !report.sound()) {
    return report;
  }
  if (a.offsets != a.rows + 1) {
    return with_fault(fault::row_offsets_length, a.offsets, a.rows + 1);
  }
  if (a.columns != a.values) {
    return with_fault(fault::lengths_disagree, a.columns, a.values);
  }
  if (a.bases != (a.relative ? a.rows : 0)) {
    return with_fault(fault::row_bases_length, a.bases, a.relative ? a.rows : 0);
  }
  if (a.scales != 0 && a.scales != a.rows) {
    return with_fault(fault::row_scales_length, a.scales, a.rows);
  }
  return a.null ? with_fault(fault::null_array, 0, 0) : csr_report();
}

void validate_lengths(csr_lengths const& a, char const* function) {
  throw_unless_sound(check_lengths(a), function);
}

void validate_extents(char const* function, std::int64_t rows, std::int64_t cols,
                      std::int64_t entries) {
  throw_unless_sound(check_extents(rows, cols, entries), function);
}

}  // namespace detail

std::string to_string(csr_report const& r) {
  switch (r.found) {
    case fault::lengths_disagree:
      return message("{} columns and {} values (make them agree)", {r.value, r.limit});
    case fault::row_bases_length:
      return message(
          "{} row bases ({} are needed: one a row where columns have 16 bits, else none)",
          {r.value, r.limit});
    case fault::column_negative:
      return message(
          "entry {} of row {} lies in column {} (must not be negative); {} are out of range",
          {r.entry, r.row, r.value, r.bad_columns});
    case fault::column_beyond:
      return message("entry {} of row {} lies in column {} (there are {}); {} are out of range",
                     {r.entry, r.row, r.value, r.limit, r.bad_columns});
    case fault::value_not_finite:
      return message("row {} has a value that is not finite; there are {}", {r.row, r.not_finite});
    case fault::columns_descend:
      return message("row {} is not sorted by columns; {} entries lie left of the one before them",
                     {r.row, r.descending});
    case fault::column_doubled:
      return message("row {} has two entries in one column; there are {} such", {r.row, r.doubled});
    case fault::none:
      return {};
    case fault::negative_extent:
      return message("matrix with an extent of {} (none may be negative)", {r.value});
    case fault::extent_too_large:
      return message("matrix with an extent of {} (at most {}) split it", {r.value, r.limit});
    case fault::row_offsets_length:
      return message("{} row offsets ({} are needed, one more than rows)", {r.value, r.limit});
    case fault::row_scales_length:
      return message("{} row scales ({} are needed, or none)", {r.value, r.limit});
    case fault::null_array:
      return "an array that has a length and no memory (it is null) allocate it";
    case fault::first_row_offset:
      return message("row offsets start at {} (must start at 0)", {r.value});
    case fault::negative_row_offset:
      return message("row offset {} is {} (must not be negative); {} are wrong",
                     {r.row, r.value, r.bad_row_offsets});
    case fault::non_monotone_row_offset:
      return message(
          "row offset {} is {} (the one before it is {}, they must not decrease); {} are wrong",
          {r.row, r.value, r.limit, r.bad_row_offsets});
    case fault::row_offset_beyond:
      return message("row offset {} is {} (there are {} entries); {} are wrong",
                     {r.row, r.value, r.limit, r.bad_row_offsets});
    case fault::last_row_offset:
      return message("row offsets end at {} (there are {} entries)", {r.value, r.limit});
    case fault::row_scale:
      return message("the scale of row {} is no power of two above zero; {} are not",
                     {r.row, r.bad_row_scales});
    default:  // row_too_long
      return message("row {} has {} entries (at most {}) split the matrix by columns",
                     {r.row, r.value, r.limit});
  }
}

}  // namespace iso::sparse
