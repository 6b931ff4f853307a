// SPDX-License-Identifier: BSD-3-Clause
//! Holds what a convolution plan keeps in memory.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/dose/detail/lattice.hpp>
#include <iso/dose/detail/table/tiles.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace iso::dose::detail {

/// A plan's kernel that is a sum of exponentials. Launches are compiled for each number of terms.
template <int Terms>
struct exponentials {
  static constexpr int terms = Terms;
};
/// A plan's kernel that is a table.
struct tabulated {
  static constexpr int terms = 1;  ///< that a tilt multiplies
};
using plan_kernel = std::variant<exponentials<2>, exponentials<4>, tabulated>;

/// An array of a plan, within its memory.
template <class T, class Space>
using plan_array = Kokkos::View<T*, Space, Kokkos::MemoryUnmanaged>;

/// Lines of the lattice, of which a group walks some rows of rays.
template <class Space>
struct item_walk {
  std::int32_t rows;  ///< of an item
  plan_array<lattice_item, Space> items;
};
/// Lines of the lattice, which threads walk a few planes in turn.
struct slab_walk {
  std::vector<lattice_class> classes;
  std::int64_t state_size;  ///< values that the longest line keeps for each term
};
/// Lines of the lattice that look back by a table, in tiles of rays.
template <class Space>
struct tile_walk {
  plan_array<lattice_item, Space> tiles;
  tile_batches batches;
};
/// Lines that are followed back from voxels, or from samples of rays along each direction.
struct back_walk {
  std::vector<vec3<double>> directions;
  std::int64_t max_samples;  ///< non_voxel: of one direction
};

/// The tables of a convolution plan.
template <class T, class Space>
struct plan_storage {
  plan_kernel kernel;
  lattice_layout layout;
  std::variant<item_walk<Space>, slab_walk, tile_walk<Space>, back_walk> walk;
  Kokkos::View<std::byte*, Space> memory;  ///< of all arrays
  plan_array<lattice_line<T>, Space> lines;
  plan_array<lattice_plane<T>, Space> planes;
  plan_array<cone_line<T>, Space> directions;
  plan_array<T, Space> bins;  ///< of a table
};

}  // namespace iso::dose::detail
