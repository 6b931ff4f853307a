// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ct/detail/joseph_path.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// What all rays of one (view, u) share when v runs along z: the driving axis, the coordinate
/// across it in the plane of x and y, and what the coordinate along z is made of.
template <class T>
struct joseph_fan {
  coordinate<T> across;
  plane_range planes;  ///< where `across` can meet a voxel
  plane_range inside;  ///< where both columns are voxels for certain
  std::int32_t axis;
  double m_point;
  double inverse;
  double slope_across;
  double z_source;  ///< of the source, or of a parallel direction
  double z_pixel;   ///< of the pixel at v = 0
  double z_step;    ///< from v to v + 1
  beam kind;

  /// The coordinate along z of the ray through v: the numbers of make_line.
  KOKKOS_FUNCTION exact_coordinate z(std::int32_t v) const {
    double const pixel = Kokkos::fma(double(v), z_step, z_pixel);
    return {kind == beam::cone ? ray_component{z_source, pixel - z_source}
                               : ray_component{pixel, z_source},
            m_point, inverse};
  }
};

/// Makes the fan of each (view, u), u fastest.
template <class T>
struct joseph_fan_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  joseph_fan<T>* fans;
  grid g;
  beam kind;
  std::int32_t num_u;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    index_view const w = to_index(views(index / num_u), g, kind);
    double const u = double(index % num_u);
    ray_component const x = component(w, kind, 0, u, 0);
    ray_component const y = component(w, kind, 1, u, 0);
    int const m = driving_axis(x.direction, y.direction, 0);
    ray_component const& along = m == 0 ? x : y;
    ray_component const& aside = m == 0 ? y : x;
    joseph_fan<T> fan;
    fan.axis = m;
    fan.inverse = 1.0 / along.direction;
    fan.m_point = along.point;
    exact_coordinate const exact(aside, along.point, fan.inverse);
    fan.slope_across = exact.slope;
    fan.across = exact.rounded<T>();
    fan.kind = kind;
    fan.z_source = w.source.z;
    fan.z_pixel = Kokkos::fma(u, w.u_step.z, w.origin.z);
    fan.z_step = w.v_step.z;
    std::int64_t const columns = g.extent[1 - m];
    fan.planes =
        planes_about(fan.across, T(-1), T(columns), planes_between_ends(along, kind, g.extent[m]));
    fan.inside = planes_inside(fan.across, columns, fan.planes);
    fans[index] = fan;
  }
};

}  // namespace iso::ct::detail
