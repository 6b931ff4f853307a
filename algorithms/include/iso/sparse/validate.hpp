// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/validate.hpp
//! Checks what only data can tell about a matrix.
#pragma once

#include <iso/core/job.hpp>
#include <iso/sparse/csr.hpp>

#include <cstdint>
#include <string>

namespace iso::sparse {

/// The first fault of a matrix, in the order in which faults are looked for.
enum class fault {
  none,
  negative_extent,          ///< rows, columns or entries below zero
  extent_too_large,         ///< rows or columns above 2^31 - 1
  row_offsets_length,       ///< not one more than rows
  lengths_disagree,         ///< columns and values
  row_bases_length,         ///< not one a row where columns have 16 bits, or any where they have 32
  row_scales_length,        ///< neither none nor one a row
  null_array,               ///< a length and no memory
  first_row_offset,         ///< not 0
  negative_row_offset,      ///< below zero
  non_monotone_row_offset,  ///< below the one before
  row_offset_beyond,        ///< above the number of entries
  last_row_offset,          ///< short of the number of entries
  row_too_long,             ///< more entries than 2^31 - 64
  column_negative,
  column_beyond,     ///< not below the number of columns
  row_scale,         ///< not a finite power of two
  value_not_finite,  ///< where demanded
  columns_descend,   ///< where demanded: a column below the one before it
  column_doubled,    ///< where demanded: a column equal to the one before it
};

/// The demands on a matrix besides a sound pattern.
struct csr_demands {
  enum class of_values { any, finite };
  enum class of_columns { any_order, ascending };
  of_values values = of_values::any;
  of_columns columns = of_columns::any_order;
};

/// The result of `validate`. Counts that need more than the row offsets are there where the offsets
/// are sound.
struct csr_report {
  fault found = fault::none;
  std::int64_t row = -1;    ///< where it was found first, or the row offset's index; -1: in no row
  std::int64_t entry = -1;  ///< index into columns and values, or -1
  std::int64_t value = 0;   ///< what was found: the offset, column, length or extent
  std::int64_t limit = 0;   ///< what it should be, or stay below
  std::int64_t bad_row_offsets = 0;
  std::int64_t bad_columns = 0;
  std::int64_t bad_row_scales = 0;
  std::int64_t not_finite = 0;      ///< values
  std::int64_t descending = 0;      ///< columns below the one before them
  std::int64_t doubled = 0;         ///< columns equal to the one before them
  std::int64_t stored_zeros = 0;    ///< of either sign
  std::int64_t negative_zeros = 0;  ///< among them
  std::int64_t longest_row = 0;
  std::int64_t widest_row = 0;  ///< largest difference of two columns of a row
  std::int64_t wide_rows = 0;   ///< wider than 65535: beyond what 16-bit columns reach
  std::int64_t empty_rows = 0;

  [[nodiscard]] bool sound() const { return found == fault::none; }
};

/// Checks all of `a` before any product: nothing of it is trusted but that its views may be read.
/// Fences `exec`; allocates 32 bytes a row. A fault is no exception: `found` names it. Asks
/// `control` as the functions of iso/sparse/convert.hpp do.
/// Determinism: backend_to_backend.
///
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <execution_space Exec, class Value, column_index Column>
csr_report validate(Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
                    csr_demands const& demands = {}, job const& control = {});

/// Returns `problem (reason); advice`; empty for a sound matrix. Determinism: backend_to_backend.
std::string to_string(csr_report const& report);

namespace detail {

struct array_facts {
  std::int64_t length;
  void const* data;
};
/// Returns what can be said of a matrix without reading an array.
csr_report check_lengths(std::int64_t rows, std::int64_t cols, bool relative,
                         array_facts const& offsets, array_facts const& columns,
                         array_facts const& values, array_facts const& bases,
                         array_facts const& scales);
void throw_unless_sound(csr_report const& report, char const* function);

template <class Value, class Column, class Space>
csr_report check_lengths(csr_view<Value, Column, Space> const& a) {
  auto const of = [](auto const& v) { return array_facts{std::int64_t(v.extent(0)), v.data()}; };
  return check_lengths(a.num_rows, a.num_cols, a.relative, of(a.row_offsets), of(a.columns),
                       of(a.values), of(a.row_bases), of(a.row_scales));
}

/// Throws unless the arrays have the lengths that the extents ask for. O(1).
template <class Value, class Column, class Space>
void validate_shape(csr_view<Value, Column, Space> const& a, char const* function) {
  throw_unless_sound(check_lengths(a), function);
}

}  // namespace detail

}  // namespace iso::sparse
