// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/kernel.hpp
//! Point kernels: where the energy that photons release is absorbed.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace iso::dose {

inline constexpr int most_kernel_terms = 4;

/// amplitude exp(-rate r), in water of 1 g/cm3.
struct kernel_term {
  double amplitude = 0;  ///< 1/(sr cm)
  double rate = 0;       ///< 1/cm
};

/// What lies between two angles to the photon's direction.
struct kernel_cone {
  double theta_low;   ///< rad
  double theta_high;  ///< rad
  std::array<kernel_term, most_kernel_terms> terms;
};

/// Fraction of the released energy that is absorbed at distance r, per solid angle and length: a
/// sum of exponentials that depends on the cone.
struct exponential_kernel {
  int num_terms;                   ///< 2 or 4
  std::vector<kernel_cone> cones;  ///< from 0 to pi, one behind the other
};

/// A kernel that the library carries, for the spectrum of a linear accelerator's beam: "4mv",
/// "6mv", "10mv", "15mv", "24mv" (two terms, primary and scatter) or "6mv_quad" (four terms, where
/// absolute dose must hold to 0.1 per cent). algorithms/data/kernel_*.csv tell how they were made.
/// They hold within 60 cm.
/// Determinism: backend_to_backend, constants.
/// \throws iso::invalid_argument  no such kernel
exponential_kernel named_kernel(std::string_view name);

/// Reads lines of "lower angle, upper angle, amplitude, rate, amplitude, rate, ..." (degrees, the
/// units of kernel_term; two or four terms). Lines that begin with # and one line of names are left
/// out.
/// \param name  of the table, for messages
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  angles that do not reach from 0 to 180 degrees without a gap,
///                                lines of other lengths, a rate that is not positive, a kernel
///                                that is negative at r = 0, energies that are not positive
exponential_kernel parse_exponential_kernel(std::string_view csv, std::string_view name);

/// Fraction of the released energy that `k` absorbs within `radius` cm of water of 1 g/cm3.
/// Determinism: backend_to_backend; made on the host from iso::math.
double absorbed_within(exponential_kernel const& k, double radius);

}  // namespace iso::dose
