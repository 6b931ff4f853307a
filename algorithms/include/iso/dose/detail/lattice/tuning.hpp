// SPDX-License-Identifier: BSD-3-Clause
//! Holds launch parameters of the walk along the lattice.
#pragma once

#include <iso/backend/registry.hpp>

#include <cstddef>
#include <cstdint>

namespace iso::dose::detail {

/// The distribution of the walk over a machine. No bit depends on it.
template <class Exec>
struct lattice_tuning {
  static constexpr bool by_items = backend::is_device<Exec>;
  /// Whether lines may be walked by slabs: lanes of a group leave to each other what travels.
  static constexpr bool has_slabs = !backend::is_device<Exec>;
  static constexpr int max_rows = 8;  ///< of an item
  /// The alignment of rows of lanes, so that each begins where a register may begin. Behind the
  /// last row is room for one block.
  static constexpr std::int64_t lane_multiple = 32;
  static constexpr std::int64_t room = 64;
  static constexpr std::size_t items_together = 16;
  /// The largest number of lines that a thread takes through a slab in turn.
  static constexpr std::int32_t max_bundle = 16;
  /// Returns the rows of an item: long launches want more, short ones more work items.
  static int rows(std::int64_t directions) { return directions > 128 ? 8 : 4; }
  /// Returns the blocks of a multiprocessor: as many registers as hold the rows, and no more. What
  /// a warp waits for, others hide.
  template <class T>
  static constexpr unsigned blocks(int rows) {
    return sizeof(T) == 8 ? 0 : rows == 8 ? 5 : 7;
  }
};

}  // namespace iso::dose::detail
