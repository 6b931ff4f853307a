// SPDX-License-Identifier: BSD-3-Clause
//! Rays interpolating between columns of voxels, by hand for processors with AVX-512: compilers
//! send what lies between two loops over the lanes through memory, and take nearly twice as long.
//! The same operations in the same order, so that no bit tells which of the two ran.
#pragma once

#include <cstdint>

namespace iso::backend::detail {

/// A few planes as a fan of rays meets them: in each two neighbouring columns of voxels, blended
/// with the weight of the upper one.
template <class T>
struct column_planes {
  static constexpr std::int32_t most = 16;

  T const* lower[most];  ///< where a plane's lower column begins
  T weight[most];
  std::int64_t next;   ///< from a column to its upper neighbour
  std::int32_t first;  ///< plane 0 of these
  std::int32_t height;
  T lowest;  ///< least and greatest coordinate along the columns that belongs to the field
  T highest;
};

/// Planes [first, last) of a column_planes; those of [inner_first, inner_last) have voxels on both
/// sides of every ray.
struct planes_of_row {
  std::int32_t first;
  std::int32_t inner_first;
  std::int32_t inner_last;
  std::int32_t last;
};

/// The coordinates of 32 rays along the columns: fma(plane, slope[l], base[l]).
template <class T>
struct ray_lanes {
  T const* slope;
  T const* base;
};

/// Where samples are added, as ordered_sum and order_free_sum add them.
template <class T>
struct ordered_lanes {
  T* sum;
};
template <class T, class Word>
struct order_free_lanes {
  Word* sum;
  Word* flags;
  T scale;
  T rounder;
};

/// Adds a sample a plane to each of 32 rays; or does nothing and returns false where neighbouring
/// rays lie so far apart that two registers do not hold their voxels. Needs AVX-512
/// (host_vector_bytes() == 64).
template <class T, class Sums>
bool walk_columns(column_planes<T> const& planes, planes_of_row const& range,
                  ray_lanes<T> const& rays, Sums const& sums);

}  // namespace iso::backend::detail
