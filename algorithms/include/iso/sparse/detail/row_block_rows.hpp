// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_ROW_BLOCK_ROWS_HPP
#define ISO_SPARSE_DETAIL_ROW_BLOCK_ROWS_HPP

#include <iso/backend/loads.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/csr_rows.hpp>
#include <iso/sparse/detail/product_lanes.hpp>
#include <iso/sparse/row_block_csr.hpp>

namespace iso::sparse::detail {

KOKKOS_INLINE_FUNCTION std::uint16_t stored_bits(half x) { return x.bits; }
KOKKOS_INLINE_FUNCTION std::uint16_t stored_bits(bfloat16 x) { return x.bits; }
template <real T>
KOKKOS_INLINE_FUNCTION bits_of<T> stored_bits(T x) {
  return Kokkos::bit_cast<bits_of<T>>(x);
}

template <class Bits>
KOKKOS_INLINE_FUNCTION constexpr Bits sign_bit() {
  return Bits(Bits(1) << (8 * sizeof(Bits) - 1));
}

/// The value of a row_block_csr where a row has no entry, negative zero.
inline constexpr std::uint16_t padding = sign_bit<std::uint16_t>();

template <class Value>
KOKKOS_INLINE_FUNCTION bool is_padding(Value x) {
  return stored_bits(x) == sign_bit<decltype(stored_bits(x))>();
}

}  // namespace iso::sparse::detail

#define ISO_SET_HEADER <iso/sparse/detail/row_block_rows.hpp>
#include <iso/backend/for_each_set.hpp>

namespace iso::sparse::detail {

template <class Value, int R, class Space>
auto rows_of(row_block_csr<Value, R, Space> const& a) {
  return row_block_rows<Value, R>{
      a.num_rows(), a.chunk_offsets().data(), a.bases().data(), a.offsets().data(),
      reinterpret_cast<backend::pack<Value, R> const*>(a.values().data())};
}

template <class Value, int R, class Space>
row_starts<1> starts_of(row_block_csr<Value, R, Space> const& a) {
  return row_starts<1>{a.chunk_offsets().data()};
}

template <class Value, int R, class Space>
double const* row_scales_of(row_block_csr<Value, R, Space> const& a) {
  return data_or_null(a.row_scales());
}

template <class Value, int R, class Space>
std::array<memory_range, 5> memory_of_matrix(row_block_csr<Value, R, Space> const& a) {
  return {memory_of(a.chunk_offsets(), "the matrix' chunk offsets"),
          memory_of(a.bases(), "the matrix' bases"), memory_of(a.offsets(), "the matrix' offsets"),
          memory_of(a.values(), "the matrix' values"),
          memory_of(a.row_scales(), "the matrix' row scales")};
}

/// Checks nothing: every row_block_csr is valid.
template <class Value, int R, class Space>
void validate_shape(row_block_csr<Value, R, Space> const&, char const*) {}

}  // namespace iso::sparse::detail

#endif
#else

namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// The row blocks of a row_block_csr, as kernels walk them.
template <class Value, int R>
struct row_block_rows {
  ISO_KERNEL(row_block_rows<Value, R>);

  using value_type = Value;
  static constexpr int rows = R;
  static constexpr bool has_padding = true;

  std::int64_t num_rows;
  std::int64_t const* chunk_offsets;
  std::int32_t const* bases;
  std::uint16_t const* offsets;
  backend::pack<Value, R> const* values;

  KOKKOS_FUNCTION row_segment whole(std::int64_t block) const {
    std::int64_t const first = chunk_offsets[block];
    return {first, std::int32_t(chunk_offsets[block + 1] - first), std::int32_t(block)};
  }

  /// The columns of a segment, a chunk a step; an entry is of all the block's rows.
  template <class Group>
  struct steps_of {
    using lanes = product_lanes<Group>;
    std::int32_t const* KOKKOS_RESTRICT base;
    typename lanes::template stepped_array<std::uint16_t, caching::streaming> offset;
    typename lanes::template stepped_array<backend::pack<Value, R>, caching::streaming> value;
    std::int32_t full;  ///< steps
    static constexpr std::int32_t left = 0;

    KOKKOS_FUNCTION steps_of(Group const& group, row_block_rows const& a,
                             row_segment const& segment)
        : base(a.bases + segment.first),
          offset(group, a.offsets + 32 * segment.first),
          value(group, a.values + 32 * segment.first),
          full(segment.count) {}
    template <class Part>
    KOKKOS_FORCEINLINE_FUNCTION auto columns(Part const& part, std::int32_t step) const {
      return part.columns(backend::vector_load(base + step), offset.ask(step));
    }
    /// Returns them counted from `step` on.
    KOKKOS_FORCEINLINE_FUNCTION steps_of later(std::int32_t step) const {
      steps_of to = *this;
      to.base += step;
      to.offset = offset.from(step);
      to.value = value.from(step);
      return to;
    }
  };

  /// Calls add(lane, entry, fetch(column)) for the columns of a segment: lane l of every chunk on
  /// lane l; the entry is of all the block's rows.
  template <class Group, class Fetch, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, row_segment const& segment,
                                        Fetch const& fetch, Add const& add) const {
    group.strided(0, 32 * segment.count, [&](int lane, std::int32_t j) {
      std::int64_t const at = 32 * segment.first + j;
      add(lane, backend::streaming_load(values + at),
          fetch(bases[segment.first + j / 32] + std::int32_t(offsets[at])));
    });
  }
};

}  // namespace iso::sparse::detail::ISO_SET

#endif
