// SPDX-License-Identifier: BSD-3-Clause
//! Does the first step of FDK: pixels times the weights of their rays.
#pragma once

#include <iso/ct/detail/padded_images.hpp>
#include <iso/ct/detail/ray_shares.hpp>
#include <iso/ct/detail/ray_weight.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Multiplies pixels by the weight of their ray, the factor of their column and the share of their
/// ray, padded; index (view, u, row), of some rows: a pixel of the padding is zero, and so is one
/// whose factor or share is. Columns beyond the detector take its edge's pixels and shares.
template <class T>
struct pixel_weight_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  T const* projections;   ///< [view][u][v], of all views
  T* weighted;            ///< padded, of a batch
  double const* factors;  ///< [u] of view 0, u extended; null: all are 1
  std::int64_t next_row;  ///< of factors, from view to view
  ray_shares shares;
  padded_images shape;  ///< extended
  padded_rows rows;
  std::int32_t num_u;   ///< of the detector
  std::int32_t before;  ///< columns before it
  beam kind;
  std::int64_t first_view;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / rows.count;
    std::int64_t const row = rows.first + index - column * rows.count;
    std::int64_t const view = first_view + column / shape.columns();
    std::int64_t const u = column % shape.columns() - 1;
    std::int64_t const v = row - padded_images::border;
    bool const exists = u >= 0 && u < shape.num_u && v >= 0 && v < shape.num_v;
    double factor = factors == nullptr || !exists ? 1.0 : factors[view * next_row + u];
    if (exists && factor != 0.0) {
      factor *= shares.at(kind, views(view), view, double(edge(u) + before), double(v), v);
    }
    weighted[column * shape.pitch() + row] =
        exists && factor != 0.0 ? pixel(view, u, v) * weight(view, u, v, factor) : T(0);
  }

 private:
  /// Returns the detector's column at or next to an extended one.
  KOKKOS_FUNCTION std::int64_t edge(std::int64_t u) const {
    std::int64_t const inside = u - before;
    return inside < 0 ? 0 : inside < num_u ? inside : num_u - 1;
  }
  KOKKOS_FUNCTION T pixel(std::int64_t view, std::int64_t u, std::int64_t v) const {
    return projections[(view * num_u + edge(u)) * shape.num_v + v];
  }
  KOKKOS_FUNCTION T weight(std::int64_t view, std::int64_t u, std::int64_t v, double factor) const {
    if (kind == beam::parallel) {
      return T(factor);
    }
    view_vectors const w = views(view);
    vec3<double> const ray =
        (w.detector_origin - w.source) + double(u) * w.u_step + double(v) * w.v_step;
    return T(factor * ray_weight(w, ray));
  }
};

}  // namespace iso::ct::detail
