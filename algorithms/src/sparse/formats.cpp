// SPDX-License-Identifier: BSD-3-Clause
#include "merge_rows.hpp"

#include <iso/sparse/formats.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace iso::sparse::detail {
namespace {

template <int R, class Rows>
struct chunk_summer {
  Rows p;
  KOKKOS_FUNCTION void operator()(std::int64_t block, std::int64_t& chunks,
                                  std::int64_t& columns) const {
    chunk_counts const more = chunks_of<R>(p, block);
    chunks += more.chunks;
    columns += more.columns;
  }
};

template <int R, class Exec, class Matrix>
chunk_counts count_chunks(Exec const& exec, Matrix const& a, job const& control) {
  auto const p = rows_of_bits(a);
  chunk_counts total{};
  iso::detail::in_timed_batches(
      exec, (a.num_rows + R - 1) / R, control, [&](std::int64_t first, std::int64_t last) {
        chunk_counts some{};
        Kokkos::parallel_reduce("iso::sparse::measure_format", range<Exec>(exec, first, last),
                                chunk_summer<R, std::remove_const_t<decltype(p)>>{p}, some.chunks,
                                some.columns);
        exec.fence("iso::sparse::measure_format: the number is here");
        total.chunks += some.chunks;
        total.columns += some.columns;
      });
  return total;
}

format_report format_cost(std::int64_t num_rows, std::int64_t entries, int value_bytes,
                          matrix_format format, chunk_counts const& counts) {
  format_report f{.format = format, .chunks = counts.chunks};
  auto const number = double(std::max<std::int64_t>(entries, 1));
  int const rows = f.rows();
  double const offsets = 8.0 * (double(num_rows) / rows + 1);
  if (rows == 1) {
    bool const narrow = format == matrix_format::csr16;
    double const bases = narrow ? 4.0 * double(num_rows) : 0;
    f.bytes_per_entry =
        (double(entries) * (value_bytes + (narrow ? 2 : 4)) + offsets + bases) / number;
    return f;
  }
  auto const chunks = double(counts.chunks);
  f.bytes_per_entry = (32 * chunks * (value_bytes * rows + 2) + 4 * chunks + offsets) / number;
  f.fill = double(entries) / (32 * chunks * rows);
  f.reads_per_entry = 32 * chunks / number;
  f.columns_per_chunk = double(counts.columns) / chunks;
  return f;
}

format_report cheapest(std::vector<format_report> const& formats, processor kind) {
  // Reads of x that lie further apart leave the first cache, and blocks wait longer than rows do.
  constexpr double max_columns = 1024;
  format_report best = formats[0];
  double least = product_cost(best, kind);
  for (format_report const& format : formats) {
    double const cost = product_cost(format, kind);
    bool const leaves_csr = best.rows() == 1 && format.rows() > 1;
    bool const takes_ties = kind == processor::avx512_host && format.format == matrix_format::csr16;
    bool const scattered = kind == processor::host && format.columns_per_chunk > max_columns;
    if ((cost < (leaves_csr ? 0.9 : 1.0) * least || (takes_ties && cost == least)) && !scattered) {
      best = format;
      least = cost;
    }
  }
  return best;
}

void validate_format(char const* function, matrix_format format) {
  validate_choice(function, "format", format, matrix_format::row_block8, "matrix_format");
}

void validate_kind(char const* function, processor kind) {
  validate_choice(function, "kind", kind, processor::device, "processor");
}

}  // namespace
}  // namespace iso::sparse::detail

namespace iso::sparse {

std::string_view to_string(matrix_format format) {
  detail::validate_format("iso::sparse::to_string", format);
  return to_word(format);
}

double product_cost(format_report const& format, processor kind) {
  detail::validate_format("iso::sparse::product_cost", format.format);
  detail::validate_kind("iso::sparse::product_cost", kind);
  if (kind == processor::device) {
    // They take as long as one read of x by a lane on an H200, and each hides most of the other.
    constexpr double bytes_of_read = 6.3;
    auto const square = [](double x) { return x * x; };
    double const bytes = square(square(format.bytes_per_entry));
    double const reads = square(square(bytes_of_read * format.reads_per_entry));
    return std::sqrt(std::sqrt(bytes + reads));
  }
  // A value's time over that of finding and reading its x: the most that one thread took
  // (perf/sparse/choice.py). Bases cost vectors more than their bytes save.
  bool const avx512 = kind == processor::avx512_host;
  double const value = avx512 ? 0.6 : 1.95;
  double const narrow = avx512 ? 1.0 : 1.3;
  return (1 + value * format.rows()) * format.reads_per_entry *
         (format.format == matrix_format::csr16 ? narrow : 1.0);
}

template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             matrix_format format, job const& control) {
  detail::validate_format("iso::sparse::measure_format", format);
  detail::validate_shape(a, "iso::sparse::measure_format");
  detail::chunk_counts counts{};
  if (int const rows = format_report{.format = format}.rows(); rows > 1) {
    ISO_VALIDATE(sizeof(Value) == 2,
                 "iso::sparse::measure_format: {} of values of {} bytes (row blocks are for values "
                 "of 16 bits); convert the values to half",
                 to_string(format), sizeof(Value));
    if constexpr (sizeof(Value) == 2) {
      auto const b = a.as_const();
      counts = rows == 4 ? detail::count_chunks<4>(exec, b, control)
                         : detail::count_chunks<8>(exec, b, control);
    }
  }
  return detail::format_cost(a.num_rows, a.num_entries(), sizeof(Value), format, counts);
}

template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind, job const& control) {
  detail::validate_kind("iso::sparse::choose_format", kind);
  std::vector<format_report> formats{measure_format(exec, a, matrix_format::csr32)};
  if (sizeof(Value) == 2 && a.num_entries() > 0) {
    if (a.num_cols <= 65536 ||
        validate(exec, a, {}, iso::detail::part_of(control, 0, 0.4)).wide_rows == 0) {
      formats.push_back(measure_format(exec, a, matrix_format::csr16));
    }
    formats.push_back(measure_format(exec, a, matrix_format::row_block4,
                                     iso::detail::part_of(control, 0.4, 0.7)));
    formats.push_back(
        measure_format(exec, a, matrix_format::row_block8, iso::detail::part_of(control, 0.7, 1)));
  }
  return detail::cheapest(formats, kind);
}

#define ISO_SPARSE_FORMATS(Exec, Value, Column)                                     \
  template format_report measure_format<Exec, Value, Column>(                       \
      Exec const&, ISO_CSR(Exec, Value, Column) const&, matrix_format, job const&); \
  template format_report choose_format<Exec, Value, Column>(                        \
      Exec const&, ISO_CSR(Exec, Value, Column) const&, processor, job const&);
ISO_FOR_EACH_CSR(ISO_SPARSE_FORMATS)

}  // namespace iso::sparse
