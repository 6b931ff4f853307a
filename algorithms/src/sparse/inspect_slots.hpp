// SPDX-License-Identifier: BSD-3-Clause
//! What is wrong with slots of columns, and where.
#pragma once

#include "inspect_offsets.hpp"
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/allocate.hpp>
#include <iso/sparse/validate_grouped.hpp>

#include <Kokkos_BitManipulation.hpp>

namespace iso::sparse::detail {

/// What can be wrong in a group, as bits; the last is no fault unless it is asked for.
enum : std::uint32_t { bad_column, skipped, stray, descending, doubled, not_finite, num_flags };

struct group_facts {
  std::int64_t entries;
  std::uint32_t flags;
};

/// The slots of a grouped_view, those of `R` rows each.
template <int R, class Offset>
struct grouped_slots {
  static constexpr int rows = R;
  /// Whether slots may be without columns.
  static constexpr bool may_be_empty = false;

  std::int64_t const* slot_offsets;
  slot_base<Offset> const* bases;
  Offset const* offsets;
  std::uint16_t const* values;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin(std::int64_t group) const {
    return slot_offsets[group];
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t end(std::int64_t group) const {
    return slot_offsets[group + 1];
  }
  [[nodiscard]] KOKKOS_FUNCTION grouped_slots of(std::int64_t) const { return *this; }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t first(std::int64_t slot) const {
    return bases[slot].first;
  }
  /// Columns from the first of a slot to a place.
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t distance(std::int64_t slot, int place) const {
    return detail::distance(bases[slot], place, offsets[32 * slot + place]);
  }
  /// Value `n` of a slot, place by place.
  [[nodiscard]] KOKKOS_FUNCTION std::uint16_t value(std::int64_t slot, int n) const {
    return values[32 * R * slot + n];
  }
};

/// The pairs of a paired_view: group 2 g + h is half h of its group g.
struct half_slots {
  static constexpr int rows = 4;
  static constexpr bool may_be_empty = true;

  std::int64_t const* slot_offsets;
  half_pair<std::int32_t> const* bases;
  half_pair<std::uint16_t> const* offsets;
  std::uint16_t const* values;
  int half = 0;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin(std::int64_t group) const {
    return slot_offsets[group / 2];
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t end(std::int64_t group) const {
    return slot_offsets[group / 2 + 1];
  }
  [[nodiscard]] KOKKOS_FUNCTION half_slots of(std::int64_t group) const {
    return {slot_offsets, bases, offsets, values, int(group % 2)};
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t first(std::int64_t slot) const {
    return bases[slot].of(half);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t distance(std::int64_t slot, int place) const {
    return offsets[32 * slot + place].of(half);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint16_t value(std::int64_t slot, int n) const {
    return values[8 * (32 * slot + n / 4) + 4 * half + n % 4];
  }
};

/// Slots of which the offsets are sound.
template <class Slots>
struct slot_places {
  static constexpr int R = Slots::rows;

  std::int64_t num_rows;
  std::int64_t num_cols;
  Slots slots;
  std::uint16_t infinite;

  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t column(Slots const& list, std::int64_t slot,
                                                           int place) {
    return list.first(slot) + std::int64_t(list.distance(slot, place));
  }
  /// Rows of a group that the matrix has.
  [[nodiscard]] KOKKOS_FUNCTION int rows_of(std::int64_t group) const {
    std::int64_t const rest = num_rows - R * group;
    return rest < 0 ? 0 : (rest < R ? int(rest) : R);
  }
  /// Places that have an entry in a row from the given one on, a bit each.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t used_from(Group const& group, Slots const& list,
                                                             std::int64_t slot, int row) {
    typename Group::template per_lane<bool> is;
    group.each([&](int lane) {
      bool any = false;
      for (int r = row; r < R; ++r) {
        any |= list.value(slot, lane * R + r) != fill;
      }
      is[lane] = any;
    });
    return group.mask(is);
  }
  /// What is wrong with each place, by itself and beside those before it; `last` is the column of
  /// the group's last place with an entry, of which there is none below zero.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void look(
      Group const& group, Slots const& list, std::int64_t slot, int rows, std::int64_t& last,
      typename Group::template per_lane<std::uint32_t>& flags) const {
    std::int32_t const base = list.first(slot);
    std::uint32_t const here = used_from(group, list, slot, 0);
    std::uint32_t const beyond = rows < R ? used_from(group, list, slot, rows) : 0U;
    std::int64_t const first = column(list, slot, 0);
    bool const follows = last < 0 || first > last || (Slots::may_be_empty && (here & 1U) == 0);
    std::uint32_t const from_last = follows ? 0U : 1U << (first < last ? descending : doubled);
    group.each([&](int lane) {
      int const one_before = lane > 0 ? lane - 1 : 0;
      std::int32_t const at = list.distance(slot, lane);
      // Modulo 2^32 no column comes to lie within the matrix that does not.
      bool const outside = std::uint32_t(base) + std::uint32_t(at) >= std::uint32_t(num_cols);
      std::int32_t const before = list.distance(slot, one_before);
      std::uint32_t const is_used = here >> lane & 1U;
      std::uint32_t const was_used = lane > 0 ? here >> one_before & 1U : 0U;
      // Unless it may be empty, a slot has a column in its first place at least.
      std::uint32_t const hole =
          lane > 0 ? is_used & ~was_used : (Slots::may_be_empty ? 0U : ~is_used & 1U);
      std::uint32_t const both = is_used & was_used;
      flags[lane] = (outside ? 1U << bad_column : 0U) | hole << skipped |
                    (beyond >> lane & 1U) << stray | (at < before ? both << descending : 0U) |
                    (at == before ? both << doubled : 0U) | (lane > 0 ? 0U : from_last);
    });
    if (here != 0) {
      last = column(list, slot, 31 - Kokkos::countl_zero(here));
    }
  }
  /// Entries, and whether one is not finite, of the values of a slot.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void count(
      Group const& group, Slots const& list, std::int64_t slot,
      typename Group::template per_lane<std::int32_t>& entries,
      typename Group::template per_lane<std::uint32_t>& flags) const {
    for (int r = 0; r < R; ++r) {
      group.each([&](int lane) {
        std::uint16_t const value = list.value(slot, 32 * r + lane);
        entries[lane] += value != fill ? 1 : 0;
        flags[lane] |= (value & infinite) == infinite ? 1U << not_finite : 0U;
      });
    }
  }
  /// Of all slots of a group.
  template <class Group>
  KOKKOS_FUNCTION group_facts facts_of(Group const& group, std::int64_t index) const {
    Slots const list = slots.of(index);
    int const rows = rows_of(index);
    std::int64_t last = -1;
    std::int64_t entries = 0;
    typename Group::template per_lane<std::uint32_t> seen(0U);
    for (std::int64_t slot = list.begin(index); slot < list.end(index); ++slot) {
      typename Group::template per_lane<std::int32_t> number(0);
      typename Group::template per_lane<std::uint32_t> flags;
      look(group, list, slot, rows, last, flags);
      count(group, list, slot, number, flags);
      group.each([&](int lane) { seen[lane] |= flags[lane]; });
      entries += group.sum(number);
    }
    typename Group::template per_lane<bool> has;
    group.each([&](int lane) { has[lane] = seen[lane] != 0; });
    std::uint32_t any = 0;
    for (std::uint32_t flag = 0; group.any(has) && flag < num_flags; ++flag) {
      typename Group::template per_lane<bool> this_one;
      group.each([&](int lane) { this_one[lane] = (seen[lane] >> flag & 1U) != 0; });
      any |= group.any(this_one) ? 1U << flag : 0U;
    }
    return {entries, any};
  }
};

template <class Slots>
struct inspect_kernel {
  slot_places<Slots> a;
  group_facts* facts;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group_facts const found = a.facts_of(group, index);
    group.once([&] { facts[index] = found; });
  }
};

/// All groups in one.
struct totals {
  std::int64_t entries;
  std::int64_t groups[num_flags];  ///< that have the flag
  std::int64_t first[num_flags];
};

struct totals_kernel {
  using value_type = totals;
  group_facts const* facts;

  KOKKOS_FUNCTION void init(totals& t) const {
    t.entries = 0;
    for (std::uint32_t flag = 0; flag < num_flags; ++flag) {
      t.groups[flag] = 0;
      t.first[flag] = no_row;
    }
  }
  KOKKOS_FUNCTION void join(totals& t, totals const& o) const {
    t.entries += o.entries;
    for (std::uint32_t flag = 0; flag < num_flags; ++flag) {
      t.groups[flag] += o.groups[flag];
      t.first[flag] = o.first[flag] < t.first[flag] ? o.first[flag] : t.first[flag];
    }
  }
  KOKKOS_FUNCTION void operator()(std::int64_t group, totals& t) const {
    group_facts const f = facts[group];
    t.entries += f.entries;
    for (std::uint32_t flag = 0; flag < num_flags; ++flag) {
      bool const has = (f.flags >> flag & 1U) != 0;
      t.groups[flag] += has ? 1 : 0;
      t.first[flag] = has && group < t.first[flag] ? group : t.first[flag];
    }
  }
};

struct scales_kernel : first_bad_reducer {
  double const* scales;
  KOKKOS_FUNCTION void operator()(std::int64_t row, first_bad& b) const {
    if (!good_scale(scales, row)) {
      join(b, {1, row, fault::row_scale});
    }
  }
};

/// The first place of a group that has a flag, its slot and its column.
template <class Slots>
struct place_finder {
  slot_places<Slots> a;
  std::int64_t group_index;
  std::uint32_t flag;
  std::int64_t* found;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t) const {
    std::int64_t const first = a.slots.begin(group_index);
    Slots const list = a.slots.of(group_index);
    std::int64_t last = -1;
    for (std::int64_t slot = first; slot < a.slots.end(group_index); ++slot) {
      typename Group::template per_lane<std::uint32_t> flags;
      a.look(group, list, slot, a.rows_of(group_index), last, flags);
      typename Group::template per_lane<bool> has;
      group.each([&](int lane) {
        for (int r = 0; r < Slots::rows; ++r) {
          std::uint16_t const value = list.value(slot, lane * Slots::rows + r);
          flags[lane] |= (value & a.infinite) == a.infinite ? 1U << not_finite : 0U;
        }
        has[lane] = (flags[lane] >> flag & 1U) != 0;
      });
      std::uint32_t const places = group.mask(has);
      if (places != 0) {
        int const place = Kokkos::countr_zero(places);
        group.once([&] {
          found[0] = slot - first;
          found[1] = place;
          found[2] = a.column(list, slot, place);
        });
        return;
      }
    }
  }
};

/// Where the flag is, in the report; the report's group is known.
template <class Exec, class Slots>
void find_place(Exec const& exec, slot_places<Slots> const& a, std::uint32_t flag,
                grouped_report& report) {
  auto const found = allocate<Kokkos::View<std::int64_t*, typename Exec::memory_space>>(
      "iso::sparse::validate: found", {3}, exec);
  backend::for_each_lane_group("iso::sparse::validate: the place", exec, 1,
                               place_finder<Slots>{a, report.group, flag, found.data()});
  std::int64_t at[3];
  Kokkos::deep_copy(
      exec, Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(at, 3), found);
  exec.fence("iso::sparse::validate: the place is here");
  report.slot = at[0];
  report.place = int(at[1]);
  report.value = at[2];
}

/// report.entries: what the matrix says there are, and then what there are.
template <class Exec, class Slots>
void inspect_places(Exec const& exec, slot_places<Slots> const& a, std::int64_t groups,
                    csr_demands::of_values values, grouped_report& report) {
  using space = typename Exec::memory_space;
  auto const facts = allocate<Kokkos::View<group_facts*, space>>(
      "iso::sparse::validate: groups", {groups}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: groups", exec, groups, inspect_kernel<Slots>{a, facts.data()});
  totals t{};
  Kokkos::parallel_reduce("iso::sparse::validate: totals", range<Exec>(exec, 0, groups),
                          totals_kernel{facts.data()}, t);
  exec.fence("iso::sparse::validate: the totals are here");
  std::int64_t const said = report.entries;
  report.entries = t.entries;
  report.bad_columns = t.groups[bad_column];
  report.skipped = t.groups[skipped];
  report.stray = t.groups[stray];
  report.descending = t.groups[descending];
  report.doubled = t.groups[doubled];
  report.not_finite = t.groups[not_finite];
  constexpr fault names[] = {fault::column_beyond,  fault::place_skipped,
                             fault::row_beyond,     fault::columns_descend,
                             fault::column_doubled, fault::value_not_finite};
  std::uint32_t const asked =
      values == csr_demands::of_values::finite ? num_flags : std::uint32_t(not_finite);
  for (std::uint32_t flag = 0; flag < asked; ++flag) {
    if (t.groups[flag] > 0) {
      report.found = names[flag];
      report.group = t.first[flag];
      report.limit = a.num_cols;
      find_place(exec, a, flag, report);
      if (report.found == fault::column_beyond && report.value < 0) {
        report.found = fault::column_negative;
      }
      return;
    }
  }
  if (t.entries != said) {
    report.found = fault::entries_disagree;
    report.value = said;
    report.limit = t.entries;
  }
}

/// Faults of the row scales, where there is no other.
template <class Exec>
void inspect_scales(Exec const& exec, double const* row_scales, std::int64_t number,
                    grouped_report& report) {
  first_bad bad{};
  Kokkos::parallel_reduce("iso::sparse::validate: scales", range<Exec>(exec, 0, number),
                          scales_kernel{{}, row_scales}, bad);
  exec.fence("iso::sparse::validate: scales are read");
  report.bad_row_scales = bad.count;
  if (report.sound() && bad.count > 0) {
    report.found = fault::row_scale;
    report.group = bad.first;
  }
}

/// Faults of the slot offsets; whether there are none.
template <class Exec>
bool inspect_slot_offsets(Exec const& exec, std::int64_t const* slot_offsets,
                          grouped_shape const& shape, grouped_report& report) {
  csr_report found;
  inspect_offsets(exec, slot_offsets, shape.num_groups(), shape.slots, found);
  if (!found.sound()) {
    report.found = found.found;
    report.group = found.row;
    report.value = found.value;
    report.limit = found.limit;
    report.bad_slot_offsets = found.bad_row_offsets;
  }
  return found.sound();
}

}  // namespace iso::sparse::detail
