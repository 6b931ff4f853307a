// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_CSR_ROWS_HPP
#define ISO_SPARSE_DETAIL_CSR_ROWS_HPP

#include <iso/backend/pack.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/detail/product_lanes.hpp>
#include <iso/sparse/validate.hpp>

#include <array>
#include <type_traits>

namespace iso::sparse {

/// The number of steps of 32 lanes in one part of a row: 2048 entries of a csr_view, 64 column
/// chunks of a row_block_csr. Longer rows are summed part by part, and the parts' sums then from
/// the first to the last.
inline constexpr std::int32_t part_steps = 64;

/// The entries that a lane group adds up at once: successive entries of a row of a csr_view, or
/// successive column chunks of a block of a row_block_csr. Sixteen bytes, one read: what a kernel
/// must look up before it can ask for its first entry, it waits for.
struct alignas(16) row_segment {
  std::int64_t first;  ///< entry, or column chunk
  std::int32_t count;  ///< of entries, or chunks
  std::int32_t block;  ///< the row, or the row block

  /// Returns what follows `done` of it, at most `longest`.
  [[nodiscard]] KOKKOS_FUNCTION row_segment from(std::int32_t done, std::int32_t longest) const {
    std::int32_t const left = count > done ? count - done : 0;
    return {first + done, left < longest ? left : longest, block};
  }
};

}  // namespace iso::sparse

namespace iso::sparse::detail {

/// Where rows, or row blocks, begin: all that a plan reads, whatever the columns and values
/// are. A step of 32 lanes takes `PerStep` of what the offsets count.
template <int PerStep>
struct row_starts {
  std::int64_t const* offsets;

  KOKKOS_FUNCTION row_segment whole(std::int64_t block) const {
    std::int64_t const first = offsets[block];
    return {first, std::int32_t(offsets[block + 1] - first), std::int32_t(block)};
  }
  /// Counts steps of 32 lanes that a segment takes.
  KOKKOS_FUNCTION static std::int64_t steps(row_segment const& segment) {
    return (std::int64_t(segment.count) + PerStep - 1) / PerStep;
  }
  /// Returns the steps of a segment from `step` on, at most part_steps.
  KOKKOS_FUNCTION static row_segment part(row_segment const& segment, std::int32_t step) {
    return segment.from(PerStep * step, PerStep * part_steps);
  }
};

}  // namespace iso::sparse::detail

#define ISO_SET_HEADER <iso/sparse/detail/csr_rows.hpp>
#include <iso/backend/for_each_set.hpp>

namespace iso::sparse::detail {

/// Returns an array's memory; null where it is empty, though it be allocated.
template <class View>
auto* data_or_null(View const& v) {
  return v.extent(0) > 0 ? v.data() : nullptr;
}

template <class Value, class Column, class Space>
auto rows_of(csr_view<Value, Column, Space> const& a) {
  return csr_rows<std::remove_const_t<Value>, Column>{a.num_rows, a.row_offsets.data(),
                                                      a.columns.data(), a.values.data(),
                                                      data_or_null(a.row_bases)};
}

template <class Value, class Column, class Space>
row_starts<32> starts_of(csr_view<Value, Column, Space> const& a) {
  return row_starts<32>{a.row_offsets.data()};
}

template <class Value, class Column, class Space>
double const* row_scales_of(csr_view<Value, Column, Space> const& a) {
  return data_or_null(a.row_scales);
}

/// Returns what a product reads of a matrix.
template <class Value, class Column, class Space>
std::array<memory_range, 5> memory_of_matrix(csr_view<Value, Column, Space> const& a) {
  return {memory_of(a.row_offsets, "the matrix' row offsets"),
          memory_of(a.columns, "the matrix' columns"), memory_of(a.values, "the matrix' values"),
          memory_of(a.row_bases, "the matrix' row bases"),
          memory_of(a.row_scales, "the matrix' row scales")};
}

}  // namespace iso::sparse::detail

#endif
#else

namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// The rows of a csr_view, as kernels walk them: one row a group of lanes.
template <class Value, class Column>
struct csr_rows {
  ISO_KERNEL(csr_rows<Value, Column>);

  using value_type = Value;
  static constexpr int rows = 1;
  /// Every entry that is walked is one of the matrix.
  static constexpr bool has_padding = false;
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
  KOKKOS_FUNCTION row_segment whole(std::int64_t row) const {
    return {row_offsets[row], length(row), std::int32_t(row)};
  }

  /// The entries of a segment, 32 a step. Rows begin anywhere: a step's ends share their sectors
  /// with its neighbours, by way of a GPU's level-1 cache.
  template <class Group>
  struct steps_of {
    using lanes = product_lanes<Group>;
    typename lanes::template stepped_array<Column> column;
    typename lanes::template stepped_array<backend::pack<Value, 1>> value;
    std::int32_t from;
    std::int32_t full;  ///< steps
    std::int32_t left;  ///< entries in one more step

    KOKKOS_FUNCTION steps_of(Group const& group, csr_rows const& a, row_segment const& segment)
        : column(group, a.columns + segment.first),
          value(group, reinterpret_cast<backend::pack<Value, 1> const*>(a.values + segment.first)),
          from(a.base(segment.block)),
          full(segment.count / 32),
          left(segment.count % 32) {}
    template <class Part>
    KOKKOS_FORCEINLINE_FUNCTION auto columns(Part const& part, std::int32_t step) const {
      return part.columns(from, column.ask(step));
    }
    /// Returns them counted from `step` on.
    KOKKOS_FORCEINLINE_FUNCTION steps_of later(std::int32_t step) const {
      steps_of to = *this;
      to.column = column.from(step);
      to.value = value.from(step);
      return to;
    }
  };

  /// Calls add(lane, entry, fetch(column)) for the entries of a segment: entry j on lane j % 32,
  /// ascending.
  template <class Group, class Fetch, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, row_segment const& segment,
                                        Fetch const& fetch, Add const& add) const {
    std::int32_t const from = base(segment.block);
    group.strided(0, segment.count, [&](int lane, std::int32_t j) {
      std::int64_t const at = segment.first + j;
      add(lane, backend::pack<Value, 1>{values[at]}, fetch(from + std::int32_t(columns[at])));
    });
  }
};

}  // namespace iso::sparse::detail::ISO_SET

#endif
