// SPDX-License-Identifier: BSD-3-Clause
//! Holds what a convolution plan keeps in memory.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/dose/detail/lattice.hpp>
#include <iso/dose/detail/table/tiles.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::dose::detail {

/// The tables of a convolution plan.
template <class T, class Space>
struct lattice_storage {
  lattice_layout layout;
  std::vector<lattice_class> classes;
  std::int64_t state_size = 0;  ///< by slabs: values that the longest line keeps for each term
  std::int32_t rows = 0;        ///< of an item, where lines are walked by items
  Kokkos::View<lattice_line<T>*, Space> lines;
  Kokkos::View<lattice_plane<T>*, Space> planes;
  Kokkos::View<lattice_item*, Space> items;
  tile_batches batches;  ///< of tables
  Kokkos::View<cone_line<T>*, Space> directions;
  Kokkos::View<T*, Space> bins;
  std::vector<vec3<double>> axes;  ///< the directions
  std::int64_t max_samples = 0;    ///< non_voxel: of one direction

  /// Returns whether lines are walked by items, else by slabs.
  [[nodiscard]] bool by_items() const { return rows > 0; }
};

}  // namespace iso::dose::detail
