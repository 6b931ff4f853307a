// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/row_segment.hpp
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace iso::sparse {

/// Steps of 32 lanes in one part of a row: 2048 entries of a csr_view, 64 column chunks of a
/// row_block_csr. Longer rows are summed part by part, and the parts' sums then from the first to
/// the last.
inline constexpr std::int32_t part_steps = 64;

/// What a lane group adds up at once: successive entries of a row of a csr_view, or successive
/// column chunks of a block of a row_block_csr.
/// Sixteen bytes, one read: what a kernel must look up before it can ask for its first entry, it
/// waits for.
struct alignas(16) row_segment {
  std::int64_t first;  ///< entry, or column chunk
  std::int32_t count;  ///< of entries, or chunks
  std::int32_t block;  ///< the row, or the row block

  /// What follows `done` of it, at most `longest`.
  [[nodiscard]] KOKKOS_FUNCTION row_segment from(std::int32_t done, std::int32_t longest) const {
    std::int32_t const left = count > done ? count - done : 0;
    return {first + done, left < longest ? left : longest, block};
  }
};

}  // namespace iso::sparse
