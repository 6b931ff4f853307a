// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/validate_grouped.hpp>

namespace iso::sparse {
namespace detail {

/// Of a grouped_view, what can be said without reading an array.
struct grouped_shape {
  std::int64_t num_rows;
  std::int64_t num_cols;
  std::int64_t entries;
  std::int64_t slots;
  std::int64_t slot_offsets;
  std::int64_t offsets;
  std::int64_t values;
  std::int64_t scales;
  int rows;
  enum class memory { good, null, unaligned } kept;

  [[nodiscard]] std::int64_t num_groups() const { return (num_rows + rows - 1) / rows; }
};
grouped_report lengths_report(grouped_shape const& shape);

/// Columns from the base of a slot to a place; below 2^28.
template <class Offset>
KOKKOS_FORCEINLINE_FUNCTION std::int32_t distance(slot_base<Offset> base, int place,
                                                  Offset offset) {
  base.first = 0;
  return base.column(place, offset);
}

// Defined in src/sparse for every backend; `infinite` is the pattern of an infinite value. Both
// fence `exec`.

/// Whether a matrix is sound, its values finite and its entries as many as it says, found at the
/// speed of reading it once.
template <execution_space Exec, class Offset>
bool survey_slots(Exec const& exec, grouped_arrays<Offset> const& a, double const* row_scales,
                  grouped_shape const& shape, std::uint16_t infinite);
/// What is wrong, and where.
template <execution_space Exec, class Offset>
void inspect_groups(Exec const& exec, grouped_arrays<Offset> const& a, double const* row_scales,
                    grouped_shape const& shape, std::uint16_t infinite,
                    csr_demands::of_values values, grouped_report& report);

}  // namespace detail

template <execution_space Exec, class Value, slot_offset Offset, int R>
grouped_report validate(Exec const& exec,
                        grouped_view<Value, Offset, R, typename Exec::memory_space> const& a,
                        csr_demands::of_values values) {
  using memory = detail::grouped_shape::memory;
  using plain = std::remove_const_t<Value>;
  auto const null = [](auto const& v) { return v.extent(0) > 0 && v.data() == nullptr; };
  bool const aligned =
      reinterpret_cast<std::uintptr_t>(a.values.data()) % alignof(detail::entry<plain, R>) == 0;
  detail::grouped_shape const shape{a.num_rows,
                                    a.num_cols,
                                    a.entries,
                                    a.num_slots(),
                                    std::int64_t(a.slot_offsets.extent(0)),
                                    std::int64_t(a.offsets.extent(0)),
                                    std::int64_t(a.values.extent(0)),
                                    std::int64_t(a.row_scales.extent(0)),
                                    R,
                                    null(a.slot_offsets) || null(a.bases) || null(a.offsets) ||
                                            null(a.values) || null(a.row_scales)
                                        ? memory::null
                                        : (aligned ? memory::good : memory::unaligned)};
  auto report = detail::lengths_report(shape);
  if (!report.sound()) {
    return report;
  }
  auto const arrays = detail::arrays_of(a);
  auto const* const scales = detail::data_or_null(a.row_scales);
  auto const infinite = detail::stored_bits(plain(std::numeric_limits<double>::infinity()));
  if (detail::survey_slots<Exec, Offset>(exec, arrays, scales, shape, infinite)) {
    report.entries = a.entries;
    return report;
  }
  detail::inspect_groups<Exec, Offset>(exec, arrays, scales, shape, infinite, values, report);
  return report;
}

}  // namespace iso::sparse
