// SPDX-License-Identifier: BSD-3-Clause
#include "inspect_slots.hpp"
#include "instantiate.hpp"

namespace iso::sparse::detail {
namespace {

using shared_slots = grouped_slots<8, std::uint16_t>;

/// How many of [0, count) come before the first for which f does not hold; it holds for none after.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION std::int32_t number_that(std::int64_t count, F const& f) {
  std::int32_t first = 0;
  for (auto left = std::int32_t(count); left > 0;) {
    std::int32_t const half = left / 2;
    bool const holds = f(first + half);
    first += holds ? half + 1 : 0;
    left = holds ? left - half - 1 : half;
  }
  return first;
}

/// Columns that a half has among the shared ones of its group. All slots must be sound.
struct twice_finder {
  half_slots pairs;
  shared_slots shared;

  /// A column that half `index` mod 2 of group `index` / 2 has in slots [first, end) of pairs and
  /// in shared ones, the first such, or -1.
  template <class Group>
  KOKKOS_FUNCTION std::int32_t find(Group const& group, std::int64_t index, std::int64_t first,
                                    std::int64_t end) const {
    half_slots const list = pairs.of(index);
    for (std::int64_t slot = first; slot < end; ++slot) {
      std::int32_t const base = list.first(slot);
      typename Group::template per_lane<bool> is_shared;
      group.each([&](int lane) {
        std::int64_t const n = 2 * (32 * slot + lane) + list.half;
        is_shared[lane] = four_values(list.values, n) != no_entry &&
                          shares(index / 2, base + list.distance(slot, lane));
      });
      std::uint32_t const twice = group.mask(is_shared);
      if (twice != 0) {
        return base + list.distance(slot, Kokkos::countr_zero(twice));
      }
    }
    return -1;
  }

 private:
  static constexpr std::uint64_t no_entry = 0x0001000100010001ULL * fill;

  /// Values [4 n, 4 n + 4).
  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t four_values(std::uint16_t const* values,
                                                               std::int64_t n) {
    return reinterpret_cast<std::uint64_t const*>(values)[n];
  }

  /// Whether a column is one of those that all rows of a group share.
  KOKKOS_FORCEINLINE_FUNCTION bool shares(std::int64_t of, std::int32_t column) const {
    std::int64_t const begin = shared.begin(of);
    auto const* const KOKKOS_RESTRICT bases = shared.bases + begin;
    auto const* const KOKKOS_RESTRICT all_offsets = shared.offsets + 32 * begin;
    // A slot need not begin at its base, nor bases ascend.
    std::int32_t const before = number_that(shared.end(of) - begin, [&](std::int32_t n) {
      return bases[n].first + all_offsets[32 * std::int64_t(n)] <= column;
    });
    if (before == 0) {
      return false;
    }
    std::int64_t const slot = begin + before - 1;
    auto const* const KOKKOS_RESTRICT offsets = all_offsets + 32 * std::int64_t(before - 1);
    // Offsets behind the last column of a slot are in no order; few slots have such.
    auto const has_entry = [&](std::int32_t place) {
      std::int64_t const n = 2 * (32 * slot + place);
      return ((four_values(shared.values, n) ^ no_entry) |
              (four_values(shared.values, n + 1) ^ no_entry)) != 0;
    };
    std::int32_t const columns = has_entry(31) ? 32 : number_that(31, has_entry);
    std::int32_t const distance = column - bases[before - 1].first;
    std::int32_t const place =
        number_that(columns, [&](std::int32_t n) { return std::int32_t(offsets[n]) < distance; });
    return place < columns && offsets[place] == distance;
  }
};

struct twice_kernel {
  twice_finder finder;
  std::int32_t* where;  ///< [halves] the column found twice, or -1

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    half_slots const& pairs = finder.pairs;
    std::int32_t const found = finder.find(group, index, pairs.begin(index), pairs.end(index));
    group.once([&] { where[index] = found; });
  }
};

/// Slots of pairs that a lane group compares with shared ones: few, for many groups of lanes.
inline constexpr std::int64_t compared_slots = 8;

/// Whether a half of slots [8 index, 8 index + 8) has a column that its group shares.
struct compare_kernel {
  twice_finder finder;
  std::int64_t groups;
  std::int64_t slots;
  bool* found;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    half_slots const& pairs = finder.pairs;
    std::int64_t slot = compared_slots * index;
    std::int64_t const end = slot + compared_slots < slots ? slot + compared_slots : slots;
    bool twice = false;
    std::int64_t of = 0;
    while (slot < end && !twice) {
      // Groups without pairs are many, where rows are empty.
      if (pairs.slot_offsets[of + 1] <= slot) {
        of += number_that(groups - of,
                          [&](std::int32_t n) { return pairs.slot_offsets[of + n + 1] <= slot; });
      }
      std::int64_t const end_of = pairs.slot_offsets[of + 1];
      std::int64_t const upto = end_of < end ? end_of : end;
      twice = finder.find(group, 2 * of, slot, upto) >= 0 ||
              finder.find(group, 2 * of + 1, slot, upto) >= 0;
      slot = upto;
      ++of;
    }
    group.once([&] { found[index] = twice; });
  }
};

struct any_kernel {
  bool const* found;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    number += found[i] ? 1 : 0;
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

twice_finder finder_of(paired_arrays const& a) {
  auto const& s = a.shared;
  return {{a.slot_offsets, a.bases, a.offsets, a.values},
          {s.slot_offsets, s.bases, s.offsets, s.values}};
}

}  // namespace

template <execution_space Exec>
bool survey_twice(Exec const& exec, paired_arrays const& a, grouped_shape const& shape) {
  std::int64_t const stretches = (shape.slots + compared_slots - 1) / compared_slots;
  auto const found = allocate<Kokkos::View<bool*, typename Exec::memory_space>>(
      "iso::sparse::validate: columns found twice", {stretches}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: columns of pairs", exec, stretches,
      compare_kernel{finder_of(a), shape.num_groups(), shape.slots, found.data()});
  std::int64_t number = 0;
  Kokkos::parallel_reduce("iso::sparse::validate: columns found twice",
                          range<Exec>(exec, 0, stretches), any_kernel{found.data()}, number);
  exec.fence("iso::sparse::validate: the number is here");
  return number == 0;
}

template <execution_space Exec>
void inspect_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                   grouped_shape const& shape, std::uint16_t infinite,
                   csr_demands::of_values values, grouped_report& report) {
  report.in_pairs = true;
  if (!inspect_slot_offsets(exec, a.slot_offsets, shape, report)) {
    return;
  }
  auto const finder = finder_of(a);
  std::int64_t const halves = 2 * shape.num_groups();
  inspect_places(exec,
                 slot_places<half_slots>{shape.num_rows, shape.num_cols, finder.pairs, infinite},
                 halves, values, report);
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
  template bool survey_twice<Exec>(Exec const&, paired_arrays const&, grouped_shape const&);     \
  template void inspect_pairs<Exec>(Exec const&, paired_arrays const&, double const*,            \
                                    grouped_shape const&, std::uint16_t, csr_demands::of_values, \
                                    grouped_report&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE

}  // namespace iso::sparse::detail
