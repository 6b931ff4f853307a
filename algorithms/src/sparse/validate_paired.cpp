// SPDX-License-Identifier: BSD-3-Clause
#include "inspect_slots.hpp"
#include "instantiate.hpp"

#include <limits>

namespace iso::sparse::detail {
namespace {

constexpr std::int64_t beyond = std::numeric_limits<std::int64_t>::max();

/// Groups of half_slots that have a column among the shared ones of their rows, and the first.
struct twice_kernel {
  using shared_slots = grouped_slots<8, std::uint16_t>;
  slot_places<half_slots> pairs;
  slot_places<shared_slots> shared;
  std::int64_t* where;  ///< [groups] the column found twice, or -1

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    half_slots const list = pairs.slots.of(index);
    std::int64_t const end = shared.slots.end(index / 2);
    std::int64_t at = shared.slots.begin(index / 2);
    std::int64_t found = -1;
    for (std::int64_t slot = list.begin(index); slot < list.end(index) && found < 0; ++slot) {
      std::uint32_t const used = pairs.used_from(group, list, slot, 0);
      if (used == 0) {
        continue;
      }
      typename Group::template per_lane<std::int64_t> columns;
      group.each([&](int lane) {
        columns[lane] = (used >> lane & 1U) != 0 ? pairs.column(list, slot, lane) : beyond;
      });
      std::int64_t const last = pairs.column(list, slot, 31 - Kokkos::countl_zero(used));
      // A shared slot that reaches further is looked at once more for the next list of columns.
      while (at < end && found < 0 && shared.slots.first(at) <= last) {
        found = common(group, columns, at);
        if (at + 1 == end || shared.slots.first(at + 1) > last) {
          break;
        }
        ++at;
      }
    }
    group.once([&] { where[index] = found; });
  }

 private:
  /// A column of a shared slot that is one of `columns`, which ascend; or -1.
  template <class Group>
  KOKKOS_FUNCTION std::int64_t common(
      Group const& group, typename Group::template per_lane<std::int64_t> const& columns,
      std::int64_t slot) const {
    std::uint32_t const used = shared.used_from(group, shared.slots, slot, 0);
    typename Group::template per_lane<std::int64_t> mine;
    typename Group::template per_lane<int> below(0);  // of `columns`, those known to lie below
    group.each([&](int lane) { mine[lane] = shared.column(shared.slots, slot, lane); });
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
    return twice == 0 ? -1 : shared.column(shared.slots, slot, Kokkos::countr_zero(twice));
  }
};

struct twice {
  std::int64_t groups = 0;
  std::int64_t first = beyond;
  KOKKOS_FUNCTION twice& operator+=(twice const& o) {
    groups += o.groups;
    first = o.first < first ? o.first : first;
    return *this;
  }
};

struct twice_counter {
  std::int64_t const* where;
  KOKKOS_FUNCTION void operator()(std::int64_t group, twice& t) const {
    if (where[group] >= 0) {
      t += twice{1, group};
    }
  }
};

template <class Exec>
void inspect_twice(Exec const& exec, twice_kernel kernel, std::int64_t groups,
                   grouped_report& report) {
  using list = Kokkos::View<std::int64_t*, typename Exec::memory_space>;
  auto const where = allocate<list>("iso::sparse::validate: columns found twice", {groups}, exec,
                                    Kokkos::WithoutInitializing);
  kernel.where = where.data();
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: columns found twice", exec, groups, kernel);
  twice found;
  Kokkos::parallel_reduce("iso::sparse::validate: columns found twice, totals",
                          range<Exec>(exec, 0, groups), twice_counter{where.data()}, found);
  exec.fence("iso::sparse::validate: the totals are here");
  if (found.groups > 0) {
    report.found = fault::column_in_both;
    report.group = found.first;
    report.doubled = found.groups;
    Kokkos::deep_copy(
        exec, Kokkos::View<std::int64_t, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&report.value),
        Kokkos::subview(where, found.first));
    exec.fence("iso::sparse::validate: the column is here");
  }
}

}  // namespace

template <execution_space Exec>
void inspect_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                   grouped_shape const& shape, std::uint16_t infinite,
                   csr_demands::of_values values, grouped_report& report) {
  report.in_pairs = true;
  if (!inspect_slot_offsets(exec, a.slot_offsets, shape, report)) {
    return;
  }
  std::int64_t const halves = 2 * shape.num_groups();
  slot_places<half_slots> const pairs{
      shape.num_rows, shape.num_cols, {a.slot_offsets, a.bases, a.offsets, a.values}, infinite};
  inspect_places(exec, pairs, halves, values, report);
  if (report.sound()) {
    using shared_slots = twice_kernel::shared_slots;
    auto const& s = a.shared;
    inspect_twice(exec,
                  {pairs,
                   {shape.num_rows, shape.num_cols,
                    shared_slots{s.slot_offsets, s.bases, s.offsets, s.values}, infinite},
                   nullptr},
                  halves, report);
  }
  if (!report.sound() && report.group >= 0) {
    report.half = int(report.group % 2);
    report.group /= 2;
  }
  inspect_scales(exec, row_scales, shape.scales, report);
}

#define ISO_INSTANTIATE(Exec)                                                                    \
  template void inspect_pairs<Exec>(Exec const&, paired_arrays const&, double const*,            \
                                    grouped_shape const&, std::uint16_t, csr_demands::of_values, \
                                    grouped_report&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)

}  // namespace iso::sparse::detail
