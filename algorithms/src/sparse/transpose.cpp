// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/sparse/convert.hpp>

namespace iso::sparse::detail {
namespace {

/// The rows of a part: those whose first entry lies in its share of the entries.
struct part_rows {
  std::int64_t rows;
  std::int64_t entries;
  std::int64_t parts;
  std::int64_t const* offsets;

  /// The first row whose entries begin at or after `entry`.
  KOKKOS_FUNCTION std::int64_t row_at(std::int64_t entry) const {
    std::int64_t low = 0;
    std::int64_t high = rows;
    while (low < high) {
      std::int64_t const middle = (low + high) / 2;
      if (offsets[middle] < entry) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  KOKKOS_FUNCTION std::int64_t begin(std::int64_t part) const {
    return part == parts ? rows : row_at(entries / parts * part);
  }
};

/// f(row, entry, column) for all entries of a part, in order.
template <class Column, class F>
KOKKOS_FUNCTION void each_of_part(part_rows const& p, std::int64_t part, Column const* columns,
                                  std::int32_t const* bases, F const& f) {
  std::int64_t const end = p.begin(part + 1);
  for (std::int64_t row = p.begin(part); row < end; ++row) {
    std::int64_t const base = bases != nullptr ? bases[row] : 0;
    for (std::int64_t i = p.offsets[row]; i < p.offsets[row + 1]; ++i) {
      f(row, i, base + std::int64_t(columns[i]));
    }
  }
}

template <class Column>
struct count_columns {
  part_rows p;
  std::int64_t cols;
  Column const* columns;
  std::int32_t const* bases;
  std::int32_t* counts;

  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    std::int32_t* const count = counts + part * cols;
    each_of_part(p, part, columns, bases,
                 [&](std::int64_t, std::int64_t, std::int64_t column) { ++count[column]; });
  }
};

/// Counts of the parts become places within the column.
struct place_parts {
  std::int64_t cols;
  std::int64_t parts;
  std::int32_t* counts;
  std::int64_t* to_offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t column) const {
    std::int32_t place = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      std::int32_t& count = counts[part * cols + column];
      std::int32_t const next = place + count;
      count = place;
      place = next;
    }
    to_offsets[column + 1] = place;
  }
};

template <class Column, class Bits>
struct move_entries {
  part_rows p;
  std::int64_t cols;
  Column const* columns;
  std::int32_t const* bases;
  Bits const* values;
  std::int32_t* counts;
  std::int64_t const* to_offsets;
  std::int32_t* to_columns;
  Bits* to_values;

  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    std::int32_t* const place = counts + part * cols;
    each_of_part(p, part, columns, bases,
                 [&](std::int64_t row, std::int64_t i, std::int64_t column) {
                   std::int64_t const to = to_offsets[column] + place[column]++;
                   to_columns[to] = std::int32_t(row);
                   to_values[to] = values[i];
                 });
  }
};

}  // namespace

template <execution_space Exec, class Column, class Bits>
void launch_transpose(Exec const& exec, std::int64_t rows, std::int64_t cols, std::int64_t entries,
                      std::int64_t const* offsets, Column const* columns, std::int32_t const* bases,
                      Bits const* values, transpose_parts const& parts, std::int64_t* to_offsets,
                      std::int32_t* to_columns, Bits* to_values) {
  part_rows const p{rows, entries, parts.parts, offsets};
  Kokkos::parallel_for("iso::sparse::transpose: count", range<Exec>(exec, 0, parts.parts),
                       count_columns<Column>{p, cols, columns, bases, parts.counts});
  Kokkos::parallel_for("iso::sparse::transpose: places", range<Exec>(exec, 0, cols),
                       place_parts{cols, parts.parts, parts.counts, to_offsets});
  Kokkos::parallel_scan("iso::sparse::transpose: offsets", range<Exec>(exec, 0, cols),
                        running_total{to_offsets});
  Kokkos::parallel_for("iso::sparse::transpose: entries", range<Exec>(exec, 0, parts.parts),
                       move_entries<Column, Bits>{p, cols, columns, bases, values, parts.counts,
                                                  to_offsets, to_columns, to_values});
}

#define ISO_INSTANTIATE_BOTH(Exec, Bits, Column)                                                 \
  template void launch_transpose<Exec, Column, Bits>(                                            \
      Exec const&, std::int64_t, std::int64_t, std::int64_t, std::int64_t const*, Column const*, \
      std::int32_t const*, Bits const*, transpose_parts const&, std::int64_t*, std::int32_t*,    \
      Bits*);
#define ISO_INSTANTIATE(Exec)                                    \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_BOTH, Exec, std::uint16_t) \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_BOTH, Exec, std::uint32_t) \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_BOTH, Exec, std::uint64_t)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_BOTH
#undef ISO_INSTANTIATE

}  // namespace iso::sparse::detail
