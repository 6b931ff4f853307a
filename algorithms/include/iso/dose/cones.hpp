// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/cones.hpp
//! Gives the directions in which a collapsed-cone convolution carries energy.
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/dose/kernel.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace iso::dose {

/// Specifies where the borders between the polar cones lie.
enum class cone_placing {
  equal_energy,       ///< every cone takes the same share of the released energy
  equal_solid_angle,  ///< every cone has the same solid angle
};

struct cone_options {
  int cones = 8;     ///< polar, 4 to 48
  int azimuths = 8;  ///< of each cone, 4 to 48
  cone_placing placing = cone_placing::equal_energy;
};

/// Is the tangent of the largest angle between ray and axis to which tilts are fitted, which the
/// corner of a field of 400 mm x 400 mm does not reach. A ray further out counts as one there.
inline constexpr double max_tilt = 0.3;

inline constexpr int tilt_degree = 4;

/// Describes how much of a term's energy a source sends into a direction where the photon's ray is
/// tilted: 1 + delta (c[0] + delta (c[1] + ...)) of what an untilted one sends, delta being the
/// cosine of the direction's angle to the ray less that to the beam's axis. A delta outside of
/// [least, most] counts as the nearer of the two.
struct cone_tilt {
  std::array<std::array<double, tilt_degree>, max_kernel_terms> coefficients;  ///< of each term
  double least;
  double most;

  /// Returns what the untilted amount of `term` is multiplied by.
  [[nodiscard]] double factor(std::size_t term, double delta) const;
};

/// Says what is absorbed of the released energy along each of a cone's directions within r: the sum
/// over the terms of energy (1 - exp(-rate r)), or a table.
struct transport_cone {
  double theta_low;                             ///< rad
  double theta_high;                            ///< rad
  double cosine;                                ///< of the directions' angle to the beam
  std::array<double, max_kernel_terms> energy;  ///< of one direction, to infinity
  std::array<double, max_kernel_terms> rate;    ///< 1/cm at 1 g/cm3
  cone_tilt tilt = {};                          ///< of a table, one factor, as that of term 0
  std::vector<double> absorbed = {};            ///< of one direction, within each radius
};

/// Holds polar cones, each with the same number of directions. Azimuth n stands at (n + 1/4) /
/// azimuths of a turn: a square field then sees twice as many.
struct cone_set {
  int num_terms;  ///< 0: a table
  int azimuths;
  std::vector<transport_cone> cones;
  std::vector<double> radii = {};  ///< cm, of the table

  /// Returns whether it is of a tabulated kernel.
  [[nodiscard]] bool is_table() const { return num_terms == 0; }

  /// Returns the direction in which energy travels, z along the beam. Where `azimuths` is a
  /// multiple of 4, quarter turns are exact.
  [[nodiscard]] vec3<double> direction(std::size_t cone, int azimuth) const;
  [[nodiscard]] std::int64_t size() const { return std::int64_t(cones.size()) * azimuths; }
};

/// Collapses `k` into a few directions. A cone that meets several of the kernel's rows takes the
/// mean of their energies amplitude / rate by solid angle and of their rates by energy: its energy
/// to infinity and its value at r = 0 are the kernel's.
///
/// A cone's tilt is fitted over all rays up to max_tilt, those near the axis most closely. No
/// field enters: a field does not change what its rays release where another one has the same rays.
/// Kept right is the energy within 15 cm: a term's energy to infinity lies mostly outside of the
/// field.
///
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  counts outside 4..48, an unknown placing, a kernel as
///                                iso::dose::validate refuses it
/// \par Method  A. Ahnesjo, Med. Phys. 16(4), 1989, doi:10.1118/1.596360; the placing by equal
///              energy is this library's (docs/algorithms/dose.md)
cone_set make_cones(exponential_kernel const& k, cone_options const& options = {});

/// Does the same from a table: a cone takes of each row the share of the row's solid angle that it
/// meets.
/// Determinism: backend_to_backend; made on the host from iso::math.
/// \throws iso::invalid_argument  likewise
cone_set make_cones(tabulated_kernel const& k, cone_options const& options = {});
cone_set make_cones(point_kernel const& k, cone_options const& options = {});

}  // namespace iso::dose
