// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/formats.hpp>
#include <iso/sparse/paired.hpp>

#include <limits>

namespace iso::sparse {
namespace detail {

// Defined in src/sparse for every backend; each fences `exec`.

/// The number of slots of a grouped_view.
template <execution_space Exec, class Column>
std::int64_t launch_count_slots(Exec const& exec, pattern<Column> const& p, int rows,
                                int offset_bits);
/// Largest difference of two columns of a row.
template <execution_space Exec, class Column>
std::int64_t launch_widest_row(Exec const& exec, pattern<Column> const& p);

format_report format_cost(std::int64_t num_rows, std::int64_t entries, int value_bytes, int rows,
                          int offset_bits, std::int64_t slots);
format_report paired_cost(std::int64_t num_rows, std::int64_t entries, paired_counts const& counts);
format_report cheapest(format_report const* formats, int count, processor kind);
void validate_format(int rows, int offset_bits);

}  // namespace detail

template <execution_space Exec>
processor processor_of() {
  if constexpr (backend::is_device<Exec>) {
    return processor::device;
  } else {
    return backend::detail::host_vector_bytes() == 64 ? processor::wide_host : processor::host;
  }
}

template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             int rows, int offset_bits) {
  detail::validate_shape(a, "iso::sparse::measure_format");
  detail::validate_format(rows, offset_bits);
  std::int64_t const slots =
      rows == 1 ? 0 : detail::launch_count_slots(exec, detail::pattern_of(a), rows, offset_bits);
  return detail::format_cost(a.num_rows, a.num_entries(), sizeof(Value), rows, offset_bits, slots);
}

template <execution_space Exec, class Value, column_index Column>
format_report measure_paired(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a) {
  detail::validate_shape(a, "iso::sparse::measure_paired");
  return detail::paired_cost(a.num_rows, a.num_entries(),
                             detail::launch_count_pairs(exec, detail::pattern_of(a)));
}

template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind) {
  format_report formats[9];
  int count = 0;
  formats[count++] = measure_format(exec, a, 1, 32);
  if (sizeof(Value) == 2 && a.num_entries() > 0) {
    constexpr std::int64_t widest = std::numeric_limits<std::uint16_t>::max();
    if (a.num_cols <= widest + 1 ||
        detail::launch_widest_row(exec, detail::pattern_of(a)) <= widest) {
      formats[count++] = measure_format(exec, a, 1, 16);
    }
    for (int const rows : {2, 4, 8}) {
      for (int const bits : {8, 16}) {
        formats[count++] = measure_format(exec, a, rows, bits);
      }
    }
    // Of no use to a host, where reading a value takes longer than finding its place of x.
    if (kind == processor::device) {
      formats[count++] = measure_paired(exec, a);
    }
  }
  return detail::cheapest(formats, count, kind);
}

}  // namespace iso::sparse
