// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/row_piece.hpp
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace iso::sparse {

/// Turns of 32 places in one part of a row: 2048 entries of a csr_view, 64 slots of a grouped_view
/// or paired_view. Longer rows are summed part by part, and the parts' sums then from the first to
/// the last.
inline constexpr std::int32_t part_turns = 64;

/// What a lane group adds up at once: successive entries of a row of a csr_view, or successive
/// slots of a group of rows of a grouped_view (of a paired_view two such, shared slots and pairs).
/// Sixteen bytes, one read: what a kernel must look up before it can ask for its first entry, it
/// waits for.
struct alignas(16) row_piece {
  std::int64_t first;  ///< entry, or slot
  std::int32_t count;  ///< of entries, or slots
  std::int32_t group;  ///< the row, or the group of rows

  /// What follows `done` of it, at most `longest`.
  [[nodiscard]] KOKKOS_FUNCTION row_piece from(std::int32_t done, std::int32_t longest) const {
    std::int32_t const left = count > done ? count - done : 0;
    return {first + done, left < longest ? left : longest, group};
  }
};

}  // namespace iso::sparse
