// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/row_segment.hpp>

#include <type_traits>

namespace iso::sparse::detail {

/// What stands in one column of `R` neighbouring rows; read at once.
template <class Value, int R>
struct alignas(R * sizeof(Value) > 16 ? 16 : R * sizeof(Value)) entry {
  Value row[R];
};

template <class Value>
inline constexpr backend::detail::narrow narrow_kind =
    std::is_same_v<Value, half> ? backend::detail::narrow::half : backend::detail::narrow::bfloat16;

/// add(lane, entry_at(step, lane), fetch(columns_at(step)(lane))) for the steps [0, count). Where a
/// group waits for memory, `Ahead` steps are under way: what fetch brings is asked for first, then
/// the columns and entries of later steps, and only then is it used.
template <int Ahead, class Group, class Columns, class Entry, class Fetch, class Add>
KOKKOS_FORCEINLINE_FUNCTION void each_step(Group const& group, std::int32_t count,
                                           Columns const& columns_at, Entry const& entry_at,
                                           Fetch const& fetch, Add const& add) {
  std::int32_t step = 0;
  if constexpr (Ahead > 0) {
    if (count >= Ahead) {
      typename Group::template per_lane<decltype(columns_at(0)(0))> column[Ahead];
      typename Group::template per_lane<decltype(entry_at(0, 0))> entry[Ahead];
      typename Group::template per_lane<decltype(fetch(columns_at(0)(0)))> fetched[Ahead];
      backend::unrolled<Ahead>([&](auto u) {
        auto const columns = columns_at(u);
        group.each([&](int lane) {
          column[u][lane] = columns(lane);
          entry[u][lane] = entry_at(u, lane);
        });
      });
      auto const fetch_all = [&] {
        backend::unrolled<Ahead>([&](auto u) {
          group.each([&](int lane) { fetched[u][lane] = fetch(column[u][lane]); });
        });
      };
      for (step = Ahead; step + Ahead <= count; step += Ahead) {
        fetch_all();
        backend::unrolled<Ahead>([&](auto u) {
          auto const columns = columns_at(step + u);
          group.each([&](int lane) { column[u][lane] = columns(lane); });
        });
        backend::unrolled<Ahead>([&](auto u) {
          group.each([&](int lane) {
            add(lane, entry[u][lane], fetched[u][lane]);
            entry[u][lane] = entry_at(step + u, lane);
          });
        });
      }
      fetch_all();
      backend::unrolled<Ahead>([&](auto u) {
        group.each([&](int lane) { add(lane, entry[u][lane], fetched[u][lane]); });
      });
    }
  }
  for (; step < count; ++step) {
    auto const columns = columns_at(step);
    group.each([&](int lane) { add(lane, entry_at(step, lane), fetch(columns(lane))); });
  }
}

/// The rows of a csr_view, as kernels walk them: one row a group of lanes.
template <class Value, class Column>
struct csr_rows {
  using value_type = Value;
  static constexpr int rows = 1;
  /// Every entry that is walked is one of the matrix.
  static constexpr bool has_padding = false;
  static constexpr bool relative = std::is_same_v<Column, std::uint16_t>;

  /// Whether the host's products by hand may be used.
  static constexpr bool has_products = sizeof(Value) == 2;

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
  /// Steps of 32 lanes that a segment takes.
  KOKKOS_FUNCTION static std::int64_t steps(row_segment const& segment) {
    return (std::int64_t(segment.count) + 31) / 32;
  }
  /// The steps of a segment from `step` on, at most part_steps.
  KOKKOS_FUNCTION static row_segment part(row_segment const& segment, std::int32_t step) {
    return segment.from(32 * step, 32 * part_steps);
  }

  /// The sums of a segment for K vectors, by hand: from origins[k], all lanes.
  template <backend::detail::lane_sums Sums, int K>
  backend::detail::host_group_sums<double, K> products(row_segment const& segment, double const* x,
                                                       double const* origins) const {
    backend::detail::host_group_sums<double, K> found;
    backend::detail::row_products<narrow_kind<Value>, Sums, K>(
        x + std::int64_t(K) * base(segment.block), columns + segment.first,
        reinterpret_cast<std::uint16_t const*>(values + segment.first), segment.count, origins,
        found.value);
    return found;
  }

  /// add(lane, entry, fetch(column)) for the entries of a segment: entry j on lane j % 32,
  /// ascending. `Ahead` as in each_step.
  template <int Ahead, class Group, class Fetch, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, row_segment const& segment,
                                        Fetch const& fetch, Add const& add) const {
    std::int32_t const from = base(segment.block);
    // Rows begin anywhere: a step's ends share their sectors with its neighbours, by way of the
    // level-1 cache.
    typename Group::template in_turns<Column> const column(group, columns + segment.first);
    typename Group::template in_turns<Value> const value(group, values + segment.first);
    auto const columns_at = [&](std::int32_t step) {
      return [=, &column](int lane) { return from + std::int32_t(*column.at(step, lane)); };
    };
    auto const entry_at = [&](std::int32_t step, int lane) {
      return entry<Value, 1>{*value.at(step, lane)};
    };
    std::int32_t const full = segment.count / 32;
    each_step<Ahead>(group, full, columns_at, entry_at, fetch, add);
    group.each_below(segment.count - 32 * full, [&](int lane) {
      add(lane, entry_at(full, lane), fetch(columns_at(full)(lane)));
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
  return csr_rows<std::remove_const_t<Value>, Column>{a.num_rows, a.row_offsets.data(),
                                                      a.columns.data(), a.values.data(),
                                                      data_or_null(a.row_bases)};
}

template <class Value, class Column, class Space>
double const* row_scales_of(csr_view<Value, Column, Space> const& a) {
  return data_or_null(a.row_scales);
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
