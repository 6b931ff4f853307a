// SPDX-License-Identifier: BSD-3-Clause
//! Marks the voxels that rays of readings which are not finite reach.
#pragma once

#include <iso/backend/integer_atomics.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/back_project_bricks.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// Makes NaN of every voxel to which the ray of a reading that is not finite, or beyond the grid of
/// products, gives a weight other than zero. Index (view, u, v).
template <class T, class Samples>
struct mark_kernel {
  block_rays block;
  T const* pixels;
  product_grid const* products;
  T* volume;
  slab planes;  ///< that `volume` holds

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    if (Kokkos::fabs(double(pixels[index])) <= products->max_reading) {
      return;
    }
    std::int64_t const row = index / block.num_v;
    std::int64_t const view = row / block.num_u;
    double const u = double(row - view * block.num_u) + block.du;
    double const v = double(index - row * block.num_v) + block.dv;
    if constexpr (std::is_same_v<Samples, exact_chords>) {
      auto const visit = [&](std::int64_t voxel, T) {
        std::int64_t const column = voxel / block.g.extent[2];
        mark(column, voxel - column * block.g.extent[2]);
      };
      using report_type = ray::detail::portable::reporter<T, decltype(visit) const>;
      report_type report{visit};
      ray::detail::portable::walk(
          ray::amanatides_woo{},
          ray::detail::enter<T, std::int64_t>(
              block.limits.clipped(pixel_ray(block.views(view), block.kind, u, v)), block.walked),
          report);
    } else {
      mark_line(make_line<T>(to_index(block.views(view), block.g, block.kind), block.kind, block.g,
                             u, v, block.within));
    }
  }

 private:
  /// Marks the voxel at height z of a column, if it is held.
  KOKKOS_FUNCTION void mark(std::int64_t column, std::int64_t z) const {
    if (planes.holds(z)) {
      backend::atomic_mark(volume + column * planes.count() + (z - planes.first),
                           Kokkos::bit_cast<T>(float_bits<T>::canonical_nan));
    }
  }
  KOKKOS_FUNCTION void mark_line(joseph_line<T> const& line) const {
    int const m = line.axis;
    auto const extent = [&](int a) { return block.g.extent[std::size_t(a)]; };
    int const across[2] = {other_axis(m, 0), other_axis(m, 1)};
    plane_range planes = planes_within_edge(line, block.g, block.edge);
    for (int c = 0; c < 2; ++c) {
      planes = planes_about(line.across[c], T(-1), T(extent(across[c])), planes);
    }
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      for (int corner = 0; corner < 4; ++corner) {
        std::int64_t at[3] = {};
        at[m] = i;
        bool reached = true;
        for (int c = 0; c < 2; ++c) {
          T const p = line.across[c](i);
          bool const upper = ((corner >> c) & 1) != 0;
          T const weight = Samples{}(p - Kokkos::floor(p));
          std::int64_t const k = std::int64_t(Kokkos::floor(p)) + (upper ? 1 : 0);
          reached = reached && (upper ? weight != T(0) : weight != T(1)) && k >= 0 &&
                    k < extent(across[c]);
          at[across[c]] = k;
        }
        if (reached) {
          mark(at[0] * extent(1) + at[1], at[2]);
        }
      }
    }
  }
};

}  // namespace iso::ct::detail
