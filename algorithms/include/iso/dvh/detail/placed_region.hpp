// SPDX-License-Identifier: BSD-3-Clause
//! Places a structure's voxels in a dose, with their bricks.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/dvh/detail/dose_volume_kernels.hpp>
#include <iso/dvh/dose_volume.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace iso::dvh::detail {

void validate_fractions(std::int64_t bad, std::int64_t voxels, char const* function);
void validate_finite(std::int64_t not_finite, std::int64_t voxels, char const* function);

/// Bricks of voxels along an axis of a dose: its cells where these are of few voxels.
struct brick_axis {
  std::int64_t size;
  std::int64_t shift;
  std::int64_t count;
};
/// \param first, step  voxels of the dose: where the first voxel begins, and a voxel's width
/// \param most         voxels of a brick
brick_axis brick_axis_of(double first, double step, std::int64_t extent, std::int64_t most);
/// Returns the voxels whose middle lies in the dose's voxels along an axis, from and to.
std::pair<std::int64_t, std::int64_t> held_along(double first, double step, std::int64_t extent,
                                                 std::int64_t dose_extent);
/// Returns the places of the corners at first + n step, n from 0 to `extent`.
std::vector<axis_place> corner_places(double first, double step, std::int64_t extent,
                                      std::int64_t dose_extent);

/// Returns how many voxels a brick of `Space` may have along an axis: a device has many threads to
/// give work to, and a brick is the work of one.
template <class Space>
constexpr std::int64_t max_brick_extent(int axis) {
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;
  return on_host ? max_corners - 1 : axis == 2 ? 4 : 1;
}

template <class Exec>
auto cells_range(Exec const& exec, std::int64_t first, std::int64_t last) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, first, last);
}

template <class T, class Space>
dose_reader<T> reader_of(volume_view<T const, Space> const& dose) {
  auto const& n = dose.grid.extent;
  return {dose.data.data(), {n[0], n[1], n[2]}};
}

inline std::int64_t size_of(std::int64_t const (&extent)[3]) {
  return extent[0] * extent[1] * extent[2];
}

inline double voxel_volume(grid const& g) { return g.spacing.x * g.spacing.y * g.spacing.z; }

/// Voxels in a dose with their bricks, checked.
template <class Exec, class T>
struct placed_region {
  using space = typename Exec::memory_space;
  structure_cells<T> cells;  ///< reads `corners`
  Kokkos::View<axis_place*, space> corners[3];
  Kokkos::View<brick*, space> bricks;
  double voxel;                      ///< mm3, volume that a share of 1 is of
  reproducible_scale<double> scale;  ///< of shares
  region_facts facts;
};

template <class T, class Space>
void validate_region(volume_view<T const, Space> const& dose, region<T, Space> const& where,
                     char const* function) {
  iso::validate(dose, function);
  iso::validate(where.fractions, function);
  validate_contiguous(dose.data, "dose", function);
  validate_contiguous(where.fractions.data, "fractions", function);
  validate_contiguous(where.surface, "surface", function);
}

/// Makes the bricks of voxels whose corners are placed, finds the facts and checks them.
template <execution_space Exec, class T>
void find_facts(Exec const& exec, placed_region<Exec, T>& placed, char const* function,
                job const& asked) {
  std::int64_t const count = placed.cells.num_bricks();
  placed.bricks = allocate<Kokkos::View<brick*, typename Exec::memory_space>>(
      "iso::dvh: bricks", {count}, exec, Kokkos::WithoutInitializing);
  std::int64_t bad_fractions = 0;
  using iso::detail::in_timed_batches;
  in_timed_batches(exec, count, asked, [&](std::int64_t first, std::int64_t last) {
    std::int64_t bad = 0;
    Kokkos::parallel_reduce("iso::dvh: bricks", cells_range(exec, first, last),
                            brick_kernel<T>{placed.cells, placed.scale, placed.bricks.data()}, bad);
    exec.fence("iso::dvh: bricks");
    bad_fractions += bad;
  });
  std::int64_t const voxels = size_of(placed.cells.extent);
  validate_fractions(bad_fractions, voxels, function);
  auto& facts = placed.facts;
  region_facts_kernel<T> const kernel{placed.cells, placed.bricks.data()};
  kernel.init(facts);
  in_timed_batches(exec, count, asked, [&](std::int64_t first, std::int64_t last) {
    region_facts some{};
    Kokkos::parallel_reduce("iso::dvh: facts", cells_range(exec, first, last), kernel, some);
    exec.fence("iso::dvh: facts");
    kernel.join(facts, some);
  });
  validate_finite(facts.not_finite, voxels, function);
  for (auto* range : {&facts.touched, &facts.whole}) {
    *range = {range->least + 0.0, range->largest + 0.0};  // -0 and 0 come in any order
  }
}

/// Places corners at first + n step along an axis, in voxels of the dose, and lays out the bricks.
template <execution_space Exec, class T>
void place_axis(Exec const& exec, placed_region<Exec, T>& placed, int axis, double first,
                double step, std::int64_t extent) {
  using space = typename Exec::memory_space;
  auto& cells = placed.cells;
  cells.extent[axis] = extent;
  auto const layout = brick_axis_of(first, step, extent, max_brick_extent<space>(axis));
  cells.brick_size[axis] = layout.size;
  cells.brick_shift[axis] = layout.shift;
  cells.brick_count[axis] = layout.count;
  placed.corners[axis] = iso::detail::copied<space>(
      exec, "iso::dvh: corners", corner_places(first, step, extent, cells.dose.extent[axis]));
  cells.corners[axis] = placed.corners[axis].data();
}

/// The place where a grid's voxels begin along an axis, and their width, in voxels of a dose.
struct axis_steps {
  double first;
  double step;
};
inline axis_steps steps_of(grid const& g, grid const& dose, int axis) {
  double const step = g.spacing[axis] / dose.spacing[axis];
  return {(g.origin[axis] - dose.origin[axis]) / dose.spacing[axis] - 0.5 * step, step};
}

/// Returns the bytes of the corners and bricks of voxels along three axes of a dose.
template <class Space>
double bytes_of_cells(axis_steps const (&steps)[3], array<std::int64_t, 3> const& extent) {
  double corners = 0;
  double bricks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    auto const& [first, step] = steps[axis];
    std::int64_t const voxels = extent[std::size_t(axis)];
    corners += double(voxels + 1) * sizeof(axis_place);
    bricks *= double(brick_axis_of(first, step, voxels, max_brick_extent<Space>(axis)).count);
  }
  return corners + bricks * sizeof(brick);
}

/// Places the voxels of a region in the dose.
template <execution_space Exec, class T, class Space>
placed_region<Exec, T> placed_in(Exec const& exec, volume_view<T const, Space> const& dose,
                                 region<T, Space> const& where, char const* function,
                                 job const& asked) {
  grid const& g = where.fractions.grid;
  placed_region<Exec, T> placed{};
  auto& cells = placed.cells;
  cells.dose = reader_of(dose);
  cells.fractions = where.fractions.data.data();
  for (int axis = 0; axis < 3; ++axis) {
    auto const steps = steps_of(g, dose.grid, axis);
    place_axis(exec, placed, axis, steps.first, steps.step, g.extent[axis]);
    auto const held = held_along(steps.first, steps.step, g.extent[axis], dose.grid.extent[axis]);
    cells.held.from[axis] = held.first;
    cells.held.to[axis] = held.second;
  }
  placed.voxel = voxel_volume(g);
  placed.scale = {1, double(g.size())};
  find_facts(exec, placed, function, asked);
  return placed;
}

}  // namespace iso::dvh::detail
