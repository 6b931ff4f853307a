// SPDX-License-Identifier: BSD-3-Clause
//! Adds the products of chords and voxels of a slab's planes reproducibly.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_EXACT_SUM_KERNEL_HPP
#define ISO_CT_DETAIL_EXACT_SUM_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/ct/detail/chords.hpp>
#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/detail/ray_sum.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The line integral of a pixel by its sum of products.
template <class T>
struct exact_value {
  T mm;    ///< of the unit of chords
  T rays;  ///< a pixel

  KOKKOS_FORCEINLINE_FUNCTION T operator()(reproducible_scale<T> const& scale, bits_of<T> sum,
                                           bool flagged) const {
    return flagged ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan)
                   : canonical(scale.value(sum) * mm / rays);
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/exact_sum_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Adds products of chord and voxel as words. Each product waits a step for its value, so that the
/// walk goes on while the value comes; a chord of no length adds nothing.
template <class T>
struct rounded_sum {
  using word = bits_of<T>;
  T const* KOKKOS_RESTRICT values;
  T scale;
  T at;
  word sum = 0;
  word flags = 0;
  T length_before = T(0);
  T value_before = T(0);

  KOKKOS_FORCEINLINE_FUNCTION void add() {
    T const rounder = T(reproducible_scale<T>::rounder);
    word const term =
        Kokkos::bit_cast<word>(Kokkos::fma(value_before * scale, length_before, rounder));
    sum += term - Kokkos::bit_cast<word>(rounder);
    flags |= term;
  }
  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index index, T next) {
    T const length = next - at;
    T value = T(0);
    if (length > T(0)) {
      value = values[index];
    }
    add();
    value_before = value;
    length_before = length;
    at = next;
  }
};

/// Adds the chords of rays in the planes of a slab to words, for launches of exact_rays. The n-th
/// plane of an axis is crossed at fma(n, step, first), so that a walk may begin where its ray
/// enters the slab and finds the chords of the whole walk, to the bit. All methods of exact lengths
/// have the same chords, so one walk serves them.
template <class Index, class T>
struct exact_sum_kernel {
  ISO_KERNEL(exact_sum_kernel<Index, T>);
  using word = bits_of<T>;

  ray::traversal_grid grid;  ///< the whole
  T const* origin;           ///< voxel (0, 0, 0), which may lie before the planes that are held
  std::int64_t height;       ///< planes that are held
  plane_range own;
  T* sums;                        ///< [views, u, v]: words, or the line integrals
  std::uint32_t* flags;           ///< [group], a bit a pixel; may be null
  ray_sum_scale<T> const* scale;  ///< of words that count chords in mm_inverse
  double mm_inverse;              ///< of the unit of chords
  exact_value<T> value;
  bool partial;  ///< words are there and are left, else line integrals are written
  exact_rays rays;

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t in_launch) const {
    auto const at = rays.group(in_launch);
    reproducible_scale<T> const by = scale->scale;
    bool const begins = !partial && rays.part == 0;
    bool const ends = !partial && rays.part + 1 == rays.parts();
    typename Group::template lane_array<word> total;
    typename Group::template lane_array<bool> is_bad;
    group.each([&](int lane) {
      rounded_sum<T> sum{origin, by.scale(), T(0)};
      walk(rays.of_lane(at, lane), sum);
      total[lane] = sum.sum;
      is_bad[lane] = by.flagged(sum.flags);
    });
    std::uint32_t bad = group.mask(is_bad);
    if (flags != nullptr) {
      std::uint32_t& there = flags[rays.first_group + in_launch];
      bad |= begins ? 0U : there;
      if (!ends) {
        group.once([&] { there = bad; });
      }
    }
    group.each([&](int lane) {
      if (rays.exists(at, lane)) {
        T& pixel = sums[rays.pixel(at, lane)];
        word const sum = total[lane] + (begins ? word(0) : Kokkos::bit_cast<word>(pixel));
        pixel = ends ? value(by, sum, ((bad >> lane) & 1U) != 0) : Kokkos::bit_cast<T>(sum);
      }
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void walk(ray::ray<double> const& r, rounded_sum<T>& sum) const {
    auto const e =
        ray::detail::enter<T, std::int64_t>(r, grid, ray::detail::scaled_length(r) * mm_inverse);
    if (!(e.end > T(0))) {
      return;
    }
    auto const planes = std::int64_t(grid.extent.z);
    std::int64_t const column = e.index / planes;
    auto const k = std::int32_t(e.index - column * planes);
    bool const down = e.stride.z < 0;
    // Planes along z crossed where the ray enters the slab, and where it leaves it.
    std::int32_t const ahead = down ? k - (own.last - 1) : own.first - k;
    std::int32_t const most = down ? k - own.first : own.last - 1 - k;
    if (most < 0) {
      return;
    }
    T const leaves = Kokkos::fma(T(most), e.step.z, e.first.z);
    T const from = ahead > 0 ? Kokkos::fma(T(ahead - 1), e.step.z, e.first.z) : T(0);
    T const to = leaves < e.end ? leaves : e.end;
    if (!(from < to)) {
      return;
    }
    std::int32_t n_x = 0;
    std::int32_t n_y = 0;
    std::int32_t const n_z = ahead > 0 ? ahead : 0;
    if (n_z > 0) {
      n_x = planes_crossed(from, e.first.x, e.step.x, 0, std::int32_t(grid.extent.x));
      n_y = planes_crossed(from, e.first.y, e.step.y, 0, std::int32_t(grid.extent.y));
    }
    auto const x_size = std::int64_t(grid.extent.y) * height;
    auto const x = Index(e.stride.x < 0 ? -x_size : x_size);
    auto const y = Index(e.stride.y < 0 ? -height : height);
    auto const z = Index(down ? -1 : 1);
    sum.at = from;
    step(e, {T(n_x), T(n_y), T(n_z)}, {x, y, z},
         Index(column * height + k + n_x * std::int64_t(x) + n_y * std::int64_t(y) +
               n_z * std::int64_t(z)),
         to, sum);
  }

  /// Walks on to `to` from where so many planes are crossed.
  KOKKOS_FORCEINLINE_FUNCTION static void step(ray::detail::entry<T, std::int64_t> const& e,
                                               vec3<T> crossed, vec3<Index> const& stride,
                                               Index index, T to, rounded_sum<T>& sum) {
    vec3<T> t = {Kokkos::fma(crossed.x, e.step.x, e.first.x),
                 Kokkos::fma(crossed.y, e.step.y, e.first.y),
                 Kokkos::fma(crossed.z, e.step.z, e.first.z)};
    ISO_DEVICE_UNROLL
    for (;;) {
      T const next = ray::detail::less_of(ray::detail::less_of(t.x, t.y), t.z);
      if (!(next < to)) {
        break;
      }
      sum(index, next);
      using ISO_SET_OF(iso::ray::detail)::step_if;
      step_if(t.x <= next, t.x, crossed.x, index, e.step.x, e.first.x, stride.x);
      step_if(t.y <= next, t.y, crossed.y, index, e.step.y, e.first.y, stride.y);
      step_if(t.z <= next, t.z, crossed.z, index, e.step.z, e.first.z, stride.z);
    }
    sum(index, to);
    sum.add();
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
