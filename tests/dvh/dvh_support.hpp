// SPDX-License-Identifier: BSD-3-Clause
//! Contours, doses on grids, and structures where a dose is looked at.
#pragma once

#include <iso/core/volume_view.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/structure.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace dvh_support {

using iso::grid;
using iso::vec3;
using namespace iso::dvh;

using plane_points = std::vector<std::pair<double, double>>;

inline contour flat(plane_points const& points, double z) {
  contour c;
  for (auto const& [x, y] : points) {
    c.points.push_back({x, y, z});
  }
  return c;
}

inline contour rectangle(double x0, double y0, double x1, double y1, double z) {
  return flat({{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, z);
}

template <class Exec, class T>
using volume_on = iso::volume_view<T, typename Exec::memory_space>;

/// A dose whose voxel at (x, y, z) mm is f(x, y, z), where `exec` reads it.
template <class T, class Exec, class F>
volume_on<Exec, T> dose_on(Exec const& exec, grid const& g, F const& f) {
  auto const v = iso::make_volume<T, typename Exec::memory_space>(exec, "dose", g);
  auto const host = Kokkos::create_mirror_view(v.data);
  for (std::int64_t i = 0; i < g.extent[0]; ++i) {
    for (std::int64_t j = 0; j < g.extent[1]; ++j) {
      for (std::int64_t k = 0; k < g.extent[2]; ++k) {
        host(i, j, k) =
            T(f(g.origin.x + g.spacing.x * double(i), g.origin.y + g.spacing.y * double(j),
                g.origin.z + g.spacing.z * double(k)));
      }
    }
  }
  Kokkos::deep_copy(exec, v.data, host);
  exec.fence();
  return v;
}

/// A structure on the grid that divides the dose's cells, with points of its surface.
template <class T, class Exec>
region<T, typename Exec::memory_space> region_on(Exec const& exec, structure const& s,
                                                 grid const& dose, std::int64_t subdivision = 0,
                                                 structure_options const& options = {}) {
  using space = typename Exec::memory_space;
  auto const v =
      iso::make_volume<T, space>(exec, "fractions", structure_grid(s, dose, options, subdivision));
  rasterise<Exec, T>(exec, s, v, options);
  auto const points = surface_points(s, 0.5, options);
  Kokkos::View<vec3<double>*, space> const surface("surface", points.size());
  Kokkos::deep_copy(exec, surface,
                    Kokkos::View<vec3<double> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        points.data(), points.size()));
  exec.fence();
  return {v, surface};
}

inline double sum(std::vector<double> const& values) {
  double all = 0;
  for (double const v : values) {
    all += v;
  }
  return all;
}

/// 10 x 10 x 4 voxels of 1 mm x 1 mm x 2 mm from the origin.
inline grid const box{{10, 10, 4}, {1, 1, 2}, {0.5, 0.5, 1}};

/// The same outlines at z = 1, 3, 5, 7: with half-slice caps 8 mm high.
inline structure column(std::vector<contour> const& at_zero) {
  structure s{"column", {}};
  for (double const z : {1, 3, 5, 7}) {
    for (auto c : at_zero) {
      for (auto& p : c.points) {
        p.z = z;
      }
      s.contours.push_back(c);
    }
  }
  return s;
}

}  // namespace dvh_support
