// SPDX-License-Identifier: BSD-3-Clause
#include "inspect_offsets.hpp"
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/allocate.hpp>
#include <iso/sparse/validate_grouped.hpp>

#include <Kokkos_BitManipulation.hpp>

namespace iso::sparse::detail {
namespace {

/// What can be wrong in a group, as bits; the last is no fault unless it is asked for.
enum : std::uint32_t { bad_column, skipped, stray, descending, doubled, not_finite, num_flags };

struct group_facts {
  std::int64_t entries;
  std::uint32_t flags;
};

/// A grouped matrix of which the slot offsets are sound.
template <int R, class Offset>
struct grouped_places {
  std::int64_t num_rows;
  std::int64_t num_cols;
  std::int64_t const* slot_offsets;
  slot_base<Offset> const* bases;
  Offset const* offsets;
  std::uint16_t const* values;
  std::uint16_t infinite;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t column(std::int64_t slot, int place) const {
    return bases[slot].first +
           std::int64_t(distance(bases[slot], place, offsets[32 * slot + place]));
  }
  /// Rows of a group that the matrix has.
  [[nodiscard]] KOKKOS_FUNCTION int rows_of(std::int64_t group) const {
    std::int64_t const rest = num_rows - R * group;
    return rest < R ? int(rest) : R;
  }
  /// Places that have an entry in a row from the given one on, a bit each.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t used_from(Group const& group, std::int64_t slot,
                                                      int row) const {
    typename Group::template per_lane<bool> is;
    group.each([&](int lane) {
      bool any = false;
      for (int r = row; r < R; ++r) {
        any |= values[(32 * slot + lane) * R + r] != fill;
      }
      is[lane] = any;
    });
    return group.mask(is);
  }
  /// What is wrong with each place, by itself and beside those before it; `last` is the column of
  /// the group's last place with an entry, of which there is none below zero.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void look(
      Group const& group, std::int64_t slot, int rows, std::int64_t& last,
      typename Group::template per_lane<std::uint32_t>& flags) const {
    slot_base<Offset> const base = bases[slot];
    Offset const* const offset = offsets + 32 * slot;
    std::uint32_t const here = used_from(group, slot, 0);
    std::uint32_t const beyond = rows < R ? used_from(group, slot, rows) : 0U;
    std::int64_t const first = column(slot, 0);
    std::uint32_t const from_last =
        last < 0 || first > last ? 0U : 1U << (first < last ? descending : doubled);
    group.each([&](int lane) {
      int const one_before = lane > 0 ? lane - 1 : 0;
      std::int32_t const at = distance(base, lane, offset[lane]);
      // Modulo 2^32 no column comes to lie within the matrix that does not.
      bool const outside = std::uint32_t(base.first) + std::uint32_t(at) >= std::uint32_t(num_cols);
      std::int32_t const before = distance(base, one_before, offset[one_before]);
      std::uint32_t const is_used = here >> lane & 1U;
      std::uint32_t const was_used = lane > 0 ? here >> one_before & 1U : 0U;
      // A slot has a column in its first place at least.
      std::uint32_t const hole = lane > 0 ? is_used & ~was_used : ~is_used & 1U;
      std::uint32_t const both = is_used & was_used;
      flags[lane] = (outside ? 1U << bad_column : 0U) | hole << skipped |
                    (beyond >> lane & 1U) << stray | (at < before ? both << descending : 0U) |
                    (at == before ? both << doubled : 0U) | (lane > 0 ? 0U : from_last);
    });
    if (here != 0) {
      last = column(slot, 31 - Kokkos::countl_zero(here));
    }
  }
  /// Entries, and whether one is not finite, of the values of a slot.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void count(
      Group const& group, std::int64_t slot,
      typename Group::template per_lane<std::int32_t>& entries,
      typename Group::template per_lane<std::uint32_t>& flags) const {
    for (int r = 0; r < R; ++r) {
      std::uint16_t const* const turn = values + 32 * (R * slot + r);
      group.each([&](int lane) {
        std::uint16_t const value = turn[lane];
        entries[lane] += value != fill ? 1 : 0;
        flags[lane] |= (value & infinite) == infinite ? 1U << not_finite : 0U;
      });
    }
  }
};

template <int R, class Offset>
struct inspect_kernel {
  grouped_places<R, Offset> a;
  group_facts* facts;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const first = a.slot_offsets[index];
    std::int64_t const end = a.slot_offsets[index + 1];
    if (first == end) {
      group.once([&] { facts[index] = {0, 0}; });
      return;
    }
    int const rows = a.rows_of(index);
    std::int64_t last = -1;
    std::int64_t entries = 0;
    typename Group::template per_lane<std::uint32_t> seen(0U);
    for (std::int64_t slot = first; slot < end; ++slot) {
      typename Group::template per_lane<std::int32_t> number(0);
      typename Group::template per_lane<std::uint32_t> flags;
      a.look(group, slot, rows, last, flags);
      a.count(group, slot, number, flags);
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
    group.once([&] { facts[index] = {entries, any}; });
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
template <int R, class Offset>
struct place_finder {
  grouped_places<R, Offset> a;
  std::int64_t group_index;
  std::uint32_t flag;
  std::int64_t* found;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t) const {
    std::int64_t const first = a.slot_offsets[group_index];
    std::int64_t last = -1;
    for (std::int64_t slot = first; slot < a.slot_offsets[group_index + 1]; ++slot) {
      typename Group::template per_lane<std::uint32_t> flags;
      a.look(group, slot, a.rows_of(group_index), last, flags);
      typename Group::template per_lane<bool> has;
      group.each([&](int lane) {
        for (int r = 0; r < R; ++r) {
          std::uint16_t const value = a.values[(32 * slot + lane) * R + r];
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
          found[2] = a.column(slot, place);
        });
        return;
      }
    }
  }
};

/// Where the flag is, in the report; the report's group is known.
template <int R, class Exec, class Offset>
void find_place(Exec const& exec, grouped_places<R, Offset> const& a, std::uint32_t flag,
                grouped_report& report) {
  auto const found = allocate<Kokkos::View<std::int64_t*, typename Exec::memory_space>>(
      "iso::sparse::validate: found", {3}, exec);
  backend::for_each_lane_group("iso::sparse::validate: the place", exec, 1,
                               place_finder<R, Offset>{a, report.group, flag, found.data()});
  std::int64_t at[3];
  Kokkos::deep_copy(
      exec, Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(at, 3), found);
  exec.fence("iso::sparse::validate: the place is here");
  report.slot = at[0];
  report.place = int(at[1]);
  report.value = at[2];
}

template <int R, class Exec, class Offset>
void inspect_places(Exec const& exec, grouped_places<R, Offset> const& a, std::int64_t groups,
                    csr_demands::of_values values, grouped_report& report) {
  using space = typename Exec::memory_space;
  auto const facts = allocate<Kokkos::View<group_facts*, space>>(
      "iso::sparse::validate: groups", {groups}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: groups", exec, groups, inspect_kernel<R, Offset>{a, facts.data()});
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
      find_place<R>(exec, a, flag, report);
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

}  // namespace

template <execution_space Exec, class Offset>
void inspect_groups(Exec const& exec, grouped_arrays<Offset> const& a, double const* row_scales,
                    grouped_shape const& shape, std::uint16_t infinite,
                    csr_demands::of_values values, grouped_report& report) {
  csr_report of_offsets;
  inspect_offsets(exec, a.slot_offsets, shape.num_groups(), shape.slots, of_offsets);
  if (!of_offsets.sound()) {
    report.found = of_offsets.found;
    report.group = of_offsets.row;
    report.value = of_offsets.value;
    report.limit = of_offsets.limit;
    report.bad_slot_offsets = of_offsets.bad_row_offsets;
    return;
  }
  report.entries = shape.entries;
  with_rows(shape.rows, [&](auto rows) {
    inspect_places<rows>(
        exec,
        grouped_places<rows, Offset>{shape.num_rows, shape.num_cols, a.slot_offsets, a.bases,
                                     a.offsets, a.values, infinite},
        shape.num_groups(), values, report);
  });
  first_bad bad{};
  Kokkos::parallel_reduce("iso::sparse::validate: scales", range<Exec>(exec, 0, shape.scales),
                          scales_kernel{{}, row_scales}, bad);
  exec.fence("iso::sparse::validate: scales are read");
  report.bad_row_scales = bad.count;
  if (report.sound() && bad.count > 0) {
    report.found = fault::row_scale;
    report.group = bad.first;
  }
}

#define ISO_INSTANTIATE_OFFSET(Exec, Offset)                                                     \
  template void inspect_groups<Exec, Offset>(Exec const&, grouped_arrays<Offset> const&,         \
                                             double const*, grouped_shape const&, std::uint16_t, \
                                             csr_demands::of_values, grouped_report&);
#define ISO_INSTANTIATE(Exec) ISO_FOR_EACH_OFFSET(ISO_INSTANTIATE_OFFSET, Exec)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)

}  // namespace iso::sparse::detail
