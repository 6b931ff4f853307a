// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/dead_pixels.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/detail/line_integrals_impl.hpp>
#include <iso/detail/timed_batches.hpp>

namespace iso::ct {
namespace detail {

template <class Space>
void validate_mask(const_pixel_mask<Space> const& dead, Kokkos::Array<std::int64_t, 3> const& n,
                   char const* function) {
  ISO_VALIDATE(
      std::int64_t(dead.extent(0)) == n[1] && std::int64_t(dead.extent(1)) == n[2],
      "{}: dead of [{}, {}] (images have [{}, {}]: u, v); give dead the extents of an image",
      function, dead.extent(0), dead.extent(1), n[1], n[2]);
  validate_memory({memory_of(dead, "dead")}, function);
  validate_contiguous(dead, "dead", function);
}

}  // namespace detail

template <execution_space Exec, real T>
void find_dead_pixels(
    Exec const& exec, projection_view<T const, typename Exec::memory_space> const& dark,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& flat,
    pixel_mask<typename Exec::memory_space> const& dead, dead_pixel_options const& options,
    job const& control) {
  auto const n = detail::extents(flat.data);
  detail::validate_image(n, n, "flat", "iso::ct::find_dead_pixels");
  validate(flat, n, "iso::ct::find_dead_pixels");
  detail::validate_image(detail::extents(dark.data), n, "dark", "iso::ct::find_dead_pixels");
  detail::validate_mask<typename Exec::memory_space>(dead, n, "iso::ct::find_dead_pixels");
  validate_contiguous(dark.data, "dark", "iso::ct::find_dead_pixels");
  validate_contiguous(flat.data, "flat", "iso::ct::find_dead_pixels");
  ISO_VALIDATE(options.radius >= 1 && options.radius <= 8,
               "iso::ct::find_dead_pixels: radius {} (must be from 1 to 8 pixels); choose the "
               "least that reaches past clusters of dead pixels",
               options.radius);
  ISO_VALIDATE(options.tolerance > 0 && options.tolerance < 1,
               "iso::ct::find_dead_pixels: tolerance {} (must lie in (0, 1)); give the part of the "
               "neighbours' reading by which a sound pixel may differ",
               options.tolerance);
  detail::find_dead_kernel<T> const kernel{
      dark.data.data(), flat.data.data(),    dead.data(), n[1], n[2],
      options.radius,   T(options.tolerance)};
  if constexpr (backend::is_device<Exec>) {
    backend::for_each_index("iso::ct::find_dead_pixels", exec, n[1] * n[2], kernel);
  } else {
    // The median of a wide square takes ten thousands of comparisons.
    iso::detail::for_each_index_in_batches("iso::ct::find_dead_pixels", exec, n[1] * n[2],
                                           iso::detail::asked_only(control), kernel);
  }
}

template <execution_space Exec, real T>
void replace_dead_pixels(Exec const& exec,
                         projection_view<T, typename Exec::memory_space> const& projections,
                         const_pixel_mask<typename Exec::memory_space> const& dead) {
  auto const n = detail::extents(projections.data);
  validate(projections, n, "iso::ct::replace_dead_pixels");
  detail::validate_mask<typename Exec::memory_space>(dead, n, "iso::ct::replace_dead_pixels");
  validate_contiguous(projections.data, "projections", "iso::ct::replace_dead_pixels");
  backend::for_each_index(
      "iso::ct::replace_dead_pixels", exec, n[0] * n[1] * n[2],
      detail::replace_dead_kernel<T>{projections.data.data(), dead.data(), n[1], n[2]});
}

#define ISO_CT_DEAD_PIXELS(linkage, Exec, T)                                                      \
  linkage template void find_dead_pixels<Exec, T>(                                                \
      Exec const&, projection_view<T const, Exec::memory_space> const&,                           \
      projection_view<T const, Exec::memory_space> const&, pixel_mask<Exec::memory_space> const&, \
      dead_pixel_options const&, job const&);                                                     \
  linkage template void replace_dead_pixels<Exec, T>(                                             \
      Exec const&, projection_view<T, Exec::memory_space> const&,                                 \
      const_pixel_mask<Exec::memory_space> const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_DEAD_PIXELS, extern)

}  // namespace iso::ct
