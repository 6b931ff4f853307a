// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/dead_pixels.hpp
//! Pixels of a detector that say nothing: found by dark and flat fields, replaced from neighbours.
#pragma once

#include <iso/ct/line_integrals.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct {

/// Which pixels of a detector are dead: [u, v], 1 where they are and 0 elsewhere.
template <class Space>
using pixel_mask = Kokkos::View<std::uint8_t**, Kokkos::LayoutRight, Space>;

struct dead_pixel_options {
  std::int64_t radius = 2;  ///< of the square that a pixel is compared with, 1 to 8 pixels
  double tolerance = 0.5;   ///< of its median, in (0, 1)
};

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
/// \throws iso::invalid_argument  shapes that disagree, data with gaps, an option out of range
template <execution_space Exec, real T>
void find_dead_pixels(Exec const& exec, projection_view<T, typename Exec::memory_space> const& dark,
                      projection_view<T, typename Exec::memory_space> const& flat,
                      pixel_mask<typename Exec::memory_space> const& dead,
                      dead_pixel_options const& options = {});

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
                         pixel_mask<typename Exec::memory_space> const& dead);

namespace detail {

template <class Space>
void validate_mask(pixel_mask<Space> const& dead, Kokkos::Array<std::int64_t, 3> const& n,
                   char const* function) {
  ISO_VALIDATE(std::int64_t(dead.extent(0)) == n[1] && std::int64_t(dead.extent(1)) == n[2],
               "{}: dead is [{}, {}] (images have [{}, {}]: u, v) make them agree", function,
               dead.extent(0), dead.extent(1), n[1], n[2]);
  validate_memory({memory_of(dead, "dead")}, function);
  validate_contiguous(dead, "dead", function);
}

}  // namespace detail

template <execution_space Exec, real T>
void find_dead_pixels(Exec const& exec, projection_view<T, typename Exec::memory_space> const& dark,
                      projection_view<T, typename Exec::memory_space> const& flat,
                      pixel_mask<typename Exec::memory_space> const& dead,
                      dead_pixel_options const& options) {
  auto const n = detail::extents(flat.data);
  detail::validate_image(n, n, "flat", "find_dead_pixels");
  validate(flat, n, "find_dead_pixels");
  detail::validate_image(detail::extents(dark.data), n, "dark", "find_dead_pixels");
  detail::validate_mask(dead, n, "find_dead_pixels");
  validate_contiguous(dark.data, "dark", "find_dead_pixels");
  validate_contiguous(flat.data, "flat", "find_dead_pixels");
  ISO_VALIDATE(options.radius >= 1 && options.radius <= 8,
               "find_dead_pixels: radius {} (from 1 to 8 pixels)", options.radius);
  ISO_VALIDATE(options.tolerance > 0 && options.tolerance < 1,
               "find_dead_pixels: tolerance {} (must lie in (0, 1))", options.tolerance);
  Kokkos::parallel_for(
      "iso::ct::find_dead_pixels", detail::pixel_policy<Exec>(exec, 0, n[1] * n[2]),
      detail::find_dead_kernel<T>{dark.data.data(), flat.data.data(), dead.data(), n[1], n[2],
                                  options.radius, T(options.tolerance)});
}

template <execution_space Exec, real T>
void replace_dead_pixels(Exec const& exec,
                         projection_view<T, typename Exec::memory_space> const& projections,
                         pixel_mask<typename Exec::memory_space> const& dead) {
  auto const n = detail::extents(projections.data);
  validate(projections, n, "replace_dead_pixels");
  detail::validate_mask(dead, n, "replace_dead_pixels");
  validate_contiguous(projections.data, "projections", "replace_dead_pixels");
  Kokkos::parallel_for(
      "iso::ct::replace_dead_pixels", detail::pixel_policy<Exec>(exec, 0, n[0] * n[1] * n[2]),
      detail::replace_dead_kernel<T>{projections.data.data(), dead.data(), n[1], n[2]});
}

#define ISO_CT_DEAD_PIXELS(linkage, Exec, T)                                                \
  linkage template void find_dead_pixels<Exec, T>(                                          \
      Exec const&, projection_view<T, Exec::memory_space> const&,                           \
      projection_view<T, Exec::memory_space> const&, pixel_mask<Exec::memory_space> const&, \
      dead_pixel_options const&);                                                           \
  linkage template void replace_dead_pixels<Exec, T>(                                       \
      Exec const&, projection_view<T, Exec::memory_space> const&,                           \
      pixel_mask<Exec::memory_space> const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_DEAD_PIXELS, extern)

}  // namespace iso::ct
