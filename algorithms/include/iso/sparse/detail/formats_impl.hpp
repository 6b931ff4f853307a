// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/device_facts.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/row_block_csr.hpp>

#include <limits>

namespace iso::sparse {
namespace detail {

/// Column chunks, and the sum of the columns that each spans.
struct chunk_counts {
  std::int64_t chunks = 0;
  std::int64_t columns = 0;
  KOKKOS_FUNCTION chunk_counts& operator+=(chunk_counts const& more) {
    chunks += more.chunks;
    columns += more.columns;
    return *this;
  }
};

// Defined in src/sparse for every backend; each fences `exec`.

template <execution_space Exec, class Column>
chunk_counts launch_count_chunks(Exec const& exec, pattern<Column> const& p, int rows);
/// Largest difference of two columns of a row.
template <execution_space Exec, class Column>
std::int64_t launch_widest_row(Exec const& exec, pattern<Column> const& p);

format_report format_cost(std::int64_t num_rows, std::int64_t entries, int value_bytes,
                          matrix_format format, chunk_counts const& counts);
format_report cheapest(format_report const* formats, int count, processor kind);

}  // namespace detail

template <execution_space Exec>
processor processor_of() {
  if constexpr (backend::is_device<Exec>) {
    return processor::device;
  } else {
    return backend::facts(Exec()).vector_bytes == 64 ? processor::avx512_host : processor::host;
  }
}

template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             matrix_format format) {
  detail::validate_shape(a, "iso::sparse::measure_format");
  int const rows = format_report{.format = format}.rows();
  ISO_VALIDATE(
      rows == 1 || sizeof(Value) == 2,
      "iso::sparse::measure_format: {} of values of {} bytes (row blocks are for values of "
      "16 bits) convert them",
      to_string(format), sizeof(Value));
  auto const counts = rows == 1 ? detail::chunk_counts()
                                : detail::launch_count_chunks(exec, detail::pattern_of(a), rows);
  return detail::format_cost(a.num_rows, a.num_entries(), sizeof(Value), format, counts);
}

template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind) {
  format_report formats[4];
  int count = 0;
  formats[count++] = measure_format(exec, a, matrix_format::csr32);
  if (sizeof(Value) == 2 && a.num_entries() > 0) {
    constexpr std::int64_t widest = std::numeric_limits<std::uint16_t>::max();
    if (a.num_cols <= widest + 1 ||
        detail::launch_widest_row(exec, detail::pattern_of(a)) <= widest) {
      formats[count++] = measure_format(exec, a, matrix_format::csr16);
    }
    formats[count++] = measure_format(exec, a, matrix_format::row_block4);
    formats[count++] = measure_format(exec, a, matrix_format::row_block8);
  }
  return detail::cheapest(formats, count, kind);
}

}  // namespace iso::sparse
