// SPDX-License-Identifier: BSD-3-Clause
// What validate's reports say, and what can be said without reading an array.
#include <iso/sparse/validate_grouped.hpp>

#include <algorithm>
#include <limits>

namespace iso::sparse {
namespace detail {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();

template <class Report>
Report with_fault(fault what, std::int64_t value, std::int64_t limit) {
  Report r;
  r.found = what;
  r.value = value;
  r.limit = limit;
  return r;
}

}  // namespace

csr_report lengths_report(std::int64_t rows, std::int64_t cols, std::int64_t offsets,
                          std::int64_t columns, std::int64_t values, std::int64_t bases,
                          bool relative, std::int64_t scales, bool null) {
  auto const found = with_fault<csr_report>;
  if (rows < 0 || cols < 0) {
    return found(fault::negative_extent, rows < 0 ? rows : cols, 0);
  }
  if (rows > most_rows || cols > most_rows) {
    return found(fault::extent_too_large, rows > most_rows ? rows : cols, most_rows);
  }
  if (offsets != rows + 1) {
    return found(fault::row_offsets_length, offsets, rows + 1);
  }
  if (columns != values) {
    return found(fault::lengths_disagree, columns, values);
  }
  if (bases != (relative ? rows : 0)) {
    return found(fault::row_bases_length, bases, relative ? rows : 0);
  }
  if (scales != 0 && scales != rows) {
    return found(fault::row_scales_length, scales, rows);
  }
  return null ? found(fault::null_array, 0, 0) : csr_report();
}

grouped_report lengths_report(grouped_shape const& s) {
  auto const found = with_fault<grouped_report>;
  if (s.num_rows < 0 || s.num_cols < 0 || s.entries < 0) {
    return found(fault::negative_extent, std::min({s.num_rows, s.num_cols, s.entries}), 0);
  }
  if (s.num_rows > most_rows || s.num_cols > most_rows) {
    return found(fault::extent_too_large, std::max(s.num_rows, s.num_cols), most_rows);
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
  return s.kept == grouped_shape::memory::unaligned ? found(fault::values_unaligned, s.rows, 0)
                                                    : grouped_report();
}

}  // namespace detail

namespace {

/// What a format calls its parts.
struct nouns {
  std::string_view offset;  ///< whose offsets they are
  std::string_view list;    ///< what the offsets cut the things into
  std::string_view lists;
  std::string_view things;
};
constexpr nouns of_csr{"row", "row", "rows", "entries"};
constexpr nouns of_groups{"slot", "group", "groups", "slots"};

/// Where a fault is, and how many of its kind there are.
struct place {
  std::int64_t at;
  std::int64_t bad_offsets;
  std::int64_t bad_scales;
};

/// Faults that both formats may have, each with its own nouns.
template <class Report>
std::string shared(Report const& r, place const& p, nouns const& n) {
  switch (r.found) {
    case fault::none:
      return {};
    case fault::negative_extent:
      return message("matrix with an extent of {} (none may be negative)", {r.value});
    case fault::extent_too_large:
      return message("matrix with an extent of {} (at most {}) split it", {r.value, r.limit});
    case fault::row_offsets_length:
      return message("{} {} offsets ({} are needed, one more than {})",
                     {r.value, n.offset, r.limit, n.lists});
    case fault::row_scales_length:
      return message("{} row scales ({} are needed, or none)", {r.value, r.limit});
    case fault::null_array:
      return "an array that has a length and no memory (it is null) allocate it";
    case fault::first_row_offset:
      return message("{} offsets start at {} (must start at 0)", {n.offset, r.value});
    case fault::negative_row_offset:
      return message("{} offset {} is {} (must not be negative); {} are wrong",
                     {n.offset, p.at, r.value, p.bad_offsets});
    case fault::falling_row_offset:
      return message(
          "{} offset {} is {} (the one before it is {}, they must not fall); {} are wrong",
          {n.offset, p.at, r.value, r.limit, p.bad_offsets});
    case fault::row_offset_beyond:
      return message("{} offset {} is {} (there are {} {}); {} are wrong",
                     {n.offset, p.at, r.value, r.limit, n.things, p.bad_offsets});
    case fault::last_row_offset:
      return message("{} offsets end at {} (there are {} {})",
                     {n.offset, r.value, r.limit, n.things});
    case fault::row_scale:
      return message("the scale of row {} is no power of two above zero; {} are not",
                     {p.at, p.bad_scales});
    default:  // row_too_long
      return message("{} {} has {} {} (at most {}) split the matrix by columns",
                     {n.list, p.at, r.value, n.things, r.limit});
  }
}

}  // namespace

std::string sentence(csr_report const& r) {
  switch (r.found) {
    case fault::lengths_disagree:
      return message("{} columns and {} values (make them agree)", {r.value, r.limit});
    case fault::row_bases_length:
      return message("{} row bases ({} are needed)", {r.value, r.limit});
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
    default:
      return shared(r, {r.row, r.bad_row_offsets, r.bad_row_scales}, of_csr);
  }
}

namespace {

/// Which part of a paired_view a sentence is of, where the words that follow do not say.
std::string_view part_of(grouped_report const& r) {
  bool const of_whole = r.found == fault::negative_extent || r.found == fault::extent_too_large ||
                        r.found == fault::row_scale || r.found == fault::row_scales_length ||
                        r.found == fault::entries_disagree || r.found == fault::column_in_both;
  return r.in_shared ? "shared part: " : (r.in_pairs && r.slot < 0 && !of_whole ? "pairs: " : "");
}

std::string sentence_of(grouped_report const& r) {
  std::string const list =
      r.in_pairs ? message("the {} half of ", {r.half == 0 ? "upper" : "lower"}) : std::string();
  std::string const here = message("place {} of {}slot {}{} of group {}",
                                   {r.place, list, r.slot, r.in_pairs ? " of pairs" : "", r.group});
  switch (r.found) {
    case fault::lengths_disagree:
      return message("{} offsets or values ({} are needed by the slots)", {r.value, r.limit});
    case fault::values_unaligned:
      return message(
          "values that are not aligned (the {} of a column are read at once) use a view of its own",
          {r.value});
    case fault::column_negative:
      return message("{} lies in column {} (must not be negative); {} groups have such",
                     {here, r.value, r.bad_columns});
    case fault::column_beyond:
      return message("{} lies in column {} (there are {}); {} groups have such",
                     {here, r.value, r.limit, r.bad_columns});
    case fault::place_skipped:
      return message(
          "{} is out of turn (a slot's columns lie in its first places, and it has at "
          "least one); {} groups have such",
          {here, r.skipped});
    case fault::row_beyond:
      return message("{} has an entry in a row beyond the last; {} groups have such",
                     {here, r.stray});
    case fault::columns_descend:
      return message("{} lies in column {}, left of the one before it; {} groups have such",
                     {here, r.value, r.descending});
    case fault::column_doubled:
      return message("{} lies in column {} as the one before it does; {} groups have such",
                     {here, r.value, r.doubled});
    case fault::value_not_finite:
      return message("{} has a value that is not finite; {} groups have such",
                     {here, r.not_finite});
    case fault::shared_disagrees:
      return message(
          "{} rows, columns, entries or row scales of the shared part (the whole asks for {})",
          {r.value, r.limit});
    case fault::column_in_both:
      return message(
          "group {} has column {} among the shared ones and in its {} half; {} halves have such",
          {r.group, r.value, r.half == 0 ? "upper" : "lower", r.doubled});
    case fault::entries_disagree:
      return message("the matrix says {} entries (its values hold {})", {r.value, r.limit});
    default:
      return shared(r, {r.group, r.bad_slot_offsets, r.bad_row_scales}, of_groups);
  }
}

}  // namespace

std::string sentence(grouped_report const& r) {
  return r.sound() ? std::string() : std::string(part_of(r)) + sentence_of(r);
}

}  // namespace iso::sparse
