// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix has nothing to report, found at the speed of reading it.
#include "inspect_offsets.hpp"
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/allocate.hpp>
#include <iso/sparse/detail/validate_impl.hpp>
#include <iso/sparse/validate_grouped.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_NumericTraits.hpp>

#include <algorithm>

namespace iso::sparse::detail {
namespace {

/// A column that does not lie right of the one before it, whatever rows they are in. The first
/// entry of all is compared with itself, so that it counts as one.
template <class Column>
KOKKOS_FORCEINLINE_FUNCTION bool falls(Column const* columns, std::int64_t j) {
  return columns[j] <= columns[j - (j > 0 ? 1 : 0)];
}

/// Of a stretch of entries: how many columns fall; -1 where a value is not finite or zero.
template <class Value, class Column>
struct stretch_kernel {
  Column const* columns;
  Value const* values;
  std::int64_t entries;
  std::int32_t length;
  std::int32_t* falling;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    using bits = decltype(stored_bits(Value()));
    bits const all_ones = stored_bits(Value(Kokkos::Experimental::infinity_v<double>));
    std::int64_t const first = index * length;
    std::int64_t const left = entries - first;
    Column const* KOKKOS_RESTRICT const here = columns + first;
    Value const* KOKKOS_RESTRICT const value = values + first;
    std::int32_t const count = left < length ? std::int32_t(left) : length;
    typename Group::template per_lane<std::int32_t> number(0);
    typename Group::template per_lane<std::uint32_t> odd(0U);
    auto const look = [&](int lane, std::int32_t j, Column before) {
      bits const size = bits(stored_bits(value[j]) & bits(~sign_bit<bits>()));
      odd[lane] |= (size & all_ones) == all_ones || size == 0 ? 1U : 0U;
      number[lane] += here[j] <= before ? 1 : 0;
    };
    // Vectors want to know that neighbours are read.
    if (index > 0) {
      group.strided(std::int32_t(0), count,
                    [&](int lane, std::int32_t j) { look(lane, j, here[j - 1]); });
    } else {
      group.strided(std::int32_t(0), count,
                    [&](int lane, std::int32_t j) { look(lane, j, here[j > 0 ? j - 1 : 0]); });
    }
    typename Group::template per_lane<bool> any;
    group.each([&](int lane) { any[lane] = odd[lane] != 0; });
    bool const remarkable = group.any(any);
    std::int32_t const total = group.sum(number);
    group.once([&] { falling[index] = remarkable ? -1 : total; });
  }
};

struct survey_sums {
  std::int64_t falling;     ///< columns, wherever they stand
  std::int64_t at_starts;   ///< of them, in first entries of rows
  std::int64_t remarkable;  ///< above zero: something
  std::int64_t longest;
  std::int64_t widest;
  std::int64_t empty;
};

/// Row i of a matrix of which nothing is trusted yet, and stretch i.
template <class Column>
struct survey_kernel {
  using value_type = survey_sums;

  offsets_kernel of_offsets;
  Column const* columns;
  std::int32_t const* bases;
  double const* scales;
  std::int64_t num_cols;
  std::int32_t const* falling;
  std::int64_t stretches;

  KOKKOS_FUNCTION void init(survey_sums& s) const { s = {0, 0, 0, 0, 0, 0}; }
  KOKKOS_FUNCTION void join(survey_sums& s, survey_sums const& o) const {
    s.falling += o.falling;
    s.at_starts += o.at_starts;
    s.remarkable |= o.remarkable;
    s.longest = o.longest > s.longest ? o.longest : s.longest;
    s.widest = o.widest > s.widest ? o.widest : s.widest;
    s.empty += o.empty;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, survey_sums& s) const {
    if (i < stretches) {
      s.falling += falling[i];
      s.remarkable |= falling[i] < 0 ? 1 : 0;
    }
    if (i > of_offsets.rows) {
      return;
    }
    if (of_offsets.wrong_with(i) != fault::none) {
      s.remarkable |= 1;
    } else if (i < of_offsets.rows) {
      look_at(i, s);
    }
  }

 private:
  KOKKOS_FUNCTION void look_at(std::int64_t row, survey_sums& s) const {
    std::int64_t const first = of_offsets.offsets[row];
    std::int64_t const end = of_offsets.offsets[row + 1];
    if (end == first || end > of_offsets.entries || end < first) {
      s.empty += 1;  // or wrong, as offset row + 1 says
      s.remarkable |= good_scale(scales, row) ? 0 : 1;
      return;
    }
    std::int64_t const base = bases != nullptr ? bases[row] : 0;
    // First and last where columns ascend; where they do not, something is remarkable anyway.
    std::int64_t const low = base + columns[first];
    std::int64_t const high = base + columns[end - 1];
    bool const good = low >= 0 && high < num_cols && good_scale(scales, row);
    join(s, {0, falls(columns, first) ? 1 : 0, good ? 0 : 1, end - first, high - low, 0});
  }
};

/// Columns of a place, and column `list` of it, modulo 2^32, so that one comparison says whether it
/// lies within the matrix.
template <class Offset>
constexpr int lists_of(slot_base<Offset> const*) {
  return 1;
}
constexpr int lists_of(half_pair<std::int32_t> const*) { return 2; }
template <class Offset>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t column(slot_base<Offset> const& base, int /*list*/,
                                                 int place, Offset offset) {
  return std::uint32_t(base.first) + std::uint32_t(distance(base, place, offset));
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t column(half_pair<std::int32_t> const& base, int list,
                                                 int /*place*/, half_pair<std::uint16_t> offset) {
  return std::uint32_t(base.of(list)) + offset.of(list);
}

/// Of 32 slots: what is seen at a glance.
template <int Lists>
struct slots_seen {
  std::int32_t entries;  ///< -1: something is remarkable
  /// Bit k: the list in slot k + 1 does not begin right of its end in slot k, or after a gap.
  std::uint32_t falling[Lists];
};

/// Slots of `R` rows with a column a place, which all rows share, or two, of half of the rows each.
template <class Base, class Offset>
struct slot_arrays {
  static constexpr int lists = lists_of(static_cast<Base const*>(nullptr));

  std::int64_t const* slot_offsets;
  Base const* bases;
  Offset const* offsets;
  std::uint16_t const* values;
};

/// Slots [32 index, 32 index + 32), whatever their groups are.
template <int R, class Base, class Offset>
struct slots_kernel {
  static constexpr int lists = slot_arrays<Base, Offset>::lists;
  /// The values of a place in as few words as they fill.
  using word = std::conditional_t<R == 2, std::uint32_t, std::uint64_t>;
  static constexpr int words = 2 * R / int(sizeof(word));
  using place = entry<word, words>;
  static constexpr word ones = word(0x0001000100010001ULL);
  static constexpr word signs = word(ones * fill);

  slot_arrays<Base, Offset> a;
  std::int64_t slots;
  std::uint32_t num_cols;
  std::uint16_t infinite;
  std::int64_t last_group;
  int last_rows;  ///< of the last group, where it has less than R; else 0
  slots_seen<lists>* seen;

  /// What is read of a slot.
  template <class Group>
  struct one_slot {
    typename Group::template per_lane<place> values;
    typename Group::template per_lane<Offset> offset;
    typename Group::template per_lane<Offset> before;  ///< of the place before, if there is one
    Base base;
    // Of the slot behind it:
    Base next_base;
    Offset next_offset;
    place next_values;
    bool has_next;
  };
  template <class Group>
  struct tally {
    typename Group::template per_lane<word> entries{word(0)};   ///< four or two counters
    typename Group::template per_lane<word> infinite{word(0)};  ///< not zero: some are
    typename Group::template per_lane<std::uint32_t> falling[lists];
    typename Group::template per_lane<std::uint32_t> odd{0U};
    std::uint32_t holes = 0;
  };

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    constexpr int ahead = Group::turns_ahead > 0 ? Group::turns_ahead : 1;
    std::int64_t const first = 32 * index;
    int const count = slots - first < 32 ? int(slots - first) : 32;
    tally<Group> t;
    backend::unrolled<lists>(
        [&](auto list) { group.each([&](int lane) { t.falling[list][lane] = 0; }); });
    for (int k = 0; k < count; k += ahead) {
      one_slot<Group> slot[ahead];
      backend::unrolled<ahead>([&](auto u) {
        if (k + int(u) < count) {
          read(group, first + k + int(u), slot[u]);
        }
      });
      backend::unrolled<ahead>([&](auto u) {
        if (k + int(u) < count) {
          look_at_values(group, slot[u], k + int(u), t);
        }
      });
    }
    look_beyond(group, first, first + count, t);
    typename Group::template per_lane<bool> remarkable;
    typename Group::template per_lane<std::int32_t> number;
    group.each([&](int lane) {
      remarkable[lane] = (t.infinite[lane] != 0) | (t.odd[lane] != 0);
      // All counters of a word come together in its highest.
      number[lane] = std::int32_t(word(t.entries[lane] * ones) >> (8 * sizeof(word) - 16));
    });
    bool const calm = !group.any(remarkable) && t.holes == 0;
    std::int32_t const entries = group.sum(number);
    group.once([&] { seen[index].entries = calm ? entries : -1; });
    backend::unrolled<lists>([&](auto list) {
      // A list has one end in a slot: no bit is set twice.
      std::uint32_t const falling = group.sum(t.falling[list]);
      group.once([&] { seen[index].falling[list] = falling; });
    });
  }

 private:
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void read(Group const& group, std::int64_t slot,
                                        one_slot<Group>& to) const {
    auto const* const KOKKOS_RESTRICT value = reinterpret_cast<place const*>(a.values) + 32 * slot;
    Offset const* const KOKKOS_RESTRICT offset = a.offsets + 32 * slot;
    group.each([&](int lane) {
      to.values[lane] = value[lane];
      to.offset[lane] = offset[lane];
    });
    // Vectors want to know that neighbours are read.
    if (slot > 0) {
      group.each([&](int lane) { to.before[lane] = offset[lane - 1]; });
    } else {
      group.each([&](int lane) { to.before[lane] = offset[lane > 0 ? lane - 1 : 0]; });
    }
    to.base = a.bases[slot];
    to.has_next = slot + 1 < slots;
    std::int64_t const next = to.has_next ? 1 : 0;
    to.next_base = a.bases[slot + next];
    to.next_offset = offset[32 * next];
    if constexpr (lists > 1) {
      to.next_values = value[32 * next];
    }
  }

  /// Of the words of a place those of a list.
  template <class List, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void each_word(List list, F const& f) {
    constexpr int each = words / lists;
    backend::unrolled<each>([&](auto w) { f(backend::constant<int(list) * each + int(w)>()); });
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void look_at_values(Group const& group, one_slot<Group> const& slot,
                                                  int k, tally<Group>& t) const {
    word const lowest = word(ones * word(infinite & -infinite));  // bit of the exponent
    backend::unrolled<lists>([&](auto list) {
      typename Group::template per_lane<bool> is_used;
      group.each([&](int lane) {
        word any = 0;
        each_word(list, [&](auto w) {
          word const x = slot.values[lane].row[w];
          word const size = x & word(~signs);
          // Sums of two numbers of 15 bits: what they carry stands in the sign's place.
          word const is_entry = (word(size + word(~signs)) | word(~x)) & signs;
          t.infinite[lane] |= word(size + lowest) & signs;
          t.entries[lane] += word(is_entry >> 15);
          any |= is_entry;
        });
        is_used[lane] = any != 0;
      });
      std::uint32_t const used = group.mask(is_used);
      // No place with a column behind one without, and no slot without, but of two lists.
      t.holes |= (used & (used + 1)) | (lists == 1 && used == 0 ? 1U : 0U);
      bool goes_on = slot.has_next;
      if constexpr (lists > 1) {
        word any = 0;
        each_word(list, [&](auto w) { any |= slot.next_values.row[w] ^ signs; });
        goes_on = goes_on && any != 0;
      }
      std::uint32_t const next = column(slot.next_base, list, 0, slot.next_offset);
      group.each([&](int lane) {
        std::uint32_t const here = column(slot.base, list, lane, slot.offset[lane]);
        std::uint32_t const before = column(slot.base, list, lane - 1, slot.before[lane]);
        std::uint32_t const outside = here >= num_cols ? 1U : 0U;
        std::uint32_t const falls = here <= before ? used >> lane & (lane > 0 ? 1U : 0U) : 0U;
        bool const ends = (used >> lane & 3U) == 1U;
        bool const gap = lists > 1 && used == 0 && lane == 0;
        t.odd[lane] |= outside | falls;
        t.falling[list][lane] |= goes_on && ((ends && next <= here) || gap) ? 1U << k : 0U;
      });
    });
  }

  /// Entries in rows that the last group has not.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void look_beyond(Group const& group, std::int64_t slot,
                                               std::int64_t end, tally<Group>& t) const {
    if (last_rows == 0) {
      return;
    }
    std::int64_t const from = a.slot_offsets[last_group];
    for (slot = slot > from ? slot : from; slot < end; ++slot) {
      group.each([&](int lane) {
        for (int r = last_rows; r < R; ++r) {
          t.odd[lane] |= a.values[(32 * slot + lane) * R + r] != fill ? 1U : 0U;
        }
      });
    }
  }
};

struct slot_sums {
  std::int64_t entries;
  std::int64_t falling;     ///< slots that fall behind another of their group
  std::int64_t remarkable;  ///< above zero: something
};

/// Group i of a matrix of which nothing is trusted yet, the scale of row i, and stretch i.
template <int Lists>
struct slot_sums_kernel {
  using value_type = slot_sums;

  offsets_kernel of_offsets;
  double const* scales;
  std::int64_t num_scales;
  slots_seen<Lists> const* seen;
  std::int64_t stretches;

  KOKKOS_FUNCTION void init(slot_sums& s) const { s = {0, 0, 0}; }
  KOKKOS_FUNCTION void join(slot_sums& s, slot_sums const& o) const {
    s.entries += o.entries;
    s.falling += o.falling;
    s.remarkable |= o.remarkable;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, slot_sums& s) const {
    if (i < stretches) {
      s.entries += seen[i].entries;
      s.remarkable |= seen[i].entries < 0 ? 1 : 0;
      for (std::uint32_t const falling : seen[i].falling) {
        s.falling += Kokkos::popcount(falling);
      }
    }
    if (i < num_scales) {
      s.remarkable |= good_scale(scales, i) ? 0 : 1;
    }
    if (i > of_offsets.rows) {
      return;
    }
    if (of_offsets.wrong_with(i) != fault::none) {
      s.remarkable |= 1;
    } else if (i < of_offsets.rows) {
      // A group may begin anywhere.
      std::int64_t const first = of_offsets.offsets[i];
      if (first > 0 && first < of_offsets.offsets[i + 1] && first < of_offsets.entries) {
        for (std::uint32_t const falling : seen[(first - 1) / 32].falling) {
          s.falling -= falling >> ((first - 1) % 32) & 1U;
        }
      }
    }
  }
};

}  // namespace

template <execution_space Exec, class Value, class Column>
survey survey_rows(Exec const& exec, csr_rows<Value, Column> const& rows, std::int64_t num_cols,
                   std::int64_t entries, double const* scales) {
  // Stretches enough for a GPU's multiprocessors, and short enough for a processor's cache.
  std::int64_t const even = (entries / 16384 + 31) / 32 * 32;
  auto const length = std::int32_t(std::clamp<std::int64_t>(even, 256, 4096));
  std::int64_t const stretches = (entries + length - 1) / length;
  auto const falling = allocate<Kokkos::View<std::int32_t*, typename Exec::memory_space>>(
      "iso::sparse::validate: stretches", {stretches}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group(
      "iso::sparse::validate: entries", exec, stretches,
      stretch_kernel<Value, Column>{rows.columns, rows.values, entries, length, falling.data()});
  survey_sums sums{};
  Kokkos::parallel_reduce("iso::sparse::validate: rows at a glance",
                          range<Exec>(exec, 0, std::max(rows.num_rows + 1, stretches)),
                          survey_kernel<Column>{{{}, rows.row_offsets, rows.num_rows, entries},
                                                rows.columns,
                                                rows.row_bases,
                                                scales,
                                                num_cols,
                                                falling.data(),
                                                stretches},
                          sums);
  exec.fence("iso::sparse::validate: the sums are here");
  return {sums.remarkable == 0 && sums.falling == sums.at_starts, sums.longest, sums.widest,
          sums.empty};
}

namespace {

template <class Exec, class Base, class Offset>
bool survey_lists(Exec const& exec, slot_arrays<Base, Offset> const& a, double const* row_scales,
                  grouped_shape const& shape, std::uint16_t infinite) {
  constexpr int lists = slot_arrays<Base, Offset>::lists;
  std::int64_t const groups = shape.num_groups();
  std::int64_t const stretches = (shape.slots + 31) / 32;
  auto const seen = allocate<Kokkos::View<slots_seen<lists>*, typename Exec::memory_space>>(
      "iso::sparse::validate: slots", {stretches}, exec, Kokkos::WithoutInitializing);
  auto const launch = [&](auto rows) {
    backend::for_each_lane_group(
        "iso::sparse::validate: slots", exec, stretches,
        slots_kernel<rows, Base, Offset>{a, shape.slots, std::uint32_t(shape.num_cols), infinite,
                                         groups - 1, int(shape.num_rows % rows), seen.data()});
  };
  if constexpr (lists > 1) {
    launch(std::integral_constant<int, 8>());
  } else {
    with_rows(shape.rows, launch);
  }
  slot_sums sums{};
  Kokkos::parallel_reduce("iso::sparse::validate: groups at a glance",
                          range<Exec>(exec, 0, std::max({groups + 1, stretches, shape.scales})),
                          slot_sums_kernel<lists>{{{}, a.slot_offsets, groups, shape.slots},
                                                  row_scales,
                                                  shape.scales,
                                                  seen.data(),
                                                  stretches},
                          sums);
  exec.fence("iso::sparse::validate: the sums are here");
  return sums.remarkable == 0 && sums.falling == 0 && sums.entries == shape.entries;
}

}  // namespace

template <execution_space Exec, class Offset>
bool survey_slots(Exec const& exec, grouped_arrays<Offset> const& a, double const* row_scales,
                  grouped_shape const& shape, std::uint16_t infinite) {
  return survey_lists(
      exec, slot_arrays<slot_base<Offset>, Offset>{a.slot_offsets, a.bases, a.offsets, a.values},
      row_scales, shape, infinite);
}

template <execution_space Exec>
bool survey_pairs(Exec const& exec, paired_arrays const& a, double const* row_scales,
                  grouped_shape const& shape, std::uint16_t infinite) {
  return survey_lists(exec,
                      slot_arrays<half_pair<std::int32_t>, half_pair<std::uint16_t>>{
                          a.slot_offsets, a.bases, a.offsets, a.values},
                      row_scales, shape, infinite);
}

#define ISO_INSTANTIATE_ROWS(Exec, Column, Value)                                               \
  template survey survey_rows<Exec, Value, Column>(Exec const&, csr_rows<Value, Column> const&, \
                                                   std::int64_t, std::int64_t, double const*);
#define ISO_INSTANTIATE_COLUMN(Exec, Column) ISO_FOR_EACH_VALUE(ISO_INSTANTIATE_ROWS, Exec, Column)
#define ISO_INSTANTIATE_OFFSET(Exec, Offset)                                           \
  template bool survey_slots<Exec, Offset>(Exec const&, grouped_arrays<Offset> const&, \
                                           double const*, grouped_shape const&, std::uint16_t);
#define ISO_INSTANTIATE(Exec)                                                        \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_COLUMN, Exec)                                  \
  ISO_FOR_EACH_OFFSET(ISO_INSTANTIATE_OFFSET, Exec)                                  \
  template bool survey_pairs<Exec>(Exec const&, paired_arrays const&, double const*, \
                                   grouped_shape const&, std::uint16_t);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_ROWS
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE_OFFSET
#undef ISO_INSTANTIATE

}  // namespace iso::sparse::detail
