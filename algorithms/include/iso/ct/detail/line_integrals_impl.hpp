// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/line_integrals.hpp, for files that instantiate them.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/for_each_index.hpp>
#include <iso/ct/detail/readings_kernels.hpp>
#include <iso/ct/line_integrals.hpp>

namespace iso::ct {
namespace detail {

/// Throws iso::invalid_argument unless `image` is one image of the size of `projections`.
void validate_image(Kokkos::Array<std::int64_t, 3> const& image,
                    Kokkos::Array<std::int64_t, 3> const& projections, char const* name,
                    char const* function);

template <class View>
Kokkos::Array<std::int64_t, 3> extents(View const& v) {
  return {std::int64_t(v.extent(0)), std::int64_t(v.extent(1)), std::int64_t(v.extent(2))};
}

}  // namespace detail

template <execution_space Exec, real T>
void mean_of_views(
    Exec const& exec,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& images,
    Kokkos::View<double const*, typename Exec::memory_space> const& weights,
    projection_view<T, typename Exec::memory_space> const& mean) {
  auto const n = detail::extents(images.data);
  ISO_VALIDATE(n[0] >= 1,
               "iso::ct::mean_of_views: {} images (at least one is needed); give one or more",
               n[0]);
  validate(images, n, "iso::ct::mean_of_views");
  detail::validate_image(detail::extents(mean.data), n, "mean", "iso::ct::mean_of_views");
  ISO_VALIDATE(
      weights.extent(0) == 0 || std::int64_t(weights.extent(0)) == n[0],
      "iso::ct::mean_of_views: {} weights (there are {} images); give one weight for each image",
      weights.extent(0), n[0]);
  validate_contiguous(images.data, "images", "iso::ct::mean_of_views");
  validate_contiguous(mean.data, "mean", "iso::ct::mean_of_views");
  validate_apart(memory_of(mean.data, "mean"), {memory_of(images.data, "images")},
                 "iso::ct::mean_of_views");
  backend::for_each_index(
      "iso::ct::mean_of_views", exec, n[1] * n[2],
      detail::mean_kernel<T>{images.data.data(), weights.extent(0) == 0 ? nullptr : weights.data(),
                             mean.data.data(), n[0], n[1] * n[2]});
}

template <execution_space Exec, real T>
void line_integrals(
    Exec const& exec, projection_view<T, typename Exec::memory_space> const& readings,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& dark,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& flat,
    line_integral_options const& options) {
  auto const n = detail::extents(readings.data);
  validate(readings, n, "iso::ct::line_integrals");
  detail::validate_image(detail::extents(dark.data), n, "dark", "iso::ct::line_integrals");
  detail::validate_image(detail::extents(flat.data), n, "flat", "iso::ct::line_integrals");
  ISO_VALIDATE(options.min_transmission > 0 && options.min_transmission < 1,
               "iso::ct::line_integrals: least transmission {} (must lie in (0, 1)); leave it at "
               "its default",
               options.min_transmission);
  validate_contiguous(readings.data, "readings", "iso::ct::line_integrals");
  validate_contiguous(dark.data, "dark", "iso::ct::line_integrals");
  validate_contiguous(flat.data, "flat", "iso::ct::line_integrals");
  validate_apart(memory_of(readings.data, "readings"),
                 {memory_of(dark.data, "dark"), memory_of(flat.data, "flat")},
                 "iso::ct::line_integrals");
  backend::for_each_index(
      "iso::ct::line_integrals", exec, n[0] * n[1] * n[2],
      detail::line_integral_kernel<T>{readings.data.data(), dark.data.data(), flat.data.data(),
                                      T(options.min_transmission), n[1] * n[2]});
}

#define ISO_CT_LINE_INTEGRALS(linkage, Exec, T)                                               \
  linkage template void mean_of_views<Exec, T>(                                               \
      Exec const&, projection_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      Kokkos::View<double const*, Exec::memory_space> const&,                                 \
      projection_view<T, Exec::memory_space> const&);                                         \
  linkage template void line_integrals<Exec, T>(                                              \
      Exec const&, projection_view<T, Exec::memory_space> const&,                             \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,              \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&,              \
      line_integral_options const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_LINE_INTEGRALS, extern)

}  // namespace iso::ct
