// SPDX-License-Identifier: BSD-3-Clause
//! Defines what a search for the least gamma reads.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::gamma::detail {

/// A number for each axis.
using triple = Kokkos::Array<double, 3>;

/// A cell or an evaluated voxel within reach, relative to the voxel at or below a point.
struct site_offset {
  float distance;  ///< least squared distance over the square of the least spacing, rounded down
  std::int32_t x;
  std::int32_t y;
  std::int32_t z;
};

/// The place of a reference coordinate on the evaluated grid.
struct reference_place {
  double fraction;     ///< spacings above `voxel`: 0 to 1 unless it lies outside the grid
  std::int32_t voxel;  ///< at or below it, or the first
};

/// The least and the largest dose of a cell's corners, and of their differences along the edges
/// that go along each axis, rounded outwards: whether the dose is trilinear or linear on
/// tetrahedra, its derivative along an axis is a mean of them.
template <class T>
struct dose_range {
  T low;
  T high;
  T min_step[3];
  T largest_step[3];
};

/// The best point of a search so far.
struct min_found {
  double squared;     ///< of gamma
  triple at;          ///< in spacings; of trilinear doses alone
  double difference;  ///< of the doses there, over the criterion's
};

/// A criterion in the terms of the search.
struct criterion_terms {
  triple weight;      ///< (spacing over distance)^2
  triple inverse;     ///< one over that
  double difference;  ///< dose, or with normalisation::local a fraction of it
  double scale;       ///< of site_offset::distance, to squared distances of agreement
};

/// The view that a kernel has of a gamma_plan.
template <class T>
struct dose_search {
  T const* evaluated;                ///< voxel (0, 0, 0), be it held or not
  dose_range<T> const* ranges;       ///< [cells], likewise
  reference_place const* places[3];  ///< of every reference coordinate that is held
  site_offset const* offsets;        ///< in ascending distance
  std::int32_t num_offsets;
  std::int32_t sites[3];   ///< cells, or voxels, along each axis
  std::int32_t row;        ///< cells along z that are held
  std::int64_t stride[2];  ///< of evaluated voxels along x and y
  std::int32_t top[3];     ///< 1; 0 along an axis of one voxel
  std::int32_t last[3];    ///< voxel along each axis
  triple ratio;            ///< hx/hy, hx/hz, hy/hz of the spacings h
  triple inverse_ratio;
  criterion_terms const* criteria;
  std::int32_t num_criteria;
  double most;  ///< the square of the maximum gamma
  bool local;
};

/// Its arrays.
template <class T, class Space>
struct search_arrays {
  Kokkos::View<dose_range<T>*, Space> ranges;
  Kokkos::View<reference_place*, Space> places[3];
  Kokkos::View<site_offset*, Space> offsets;
  Kokkos::View<criterion_terms*, Space> criteria;
};

}  // namespace iso::gamma::detail
