// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/cones.hpp
//! Divides a point kernel into the directions in which a collapsed-cone convolution carries energy.
//!
//! The directions about the beam's axis are divided into polar cones: a cone holds all directions
//! whose angle to the axis lies between theta_low and theta_high. The energy of a cone is sent
//! along a few directions within it, evenly spaced in azimuth.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/dose/dose_options.hpp>
#include <iso/dose/kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace iso::dose {

/// The tangent of the largest angle between a ray and the beam's axis for which tilts are fitted.
/// The corner of a field of 400 mm x 400 mm has a smaller one. A ray at a larger angle counts as
/// one at this angle.
inline constexpr double max_tilt = 0.3;

inline constexpr int tilt_degree = 4;

/// The change of the energy that a source sends into a direction, where the photon's ray is tilted
/// against the beam's axis. delta is the cosine of the angle between the direction and the ray,
/// less that of the angle between the direction and the axis. The energy is 1 + delta (c[0] + delta
/// (c[1] + ...)) times that of an untilted ray. A delta outside of [least, most] counts as the
/// nearer end.
struct cone_tilt {
  std::array<std::array<double, tilt_degree>, max_kernel_terms> coefficients;  ///< of each term
  double least;
  double most;

  /// Returns the factor by which the tilt multiplies the energy of `term`.
  [[nodiscard]] double factor(std::size_t term, double delta) const;
};

/// One polar cone.
struct transport_cone {
  double theta_low;     ///< rad
  double theta_high;    ///< rad
  double cosine;        ///< of the directions' angle to the beam
  cone_tilt tilt = {};  ///< of a table, one factor, as that of term 0
};

/// The fraction of the released energy that is absorbed along one direction of each cone within the
/// distance r, as the sum over the terms of energy (1 - exp(-rate r)).
struct exponential_cones {
  /// The terms of one cone.
  struct cone_terms {
    std::array<double, max_kernel_terms> energy;  ///< to infinity
    std::array<double, max_kernel_terms> rate;    ///< 1/cm at 1 g/cm3
  };
  int num_terms;                  ///< 2 or 4
  std::vector<cone_terms> terms;  ///< of each cone
};

/// The same fraction as a table in r.
struct tabulated_cones {
  std::vector<double> radii;                ///< cm
  std::vector<std::vector<double>> within;  ///< each radius, of each cone
};

/// Polar cones with the same number of directions in each. Azimuth n lies at (n + 1/4) / azimuths
/// of a turn. A square field whose sides are along the axes then sees twice as many azimuths, by
/// its symmetry.
struct cone_set {
  int azimuths;
  std::vector<transport_cone> cones;
  std::variant<exponential_cones, tabulated_cones> absorbed;  ///< along one direction of each cone

  /// Returns whether the cones are those of a tabulated kernel.
  [[nodiscard]] bool is_table() const { return std::holds_alternative<tabulated_cones>(absorbed); }

  /// Returns the unit vector in which energy travels, with z along the beam. Where `azimuths` is a
  /// multiple of 4, quarter turns of a direction are exact.
  [[nodiscard]] vec3<double> direction(std::size_t cone, int azimuth) const;
  [[nodiscard]] std::int64_t size() const { return std::int64_t(cones.size()) * azimuths; }
};

/// Divides a kernel of exponentials into the cones that `options` ask for.
///
/// The kernel is given in rows, each for a range of angles. A cone that meets several rows takes
/// the mean of their energies amplitude / rate, weighted by solid angle, and the mean of their
/// rates, weighted by energy. Its energy to infinity and its value at r = 0 are then those of the
/// kernel.
///
/// The tilt of a cone is fitted over all rays up to max_tilt, with the largest weight on rays near
/// the axis. The field does not enter, so that a change of the field changes nothing for rays that
/// both fields have. The fit preserves the energy that is absorbed within 15 cm (tilt_radius): most
/// of a term's energy to infinity is absorbed outside of the field.
///
/// Determinism: backend_to_backend; computed on the host with iso::math.
/// \throws iso::invalid_argument  a number of cones or azimuths outside 4..48; an unknown placing;
///                                a kernel that iso::dose::validate refuses
/// \par Method  A. Ahnesjo, Med. Phys. 16(4), 1989, doi:10.1118/1.596360; the placing by equal
///              energy is this library's (docs/algorithms/dose.md)
cone_set make_cones(exponential_kernel const& k, cone_options const& options = {});

/// Divides a tabulated kernel. A cone takes the energy of each row in proportion to the part of the
/// row's solid angle that it covers.
/// Determinism: backend_to_backend; computed on the host with iso::math.
/// \throws iso::invalid_argument  as for a kernel of exponentials
cone_set make_cones(tabulated_kernel const& k, cone_options const& options = {});
cone_set make_cones(point_kernel const& k, cone_options const& options = {});

}  // namespace iso::dose
