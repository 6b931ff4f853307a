// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_ENTRY_TABLE_HPP
#define ISO_CT_DETAIL_ENTRY_TABLE_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/ct/detail/entry_table.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// The entries that lanes find for the whole group: up to `Count` entries, at most 32. On a GPU
/// they lie in the kernel's shared_array.
template <class Group, class Entry, int Count>
class entry_table {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit entry_table(Group const& group)
      : group_(group), entries_(group) {
    static_assert(Count <= 32, "iso::ct: a table has an entry a lane at most");
  }
  /// Keeps the entries n, of those in [0, count), for which f(n, entry) returns true, in order, in
  /// place of those before; returns how many. Each n is one lane's: f may write `lane_array`s at n.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION int fill(int count, F const& f) {
    int const lane = group_.lane();
    group_.sync();
    Entry found;
    bool const keeps = lane < count && f(lane, found);
    std::uint32_t const kept = group_.mask(keeps);
    if (keeps) {
      entries_[Kokkos::popcount(kept & ((1U << unsigned(lane)) - 1U))] = found;
    }
    group_.sync();
    return Kokkos::popcount(kept);
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry const& operator[](int n) const { return entries_[n]; }

 private:
  Group const& group_;
  typename Group::template shared_array<Entry, Count> entries_;
};

template <class Isa, class Entry, int Count>
class entry_table<backend::array_lane_group<Isa>, Entry, Count> {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit entry_table(backend::array_lane_group<Isa> const&) {}
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION int fill(int count, F const& f) {
    int kept = 0;
    for (int n = 0; n < count; ++n) {
      kept += f(n, entries_[kept]) ? 1 : 0;
    }
    return kept;
  }
  KOKKOS_FORCEINLINE_FUNCTION Entry const& operator[](int n) const { return entries_[n]; }

 private:
  Entry entries_[Count + 1];  // one that is not kept
};

}  // namespace iso::ct::detail::ISO_SET

#endif
