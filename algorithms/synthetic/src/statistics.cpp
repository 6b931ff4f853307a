// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/synthetic/statistics.hpp>

#include <Kokkos_BitManipulation.hpp>

namespace iso::synthetic::detail {
namespace {

KOKKOS_INLINE_FUNCTION int bin_of(std::int64_t size) {
  int const bin = 63 - Kokkos::countl_zero(std::uint64_t(size));
  return bin < matrix_statistics::bins ? bin : matrix_statistics::bins - 1;
}

/// Counts a row; a reducer of whole statistics.
template <class Column>
struct row_counter {
  using value_type = matrix_statistics;

  std::int64_t const* offsets;
  Column const* columns;
  std::int32_t const* bases;

  KOKKOS_FUNCTION void operator()(std::int64_t row, matrix_statistics& s) const {
    std::int64_t const length = offsets[row + 1] - offsets[row];
    if (length == 0) {
      ++s.empty_rows;
      return;
    }
    s.short_rows += length < 32 ? 1 : 0;
    s.longest = length > s.longest ? length : s.longest;
    ++s.row_lengths[bin_of(length)];
    std::int64_t const common = count_entries(row, s);
    s.shared += common;
    std::int64_t const before = row > 0 ? offsets[row] - offsets[row - 1] : 0;
    if (before > 0) {
      ++s.neighbour_rows;
      s.neighbour_entries += before + length;
      // Doubled columns may count more than there are.
      std::int64_t const either = length + before - common;
      ++s.jaccard_histogram[common < either ? 10 * common / either : 10];
    }
  }
  KOKKOS_FUNCTION void init(matrix_statistics& s) const { s = {}; }
  KOKKOS_FUNCTION void join(matrix_statistics& to, matrix_statistics const& from) const {
    std::int64_t const longest = to.longest > from.longest ? to.longest : from.longest;
    auto* const sums = reinterpret_cast<std::int64_t*>(&to);
    auto const* const terms = reinterpret_cast<std::int64_t const*>(&from);
    for (std::size_t i = 0; i < sizeof(matrix_statistics) / sizeof(std::int64_t); ++i) {
      sums[i] += terms[i];
    }
    to.longest = longest;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t column(std::int64_t row, std::int64_t i) const {
    return std::int64_t(columns[i]) + (bases != nullptr ? std::int64_t(bases[row]) : 0);
  }
  /// Runs, gaps and unions; how many entries the row before has too.
  KOKKOS_FUNCTION std::int64_t count_entries(std::int64_t row, matrix_statistics& s) const {
    // Of the rows before in the block of eight, one at least: the first entry not yet passed.
    std::int64_t const in_block = row % 8 > 1 ? row % 8 : 1;
    std::int64_t const above = in_block < row ? in_block : row;
    std::int64_t next[8];
    for (std::int64_t up = 1; up <= above; ++up) {
      next[up] = offsets[row - up];
    }
    std::int64_t common = 0;
    std::int64_t run = 0;
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      std::int64_t const c = column(row, i);
      std::int64_t const step = run > 0 ? c - column(row, i - 1) : 1;
      if (step != 1) {
        add_run(run, s);
        run = 0;
        ++s.gaps;
        s.wide_gaps += step > 255 ? 1 : 0;
      }
      ++run;
      std::int64_t up = 1;
      while (up <= above && !holds(row - up, c, next[up])) {
        ++up;
      }
      // Found nowhere above: in the block of any size it is the first.
      std::int64_t const last_met = up <= above ? up : 9;
      common += last_met == 1 ? 1 : 0;
      for (int k = 0; k < 3; ++k) {
        s.unions[k] += last_met > row % (std::int64_t(2) << k) ? 1 : 0;
      }
    }
    add_run(run, s);
    return common;
  }
  static KOKKOS_FUNCTION void add_run(std::int64_t length, matrix_statistics& s) {
    ++s.runs;
    ++s.run_lengths[bin_of(length)];
  }
  /// Whether the row has column c; `next` moves up to the first entry that is not before it.
  [[nodiscard]] KOKKOS_FUNCTION bool holds(std::int64_t row, std::int64_t c,
                                           std::int64_t& next) const {
    while (next < offsets[row + 1] && column(row, next) < c) {
      ++next;
    }
    return next < offsets[row + 1] && column(row, next) == c;
  }
};

}  // namespace

template <execution_space Exec, class Column>
matrix_statistics count(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                        Column const* columns, std::int32_t const* bases, job const& control) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  row_counter<Column> const counter{offsets, columns, bases};
  matrix_statistics s;
  iso::detail::in_timed_batches(exec, rows, control, [&](std::int64_t first, std::int64_t last) {
    matrix_statistics some;
    Kokkos::parallel_reduce("iso::synthetic::statistics", policy(exec, first, last), counter, some);
    counter.join(s, some);
  });
  return s;
}

#define ISO_INSTANTIATE(Exec)                                                             \
  template matrix_statistics count(Exec const&, std::int64_t, std::int64_t const*,        \
                                   std::int32_t const*, std::int32_t const*, job const&); \
  template matrix_statistics count(Exec const&, std::int64_t, std::int64_t const*,        \
                                   std::uint16_t const*, std::int32_t const*, job const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE

}  // namespace iso::synthetic::detail
