// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/dead_pixels.hpp
//! Finds a detector's pixels that say nothing by dark and flat fields, replaces them from
//! neighbours. A Kokkos space that the build has not needs detail/dead_pixels_impl.hpp too.
#pragma once

#include <iso/core/job.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/ct/readings_options.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace iso::ct {

/// A map of the dead pixels of a detector: [u, v], 1 where a pixel is dead and 0 elsewhere.
template <class Space>
using pixel_mask = Kokkos::View<std::uint8_t**, Kokkos::LayoutRight, Space>;
/// The same map where it is only read.
template <class Space>
using const_pixel_mask = Kokkos::View<std::uint8_t const**, Kokkos::LayoutRight, Space>;

/// Finds the pixels that do not respond to the beam as those around them do.
///
/// A pixel's response is flat - dark (0 where that is not finite). It is dead where the response is
/// not positive, or differs from the median of the responses in the square of 2 radius + 1 pixels a
/// side about it (itself among them, cut off at the detector's edge; of an even number the upper
/// one) by more than `tolerance` times that median.
///
/// Enqueued on `exec`; does not fence. Overwrites `dead`.
/// Determinism: backend_to_backend; comparisons and one product, in T.
///
/// \param[in]  dark  [1, u, v]
/// \param[in]  flat  [1, u, v]
/// \param[out] dead  [u, v]
/// \param control    asked several times a second, on a processor; no progress is told
/// \throws iso::invalid_argument  shapes that disagree, data with gaps, an option out of range
/// \throws iso::cancelled         as job::step
template <execution_space Exec, real T>
void find_dead_pixels(
    Exec const& exec, projection_view<T const, typename Exec::memory_space> const& dark,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& flat,
    pixel_mask<typename Exec::memory_space> const& dead, dead_pixel_options const& options = {},
    job const& control = {});

/// Does the same for a dark field that is not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
void find_dead_pixels(
    Exec const& exec, projection_view<T, Space> const& dark,
    projection_view<std::type_identity_t<T> const, std::type_identity_t<Space>> const& flat,
    pixel_mask<std::type_identity_t<Space>> const& dead, dead_pixel_options const& options = {},
    job const& control = {}) {
  find_dead_pixels<Exec, T>(exec, projection_view<T const, Space>(dark), flat, dead, options,
                            control);
}

/// Gives every dead pixel, in place, the mean of the pixels that are not dead in the smallest
/// square about it that has any: 3 x 3 pixels, then 5 x 5, and so on, cut off at the detector's
/// edge. Where all are dead, the canonical NaN.
///
/// Enqueued on `exec`; does not fence.
/// Determinism: backend_to_backend; a sum with u, then v ascending and one division, in T.
///
/// \param[in,out] projections  [views, u, v]
/// \param[in]     dead         [u, v]
/// \throws iso::invalid_argument  shapes that disagree, data with gaps
template <execution_space Exec, real T>
void replace_dead_pixels(Exec const& exec,
                         projection_view<T, typename Exec::memory_space> const& projections,
                         const_pixel_mask<typename Exec::memory_space> const& dead);

}  // namespace iso::ct
