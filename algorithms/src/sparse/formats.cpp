// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/sparse/formats.hpp>

#include <algorithm>
#include <cmath>

namespace iso::sparse::detail {
namespace {

template <class Column>
struct width_kernel {
  pattern<Column> p;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& most) const {
    std::int64_t const first = p.row_offsets[row];
    std::int64_t const end = p.row_offsets[row + 1];
    if (end > first) {
      std::int64_t const width = std::int64_t(p.columns[end - 1]) - p.columns[first];
      most = width > most ? width : most;
    }
  }
};

}  // namespace

template <execution_space Exec, class Column>
std::int64_t launch_widest_row(Exec const& exec, pattern<Column> const& p) {
  std::int64_t widest = 0;
  Kokkos::parallel_reduce("iso::sparse::choose_format: widths", range<Exec>(exec, 0, p.num_rows),
                          width_kernel<Column>{p}, Kokkos::Max<std::int64_t>(widest));
  exec.fence("iso::sparse::choose_format: the width is here");
  return widest > 0 ? widest : 0;
}

#define ISO_INSTANTIATE_COLUMN(Exec, Column) \
  template std::int64_t launch_widest_row<Exec, Column>(Exec const&, pattern<Column> const&);
#define ISO_INSTANTIATE(Exec) ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_COLUMN, Exec)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE

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

format_report cheapest(format_report const* formats, int count, processor kind) {
  constexpr double most_columns = 1024;
  format_report best = formats[0];
  double least = product_cost(best, kind);
  for (int n = 1; n < count; ++n) {
    double const cost = product_cost(formats[n], kind);
    bool const leaves_csr = best.rows() == 1 && formats[n].rows() > 1;
    bool const takes_ties =
        kind == processor::avx512_host && formats[n].format == matrix_format::csr16;
    bool const scattered = kind == processor::host && formats[n].columns_per_chunk > most_columns;
    if ((cost < (leaves_csr ? 0.9 : 1.0) * least || (takes_ties && cost == least)) && !scattered) {
      best = formats[n];
      least = cost;
    }
  }
  return best;
}

}  // namespace iso::sparse::detail

namespace iso::sparse {

std::string_view to_string(matrix_format format) {
  constexpr std::string_view names[] = {"csr32", "csr16", "row_block4", "row_block8"};
  return names[int(format)];
}

double product_cost(format_report const& format, processor kind) {
  if (kind == processor::device) {
    constexpr double bytes_of_read = 6.3;
    auto const square = [](double x) { return x * x; };
    double const bytes = square(square(format.bytes_per_entry));
    double const reads = square(square(bytes_of_read * format.reads_per_entry));
    return std::sqrt(std::sqrt(bytes + reads));
  }
  bool const avx512 = kind == processor::avx512_host;
  double const value = avx512 ? 0.6 : 1.95;
  double const narrow = avx512 ? 1.0 : 1.3;
  return (1 + value * format.rows()) * format.reads_per_entry *
         (format.format == matrix_format::csr16 ? narrow : 1.0);
}

}  // namespace iso::sparse
