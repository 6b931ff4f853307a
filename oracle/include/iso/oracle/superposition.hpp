// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/superposition.hpp
//! Integrates dose in water over TERMA times point kernel: no voxels, no cones' directions.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/dose/kernel.hpp>
#include <iso/dose/spectrum.hpp>

#include <vector>

namespace iso::oracle {

/// The points p with dot(normal, p) <= bound.
struct half_space {
  vec3<double> normal;
  double bound;  ///< mm
};

/// A square field onto water, in the beam's coordinates: the source at 0, z along the axis, x and y
/// along the sides of the field. The water is what all half-spaces share.
struct field_on_water {
  double side;  ///< mm, in the plane of the isocentre
  std::vector<half_space> water;
  double source_distance = 1000;  ///< mm, to the isocentre

  /// Puts it onto a slab that is wider than the field, at right angles.
  static field_on_water slab(double side, double surface, double thickness) {
    return {side, {{{0, 0, -1}, -surface}, {{0, 0, 1}, surface + thickness}}};
  }
};

/// Counts Gauss-Legendre nodes of the quadratures. Twice as many of each change the dose of a
/// 100 mm field by less than 0.01 per cent on the axis, and by less than 0.2 per cent off it.
struct superposition_nodes {
  int polar = 12;    ///< in each of the kernel's rows
  int azimuths = 8;  ///< in an eighth of a turn
  int radial = 8;    ///< in each octave of the distance
};

/// Returns the dose at `point` (mm) for one photon/cm2 in air at the isocentre, Gy. The fluence is
/// flat up to sharp edges. The library computes none of it; its kernels and spectra are the input.
///
/// It is the integral over all directions u and distances r of TERMA at the point less r u times
/// r^2 K(r, theta), theta being the angle of u to the photons' ray there, or to the axis where
/// `tilt` is false. Along each direction the integral is cut where the field, the water and the
/// kernel's rows begin and end, so that it is of smooth functions only.
double exact_water_dose(field_on_water const& field, dose::exponential_kernel const& kernel,
                        dose::spectrum const& photons, dose::terma_options const& options,
                        bool tilt, vec3<double> const& point,
                        superposition_nodes const& nodes = {});

}  // namespace iso::oracle
