// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/synthetic/statistics.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <algorithm>

namespace iso::synthetic::detail {
namespace {

constexpr int bins = matrix_statistics::bins;

// Places of the counters of one group of lanes.
enum counter : int {
  empty_rows,
  short_rows,
  longest,
  gaps,
  wide_gaps,
  shared,
  neighbour_rows,
  neighbour_entries,
  unions,
  jaccard_histogram = unions + 3,
  row_lengths = jaccard_histogram + 11,
  run_lengths = row_lengths + bins,
  counters = run_lengths + bins
};

/// Groups that share the rows among them: enough for any machine, few enough to keep their
/// counters.
constexpr std::int64_t most_groups = 4096;

KOKKOS_INLINE_FUNCTION int bin_of(std::int64_t size) {
  int const bin = 63 - Kokkos::countl_zero(std::uint64_t(size));
  return bin < bins ? bin : bins - 1;
}

/// Counts of whole rows, the same for all lanes.
struct row_totals {
  std::int64_t empty = 0;
  std::int64_t few = 0;
  std::int64_t longest = 0;
  std::int64_t pairs = 0;
  std::int64_t neighbour_entries = 0;
};

/// Every most_groups-th row; a group of lanes, each of which has counters of its own.
template <class Column, class Space>
struct row_counter {
  pattern_view<Column, Space> a;
  std::int64_t groups;
  std::int64_t* counts;  ///< [groups][counters][32]

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t* const mine = counts + index * counters * backend::lanes;
    row_totals rows;
    for (std::int64_t row = index; row < a.rows; row += groups) {
      std::int64_t const begin = a.offsets[row];
      std::int64_t const end = a.offsets[row + 1];
      add_row(group, row, end - begin, rows, mine);
      typename Group::template lane_array<std::int64_t> common(0);
      group.strided(begin, end, [&](int lane, std::int64_t i) {
        common[lane] += add_entry(row, begin, end, i, mine + lane);
      });
      add_pair(group, row, end - begin, group.sum(common), mine);
    }
    group.strided(0, 1, [&](int, int) {
      mine[empty_rows * backend::lanes] = rows.empty;
      mine[short_rows * backend::lanes] = rows.few;
      mine[longest * backend::lanes] = rows.longest;
      mine[neighbour_rows * backend::lanes] = rows.pairs;
      mine[neighbour_entries * backend::lanes] = rows.neighbour_entries;
    });
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t column(std::int64_t row, std::int64_t i) const {
    return std::int64_t(a.places[i]) + (a.bases != nullptr ? std::int64_t(a.bases[row]) : 0);
  }
  template <class Group>
  KOKKOS_FUNCTION void add_row(Group const& group, std::int64_t row, std::int64_t length,
                               row_totals& rows, std::int64_t* mine) const {
    if (length == 0) {
      ++rows.empty;
      return;
    }
    rows.few += length < 32 ? 1 : 0;
    rows.longest = length > rows.longest ? length : rows.longest;
    group.strided(0, 1, [&](int, int) { ++mine[(row_lengths + bin_of(length)) * backend::lanes]; });
    std::int64_t const before = row > 0 ? a.offsets[row] - a.offsets[row - 1] : 0;
    rows.pairs += before > 0 ? 1 : 0;
    rows.neighbour_entries += before > 0 ? before + length : 0;
  }
  template <class Group>
  KOKKOS_FUNCTION void add_pair(Group const& group, std::int64_t row, std::int64_t length,
                                std::int64_t common, std::int64_t* mine) const {
    std::int64_t const before = row > 0 ? a.offsets[row] - a.offsets[row - 1] : 0;
    if (length > 0 && before > 0) {
      // Doubled columns may count more than there are.
      std::int64_t const either = length + before - common;
      std::int64_t const bin = common < either ? 10 * common / either : 10;
      group.strided(0, 1, [&](int, int) { ++mine[(jaccard_histogram + bin) * backend::lanes]; });
    }
  }
  /// Into the counters of one lane; 1 where the row before has the column too, else 0.
  KOKKOS_FUNCTION std::int64_t add_entry(std::int64_t row, std::int64_t begin, std::int64_t end,
                                         std::int64_t i, std::int64_t* lane) const {
    std::int64_t const c = column(row, i);
    std::int64_t const step = i > begin ? c - column(row, i - 1) : 1;
    if (i == begin || step != 1) {
      ++lane[(run_lengths + bin_of(run_from(row, i, end, c))) * backend::lanes];
    }
    lane[gaps * backend::lanes] += step != 1 ? 1 : 0;
    lane[wide_gaps * backend::lanes] += step > 255 ? 1 : 0;
    std::int64_t const above = rows_up_to(row, c);
    lane[shared * backend::lanes] += above == 1 ? 1 : 0;
    for (int k = 0; k < 3; ++k) {
      lane[(unions + k) * backend::lanes] += above > row % (std::int64_t(2) << k) ? 1 : 0;
    }
    return above == 1 ? 1 : 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t run_from(std::int64_t row, std::int64_t i,
                                                      std::int64_t end, std::int64_t c) const {
    std::int64_t size = 1;
    while (i + size < end && column(row, i + size) == c + size) {
      ++size;
    }
    return size;
  }
  /// How many rows up, from 1, column c was last met; 9 where not within the group of eight, save
  /// that the row before is always looked at.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t rows_up_to(std::int64_t row, std::int64_t c) const {
    std::int64_t const most = row % 8 > 1 ? row % 8 : 1;
    for (std::int64_t up = 1; up <= most && up <= row; ++up) {
      if (holds(row - up, c)) {
        return up;
      }
    }
    return 9;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool holds(std::int64_t row, std::int64_t c) const {
    std::int64_t low = a.offsets[row];
    std::int64_t high = a.offsets[row + 1];
    std::int64_t const end = high;
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      if (column(row, middle) < c) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < end && column(row, low) == c;
  }
};

/// One counter over all groups and lanes. The longest row stands in one lane alone, so that the sum
/// of the lanes' maxima is the maximum.
struct count_totals {
  std::int64_t groups;
  std::int64_t const* counts;
  std::int64_t* totals;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t counter) const {
    typename Group::template lane_array<std::int64_t> total(0);
    for (std::int64_t g = 0; g < groups; ++g) {
      std::int64_t const* const from = counts + (g * counters + counter) * backend::lanes;
      group.each([&](int lane) {
        std::int64_t const sum = total[lane] + from[lane];
        std::int64_t const greater = total[lane] > from[lane] ? total[lane] : from[lane];
        total[lane] = counter == longest ? greater : sum;
      });
    }
    std::int64_t const all = group.sum(total);
    group.strided(0, 1, [&](int, int) { totals[counter] = all; });
  }
};

matrix_statistics named(std::array<std::int64_t, std::size_t(counters)> const& counts) {
  matrix_statistics s;
  s.empty_rows = counts[empty_rows];
  s.short_rows = counts[short_rows];
  s.longest = counts[longest];
  s.gaps = counts[gaps];
  s.wide_gaps = counts[wide_gaps];
  s.shared = counts[shared];
  s.neighbour_rows = counts[neighbour_rows];
  s.neighbour_entries = counts[neighbour_entries];
  for (std::size_t i = 0; i < 3; ++i) {
    s.unions[i] = counts[std::size_t(unions) + i];
  }
  for (std::size_t i = 0; i < s.jaccard_histogram.size(); ++i) {
    s.jaccard_histogram[i] = counts[std::size_t(jaccard_histogram) + i];
  }
  for (std::size_t i = 0; i < std::size_t(bins); ++i) {
    s.row_lengths[i] = counts[std::size_t(row_lengths) + i];
    s.run_lengths[i] = counts[std::size_t(run_lengths) + i];
    s.runs += s.run_lengths[i];
  }
  return s;
}

}  // namespace

template <execution_space Exec, class Column>
matrix_statistics count(Exec const& exec,
                        pattern_view<Column, typename Exec::memory_space> const& pattern) {
  using space = typename Exec::memory_space;
  using integers = Kokkos::View<std::int64_t*, space>;
  std::int64_t const groups = std::min(pattern.rows, most_groups);
  auto const parts = allocate<integers>("iso::synthetic::statistics: parts",
                                        {groups * counters * backend::lanes}, exec);
  auto const totals = allocate<integers>("iso::synthetic::statistics", {counters}, exec);
  backend::for_each_lane_group("iso::synthetic::statistics", exec, groups,
                               row_counter<Column, space>{pattern, groups, parts.data()});
  backend::for_each_lane_group("iso::synthetic::statistics: sums", exec, counters,
                               count_totals{groups, parts.data(), totals.data()});
  std::array<std::int64_t, std::size_t(counters)> counts{};
  Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(counts.data(),
                                                                                     counts.size());
  Kokkos::deep_copy(exec, host, totals);
  exec.fence("iso::synthetic::statistics");
  matrix_statistics s = named(counts);
  s.rows = pattern.rows;
  s.columns = pattern.columns;
  s.nonzeros = pattern.entries;
  return s;
}

#define ISO_SYNTHETIC_STATISTICS(Exec)                                                     \
  template matrix_statistics count(Exec const&,                                            \
                                   pattern_view<std::int32_t, Exec::memory_space> const&); \
  template matrix_statistics count(Exec const&,                                            \
                                   pattern_view<std::uint16_t, Exec::memory_space> const&);
ISO_FOR_EACH_BACKEND(ISO_SYNTHETIC_STATISTICS)

}  // namespace iso::synthetic::detail
