// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernel of test_entry_table.cpp, for every instruction set.
#ifndef ISO_SET
#ifndef TESTS_CT_ENTRY_TABLE_KERNELS_HPP
#define TESTS_CT_ENTRY_TABLE_KERNELS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/ct/detail/entry_table.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER "entry_table_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace entry_table_kernels::ISO_SET {

using ISO_SET_OF(iso::ct::detail)::entry_table;

/// The multiples of three below `count`, squared, and which lanes had none, two tables in turn.
struct tabled_squares {
  ISO_KERNEL(tabled_squares);

  struct entry {
    std::int32_t number;
    double square;
  };

  std::int32_t count;
  std::int32_t* squares;  ///< [group][round][32]
  std::int32_t* kept;     ///< [group][round]
  std::uint32_t* left;    ///< [group][round]

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    entry_table<Group, entry, 32> table(group);
    for (std::int32_t round = 0; round < 2; ++round) {
      typename Group::template lane_array<bool> none(false);
      int const found = table.fill(count, [&](int n, entry& e) {
        e = {n, double(n) * n + double(index)};
        none[n] = (n + round) % 3 != 0;
        return (n + round) % 3 == 0;
      });
      std::int64_t const row = 2 * index + round;
      group.each([&](int lane) {
        squares[32 * row + lane] =
            lane < found ? std::int32_t(table[lane].square) + 1000 * table[found - 1].number : -1;
      });
      auto const bits = group.mask(none);
      group.once([&] {
        kept[row] = found;
        left[row] = bits;
      });
    }
  }
};

}  // namespace entry_table_kernels::ISO_SET

#endif
