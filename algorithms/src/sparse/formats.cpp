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

void validate_format(int rows, int offset_bits) {
  bool const grouped =
      (rows == 2 || rows == 4 || rows == 8) && (offset_bits == 8 || offset_bits == 16);
  ISO_VALIDATE(
      (rows == 1 && (offset_bits == 16 || offset_bits == 32)) || grouped,
      "iso::sparse::measure_format: {} rows a group, offsets of {} bits (2, 4 or 8 rows go "
      "with 8 or 16 bits, 1 with 16 or 32)",
      rows, offset_bits);
}

format_report format_cost(std::int64_t num_rows, std::int64_t entries, int value_bytes, int rows,
                          int offset_bits, std::int64_t slots) {
  format_report f{.rows = rows, .offset_bits = offset_bits, .slots = slots};
  auto const number = double(std::max<std::int64_t>(entries, 1));
  double const offsets = 8.0 * (double(num_rows) / rows + 1);
  if (rows == 1) {
    double const bases = offset_bits == 16 ? 4.0 * double(num_rows) : 0;
    f.bytes_per_entry =
        (double(entries) * (value_bytes + offset_bits / 8.0) + offsets + bases) / number;
  } else {
    double const places = 32.0 * double(slots);
    std::size_t const base =
        offset_bits == 8 ? sizeof(slot_base<std::uint8_t>) : sizeof(slot_base<std::uint16_t>);
    f.bytes_per_entry = (places * (value_bytes * rows + offset_bits / 8.0) +
                         double(slots) * double(base) + offsets) /
                        number;
    f.fill = double(entries) / (places * rows);
    f.reads_per_entry = places / number;
  }
  return f;
}

format_report paired_cost(std::int64_t num_rows, std::int64_t entries,
                          paired_counts const& counts) {
  format_report f{
      .rows = 8, .offset_bits = 16, .paired = true, .slots = counts.shared + counts.pairs};
  auto const number = double(std::max<std::int64_t>(entries, 1));
  double const places = 32.0 * double(f.slots);
  double const pairs = 32.0 * double(counts.pairs);
  f.bytes_per_entry = (places * (16 + 2) + pairs * 2 + 4.0 * double(f.slots + counts.pairs) +
                       2 * 8.0 * (double(num_rows) / 8 + 1)) /
                      number;
  f.fill = double(entries) / (places * 8);
  f.reads_per_entry = (places + pairs) / number;
  return f;
}

format_report cheapest(format_report const* formats, int count, processor kind) {
  format_report best = formats[0];
  double least = product_cost(best, kind);
  for (int n = 1; n < count; ++n) {
    double const cost = product_cost(formats[n], kind);
    bool const leaves_csr = best.rows == 1 && formats[n].rows > 1;
    // The same rows with 8-bit offsets stand before those with 16 bits.
    bool const scattered =
        formats[n].offset_bits == 16 && formats[n - 1].slots > 2 * formats[n].slots;
    if (cost < (leaves_csr ? 0.9 : 1.0) * least && !(kind == processor::host && scattered)) {
      best = formats[n];
      least = cost;
    }
  }
  return best;
}

}  // namespace iso::sparse::detail

namespace iso::sparse {

double product_cost(format_report const& format, processor kind) {
  if (kind == processor::device) {
    constexpr double bytes_of_read = 6.3;
    constexpr double jumps = 1.06;
    constexpr double pairs = 1.04;
    auto const square = [](double x) { return x * x; };
    double const bytes = square(square(format.bytes_per_entry));
    double const reads = square(square(bytes_of_read * format.reads_per_entry));
    return std::sqrt(std::sqrt(bytes + reads)) * (format.offset_bits == 8 ? jumps
                                                  : format.paired         ? pairs
                                                                          : 1.0);
  }
  bool const narrow_csr = format.rows == 1 && format.offset_bits == 16;
  bool const wide = kind == processor::wide_host;
  double const reads_of_value = wide ? 0.6 : 1.95;
  double const jumps = wide ? 1.3 : 1.4;
  double const bases = wide ? 1.0 : 1.3;
  return (1 + reads_of_value * format.rows) * format.reads_per_entry *
         (format.offset_bits == 8 ? jumps
          : narrow_csr            ? bases
                                  : 1.0);
}

}  // namespace iso::sparse
