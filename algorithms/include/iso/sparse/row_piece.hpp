// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/row_piece.hpp
#pragma once

#include <cstdint>

namespace iso::sparse {

/// What a lane group adds up at once: successive entries of a row of a csr_view, or successive
/// slots of a group of rows of a grouped_view. Sixteen bytes, one read: what a kernel must look up
/// before it can ask for its first entry, it waits for.
struct alignas(16) row_piece {
  std::int64_t first;  ///< entry, or slot
  std::int32_t count;  ///< of entries, or slots
  std::int32_t group;  ///< the row, or the group of rows
};

}  // namespace iso::sparse
