// SPDX-License-Identifier: BSD-3-Clause
//! Follows lines through the middle of every voxel, of exponentials and of tables.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_LINES_VOXEL_KERNEL_HPP
#define ISO_DOSE_DETAIL_LINES_VOXEL_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/grid.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/detail/cone_step.hpp>
#include <iso/dose/detail/copy_kernels.hpp>
#include <iso/dose/detail/table/bins.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// The place of a voxel, as tilts along a line need it.
template <class T>
struct seen_voxel {
  T toward;   ///< from the source to the voxel, along the direction, mm
  T squared;  ///< of the distance from the source to the voxel

  /// Returns the cosine of the angle from the direction to the photons' ray at `distance` upstream,
  /// less that to the axis.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T tilt(T distance, T cosine) const {
    T const along = toward - distance;
    return along / Kokkos::sqrt(Kokkos::fma(distance, distance,
                                            Kokkos::fma(T(-2) * distance, toward, squared))) -
           cosine;
  }
};

}  // namespace iso::dose::detail

#define ISO_SET_HEADER <iso/dose/detail/lines/voxel_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// What a voxel absorbs of what is released upstream, step by step away from it: exponentials.
template <class T, int Terms>
struct exponential_absorption {
  ISO_KERNEL(exponential_absorption<T, Terms>);

  using value = backend::one_lane_part::per_lane<T>;
  using tables = cone_terms<T, Terms>;

  tables const& terms;
  T left[Terms];  ///< of what is released, before the next step

  KOKKOS_FORCEINLINE_FUNCTION exponential_absorption(tables const* of_lines, cone_line<T> const&,
                                                     std::int64_t line)
      : terms(of_lines[line]) {
    for (T& x : left) {
      x = T(1);
    }
  }
  /// \param path   density times length of the step, mm g/cm3
  /// \param delta  the tilt there, asked for where anything is released
  template <class Delta>
  KOKKOS_FORCEINLINE_FUNCTION T step(T terma, T path, Delta const& delta) {
    value released[Terms];
    ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) { released[n] = value(T(0)); }
    if (terma > T(0)) {
      value const kept = (kept_delta)(terms.tilt, value(delta()));
      value const product = value(terma) * kept;
      ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
        released[n] = (sent_by)(terms.tilt, n, value(terma), kept, product);
      }
    }
    T dose = T(0);
    ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
      T const m = decay(value(path * terms.scaled_half_step[n]), terms.doublings[n]).r[0];
      dose = Kokkos::fma(-(terms.energy[n] * released[n].r[0]), left[n] * m, dose);
      left[n] = Kokkos::fma(left[n], m, left[n]);
    }
    return dose;
  }
};

/// The same, by a table.
template <class T>
struct table_absorption {
  ISO_KERNEL(table_absorption<T>);

  using value = backend::one_lane_part::per_lane<T>;
  using tables = T;

  tables const* bins;
  tilt_terms<T, 1> const tilt;
  T distance = T(0);
  T before;

  KOKKOS_FORCEINLINE_FUNCTION table_absorption(tables const* of_cones, cone_line<T> const& line,
                                               std::int64_t)
      : bins(of_cones + line.path.cone * radius_bins<T>::of_cone),
        tilt(line.terms.tilt.template first<1>()),
        before(radius_bins<T>::absorbed(bins, T(0))) {}
  template <class Delta>
  KOKKOS_FORCEINLINE_FUNCTION T step(T terma, T path, Delta const& delta) {
    T released = T(0);
    if (terma > T(0)) {
      value const kept = (kept_delta)(tilt, value(delta()));
      released = (sent_by)(tilt, 0, value(terma), kept, value(terma) * kept).r[0];
    }
    distance = Kokkos::fma(path, T(0.1), distance);
    T const now = radius_bins<T>::absorbed(bins, distance);
    T const dose = released * (now - before);
    before = now;
    return dose;
  }
};

/// Follows a line from a voxel against the direction of transport, and adds what every voxel
/// releases into it.
template <class T, class Absorption>
struct line_dose {
  Absorption absorption;
  T const* terma;
  T const* density;
  seen_voxel<T> seen;
  T cosine;
  T at = T(0);
  T dose = T(0);

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index index, T next) {
    T const length = next - at;
    if (length > T(0)) {
      dose += absorption.step(terma[index], density[index] * length,
                              [&] { return seen.tilt(T(0.5) * (at + next), cosine); });
    }
    at = next;
  }
};

/// Computes doses of voxels that follow all lines back, 32 voxels of a row along z a group.
/// `Follow` gives what a line brings to a voxel: follow(absorption, voxel, place, seen, line).
template <class T, class AnyAbsorption, class AnyFollow>
struct voxel_dose_kernel {
  ISO_KERNEL(voxel_dose_kernel<T, AnyAbsorption, AnyFollow>);
  using Absorption = ISO_OF_SET(AnyAbsorption);
  using Follow = ISO_OF_SET(AnyFollow);

  using word = typename fixed_point<T>::word;

  grid g;
  vec3<double> source;
  cone_line<T> const* lines;
  typename Absorption::tables const* tables;
  std::int64_t num_lines;
  lattice_range const* range;
  double unit;
  sum_target<T> to;
  Follow follow;
  std::int64_t first_group = 0;

  KOKKOS_FUNCTION std::int64_t groups_per_row() const { return (g.extent[2] + 31) / 32; }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return g.extent[0] * g.extent[1] * groups_per_row();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t launched) const {
    std::int64_t const index = first_group + launched;
    std::int64_t const row = index / groups_per_row();
    std::int64_t const first = (index - row * groups_per_row()) * 32;
    std::int64_t const i = row / g.extent[1];
    std::int64_t const j = row - i * g.extent[1];
    group.each([&](int lane) {
      std::int64_t const k = first + lane;
      if (k < g.extent[2]) {
        add(i, j, k);
      }
    });
  }

 private:
  KOKKOS_FUNCTION void add(std::int64_t i, std::int64_t j, std::int64_t k) const {
    vec3<double> const p{Kokkos::fma(double(i), g.spacing.x, g.origin.x),
                         Kokkos::fma(double(j), g.spacing.y, g.origin.y),
                         Kokkos::fma(double(k), g.spacing.z, g.origin.z)};
    vec3<double> const v = p - source;
    vec3<T> const voxel{T(i), T(j), T(k)};
    word sum = 0;
    for (std::int64_t n = 0; n < num_lines; ++n) {
      cone_line<T> const& l = lines[n];
      seen_voxel<T> const seen{T(dot(v, l.path.direction)), T(dot(v, v))};
      T const total = follow(Absorption(tables, l, n), voxel, p, seen, l);
      sum += Kokkos::bit_cast<word>(total + fixed_point<T>::magic) - fixed_point<T>::magic_bits;
    }
    to.put(*range, unit, i, j, k, sum);
  }
};

/// Follows the exact chords of a traversal.
template <class Method, class T>
struct follow_chords {
  ISO_KERNEL(follow_chords<Method, T>);

  ray::traversal_grid walked;
  T const* terma;  ///< of the region, scaled
  T const* density;

  template <class Absorption>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(Absorption const& absorption, vec3<T> const&,
                                           vec3<double> const& place, seen_voxel<T> const& seen,
                                           cone_line<T> const& line) const {
    line_dose<T, Absorption> report{absorption, terma, density, seen, line.cosine};
    ray::ray<double> const back{place, -1.0 * line.path.direction};
    ISO_SET_OF(iso::ray::detail)::walk(Method{}, ray::detail::enter<T, std::int32_t>(back, walked),
                                       report);
    return report.dose;
  }
};

}  // namespace iso::dose::detail::ISO_SET

#endif
