// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/grid.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/detail/cone_step.hpp>
#include <iso/dose/detail/lattice_kernels.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// Follows a line from a voxel against the direction of transport, and adds what every voxel
/// releases into it.
template <class T, int Terms>
struct line_dose {
  using value = backend::one_lane_part::per_lane<T>;

  cone_terms<T, Terms> const& terms;
  T const* terma;
  T const* density;
  T toward;   ///< from the source to the voxel, along the direction, mm
  T squared;  ///< of the distance from the source to the voxel
  T cosine;
  T left[Terms];  ///< of what is released, before the next segment
  T at = T(0);
  T dose = T(0);

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index index, T next) {
    T const length = next - at;
    if (length > T(0)) {
      T const t = terma[index];
      T const path = density[index] * length;
      T const middle = T(0.5) * (at + next);
      T delta = T(0);
      if (t > T(0)) {
        T const along = toward - middle;
        T const distance =
            Kokkos::sqrt(Kokkos::fma(middle, middle, Kokkos::fma(T(-2) * middle, toward, squared)));
        delta = along / distance - cosine;
      }
      for (int n = 0; n < Terms; ++n) {
        T const released = Kokkos::fma(
            t * Kokkos::fma(terms.tilt_second[n], delta, terms.tilt_first[n]), delta, t);
        T const m = decay(value(path * terms.scaled_half_step[n]), terms.doublings[n]).r[0];
        dose = Kokkos::fma(-(terms.energy[n] * released), left[n] * m, dose);
        left[n] = Kokkos::fma(left[n], m, left[n]);
      }
    }
    at = next;
  }
};

/// The directions' numbers for the densities at hand; "half steps" are rates per mm.
template <class T, int Terms>
struct line_terms_kernel {
  cone_line<T> const* lines;
  lattice_range const* range;
  T longest;  ///< chord, mm
  cone_terms<T, Terms>* out;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    cone_line<T> const& l = lines[index];
    for (int n = 0; n < Terms; ++n) {
      out[index].set(n, l.rate[n], longest, range->density);
      out[index].energy[n] = l.energy[n];
      out[index].tilt_first[n] = l.tilt_first[n];
      out[index].tilt_second[n] = l.tilt_second[n];
    }
  }
};

/// Copies a box of voxels into an array without gaps, scaled by 2^-exponent where it is TERMA.
template <class T>
struct box_copy_kernel {
  boxed_volume<T const> from;
  std::int64_t extent[3];
  lattice_range const* range;
  bool scaled;
  T* to;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / extent[2];
    T const x = from.row(row / extent[1], row % extent[1])[index % extent[2]];
    to[index] = scaled ? T(double(x) * power_of_two(-terma_exponent(*range))) : x;
  }
};

/// 32 voxels of a row along z, all directions.
template <class Method, class T, int Terms>
struct voxel_lines_kernel {
  using word = typename fixed_point<T>::word;

  grid g;
  ray::traversal_grid walked;
  vec3<double> source;
  cone_line<T> const* lines;
  cone_terms<T, Terms> const* terms;
  std::int64_t num_lines;
  T const* terma;  ///< of the region, scaled
  T const* density;
  lattice_range const* range;
  double unit;
  boxed_volume<T> dose;

  KOKKOS_FUNCTION std::int64_t groups_per_row() const { return (g.extent[2] + 31) / 32; }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return g.extent[0] * g.extent[1] * groups_per_row();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
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
    word sum = 0;
    for (std::int64_t n = 0; n < num_lines; ++n) {
      cone_line<T> const& l = lines[n];
      line_dose<T, Terms> report{terms[n],     terma,    density, T(dot(v, l.direction)),
                                 T(dot(v, v)), l.cosine, {}};
      for (int c = 0; c < Terms; ++c) {
        report.left[c] = T(1);
      }
      ray::ray<double> const back{p, -1.0 * l.direction};
      ray::detail::walk(Method{}, ray::detail::enter<T, std::int32_t>(back, walked), report);
      sum +=
          Kokkos::bit_cast<word>(report.dose + fixed_point<T>::magic) - fixed_point<T>::magic_bits;
    }
    add_to_dose<T>(*range, unit, sum, dose.row(i, j)[k]);
  }
};

}  // namespace iso::dose::detail
