// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/centre_of_rotation.hpp
//! Finds where the axis of rotation really meets the detector, from the projections themselves.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/readings_options.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::ct {

/// Returns the u (pixels; 0 is the first one's centre) at which the isocentre is seen in view 0.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  rays of view 0 that run along the detector
double axis_pixel(geometry const& g);

/// Returns the weight of each view (1 or 0) with which their mean is symmetric in u about the axis.
///
/// Over a full circle, evenly spaced, that is every view: the mean over the circle of the line
/// integrals of f along the rays of a pixel equals the line integral of f averaged over all
/// rotations, which a mirror through the axis does not change. This holds for every pixel of a cone
/// beam, also above and below the plane of the sources, and for parallel beams. In parallel beams
/// over less than a circle it is the views that have another half a turn away.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  a cone beam that is not evenly spaced over a full circle within
///                                1 % of the step; parallel views none of which is half a turn
///                                (within 1e-3 rad) from another; sources or detectors that move
///                                along the axis by more than half a pixel, as on a helix
std::vector<double> mirror_weights(geometry const& g);

/// Finds the u about which `mean` is symmetric: where the axis meets the detector, with a fraction.
///
/// `mean` is mean_of_views with mirror_weights of the line integrals. Of all centres c within reach
/// the one is taken whose mismatch is least: the sum over v and t of (m(c + t) - m(c - t))^2, over
/// the sum of the squared differences of the same values from their mean. First c in steps of half
/// a pixel, where no value is interpolated; then between the neighbours of the best of them by
/// golden sections, m interpolated by cubic convolution (Keys 1981). The detector may be cut off on
/// one side: only pixels that have a mirror image count, and at least an eighth of the detector
/// must.
/// Determinism: backend_to_backend; made on the host, in double.
///
/// \param[in] mean     [1, u, v]
/// \param     control  asked several times a second; no progress is told
/// \throws iso::invalid_argument  more than one image, fewer than 16 pixels along u, a value that
///                                is not finite, a guess or reach beyond the detector, a mean
///                                without contrast
/// \throws iso::cancelled         as job::step
/// \par Method  docs/algorithms/scans.md has the derivation
double centre_of_rotation(projection_view<double const, Kokkos::HostSpace> const& mean,
                          centre_options const& options, job const& control = {});

}  // namespace iso::ct
