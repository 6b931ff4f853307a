// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <iso/sparse/convert.hpp>
#include <iso/sparse/validate.hpp>

#include <algorithm>
#include <type_traits>

namespace iso::sparse::detail {
namespace {

/// The rows of a part: those whose first entry lies in its share of the entries.
template <class Rows>
struct part_rows {
  Rows a;
  std::int64_t entries;
  std::int64_t parts;

  KOKKOS_FUNCTION static std::int64_t least(std::int64_t x, std::int64_t y) {
    return x < y ? x : y;
  }
  /// The first row whose entries begin at or after `entry`.
  KOKKOS_FUNCTION std::int64_t row_at(std::int64_t entry) const {
    std::int64_t low = 0;
    std::int64_t high = a.num_rows;
    while (low < high) {
      std::int64_t const middle = (low + high) / 2;
      if (a.row_offsets[middle] < entry) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  KOKKOS_FUNCTION std::int64_t begin(std::int64_t part) const {
    return part == parts ? a.num_rows : row_at(entries / parts * part);
  }
  /// The most entries of a part's share.
  [[nodiscard]] std::int64_t longest() const { return entries - entries / parts * (parts - 1); }
  /// f(row, entry, column), in order, for the entries of a part's rows that begin from the entry
  /// `first` to the entry `last` of its share.
  template <class F>
  KOKKOS_FUNCTION void each(std::int64_t part, std::int64_t first, std::int64_t last,
                            F const& f) const {
    std::int64_t const share = entries / parts * part;
    std::int64_t const end = least(row_at(share + last), begin(part + 1));
    for (std::int64_t row = least(row_at(share + first), end); row < end; ++row) {
      std::int64_t const base = a.base(row);
      for (std::int64_t i = a.row_offsets[row]; i < a.row_offsets[row + 1]; ++i) {
        f(row, i, base + std::int64_t(a.columns[i]));
      }
    }
  }
};

template <class Rows>
struct count_columns {
  part_rows<Rows> p;
  std::int64_t cols;
  std::int32_t* counts;
  std::int64_t first;
  std::int64_t last;

  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    std::int32_t* const count = counts + part * cols;
    p.each(part, first, last,
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

template <class Rows>
struct move_entries {
  part_rows<Rows> p;
  std::int64_t cols;
  std::int32_t* counts;
  std::int64_t const* to_offsets;
  std::int32_t* to_columns;
  typename Rows::value_type* to_values;
  std::int64_t first;
  std::int64_t last;

  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    std::int32_t* const place = counts + part * cols;
    p.each(part, first, last, [&](std::int64_t row, std::int64_t i, std::int64_t column) {
      std::int64_t const to = to_offsets[column] + place[column]++;
      to_columns[to] = std::int32_t(row);
      to_values[to] = p.a.values[i];
    });
  }
};

template <class Exec, class Matrix>
auto transposed(Exec const& exec, Matrix const& a, job const& control) {
  validate_shape(a, "iso::sparse::transpose");
  ISO_VALIDATE(a.row_scales.extent(0) == 0,
               "iso::sparse::transpose: a matrix with row scales (they would scale columns); "
               "transpose the matrix before its values are scaled");
  std::int64_t const cols = a.num_cols;
  auto const to = make_csr<typename Matrix::value_type, std::int32_t>(
      exec, "iso::sparse::transpose", cols, a.num_rows, a.num_entries());
  // As many as there are threads, as far as memory goes.
  std::int64_t const bytes = std::max(std::int64_t(1) << 26, 4 * a.num_entries());
  std::int64_t const room = bytes / (4 * std::max<std::int64_t>(cols, 1));
  std::int64_t const parts =
      std::max<std::int64_t>(1, std::min({std::int64_t(exec.concurrency()), a.num_rows, room}));
  auto const counts = allocate<Kokkos::View<std::int32_t*, typename Exec::memory_space>>(
      "iso::sparse::transpose: counts", {parts * cols}, exec);
  auto const rows = rows_of_bits(a);
  using rows_type = std::remove_const_t<decltype(rows)>;
  part_rows<rows_type> const p{rows, a.num_entries(), parts};
  range<Exec> const each_part(exec, 0, parts);
  range<Exec> const each_column(exec, 0, cols);
  iso::detail::in_timed_batches(
      exec, p.longest(), iso::detail::part_of(control, 0, 0.3),
      [&](std::int64_t first, std::int64_t last) {
        Kokkos::parallel_for("iso::sparse::transpose: count", each_part,
                             count_columns<rows_type>{p, cols, counts.data(), first, last});
      });
  iso::detail::for_each_index_in_batches(
      "iso::sparse::transpose: places", exec, cols, iso::detail::part_of(control, 0.3, 0.4),
      place_parts{cols, parts, counts.data(), to.row_offsets.data()});
  Kokkos::parallel_scan("iso::sparse::transpose: offsets", each_column,
                        running_total{to.row_offsets.data()});
  auto* const values = reinterpret_cast<typename rows_type::value_type*>(to.values.data());
  iso::detail::in_timed_batches(
      exec, p.longest(), iso::detail::part_of(control, 0.4, 1),
      [&](std::int64_t first, std::int64_t last) {
        Kokkos::parallel_for("iso::sparse::transpose: entries", each_part,
                             move_entries<rows_type>{p, cols, counts.data(), to.row_offsets.data(),
                                                     to.columns.data(), values, first, last});
      });
  exec.fence("iso::sparse::transpose: the counts may go");
  return to;
}

}  // namespace
}  // namespace iso::sparse::detail

namespace iso::sparse {

template <execution_space Exec, class Value, column_index Column>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> transpose(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    job const& control) {
  return detail::transposed(exec, a.as_const(), control);
}

#define ISO_SPARSE_TRANSPOSE(Exec, Value, Column)                                                  \
  template ISO_CSR(Exec, std::remove_const_t<Value>, std::int32_t) transpose<Exec, Value, Column>( \
      Exec const&, ISO_CSR(Exec, Value, Column) const&, job const&);
ISO_FOR_EACH_CSR(ISO_SPARSE_TRANSPOSE)

}  // namespace iso::sparse
