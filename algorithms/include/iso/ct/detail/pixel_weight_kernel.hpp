// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ct/detail/padded_images.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Pixels times the cosine of their ray's angle to the detector's normal, padded: a pixel of the
/// padding is zero.
template <class T>
struct cosine_weight_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  T const* projections;  ///< [view][u][v], of all views
  T* weighted;           ///< padded, of a batch
  padded_images shape;
  beam kind;
  std::int64_t first_view;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / shape.pitch();
    std::int64_t const view = first_view + row / shape.columns();
    std::int64_t const u = row % shape.columns() - 1;
    std::int64_t const v = index % shape.pitch() - padded_images::border;
    bool const exists = u >= 0 && u < shape.num_u && v >= 0 && v < shape.num_v;
    weighted[index] =
        exists ? projections[(view * shape.num_u + u) * shape.num_v + v] * cosine(view, u, v)
               : T(0);
  }

 private:
  KOKKOS_FUNCTION T cosine(std::int64_t view, std::int64_t u, std::int64_t v) const {
    if (kind == beam::parallel) {
      return T(1);
    }
    view_vectors const w = views(view);
    vec3<double> const ray =
        (w.detector_origin - w.source) + double(u) * w.u_step + double(v) * w.v_step;
    vec3<double> const n = normal_of(w);
    return T(Kokkos::fabs(dot(n, ray)) / Kokkos::sqrt(dot(n, n) * dot(ray, ray)));
  }
};

}  // namespace iso::ct::detail
