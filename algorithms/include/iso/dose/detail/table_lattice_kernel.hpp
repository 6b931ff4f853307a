// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/dose/detail/voxel_lines_kernel.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// The lattice's lines with a table: it has no recursion, so that every voxel follows each line
/// back to where it enters. 32 voxels of a row along z, all directions.
template <class T>
struct table_lattice_kernel {
  using word = typename fixed_point<T>::word;

  grid g;
  cone_line<T> const* lines;
  lattice_line<T> const* lattice;
  lattice_plane<T> const* planes;
  backend::pack<T, 2> const* tables;
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
        word sum = 0;
        for (std::int64_t n = 0; n < num_lines; ++n) {
          sum += Kokkos::bit_cast<word>(along(n, {i, j, k}) + fixed_point<T>::magic) -
                 fixed_point<T>::magic_bits;
        }
        add_to_dose<T>(*range, unit, sum, dose.row(i, j)[k]);
      }
    });
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t stride(int axis) const {
    return axis == 2 ? 1 : (axis == 1 ? g.extent[2] : g.extent[1] * g.extent[2]);
  }
  /// Dose at the middle of a voxel's step.
  [[nodiscard]] KOKKOS_FUNCTION T along(std::int64_t line, vec3<std::int64_t> const& at) const {
    cone_line<T> const& c = lines[line];
    lattice_line<T> const& l = lattice[c.lattice];
    auto const place = std::int32_t(at[c.axes[2]]);
    std::int32_t const k = l.way > 0 ? place : l.planes - 1 - place;
    auto const lane = std::int32_t(at[c.axes[0]]);
    auto const row = std::int32_t(at[c.axes[1]]);
    std::int32_t const lane_from = lane - displacement(c.slopes[0], k);
    std::int32_t const row_from = row - displacement(c.slopes[1], k);
    T const half_lanes = T(0.5) * T(l.lanes - 1);
    T const half_rows = T(0.5) * T(l.rows - 1);
    T const half_path = l.half_step[0];  // the length, mm, of half a step
    table_absorption<T> absorption(tables, c, 0);
    T dose = T(0);
    for (std::int32_t before = k; before >= 0; --before) {
      std::int32_t const n = lane_from + displacement(c.slopes[0], before);
      std::int32_t const m = row_from + displacement(c.slopes[1], before);
      if (n < 0 || n >= l.lanes || m < 0 || m >= l.rows) {
        break;
      }
      std::int64_t const voxel = n * stride(c.axes[0]) + m * stride(c.axes[1]) +
                                 (l.way > 0 ? before : l.planes - 1 - before) * stride(c.axes[2]);
      T const t = terma[voxel];
      T delta = T(0);
      if (t > T(0)) {
        lattice_plane<T> const p = backend::vector_load(planes + (l.table + before));
        T const u = T(n) - half_lanes;
        T const v = T(m) - half_rows;
        T const of_lane = u * Kokkos::fma(p.lane_lane, u, p.lane);
        delta = Kokkos::fma(p.lane_row, u * v, p.constant + (of_lane + tilt_of_row(p, v)));
      }
      T const path = density[voxel] * half_path;
      dose += absorption.step(t, delta, before == k ? path : path + path);
    }
    return dose;
  }
};

}  // namespace iso::dose::detail
