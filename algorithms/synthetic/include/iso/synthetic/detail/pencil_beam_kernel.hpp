// SPDX-License-Identifier: BSD-3-Clause
//! Which spots reach a voxel, and with what dose.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/math.hpp>
#include <iso/core/vec3.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic::detail {

inline constexpr int most_slabs = 16;

/// Water-equivalent depth along the beam, linear between the planes of the slabs.
struct depth_scale {
  int count = 0;                      ///< slabs, then water
  double begin[most_slabs + 1] = {};  ///< mm behind the entrance
  double water[most_slabs + 1] = {};  ///< mm of water there
  double power[most_slabs + 1] = {};  ///< from there on

  [[nodiscard]] KOKKOS_FUNCTION double operator()(double depth) const {
    int s = 0;
    while (s < count && depth >= begin[s + 1]) {
      ++s;
    }
    return Kokkos::fma(depth - begin[s], power[s], water[s]);
  }
};

/// A line of spots along u: lattice numbers, and the column of the one that is scanned first.
struct spot_line {
  std::int32_t first_u = 0;
  std::int32_t last_u = -1;
  std::int32_t column = 0;
  std::int32_t backwards = 0;  ///< 1: scanned from last_u to first_u
};

struct beam_layer {
  double step = 1;         ///< mm of water between samples of the tables
  double end = 0;          ///< no dose behind this depth
  std::int64_t table = 0;  ///< number of the first sample
  std::int32_t samples = 0;
  std::int32_t line = 0;  ///< number of the first line
  std::int32_t lines = 0;
  std::int32_t first_v = 0;  ///< lattice number of that line
};

/// Spots of one line that reach a voxel: lattice numbers [low, high], and their squared distance
/// from it along v.
struct spot_run {
  spot_line line;
  std::int64_t low = 0;
  std::int64_t high = -1;
  double across = 0;  ///< mm2

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return high - low + 1; }
  /// Lattice number and column of entry i of the run; columns rise with i.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t place(std::int64_t i) const {
    return line.backwards != 0 ? high - i : low + i;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t column(std::int64_t i) const {
    std::int64_t const u = place(i);
    return std::int32_t(line.column + (line.backwards != 0 ? line.last_u - u : u - line.first_u));
  }
};

/// What all spots of a layer have in common at one voxel.
struct layer_dose {
  double on_axis = 0;   ///< dose of a spot that the voxel lies behind
  double exponent = 0;  ///< -1 / (2 variance), 1/mm2
};

template <class Space>
struct pencil_beam_law {
  iso::grid voxels;
  vec3<double> along;  ///< unit vectors
  vec3<double> across;
  vec3<double> target;  ///< mm
  double entrance = 0;  ///< mm before the isocenter
  double spacing = 1;   ///< of the lattice, mm
  double reach = 1;     ///< radius of a spot in standard deviations
  double gray = 1;      ///< dose for a depth dose of 1 and a variance of 1 / (2 pi)
  depth_scale water;
  Kokkos::View<beam_layer const*, Space> layers;
  Kokkos::View<spot_line const*, Space> lines;
  Kokkos::View<double const*, Space> dose;
  Kokkos::View<double const*, Space> variance;

  /// Calls f(layer_dose, spot_run, u) for every run of spots that reaches voxel `row`, columns
  /// rising; u is the voxel's place along u in mm.
  template <class F>
  KOKKOS_FUNCTION void visit(std::int64_t row, F const& f) const {
    std::int64_t const nz = voxels.extent[2];
    std::int64_t const ny = voxels.extent[1];
    vec3<double> const p{Kokkos::fma(voxels.spacing.x, double(row / nz / ny), voxels.origin.x),
                         Kokkos::fma(voxels.spacing.y, double(row / nz % ny), voxels.origin.y),
                         Kokkos::fma(voxels.spacing.z, double(row % nz), voxels.origin.z)};
    double const depth = dot(p, along) + entrance;
    if (!(depth >= 0)) {
      return;
    }
    double const w = water(depth);
    double const u = dot(p - target, across);
    double const v = p.z - target.z;
    auto const count = std::int64_t(layers.extent(0));
    for (std::int64_t l = 0; l < count; ++l) {
      beam_layer const layer = layers(l);
      if (w <= layer.end) {
        visit_layer(layer, w, u, v, f);
      }
    }
  }

 private:
  template <class F>
  KOKKOS_FUNCTION void visit_layer(beam_layer const& layer, double w, double u, double v,
                                   F const& f) const {
    double const at = w / layer.step;
    auto const sample = std::int64_t(at);
    std::int64_t const i =
        layer.table + (sample < layer.samples - 2 ? sample : std::int64_t(layer.samples - 2));
    double const t = at - double(i - layer.table);
    double const spread = Kokkos::fma(t, variance(i + 1) - variance(i), variance(i));
    double const height = Kokkos::fma(t, dose(i + 1) - dose(i), dose(i));
    double const radius = reach * Kokkos::sqrt(spread);
    layer_dose const here{gray * height / spread, -0.5 / spread};

    auto const lowest = std::int64_t(Kokkos::ceil((v - radius) / spacing)) - layer.first_v;
    auto const highest = std::int64_t(Kokkos::floor((v + radius) / spacing)) - layer.first_v;
    std::int64_t const last = highest < layer.lines - 1 ? highest : std::int64_t(layer.lines - 1);
    for (std::int64_t n = lowest > 0 ? lowest : 0; n <= last; ++n) {
      spot_run run;
      run.line = lines(layer.line + n);
      double const off = Kokkos::fma(-spacing, double(layer.first_v + n), v);
      run.across = off * off;
      double const square = Kokkos::fma(radius, radius, -run.across);
      double const half_chord = Kokkos::sqrt(square > 0 ? square : 0.0);
      auto const low = std::int64_t(Kokkos::ceil((u - half_chord) / spacing));
      auto const high = std::int64_t(Kokkos::floor((u + half_chord) / spacing));
      run.low = low > run.line.first_u ? low : std::int64_t(run.line.first_u);
      run.high = high < run.line.last_u ? high : std::int64_t(run.line.last_u);
      if (run.count() > 0) {
        f(here, run, u);
      }
    }
  }
};

}  // namespace iso::synthetic::detail
