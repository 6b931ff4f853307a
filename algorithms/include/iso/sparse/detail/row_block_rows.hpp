// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/read_once.hpp>
#include <iso/sparse/detail/csr_rows.hpp>
#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/row_block_csr.hpp>

namespace iso::sparse::detail {

/// The row blocks of a row_block_csr, as kernels walk them.
template <class Value, int R>
struct row_block_rows {
  using value_type = Value;
  static constexpr int rows = R;
  static constexpr bool has_padding = true;

  /// Whether the host's products by hand may be used.
  static constexpr bool has_products = true;

  std::int64_t num_rows;
  std::int64_t const* chunk_offsets;
  std::int32_t const* bases;
  std::uint16_t const* offsets;
  entry<Value, R> const* values;

  KOKKOS_FUNCTION row_segment whole(std::int64_t block) const {
    std::int64_t const first = chunk_offsets[block];
    return {first, std::int32_t(chunk_offsets[block + 1] - first), std::int32_t(block)};
  }
  /// Steps of 32 lanes that a segment takes.
  KOKKOS_FUNCTION static std::int64_t steps(row_segment const& segment) { return segment.count; }
  /// The steps of a segment from `step` on, at most part_steps.
  KOKKOS_FUNCTION static row_segment part(row_segment const& segment, std::int32_t step) {
    return segment.from(step, part_steps);
  }

  /// The sums of a segment's rows for K vectors, by hand: (r, k) from origins[r K + k], all lanes.
  template <backend::detail::lane_sums Sums, int K>
  backend::detail::host_group_sums<double, R * K> products(row_segment const& segment,
                                                           double const* x,
                                                           double const* origins) const {
    backend::detail::host_group_sums<double, R * K> found;
    backend::detail::chunk_products<narrow_kind<Value>, Sums, R, K>(
        x, bases + segment.first, offsets + 32 * segment.first,
        reinterpret_cast<std::uint16_t const*>(values + 32 * segment.first), segment.count, origins,
        found.value);
    return found;
  }

  /// add(lane, entry, fetch(column)) for the columns of a segment: lane l of every chunk on lane l;
  /// the entry is of all the block's rows. `Ahead` as in each_step.
  template <int Ahead, class Group, class Fetch, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, row_segment const& segment,
                                        Fetch const& fetch, Add const& add) const {
    std::int32_t const* KOKKOS_RESTRICT const base = bases + segment.first;
    typename Group::template in_turns<std::uint16_t> const offset(group,
                                                                  offsets + 32 * segment.first);
    typename Group::template in_turns<entry<Value, R>> const value(group,
                                                                   values + 32 * segment.first);
    auto const columns_at = [&](std::int32_t chunk) {
      return [=, &offset, from = backend::read_whole(base + chunk)](int lane) {
        return from + std::int32_t(backend::read_once(offset.at(chunk, lane)));
      };
    };
    auto const entry_at = [&](std::int32_t chunk, int lane) {
      return backend::kept_once(value.at(chunk, lane));
    };
    auto const add_kept = [&](int lane, auto const& kept, auto const& fetched) {
      add(lane, kept.get(), fetched);
    };
    each_step<Ahead>(group, segment.count, columns_at, entry_at, fetch, add_kept);
  }
};

template <class Value, int R, class Space>
auto rows_of(row_block_csr<Value, R, Space> const& a) {
  return row_block_rows<Value, R>{a.num_rows(), a.chunk_offsets().data(), a.bases().data(),
                                  a.offsets().data(),
                                  reinterpret_cast<entry<Value, R> const*>(a.values().data())};
}

template <class Value, int R, class Space>
double const* row_scales_of(row_block_csr<Value, R, Space> const& a) {
  return data_or_null(a.row_scales());
}

/// Nothing to check: every row_block_csr is valid.
template <class Value, int R, class Space>
void validate_shape(row_block_csr<Value, R, Space> const&, char const*) {}

}  // namespace iso::sparse::detail
