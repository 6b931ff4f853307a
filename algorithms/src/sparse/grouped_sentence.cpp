// SPDX-License-Identifier: BSD-3-Clause
#include <iso/sparse/validate_grouped.hpp>

#include <algorithm>
#include <limits>

namespace iso::sparse {
namespace detail {

grouped_report lengths_report(grouped_shape const& s) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  grouped_report r;
  auto const found = [&](fault what, std::int64_t value, std::int64_t limit) {
    r.found = what;
    r.value = value;
    r.limit = limit;
    return r;
  };
  if (s.num_rows < 0 || s.num_cols < 0 || s.entries < 0) {
    return found(fault::negative_extent, std::min({s.num_rows, s.num_cols, s.entries}), 0);
  }
  if (s.num_rows > most || s.num_cols > most) {
    return found(fault::extent_too_large, std::max(s.num_rows, s.num_cols), most);
  }
  if (s.slot_offsets != s.num_groups() + 1) {
    return found(fault::row_offsets_length, s.slot_offsets, s.num_groups() + 1);
  }
  if (s.offsets != 32 * s.slots || s.values != s.offsets * s.rows) {
    bool const offsets = s.offsets != 32 * s.slots;
    return found(fault::lengths_disagree, offsets ? s.offsets : s.values,
                 32 * s.slots * (offsets ? 1 : s.rows));
  }
  if (s.scales != 0 && s.scales != s.num_rows) {
    return found(fault::row_scales_length, s.scales, s.num_rows);
  }
  if (s.kept == grouped_shape::memory::null) {
    return found(fault::null_array, 0, 0);
  }
  return s.kept == grouped_shape::memory::unaligned ? found(fault::values_unaligned, s.rows, 0) : r;
}

}  // namespace detail

namespace {

std::string of_lengths(grouped_report const& r) {
  switch (r.found) {
    case fault::negative_extent:
      return message("matrix with an extent of {} (none may be negative)", {r.value});
    case fault::extent_too_large:
      return message("matrix with an extent of {} (at most {}) split it", {r.value, r.limit});
    case fault::row_offsets_length:
      return message("{} slot offsets ({} are needed, one more than groups)", {r.value, r.limit});
    case fault::lengths_disagree:
      return message("{} offsets or values ({} are needed by the slots)", {r.value, r.limit});
    case fault::row_scales_length:
      return message("{} row scales ({} are needed, or none)", {r.value, r.limit});
    case fault::values_unaligned:
      return message(
          "values that are not aligned (the {} of a column are read at once) use a view of its own",
          {r.value});
    default:
      return "an array that has a length and no memory (it is null) allocate it";
  }
}

std::string of_offsets(grouped_report const& r) {
  switch (r.found) {
    case fault::first_row_offset:
      return message("slot offsets start at {} (must start at 0)", {r.value});
    case fault::negative_row_offset:
      return message("slot offset {} is {} (must not be negative); {} are wrong",
                     {r.group, r.value, r.bad_slot_offsets});
    case fault::falling_row_offset:
      return message(
          "slot offset {} is {} (the one before it is {}, they must not fall); {} are wrong",
          {r.group, r.value, r.limit, r.bad_slot_offsets});
    case fault::row_offset_beyond:
      return message("slot offset {} is {} (there are {} slots); {} are wrong",
                     {r.group, r.value, r.limit, r.bad_slot_offsets});
    case fault::last_row_offset:
      return message("slot offsets end at {} (there are {} slots)", {r.value, r.limit});
    default:
      return message("group {} has {} slots (at most {}) split the matrix by columns",
                     {r.group, r.value, r.limit});
  }
}

std::string at_place(grouped_report const& r) {
  return message("place {} of slot {} of group {}", {r.place, r.slot, r.group});
}

std::string of_places(grouped_report const& r) {
  switch (r.found) {
    case fault::column_negative:
      return message("{} lies in column {} (must not be negative); {} groups have such",
                     {at_place(r), r.value, r.bad_columns});
    case fault::column_beyond:
      return message("{} lies in column {} (there are {}); {} groups have such",
                     {at_place(r), r.value, r.limit, r.bad_columns});
    case fault::place_skipped:
      return message(
          "{} is out of turn (a slot's columns lie in its first places, and it has at "
          "least one); {} groups have such",
          {at_place(r), r.skipped});
    case fault::row_beyond:
      return message("{} has an entry in a row beyond the last; {} groups have such",
                     {at_place(r), r.stray});
    case fault::columns_descend:
      return message("{} lies in column {}, left of the one before it; {} groups have such",
                     {at_place(r), r.value, r.descending});
    case fault::column_doubled:
      return message("{} lies in column {} as the one before it does; {} groups have such",
                     {at_place(r), r.value, r.doubled});
    case fault::value_not_finite:
      return message("{} has a value that is not finite; {} groups have such",
                     {at_place(r), r.not_finite});
    case fault::row_scale:
      return message("the scale of row {} is no power of two above zero; {} are not",
                     {r.group, r.bad_row_scales});
    default:
      return message("the matrix says {} entries (its values hold {})", {r.value, r.limit});
  }
}

}  // namespace

std::string sentence(grouped_report const& report) {
  if (report.sound()) {
    return {};
  }
  if (report.found <= fault::null_array || report.found == fault::values_unaligned) {
    return of_lengths(report);
  }
  return report.found <= fault::row_too_long ? of_offsets(report) : of_places(report);
}

}  // namespace iso::sparse
