// SPDX-License-Identifier: BSD-3-Clause
#include "inspect_slots.hpp"
#include "instantiate.hpp"

#include <limits>

namespace iso::sparse::detail {
namespace {

using shared_slots = grouped_slots<8, std::uint16_t>;

/// Columns that a half has among the shared ones of its group.
struct twice_finder {
  slot_places<half_slots> pairs;
  slot_places<shared_slots> shared;

  /// A column that half `index` mod 2 of group `index` / 2 has in both, or -1. Shared slots must
  /// ascend. Not `exact`: places without entries count too, and nothing is read but columns.
  template <bool Exact, class Group>
  KOKKOS_FUNCTION std::int32_t find(Group const& group, std::int64_t index) const {
    half_slots const list = pairs.slots.of(index);
    std::int64_t const end = shared.slots.end(index / 2);
    std::int64_t at = shared.slots.begin(index / 2);
    for (std::int64_t slot = list.begin(index); slot < list.end(index); ++slot) {
      std::uint32_t const used = pairs.used_from(group, list, slot, 0);
      if (used == 0) {
        continue;
      }
      typename Group::template per_lane<std::int32_t> columns;
      group.each([&](int lane) {
        columns[lane] = (used >> lane & 1U) != 0 ? list.first(slot) + list.distance(slot, lane)
                                                 : std::numeric_limits<std::int32_t>::max();
      });
      int const last_place = 31 - Kokkos::countl_zero(used);
      std::int32_t const last = list.first(slot) + list.distance(slot, last_place);
      // A shared slot that reaches further is looked at once more for the next list of columns.
      while (at < end && shared.slots.first(at) <= last) {
        std::int32_t const found = common<Exact>(group, columns, at);
        if (found >= 0) {
          return found;
        }
        if (at + 1 == end || shared.slots.first(at + 1) > last) {
          break;
        }
        ++at;
      }
    }
    return -1;
  }

 private:
  /// A column of a shared slot that is one of `columns`, which ascend; or -1.
  template <bool Exact, class Group>
  KOKKOS_FUNCTION std::int32_t common(
      Group const& group, typename Group::template per_lane<std::int32_t> const& columns,
      std::int64_t slot) const {
    std::uint32_t const used =
        Exact ? shared.used_from(group, shared.slots, slot, 0) : ~std::uint32_t(0);
    typename Group::template per_lane<std::int32_t> mine;
    typename Group::template per_lane<int> below(0);  // of `columns`, those known to lie below
    std::int32_t const first = shared.slots.first(slot);
    group.each([&](int lane) { mine[lane] = first + shared.slots.distance(slot, lane); });
    for (int step = 16; step > 0; step /= 2) {
      typename Group::template per_lane<int> probe;
      group.each([&](int lane) { probe[lane] = below[lane] + step - 1; });
      auto const there = group.shuffle(columns, probe);
      group.each([&](int lane) { below[lane] += there[lane] < mine[lane] ? step : 0; });
    }
    auto const there = group.shuffle(columns, below);
    typename Group::template per_lane<bool> same;
    group.each(
        [&](int lane) { same[lane] = (used >> lane & 1U) != 0 && there[lane] == mine[lane]; });
    std::uint32_t const twice = group.mask(same);
    return twice == 0 ? -1 : first + shared.slots.distance(slot, Kokkos::countr_zero(twice));
  }
};

struct twice_kernel {
  twice_finder finder;
  std::int32_t* where;  ///< [halves] the column found twice, or -1

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int32_t const found = finder.find<true>(group, index);
    group.once([&] { where[index] = found; });
  }
};

/// Whether a group's pairs and scales have anything to report, and how many entries; of slot
/// offsets nothing is trusted yet.
struct pairs_kernel {
  twice_finder finder;
  std::int64_t slots;
  double const* scales;
  std::int64_t num_scales;
  std::int64_t* seen;  ///< [groups] the entries; -1: something to report

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const first = finder.pairs.slots.slot_offsets[index];
    std::int64_t const end = finder.pairs.slots.slot_offsets[index + 1];
    bool odd = first < 0 || end < first || end > slots;
    if (num_scales > 0) {
      typename Group::template per_lane<bool> bad;
      group.each([&](int lane) {
        std::int64_t const row = 8 * index + lane;
        bad[lane] = lane < 8 && row < num_scales && !good_scale(scales, row);
      });
      odd = group.any(bad) || odd;
    }
    std::int64_t entries = 0;
    for (int half = 0; half < 2 && !odd && first < end; ++half) {
      std::int64_t const of_half = entries_of(group, 2 * index + half);
      odd = of_half < 0;
      entries += of_half;
    }
    group.once([&] { seen[index] = odd ? -1 : entries; });
  }

 private:
  /// Of a half; -1: something to report.
  template <class Group>
  KOKKOS_FUNCTION std::int64_t entries_of(Group const& group, std::int64_t index) const {
    group_facts const found = finder.pairs.facts_of(group, index);
    return found.flags != 0 || finder.find<false>(group, index) >= 0 ? -1 : found.entries;
  }
};

/// The groups' entries, and how many groups have something to report.
struct pairs_seen {
  std::int64_t entries = 0;
  std::int64_t remarkable = 0;
  KOKKOS_FUNCTION pairs_seen& operator+=(pairs_seen const& o) {
    entries += o.entries;
    remarkable += o.remarkable;
    return *this;
  }
};

/// Slot offset i, and group i.
struct pairs_seen_kernel {
  offsets_kernel of_offsets;
  std::int64_t const* seen;
  KOKKOS_FUNCTION void operator()(std::int64_t i, pairs_seen& all) const {
    if (of_offsets.wrong_with(i) != fault::none) {
      all += pairs_seen{0, 1};
    }
    if (i < of_offsets.rows) {
      all += seen[i] < 0 ? pairs_seen{0, 1} : pairs_seen{seen[i], 0};
    }
  }
};

struct twice {
  std::int64_t groups = 0;
  std::int64_t first = no_row;
  KOKKOS_FUNCTION twice& operator+=(twice const& o) {
    groups += o.groups;
    first = o.first < first ? o.first : first;
    return *this;
  }
};

struct twice_counter {
  std::int32_t const* where;
  KOKKOS_FUNCTION void operator()(std::int64_t group, twice& t) const {
    if (where[group] >= 0) {
      t += twice{1, group};
    }
  }
};

template <class Exec>
void inspect_twice(Exec const& exec, twice_finder const& finder, std::int64_t groups,
                   grouped_report& report) {
  using list = Kokkos::View<std::int32_t*, typename Exec::memory_space>;
  auto const where = allocate<list>("iso::sparse::validate: columns found twice", {groups}, exec,
                                    Kokkos::WithoutInitializing);
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: columns found twice", exec, groups,
      twice_kernel{finder, where.data()});
  twice found;
  Kokkos::parallel_reduce("iso::sparse::validate: columns found twice, totals",
                          range<Exec>(exec, 0, groups), twice_counter{where.data()}, found);
  exec.fence("iso::sparse::validate: the totals are here");
  if (found.groups > 0) {
    report.found = fault::column_in_both;
    report.group = found.first;
    report.doubled = found.groups;
    std::int32_t column = 0;
    Kokkos::deep_copy(
        exec, Kokkos::View<std::int32_t, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&column),
        Kokkos::subview(where, found.first));
    exec.fence("iso::sparse::validate: the column is here");
    report.value = column;
  }
}

twice_finder finder_of(paired_arrays const& a, grouped_shape const& shape, std::uint16_t infinite) {
  auto const& s = a.shared;
  return {
      {shape.num_rows, shape.num_cols, {a.slot_offsets, a.bases, a.offsets, a.values}, infinite},
      {shape.num_rows, shape.num_cols, shared_slots{s.slot_offsets, s.bases, s.offsets, s.values},
       infinite}};
}

}  // namespace

template <execution_space Exec>
bool survey_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                  grouped_shape const& shape, std::uint16_t infinite) {
  std::int64_t const groups = shape.num_groups();
  auto const seen = allocate<Kokkos::View<std::int64_t*, typename Exec::memory_space>>(
      "iso::sparse::validate: pairs", {groups}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: pairs", exec, groups,
      pairs_kernel{finder_of(a, shape, infinite), shape.slots, row_scales, shape.scales,
                   seen.data()});
  pairs_seen all;
  Kokkos::parallel_reduce(
      "iso::sparse::validate: pairs at a glance", range<Exec>(exec, 0, groups + 1),
      pairs_seen_kernel{{{}, a.slot_offsets, groups, shape.slots}, seen.data()}, all);
  exec.fence("iso::sparse::validate: the sums are here");
  return all.remarkable == 0 && all.entries == shape.entries;
}

template <execution_space Exec>
void inspect_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                   grouped_shape const& shape, std::uint16_t infinite,
                   csr_demands::of_values values, grouped_report& report) {
  report.in_pairs = true;
  if (!inspect_slot_offsets(exec, a.slot_offsets, shape, report)) {
    return;
  }
  auto const finder = finder_of(a, shape, infinite);
  std::int64_t const halves = 2 * shape.num_groups();
  inspect_places(exec, finder.pairs, halves, values, report);
  if (report.sound()) {
    inspect_twice(exec, finder, halves, report);
  }
  if (!report.sound() && report.group >= 0) {
    report.half = int(report.group % 2);
    report.group /= 2;
  }
  inspect_scales(exec, row_scales, shape.scales, report);
}

#define ISO_INSTANTIATE(Exec)                                                                    \
  template bool survey_pairs<Exec>(Exec const&, paired_arrays const&, double const*,             \
                                   grouped_shape const&, std::uint16_t);                         \
  template void inspect_pairs<Exec>(Exec const&, paired_arrays const&, double const*,            \
                                    grouped_shape const&, std::uint16_t, csr_demands::of_values, \
                                    grouped_report&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)

}  // namespace iso::sparse::detail
