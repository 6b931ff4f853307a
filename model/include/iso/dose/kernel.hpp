// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/kernel.hpp
//! Describes point kernels: where the energy that photons release is absorbed.
#pragma once

#include <iso/dose/spectrum.hpp>

#include <array>
#include <string_view>
#include <variant>
#include <vector>

namespace iso::dose {

inline constexpr int max_kernel_terms = 4;
/// The radius within which tilted kernels keep their energy (make_cones), cm.
inline constexpr double tilt_radius = 15;

/// One term of a kernel, amplitude exp(-rate r), in water of 1 g/cm3.
struct kernel_term {
  double amplitude = 0;  ///< 1/(sr cm)
  double rate = 0;       ///< 1/cm
};

/// The terms of a kernel between two angles to the photon's direction.
struct kernel_cone {
  double theta_low;   ///< rad
  double theta_high;  ///< rad
  std::array<kernel_term, max_kernel_terms> terms;
};

/// A point kernel as sums of exponentials. It is the fraction of the released energy that is
/// absorbed at distance r, per solid angle and length, with a sum for each cone.
struct exponential_kernel {
  int num_terms;                   ///< 2 or 4
  std::vector<kernel_cone> cones;  ///< from 0 to pi, one behind the other
};

/// Returns a kernel that the library carries, for the spectrum of a linear accelerator's beam:
/// "4mv", "6mv", "10mv", "15mv", "24mv" (two terms, primary and scatter) or "6mv_quad" (four terms,
/// where absolute dose must hold to 0.1 per cent). model/data/kernel_*.csv tell how they were
/// made. They hold within 60 cm.
/// Determinism: backend_to_backend, constants.
/// \throws iso::invalid_argument  no such kernel
exponential_kernel named_kernel(std::string_view name);

/// Reads lines of "lower angle, upper angle, amplitude, rate, amplitude, rate, ..." (degrees, the
/// units of kernel_term; two or four terms). Lines that begin with # and one line of names are left
/// out.
/// \param name  of the table, for messages
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  angles that do not reach from 0 to 180 degrees without a gap,
///                                lines of other lengths, a kernel as iso::dose::validate refuses
///                                it
exponential_kernel parse_exponential_kernel(std::string_view csv, std::string_view name);

/// Returns the fraction of released energy that `k` absorbs in `radius` cm of water of 1 g/cm3.
/// Determinism: backend_to_backend; made on the host from iso::math.
double absorbed_within(exponential_kernel const& k, double radius);

/// The cells of a table between two angles to the photon's direction.
struct tabulated_cone {
  double theta_low;              ///< rad
  double theta_high;             ///< rad
  std::vector<double> fraction;  ///< of the released energy, in each shell
};

/// A point kernel as a table: the fraction of the released energy that is absorbed in each cell of
/// cones and shells, in water of 1 g/cm3.
struct tabulated_kernel {
  std::vector<double> radii;          ///< cm; where shells end; the first begins at 0
  std::vector<tabulated_cone> cones;  ///< from 0 to pi, one behind the other
};

/// A point kernel in either form.
using point_kernel = std::variant<exponential_kernel, tabulated_kernel>;

/// Checks what every function that takes a kernel relies on.
/// \param function  that is called, or the table's name, for the message
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  cones that do not reach from 0 to pi without a gap; neither two
///                                nor four terms; a rate that is not positive, an amplitude that is
///                                0 or changes its sign from cone to cone, a cone that is negative
///                                at r = 0 or in all; radii that do not rise, cones of other
///                                shells, a negative fraction, a cone that absorbs nothing within
///                                15 cm; more than 1.1 of the released energy absorbed; any number
///                                that is not finite
void validate(exponential_kernel const& k, std::string_view function);
void validate(tabulated_kernel const& k, std::string_view function);
void validate(point_kernel const& k, std::string_view function);

/// The kernel of photons of one energy.
struct mono_kernel {
  double energy;  ///< MeV
  tabulated_kernel kernel;
};

/// Reads lines of "upper angle, upper radius, fraction" (degrees, cm), cone by cone.
/// \param name  of the table, for messages
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  angles or radii that do not rise, cones of other shells than the
///                                first, a table that ends before 180 degrees, a kernel as
///                                iso::dose::validate refuses it
tabulated_kernel parse_tabulated_kernel(std::string_view csv, std::string_view name);

/// Does the same with the energy (MeV) before the angle, one kernel after the other.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  as parse_tabulated_kernel; energies that do not rise, kernels of
///                                different cones or shells
std::vector<mono_kernel> parse_mono_kernels(std::string_view csv, std::string_view name);

/// Returns Monte Carlo kernels of Mackie et al. 1988 from 0.2 to 6 MeV, 48 cones and 24 shells up
/// to 60 cm (model/data/kernel_mono.csv).
/// Determinism: backend_to_backend, constants.
std::vector<mono_kernel> water_kernels();

/// Returns the kernel of a spectrum: that of each bin, linear in the energy between two kernels, by
/// the energy that the bin releases at the surface. Bins below the first kernel take that one.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  a bin with photons above the last kernel's energy; no kernels;
///                                kernels of different cones or shells, or whose energies do not
///                                rise; a kernel or a spectrum as iso::dose::validate refuses it
tabulated_kernel mix_kernels(std::vector<mono_kernel> const& kernels, spectrum const& s);

/// A part of a spectrum, and the kernel that carries the energy that its photons release.
struct energy_component {
  double share;  ///< of the spectrum's photons
  spectrum photons;
  point_kernel kernel;
};

/// Returns every bin of a spectrum that has photons, energies ascending, each with the kernel that
/// mix_kernels gives for it alone. A beam hardens on its way, and one kernel stands for all depths;
/// the sum of the components' doses, each of a beam whose weight is multiplied by `share`, hardens
/// as the beam does. A single energy has no hardening to correct: terma_options changes nothing
/// but roundings. Dose is added in the components' order.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  as mix_kernels
std::vector<energy_component> split_by_energy(std::vector<mono_kernel> const& kernels,
                                              spectrum const& s);

/// Parses a table in any of the forms above, told apart by the numbers of its first line: 3 a
/// tabulated kernel, 4 kernels of several energies, mixed for `s`, 6 or 10 a sum of exponentials.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  as these; a line of another length
point_kernel parse_kernel(std::string_view csv, std::string_view name, spectrum const& s);

/// Does as above; within a shell, the energy is spread evenly over the radius.
double absorbed_within(tabulated_kernel const& k, double radius);

}  // namespace iso::dose
