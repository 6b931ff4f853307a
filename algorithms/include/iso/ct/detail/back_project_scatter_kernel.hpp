// SPDX-License-Identifier: BSD-3-Clause
//! Backprojects by scatter into whole numbers: every method and geometry.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_BACK_PROJECT_SCATTER_KERNEL_HPP
#define ISO_CT_DETAIL_BACK_PROJECT_SCATTER_KERNEL_HPP

#include <iso/backend/integer_atomics.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ray/detail/entry.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Holds the largest finite |pixel| of a block of views.
struct pixel_range {
  double most;
  std::int32_t beyond;  ///< whether some pixel is not finite
};

/// Holds the grids on which a block's products add exactly: of all products, and of what the first
/// grid leaves of them.
struct product_grids {
  reproducible_scale<double> coarse;
  reproducible_scale<double> fine;
};

/// Holds the voxels' sums of a block of views while rays add to them in any order: whole multiples
/// of 2^-k, k being that of iso::reproducible_scale for as many terms as the block has rays. In
/// double, what that rounds off is added up as well, in a second word.
template <class T>
struct fixed_point_sums {
  using word = std::uint64_t;
  static constexpr int words = sizeof(T) == 8 ? 2 : 1;

  word* sums;            ///< [voxel][word]
  std::uint32_t* flags;  ///< a bit a voxel: some term was not finite
  product_grids const* grids;

  /// Adds nothing for a weight of zero.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t voxel, T weight, T x) const {
    if (weight == T(0)) {
      return;
    }
    double const product = double(weight) * double(x);
    word const term = grids->coarse.round(product);
    if (grids->coarse.flagged(term)) {
      backend::atomic_flags(flags + voxel / 32, 1U << std::uint32_t(voxel % 32));
      return;
    }
    word const whole = grids->coarse.without_rounder(term, 1);
    backend::atomic_sum(sums + words * voxel, whole);
    if constexpr (words == 2) {
      word const rest = grids->fine.round(product - grids->coarse.value(whole));
      backend::atomic_sum(sums + words * voxel + 1, grids->fine.without_rounder(rest, 1));
    }
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T value(std::int64_t voxel) const {
    bool const bad = ((flags[voxel / 32] >> std::uint32_t(voxel % 32)) & 1U) != 0;
    double sum = grids->coarse.value(sums[words * voxel]);
    if constexpr (words == 2) {
      sum += grids->fine.value(sums[words * voxel + 1]);
    }
    return bad ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan) : T(sum);
  }
};

/// Begins a block: nothing in the sums, nothing known of the pixels.
template <class T>
struct clear_sums_kernel {
  fixed_point_sums<T> to;
  pixel_range* found;

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    for (int word = 0; word < to.words; ++word) {
      to.sums[to.words * voxel + word] = 0;
    }
    if (voxel % 32 == 0) {
      to.flags[voxel / 32] = 0;
    }
    if (voxel == 0) {
      *found = {0, 0};
    }
  }
};

struct product_grids_kernel {
  pixel_range const* pixels;
  product_grids* grids;
  double longest;  ///< no weight times a step, and no chord, is longer (mm)
  double rays;

  KOKKOS_FUNCTION void operator()(int) const {
    reproducible_scale<double> const coarse(pixels->most * longest, rays);
    *grids = {coarse, reproducible_scale<double>(coarse.unit() / 2, rays)};
  }
};

/// Ends a block.
template <class T>
struct add_sums_kernel {
  fixed_point_sums<T> from;
  T* volume;
  bool begins;  ///< the voxels begin at zero

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    T const before = begins ? T(0) : volume[voxel];
    volume[voxel] = canonical(before + from.value(voxel));
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/back_project_scatter_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Holds the pixels of a block of views, a lane a pixel: a group has 32 neighbouring v of one view
/// and one u.
template <class T>
struct block_pixels {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  T const* values;  ///< [views, u, v]
  beam kind;
  std::int64_t num_u;
  std::int64_t num_v;

  KOKKOS_FUNCTION std::int64_t groups_per_view() const { return num_u * ((num_v + 31) / 32); }

  /// Calls each(view, u, v, value) with the pixels of group `index`.
  template <class Group, class Each>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Group const& group, std::int64_t index,
                                            Each const& each) const {
    std::int64_t const rows = (num_v + 31) / 32;
    std::int64_t const row = index / rows;
    std::int64_t const first = (index - row * rows) * 32;
    group.each([&](int lane) {
      std::int64_t const v = first + lane;
      if (v < num_v) {
        each(views(row / num_u), double(row % num_u), double(v), values[row * num_v + v]);
      }
    });
  }
};

/// Scatters along Joseph's rays of a block of views, a lane a ray: the loop of
/// joseph_general_kernel, and the weights of its blends.
template <class T, class Weight>
struct joseph_scatter_kernel {
  ISO_KERNEL(joseph_scatter_kernel<T, Weight>);

  block_pixels<T> pixels;
  fixed_point_sums<T> to;
  grid g;
  boundary edge;
  region within;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    pixels.for_each(group, index, [&](view_vectors const& view, double u, double v, T pixel) {
      index_view const w = to_index(view, g, pixels.kind);
      scatter(make_line<T>(w, pixels.kind, g, u, v, within), pixel);
    });
  }

 private:
  KOKKOS_FUNCTION void scatter(joseph_line<T> const& line, T pixel) const {
    int const m = line.axis;
    int const a = other_axis(m, 0);
    int const b = other_axis(m, 1);
    std::int64_t const n[2] = {g.extent[std::size_t(a)], g.extent[std::size_t(b)]};
    plane_range planes = planes_about(line.across[0], T(-1), T(n[0]), line.planes);
    planes = planes_about(line.across[1], T(-1), T(n[1]), planes);
    T const x = pixel * line.step;
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      T const p = line.across[0](i);
      T const q = line.across[1](i);
      bool const inside = edge == boundary::zero
                              ? p > T(-1) && p < T(n[0]) && q > T(-1) && q < T(n[1])
                              : p >= T(0) && p <= T(n[0] - 1) && q >= T(0) && q <= T(n[1] - 1);
      if (inside) {
        scatter_plane(i, m, p, q, n, x);
      }
    }
  }
  KOKKOS_FUNCTION void scatter_plane(std::int32_t i, int m, T p, T q, std::int64_t const (&n)[2],
                                     T x) const {
    std::int64_t const strides[3] = {g.extent[1] * g.extent[2], g.extent[2], 1};
    std::int64_t const plane = i * strides[m];
    T const p_floor = Kokkos::floor(p);
    T const q_floor = Kokkos::floor(q);
    T const wp = Weight{}(p - p_floor);
    T const wq = Weight{}(q - q_floor);
    for (int upper_p = 0; upper_p < 2; ++upper_p) {
      std::int64_t const j = std::int64_t(p_floor) + upper_p;
      // The blend of one in this column and zero in the other.
      T const share = upper_p == 0 ? blend(wp, T(1), T(0)) : blend(wp, T(0), T(1));
      for (int upper_q = 0; upper_q < 2; ++upper_q) {
        std::int64_t const k = std::int64_t(q_floor) + upper_q;
        if (j >= 0 && j < n[0] && k >= 0 && k < n[1]) {
          T const weight = upper_q == 0 ? blend(wq, share, T(0)) : blend(wq, T(0), share);
          to.add(plane + j * strides[other_axis(m, 0)] + k * strides[other_axis(m, 1)], weight, x);
        }
      }
    }
  }
};

/// Adds the chord of each voxel along a ray times the ray's value.
template <class T>
struct chord_scatter {
  fixed_point_sums<T> const& to;
  T x;
  T at = T(0);

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index index, T next) {
    T const chord = next - at;
    if (chord > T(0)) {
      to.add(std::int64_t(index), chord, x);
    }
    at = next;
  }
};

/// Scatters along rays of exact lengths of a block of views, a lane a ray, `per_side` x `per_side`
/// a pixel. All exact methods have the same chords, so that one walk serves them.
template <class T>
struct chord_scatter_kernel {
  ISO_KERNEL(chord_scatter_kernel<T>);

  block_pixels<T> pixels;
  fixed_point_sums<T> to;
  ray::traversal_grid grid;
  ray_limits limits;
  std::int32_t per_side;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    pixels.for_each(group, index, [&](view_vectors const& view, double u, double v, T pixel) {
      T const x = pixel / T(per_side * per_side);
      for (std::int32_t part = 0; part < per_side * per_side; ++part) {
        std::int32_t const part_u = part / per_side;
        double const du = (part_u + 0.5) / per_side - 0.5;
        double const dv = (part - part_u * per_side + 0.5) / per_side - 0.5;
        chord_scatter<T> report{to, x};
        auto const line = limits.clipped(pixel_ray(view, pixels.kind, u + du, v + dv));
        ISO_SET_OF(iso::ray::detail)::walk(ray::amanatides_woo{},
                                           ray::detail::enter<T, std::int64_t>(line, grid), report);
      }
    });
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
