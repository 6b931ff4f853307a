// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/unroll.hpp>
#include <iso/sparse/csr.hpp>

namespace iso::sparse::detail {

/// What stands in one column of `R` neighbouring rows; read at once.
template <class Value, int R>
struct alignas(R * sizeof(Value) > 16 ? 16 : R * sizeof(Value)) entry {
  Value row[R];
};

/// Turns [first, last) of a row or a group of rows: 32 places at a time.
struct turn_range {
  std::int32_t first;
  std::int32_t last;
};

/// The rows of a csr_view, as kernels walk them: one row a group of lanes.
template <class Value, class Column>
struct csr_rows {
  using value_type = Value;
  static constexpr int rows = 1;
  /// Every entry that is walked is one of the matrix.
  static constexpr bool has_fill = false;
  static constexpr bool relative = std::is_same_v<Column, std::uint16_t>;

  std::int64_t num_rows;
  std::int64_t const* row_offsets;
  Column const* columns;
  Value const* values;
  std::int32_t const* row_bases;

  KOKKOS_FUNCTION std::int32_t base(std::int64_t row) const {
    return relative ? row_bases[row] : 0;
  }
  KOKKOS_FUNCTION std::int32_t length(std::int64_t row) const {
    return std::int32_t(row_offsets[row + 1] - row_offsets[row]);
  }
  /// Turns of 32 lanes that the row takes.
  KOKKOS_FUNCTION std::int32_t turns(std::int64_t row) const { return (length(row) + 31) / 32; }

  /// f(lane, column, entry) for the entries of a row in some of its turns: entry j on lane j % 32,
  /// ascending.
  template <class Group, class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, std::int64_t row, turn_range turns_of,
                                        F const& f) const {
    std::int64_t const first = row_offsets[row] + 32 * std::int64_t(turns_of.first);
    auto const left = std::int32_t(row_offsets[row + 1] - first);
    std::int32_t const most = 32 * (turns_of.last - turns_of.first);
    std::int32_t const count = left < most ? left : most;
    std::int32_t const from = base(row);
    Column const* KOKKOS_RESTRICT const column = columns + first;
    Value const* KOKKOS_RESTRICT const value = values + first;
    std::int32_t const full = count / 32 * 32;
    // Rows begin anywhere: a turn's ends share their sectors with its neighbours, by way of the
    // level-1 cache.
    ISO_DEVICE_UNROLL
    for (std::int32_t turn = 0; turn < full; turn += 32) {
      group.each([&](int lane) {
        std::int32_t const j = turn + lane;
        f(lane, from + std::int32_t(column[j]), entry<Value, 1>{value[j]});
      });
    }
    group.strided(full, count, [&](int lane, std::int32_t j) {
      f(lane, from + std::int32_t(column[j]), entry<Value, 1>{value[j]});
    });
  }
};

/// An array's memory; null where it is empty, though it be allocated.
template <class View>
auto* data_or_null(View const& v) {
  return v.extent(0) > 0 ? v.data() : nullptr;
}

template <class Value, class Column, class Space>
auto rows_of(csr_view<Value, Column, Space> const& a) {
  return csr_rows<std::remove_const_t<Value>, Column>{
      a.num_rows, a.row_offsets.data(), a.columns.data(), a.values.data(), a.row_bases.data()};
}

void validate_csr_lengths(char const* function, std::int64_t rows, std::int64_t offsets,
                          std::int64_t columns, std::int64_t values, std::int64_t bases,
                          bool relative, std::int64_t scales);

/// Throws unless the arrays have the lengths that the extents ask for. O(1).
template <class Value, class Column, class Space>
void validate_shape(csr_view<Value, Column, Space> const& a, char const* function) {
  validate_extents(function, a.num_rows, a.num_cols, a.num_entries());
  validate_csr_lengths(function, a.num_rows, std::int64_t(a.row_offsets.extent(0)),
                       std::int64_t(a.columns.extent(0)), a.num_entries(),
                       std::int64_t(a.row_bases.extent(0)), a.relative,
                       std::int64_t(a.row_scales.extent(0)));
}

}  // namespace iso::sparse::detail
