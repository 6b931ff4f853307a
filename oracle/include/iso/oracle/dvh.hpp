// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/dvh.hpp
//! Knows how much of ideal bodies lies on one side of a plane or inside a sphere, and their
//! contours.
#pragma once

#include <iso/dvh/structure.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace iso::oracle {

/// A solid about the z axis, middle at the world's origin.
struct ideal_body {
  enum class shape { sphere, cylinder, cone };
  shape what = shape::sphere;
  double diameter = 24;  ///< mm; of a cone at its base, the lower end
  double height = 24;    ///< mm

  /// Returns the radius of its section at z, 0 outside.
  [[nodiscard]] double radius(double z) const;
  [[nodiscard]] double volume() const;
  /// Returns the volume with z >= level.
  [[nodiscard]] double volume_above_z(double level) const;
  /// Returns the volume with x >= level, by integration of the sections' segments to 1e-7.
  [[nodiscard]] double volume_above_x(double level) const;
};

/// A solid about the z axis whose radius is linear in z between nodes: what contours of an ideal
/// body mean by straight frusta and flat caps.
struct turned_body {
  std::vector<double> z;  ///< mm, ascending; the same twice is a step
  std::vector<double> radius;

  /// Returns the radius of its section at z, 0 outside.
  [[nodiscard]] double radius_at(double at) const;
  [[nodiscard]] double volume() const;
  /// Returns the volume with z >= level.
  [[nodiscard]] double volume_above_z(double level) const;
  /// Returns the volume with x >= level, by integration to 1e-7.
  [[nodiscard]] double volume_above_x(double level) const;
  /// Returns the volume within a ball about the middle, by integration to 1e-5.
  [[nodiscard]] double volume_within(double ball) const;
};

/// Returns what contours_of(body, spacing) means: frusta between planes, and beyond the first and
/// last plane the contour, half a spacing far.
turned_body convention_of(ideal_body const& body, double spacing);

/// Returns the share of every stride-th voxel of a grid in the solid about the z axis whose section
/// at z has this radius, by 24^2 samples of x and z, each with its exact part along y; NaN for the
/// others.
std::vector<double> shares_in(std::function<double(double)> const& radius_at, grid const& g,
                              std::int64_t stride);

/// Returns circles of as many points, of a circle's area, in planes half a spacing inside both ends
/// and every spacing between.
dvh::structure contours_of(ideal_body const& body, double spacing, int points = 360);

/// Returns the volume of a sphere about the middle of maximum exp(-r^2 / (2 width^2)) that gets
/// `level` or more.
double gaussian_volume(double radius, double maximum, double width, double level);

/// Returns the doses at those points of a grid that `inside` takes, the largest first: trilinear
/// between voxels' middles, the outermost ones' beyond them.
/// \param dose  [nx, ny, nz]
std::vector<double> sampled_doses(volume_view<double const, Kokkos::HostSpace> const& dose,
                                  grid const& points,
                                  std::function<bool(vec3<double> const&)> const& inside);

}  // namespace iso::oracle
