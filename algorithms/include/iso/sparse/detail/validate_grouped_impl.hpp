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
/// The same two of the pairs of a paired matrix whose shared part is sound; `shape` is of the
/// pairs. The first takes a list that goes on behind a slot without columns for unsound.
template <execution_space Exec>
bool survey_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                  grouped_shape const& shape, std::uint16_t infinite);
/// Whether no column of sound pairs is one that their group shares.
template <execution_space Exec>
bool survey_twice(Exec const& exec, paired_arrays const& a, grouped_shape const& shape);
template <execution_space Exec>
void inspect_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                   grouped_shape const& shape, std::uint16_t infinite,
                   csr_demands::of_values values, grouped_report& report);

/// Of slots of `rows` rows, be they a grouped_view's or the pairs of a paired_view.
template <class Matrix>
grouped_shape shape_of(Matrix const& a, int rows, std::int64_t entries) {
  using memory = grouped_shape::memory;
  auto const null = [](auto const& v) { return v.extent(0) > 0 && v.data() == nullptr; };
  bool const is_null = null(a.slot_offsets) || null(a.bases) || null(a.offsets) || null(a.values) ||
                       null(a.row_scales);
  auto const at_once = std::uintptr_t(rows) * sizeof(typename Matrix::value_type);
  bool const aligned = reinterpret_cast<std::uintptr_t>(a.values.data()) % at_once == 0;
  return {a.num_rows,
          a.num_cols,
          entries,
          std::int64_t(a.bases.extent(0)),
          std::int64_t(a.slot_offsets.extent(0)),
          std::int64_t(a.offsets.extent(0)),
          std::int64_t(a.values.extent(0)),
          std::int64_t(a.row_scales.extent(0)),
          rows,
          is_null ? memory::null : (aligned ? memory::good : memory::unaligned)};
}

template <class Value>
std::uint16_t infinite_bits() {
  return stored_bits(std::remove_const_t<Value>(std::numeric_limits<double>::infinity()));
}

}  // namespace detail

template <execution_space Exec, class Value, slot_offset Offset, int R>
grouped_report validate(Exec const& exec,
                        grouped_view<Value, Offset, R, typename Exec::memory_space> const& a,
                        csr_demands::of_values values) {
  auto const shape = detail::shape_of(a, R, a.entries);
  auto report = detail::lengths_report(shape);
  if (!report.sound()) {
    return report;
  }
  auto const arrays = detail::arrays_of(a);
  auto const* const scales = detail::data_or_null(a.row_scales);
  std::uint16_t const infinite = detail::infinite_bits<Value>();
  if (detail::survey_slots<Exec, Offset>(exec, arrays, scales, shape, infinite)) {
    report.entries = a.entries;
    return report;
  }
  detail::inspect_groups<Exec, Offset>(exec, arrays, scales, shape, infinite, values, report);
  return report;
}

template <execution_space Exec, class Value>
grouped_report validate(Exec const& exec, paired_view<Value, typename Exec::memory_space> const& a,
                        csr_demands::of_values values) {
  auto whole = detail::lengths_report(detail::shape_of(a, 8, a.entries));
  if (!whole.sound()) {
    whole.in_pairs = true;
    return whole;
  }
  auto const& s = a.shared;
  std::int64_t const disagreeing[][2] = {{s.num_rows, a.num_rows}, {s.num_cols, a.num_cols}};
  grouped_report report;
  for (auto const& pair : disagreeing) {
    if (pair[0] != pair[1]) {
      report.found = fault::shared_disagrees;
      report.value = pair[0];
      report.limit = pair[1];
      return report;
    }
  }
  if (s.entries > a.entries || s.row_scales.extent(0) > 0) {
    report.found = fault::shared_disagrees;
    report.value = s.entries > a.entries ? s.entries : std::int64_t(s.row_scales.extent(0));
    report.limit = s.entries > a.entries ? a.entries : 0;
    return report;
  }
  report = validate(exec, s, values);
  if (!report.sound()) {
    report.in_shared = true;
    return report;
  }
  std::int64_t const shared_entries = report.entries;
  std::int64_t const shared_not_finite = report.not_finite;
  report.not_finite = 0;
  auto const shape = detail::shape_of(a, 8, a.entries - shared_entries);
  report.entries = shape.entries;
  auto const arrays = detail::arrays_of(a);
  auto const* const scales = detail::data_or_null(a.row_scales);
  std::uint16_t const infinite = detail::infinite_bits<Value>();
  if (!detail::survey_pairs(exec, arrays, scales, shape, infinite) ||
      !detail::survey_twice(exec, arrays, shape)) {
    detail::inspect_pairs(exec, arrays, scales, shape, infinite, values, report);
  }
  report.entries += shared_entries;
  report.not_finite += shared_not_finite;
  if (report.found == fault::entries_disagree) {
    report.value += shared_entries;
    report.limit += shared_entries;
  }
  report.in_pairs = report.in_pairs && !report.sound();
  return report;
}

}  // namespace iso::sparse
