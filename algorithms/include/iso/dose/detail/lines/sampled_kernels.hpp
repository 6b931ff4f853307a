// SPDX-License-Identifier: BSD-3-Clause
//! Holds kernels of voxel_samples and non_voxel, which interpolate between voxels.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_LINES_SAMPLED_KERNELS_HPP
#define ISO_DOSE_DETAIL_LINES_SAMPLED_KERNELS_HPP

#include <iso/dose/detail/lines/voxel_kernel.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// TERMA and density between the middles of voxels: linear along each axis, beyond the
/// outermost middles as there.
template <class T>
struct interpolated_region {
  T const* terma;
  T const* density;
  std::int64_t extent[3];

  struct values {
    T terma;
    T density;
  };
  /// Returns them at a place in voxels.
  [[nodiscard]] KOKKOS_FUNCTION values at(vec3<T> const& p) const {
    std::int64_t low[3];
    T share[3];
    for (int axis = 0; axis < 3; ++axis) {
      T const most = T(extent[axis] - 1);
      T const kept = p[axis] > T(0) ? (p[axis] < most ? p[axis] : most) : T(0);
      low[axis] = std::int64_t(kept);
      low[axis] = low[axis] + 1 < extent[axis] ? low[axis] : extent[axis] - 1;
      share[axis] = kept - T(low[axis]);
    }
    values out{T(0), T(0)};
    for (int corner = 0; corner < 8; ++corner) {
      T weight = T(1);
      std::int64_t index = 0;
      for (int axis = 0; axis < 3; ++axis) {
        bool const upper = (corner >> axis & 1) != 0;
        weight *= upper ? share[axis] : T(1) - share[axis];
        index = index * extent[axis] +
                (upper && low[axis] + 1 < extent[axis] ? low[axis] + 1 : low[axis]);
      }
      out.terma = Kokkos::fma(weight, terma[index], out.terma);
      out.density = Kokkos::fma(weight, density[index], out.density);
    }
    return out;
  }
  /// Returns whether a place is within the voxels, borders included.
  [[nodiscard]] KOKKOS_FUNCTION bool has(vec3<T> const& p) const {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis) {
      inside = inside && p[axis] >= T(-0.5) && p[axis] <= T(extent[axis]) - T(0.5);
    }
    return inside;
  }
};

/// Parallel rays along one direction, with samples at equal steps: a grid turned into the direction
/// of transport. Its middle is the region's.
template <class T>
struct ray_grid {
  vec3<double> across[2];  ///< from a ray to the next, unit vectors
  vec3<double> along;
  vec3<double> middle;  ///< mm
  T spacing;            ///< of rays, mm
  T step;               ///< of samples, mm
  std::int64_t rays[2];
  std::int64_t samples;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_rays() const { return rays[0] * rays[1]; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t size() const { return num_rays() * samples; }
  /// Returns distances from the middle, mm.
  [[nodiscard]] KOKKOS_FUNCTION vec3<T> place(std::int64_t ray, std::int64_t sample) const {
    std::int64_t const i = ray / rays[1];
    return {(T(i) - T(0.5) * T(rays[0] - 1)) * spacing,
            (T(ray - i * rays[1]) - T(0.5) * T(rays[1] - 1)) * spacing,
            (T(sample) - T(0.5) * T(samples - 1)) * step};
  }
};

/// Does step 1: samples along the rays, neighbours side by side. A work item a ray and sample.
template <class T>
struct ray_trace_kernel {
  ray_grid<T> rays;
  grid g;
  interpolated_region<T> region;
  T* terma;  ///< [samples, rays]
  T* density;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const sample = index / rays.num_rays();
    std::int64_t const ray = index - sample * rays.num_rays();
    vec3<T> const at = rays.place(ray, sample);
    vec3<double> const p = rays.middle + double(at.x) * rays.across[0] +
                           double(at.y) * rays.across[1] + double(at.z) * rays.along;
    vec3<double> const place = g.to_index(p);
    vec3<T> const voxel{T(place.x), T(place.y), T(place.z)};
    bool const inside = region.has(voxel);
    auto const here = region.at(voxel);
    terma[index] = inside ? here.terma : T(0);
    density[index] = inside ? here.density : T(0);
  }
};

/// Does step 2: puts the samples of a ray side by side.
template <class T>
struct ray_transpose_kernel {
  ray_grid<T> rays;
  T const* from[2];
  T* to[2];

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const ray = index / rays.samples;
    std::int64_t const sample = index - ray * rays.samples;
    for (int n = 0; n < 2; ++n) {
      to[n][index] = from[n][sample * rays.num_rays() + ray];
    }
  }
};

/// Does step 3: every sample steps away from itself upstream. A work item a sample.
template <class T, class Absorption>
struct ray_convolution_kernel {
  ray_grid<T> rays;
  T toward;        ///< from the source to the middle, along the direction, mm
  T aside[2];      ///< the same across
  T const* terma;  ///< [rays, samples]
  T const* density;
  cone_line<T> const* lines;
  typename Absorption::tables const* tables;
  std::int64_t line;
  T* dose;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const ray = index / rays.samples;
    std::int64_t const sample = index - ray * rays.samples;
    cone_line<T> const& l = lines[line];
    Absorption absorption(tables, l, line);
    vec3<T> const at = rays.place(ray, sample);
    T const ahead = toward + at.z;
    T const x = aside[0] + at.x;
    T const y = aside[1] + at.y;
    seen_voxel<T> const seen{ahead, Kokkos::fma(ahead, ahead, Kokkos::fma(x, x, y * y))};
    T total = T(0);
    for (std::int64_t s = sample; s >= 0; --s) {
      T const t = terma[ray * rays.samples + s];
      T const path = density[ray * rays.samples + s] * rays.step;
      // Half of the sample's own step lies behind it.
      bool const own = s == sample;
      total += absorption.step(t, own ? T(0.5) * path : path,
                               [&] { return seen.tilt(T(sample - s) * rays.step, l.cosine); });
    }
    dose[index] = total;
  }
};

/// Does step 4: each voxel's dose from the eight samples about it, in whole units.
template <class T>
struct ray_sum_kernel {
  using word = typename fixed_point<T>::word;
  ray_grid<T> rays;
  grid g;
  T const* dose;  ///< [rays, samples]
  word* sums;     ///< of the region

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / g.extent[2];
    vec3<double> const p{Kokkos::fma(double(row / g.extent[1]), g.spacing.x, g.origin.x),
                         Kokkos::fma(double(row % g.extent[1]), g.spacing.y, g.origin.y),
                         Kokkos::fma(double(index % g.extent[2]), g.spacing.z, g.origin.z)};
    vec3<double> const v = p - rays.middle;
    T const place[3] = {T(dot(v, rays.across[0])) / rays.spacing + T(0.5) * T(rays.rays[0] - 1),
                        T(dot(v, rays.across[1])) / rays.spacing + T(0.5) * T(rays.rays[1] - 1),
                        T(dot(v, rays.along)) / rays.step + T(0.5) * T(rays.samples - 1)};
    std::int64_t const extent[3] = {rays.rays[0], rays.rays[1], rays.samples};
    std::int64_t low[3];
    T share[3];
    for (int axis = 0; axis < 3; ++axis) {
      T const down = Kokkos::floor(place[axis]);
      low[axis] = std::int64_t(down);
      share[axis] = place[axis] - down;
    }
    T total = T(0);
    for (int corner = 0; corner < 8; ++corner) {
      T weight = T(1);
      std::int64_t at = 0;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        bool const upper = (corner >> axis & 1) != 0;
        std::int64_t const n = low[axis] + (upper ? 1 : 0);
        inside = inside && n >= 0 && n < extent[axis];
        weight *= upper ? share[axis] : T(1) - share[axis];
        at = at * extent[axis] + n;
      }
      total = inside ? Kokkos::fma(weight, dose[at], total) : total;
    }
    word const units =
        Kokkos::bit_cast<word>(total + fixed_point<T>::magic) - fixed_point<T>::magic_bits;
    sums[index] += units;
  }
};

template <class T>
struct put_sums_kernel {
  using word = typename fixed_point<T>::word;
  std::int64_t extent[3];
  word const* sums;
  double unit;
  lattice_range const* range;
  sum_target<T> to;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / extent[2];
    to.put(*range, unit, row / extent[1], row % extent[1], index % extent[2], sums[index]);
  }
};

}  // namespace iso::dose::detail

#define ISO_SET_HEADER <iso/dose/detail/lines/sampled_kernels.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

/// Samples TERMA and density at equal steps away from a voxel.
template <class T>
struct follow_samples {
  ISO_KERNEL(follow_samples<T>);

  grid g;
  interpolated_region<T> region;
  T step;  ///< mm

  template <class Absorption>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(Absorption absorption, vec3<T> const& voxel,
                                           vec3<double> const&, seen_voxel<T> const& seen,
                                           cone_line<T> const& line) const {
    vec3<double> const per_mm = g.to_index_vector(line.path.direction);
    vec3<T> const by{T(per_mm.x), T(per_mm.y), T(per_mm.z)};
    T total = T(0);
    // A line leaves the box once.
    for (std::int32_t s = 0;; ++s) {
      T const distance = (T(s) + T(0.5)) * step;
      vec3<T> const p{Kokkos::fma(-by.x, distance, voxel.x), Kokkos::fma(-by.y, distance, voxel.y),
                      Kokkos::fma(-by.z, distance, voxel.z)};
      if (!region.has(p)) {
        return total;
      }
      auto const here = region.at(p);
      total += absorption.step(here.terma, here.density * step,
                               [&] { return seen.tilt(distance, line.cosine); });
    }
  }
};

}  // namespace iso::dose::detail::ISO_SET

#endif
