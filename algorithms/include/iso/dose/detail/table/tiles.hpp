// SPDX-License-Identifier: BSD-3-Clause
//! Divides the lattice's lines into tiles of rays, for tables.
#pragma once

#include <iso/dose/detail/lattice.hpp>

#include <cstdint>
#include <vector>

namespace iso::dose::detail {

/// Makes tiles of 32 rays side by side, line after line, for tables.
std::vector<lattice_item> make_tiles(lattice_tables const& tables);

/// Groups of tiles whose rays are under way at the same time.
struct tile_batches {
  std::vector<std::int64_t> ends;  ///< whole lines; the first batch begins with tile 0
  std::int64_t max_tiles = 0;
  std::int32_t max_planes = 0;  ///< of a tile

  tile_batches() = default;
  /// \param max_bytes  of a batch, or one line where that has more
  tile_batches(std::vector<lattice_item> const& tiles, std::int64_t bytes_per_plane,
               std::int64_t max_bytes);
};

}  // namespace iso::dose::detail
