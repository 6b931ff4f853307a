// SPDX-License-Identifier: BSD-3-Clause
//! Describes the sheared lattice that lines of a direction lie on, made on the host for kernels.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/detail/tilt_terms.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace iso::dose::detail {

/// Numbers for sums in fixed point: the bits of x + magic count x in whole units.
template <class T>
struct fixed_point;
template <>
struct fixed_point<float> {
  using word = std::uint32_t;
  static constexpr float magic = 12582912.0F;  // 1.5 2^23
  static constexpr word magic_bits = 0x4B400000U;
  static constexpr int direction_bits = 21;  ///< of the most that one direction gives
  static constexpr int total_bits = 30;      ///< of the most that all give
};
template <>
struct fixed_point<double> {
  using word = std::uint64_t;
  static constexpr double magic = 6755399441055744.0;  // 1.5 2^52
  static constexpr word magic_bits = 0x4338000000000000ULL;
  static constexpr int direction_bits = 50;
  static constexpr int total_bits = 61;
};

/// The parts of a direction's kernel.
template <class T>
struct line_terms {
  T rate[max_kernel_terms];    ///< 1/mm at 1 g/cm3, or that times half of a step's length
  T energy[max_kernel_terms];  ///< in units of the sums
  tilt_terms<T, max_kernel_terms> tilt;
};

/// One direction's way through the lattice. Lanes, rows and planes are axes of the region: the
/// direction marches from plane to plane, and lanes are next to each other in memory.
struct lattice_path {
  std::int32_t copy;   ///< 0: voxels stand as [x][y][z]; 1: as [z][y][x]
  std::int32_t lanes;  ///< extents
  std::int32_t rows;
  std::int32_t planes;
  std::int32_t row_stride;
  std::int32_t plane_stride;
  std::int32_t way;    ///< 1: planes ascend
  std::int32_t table;  ///< its first plane's number
  std::int32_t min_lane_shift;
  std::int32_t max_lane_shift;
  std::int32_t min_row_shift;
  std::int32_t max_row_shift;
};
template <class T>
struct lattice_line {
  lattice_path path;
  line_terms<T> terms;  ///< rates: times half of a step's length; of tables: that length, mm
  T cosine;             ///< of the direction's angle to the beam's axis
  /// The growth of the way from the source along the direction, from a voxel to the next, mm. With
  /// lattice_plane::toward, whole multiples of a power of two, so that all their sums are exact.
  T toward_lane;
  T toward_row;

  /// Returns that way to the middle of a voxel.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T toward(T of_plane, std::int32_t lane,
                                                     std::int32_t row) const {
    T const u = T(lane) - T(0.5) * T(path.lanes - 1);
    T const v = T(row) - T(0.5) * T(path.rows - 1);
    return Kokkos::fma(v, toward_row, Kokkos::fma(u, toward_lane, of_plane));
  }
};

/// One direction, as lines through voxels want it.
struct cone_path {
  vec3<double> direction;
  std::int32_t cone;
};
template <class T>
struct cone_line {
  cone_path path;
  T cosine;  ///< of its angle to the axis
  line_terms<T> terms;
};

/// The numbers of a line in one plane: by how much it is displaced, and how far the source lies
/// behind the plane's middle along the direction. Over that voxel's distance from the source, it is
/// the cosine of the angle to the voxel's ray.
template <class T>
struct alignas(16) lattice_plane {
  std::int32_t lane_shift;  ///< of lines that are walked by items: wrapped round
  std::int32_t row_shift_and_lane_step;
  T toward;  ///< mm

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t row_shift() const {
    return row_shift_and_lane_step >> 2;
  }
  /// Returns lane_shift less that of the plane before, not wrapped: -1, 0 or 1.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t lane_step() const {
    return (row_shift_and_lane_step & 3) - 1;
  }
  void set_shifts(std::int32_t lanes, std::int32_t rows, std::int32_t step) {
    lane_shift = lanes;
    row_shift_and_lane_step = rows * 4 + step + 1;
  }
};

/// Rows of 32 lanes that one group walks, through the planes in which they meet the box.
struct lattice_item {
  std::int32_t line;
  std::int32_t row;
  std::int32_t lane;  ///< of tables: its ray's number, which may be negative
  std::int32_t first;
  std::int32_t last;
};

/// The places of voxels: a border of zeros about the rows, room behind them.
struct lattice_layout {
  std::int64_t extent[3];  ///< of the region
  std::int64_t border;
  std::int64_t pitch[2];  ///< of the fastest axis, of each copy
  std::int64_t size[2];   ///< elements

  lattice_layout() = default;
  lattice_layout(iso::grid const& region, std::int64_t border_rows, std::int64_t lane_multiple,
                 std::int64_t room);

  /// Counts elements from a voxel to the next along an axis of the region.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t stride(int copy, int axis) const {
    int const fast = copy == 0 ? 2 : 0;
    return axis == fast ? 1 : axis == 1 ? pitch[copy] : rows() * pitch[copy];
  }
  /// Counts planes of a copy, and rows of a plane, with their borders.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t planes(int copy) const {
    return extent[copy == 0 ? 0 : 2] + 2 * border;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t rows() const { return extent[1] + 2 * border; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t at(int copy, std::int64_t x, std::int64_t y,
                                                std::int64_t z) const {
    std::int64_t const slow = copy == 0 ? x : z;
    std::int64_t const fast = copy == 0 ? z : x;
    return ((slow + border) * rows() + y + border) * pitch[copy] + fast;
  }
};

/// Lines of one marching axis and way, [first, last).
struct lattice_class {
  std::int32_t first;
  std::int32_t last;
};

/// All of it on the host, in double.
struct lattice_tables {
  std::vector<lattice_line<double>> lines;
  std::vector<lattice_plane<double>> planes;
  std::vector<lattice_class> classes;
  std::vector<cone_line<double>> directions;  ///< of the lines
  std::vector<double> bins;  ///< of tables: [cones, radius_bins::of_cone], in units of the sums
  double unit;
};

/// Directions [first, last) of all, in the order of their classes.
struct direction_range {
  std::int64_t first = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// \param direction_bits, total_bits  as in fixed_point
/// \param digits  of the numbers that kernels compute with
/// \param some    the directions that get lines; the unit is that of all
lattice_tables make_lattice(iso::grid const& region, lattice_layout const& layout,
                            beam_frame const& frame, fluence_map const& field,
                            cone_set const& cones, bool tilt, int direction_bits, int total_bits,
                            int digits, direction_range const& some = {});

}  // namespace iso::dose::detail
