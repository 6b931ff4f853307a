// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/line_integrals.hpp
//! Turns a detector's readings into line integrals: dark and flat fields, -log.
//! A Kokkos space that the build has not needs detail/line_integrals_impl.hpp too.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/ct/readings_options.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct {

/// Computes the mean of images of one detector, as of several dark or flat fields.
///
/// Enqueued on `exec`; does not fence. Overwrites `mean`, which must not overlap `images`.
/// Determinism: backend_to_backend. Sum of weight times pixel by fma, images ascending, in double,
/// over the sum of the weights; rounded once. Images of weight 0 are left out.
///
/// \param[in]  images   [images, u, v]
/// \param[in]  weights  [images], or nothing: all 1
/// \param[out] mean     [1, u, v]
/// \throws iso::invalid_argument  no images, shapes that disagree, data with gaps, arrays that
///                                overlap
template <execution_space Exec, real T>
void mean_of_views(
    Exec const& exec,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& images,
    Kokkos::View<double const*, typename Exec::memory_space> const& weights,
    projection_view<T, typename Exec::memory_space> const& mean);

/// Turns readings into line integrals -log((reading - dark) / (flat - dark)), in place.
///
/// A pixel whose flat is not above its dark has no answer and becomes the canonical NaN: it is
/// dead, see find_dead_pixels and replace_dead_pixels. A reading that is NaN stays one.
/// Enqueued on `exec`; does not fence.
/// Determinism: backend_to_backend. Two subtractions, a division and iso::math::log, in T.
///
/// \param[in,out] readings  [views, u, v]; any unit, that of dark and flat
/// \param[in]     dark      [1, u, v], without beam
/// \param[in]     flat      [1, u, v], with the beam and no object
/// \throws iso::invalid_argument  shapes that disagree, data with gaps, arrays that overlap, a
///                                least transmission outside (0, 1)
template <execution_space Exec, real T>
void line_integrals(
    Exec const& exec, projection_view<T, typename Exec::memory_space> const& readings,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& dark,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& flat,
    line_integral_options const& options = {});

}  // namespace iso::ct
