// SPDX-License-Identifier: BSD-3-Clause
//! What `iso verify` computes with: numbers that look random, volumes, scans and rays.
#pragma once

#include <iso/ct/geometry.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/ray/ray.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::jobs {

/// A number of 64 bits that looks random: splitmix64 of the index.
KOKKOS_INLINE_FUNCTION std::uint64_t scrambled(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// In [-1, 1), exact in float and double.
KOKKOS_INLINE_FUNCTION double in_unit(std::uint64_t index) {
  return double(std::int64_t(scrambled(index) >> 40) - (std::int64_t(1) << 23)) / double(1 << 23);
}

/// Voxels that look random, more than two blocks of driving planes along x and y.
files::host_volume verify_volume();
/// The same with little more than one block along x and y.
files::host_volume verify_small_volume();

/// Scans of 9 views of 45 x 50 pixels.
ct::geometry verify_cone();
ct::geometry verify_parallel();
/// No view has v along z.
ct::geometry verify_tilted();

/// Rays about `g`, three of eight along an axis, many of those in a plane between voxels.
template <class T>
std::vector<ray::ray<T>> verify_rays(grid const& g, std::int64_t count);

}  // namespace iso::jobs
