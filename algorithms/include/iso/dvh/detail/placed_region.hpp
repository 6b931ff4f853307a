// SPDX-License-Identifier: BSD-3-Clause
//! Places a structure's voxels in a dose, with their bricks: all at once, or slab by slab.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/detail/added_planes.hpp>
#include <iso/core/job.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/dvh/detail/dose_volume_kernels.hpp>
#include <iso/dvh/dose_volume.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace iso::dvh::detail {

void validate_fractions(std::int64_t bad, std::int64_t voxels, char const* function);
void validate_finite(std::int64_t not_finite, std::int64_t voxels, char const* function);
/// Throws unless each plane of a dose is in one slab.
void validate_slabs(std::vector<slab> const& slabs, grid const& dose, char const* function);
/// Throws unless a slab that was asked for is of its grid, and holds what is needed.
/// \param name  whose planes
void validate_brought(grid const& of, slab const& held, grid const& whole, slab const& needed,
                      char const* name, char const* function);

/// Bricks of voxels along an axis of a dose: its cells where these are of few voxels.
struct brick_axis {
  std::int64_t size;
  std::int64_t shift;
  std::int64_t count;
};
/// \param first, step  voxels of the dose: where the first voxel begins, and a voxel's width
/// \param most         voxels of a brick
brick_axis brick_axis_of(double first, double step, std::int64_t extent, std::int64_t most);
/// Returns those bricks that have voxels of `own`.
brick_axis bricks_of(brick_axis const& all, slab const& own);
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

inline std::int64_t size_of(std::int64_t const (&extent)[3]) {
  return extent[0] * extent[1] * extent[2];
}

inline double voxel_volume(grid const& g) { return g.spacing.x * g.spacing.y * g.spacing.z; }

/// The place where a grid's voxels begin along an axis, and their width, in voxels of a dose.
struct axis_steps {
  double first;
  double step;
};
inline axis_steps steps_of(grid const& g, grid const& dose, int axis) {
  double const step = g.spacing[axis] / dose.spacing[axis];
  return {(g.origin[axis] - dose.origin[axis]) / dose.spacing[axis] - 0.5 * step, step};
}

/// Voxels along z in a dose.
struct voxels_along_z {
  axis_steps steps;
  std::int64_t extent;
  std::int64_t dose_extent;

  /// Returns those whose lower corner lies between planes of which `own` has the lower one.
  [[nodiscard]] slab owned(slab const& own) const;
  /// Returns the planes of the dose that these are read from, and one above `own`.
  [[nodiscard]] slab dose_planes(slab const& own) const;
  /// Returns the planes of shares that these are read from: of the voxels around too.
  [[nodiscard]] slab share_planes(slab const& own) const;
};

/// The voxels of a slab of a dose, or of all of it.
template <class T, class Space>
struct region_part {
  volume_view<T const, Space> dose;
  volume_view<T const, Space> fractions;
  slab own;  ///< planes of the dose
  structure_cells<T> cells;
  Kokkos::View<brick*, Space> bricks;
};

/// Voxels in a dose, checked. The voxels of one slab stay where they are; of more, each pass over
/// them has the slabs come anew. Where ranks share the dose, its slab is what this one owns.
template <class Exec, class T>
struct placed_region {
  using space = typename Exec::memory_space;
  using part = region_part<T, space>;

  Exec exec;
  slab_source<T, space> source;
  char const* function;      ///< that messages name
  structure_cells<T> cells;  ///< of all voxels, without their data; reads `corners`
  Kokkos::View<axis_place*, space> corners[3];
  voxels_along_z along_z;
  bool has_fractions;
  double voxel;                      ///< mm3, volume that a share of 1 is of
  reproducible_scale<double> scale;  ///< of shares
  region_facts facts;
  dose_range points = {1, 0};  ///< planes between which points are read too, if any are
  std::shared_ptr<part const> kept;
  backend::communicator* ranks = nullptr;  ///< that share the dose; null: all of it is here

  /// Calls f(), and throws on every rank where it throws, or a job is cancelled, on one.
  template <class F>
  void together(job const& asked, F const& f) const {
    if (ranks != nullptr) {
      iso::detail::check_together(*ranks, function, asked, f);
    } else {
      f();
    }
  }
  /// Overwrites words by their sums over all ranks.
  void add_up(std::span<std::uint64_t> words) const {
    if (ranks != nullptr) {
      ranks->sum(words);
    }
  }
  /// Returns the largest number of all ranks.
  [[nodiscard]] double largest(double x) const {
    return ranks != nullptr ? iso::detail::largest_signed_of_ranks(*ranks, x) : x;
  }
  /// Returns the range of all ranks.
  [[nodiscard]] dose_range joined(dose_range const& r) const {
    return {-largest(-r.least), largest(r.largest)};
  }

  /// Brings the voxels of some planes of the dose, without their bricks; none where `own` has none.
  [[nodiscard]] std::optional<part> bring(slab const& own) const {
    part p{{}, {}, own, cells, {}};
    auto& c = p.cells;
    c.own = along_z.owned(own);
    c.held.from[2] = std::max(c.held.from[2], c.own.first);
    c.held.to[2] = std::min(c.held.to[2], c.own.last);
    bool reads_dose = c.own.count() > 0;
    for (int axis = 0; axis < 3; ++axis) {
      reads_dose = reads_dose && c.held.from[axis] < c.held.to[axis];
    }
    reads_dose =
        reads_dose || (points.least < double(own.last) && points.largest >= double(own.first));
    if (c.own.count() == 0 && !reads_dose) {
      return {};
    }
    auto const bricks = bricks_of({c.brick_size[2], c.brick_shift[2], c.brick_count[2]}, c.own);
    c.brick_shift[2] = bricks.shift;
    c.brick_count[2] = bricks.count;
    if (reads_dose) {
      p.dose = planes(source.dose_planes, source.dose, along_z.dose_planes(own), "the dose");
      c.dose.dose = p.dose.data.data() - p.dose.first_plane;
      c.dose.row = p.dose.planes().count();
    }
    if (has_fractions && c.own.count() > 0) {
      p.fractions = planes(source.fraction_planes, source.fractions, along_z.share_planes(own),
                           "the fractions");
      c.fractions = p.fractions.data.data() - p.fractions.first_plane;
      c.row = p.fractions.planes().count();
    }
    return p;
  }
  /// Makes the bricks of a part. Returns how many of its fractions are not from 0 to 1.
  std::int64_t lay_bricks(part& p, job const& asked) const {
    std::int64_t const count = p.cells.num_bricks();
    p.bricks = allocate<Kokkos::View<brick*, space>>("iso::dvh: bricks", {count}, exec,
                                                     Kokkos::WithoutInitializing);
    std::int64_t bad_fractions = 0;
    iso::detail::in_timed_batches(exec, count, asked, [&](std::int64_t first, std::int64_t last) {
      std::int64_t bad = 0;
      Kokkos::parallel_reduce("iso::dvh: bricks", cells_range(exec, first, last),
                              brick_kernel<T>{p.cells, scale, p.bricks.data()}, bad);
      exec.fence("iso::dvh: bricks");
      bad_fractions += bad;
    });
    return bad_fractions;
  }
  /// Calls f(part) for each part.
  template <class F>
  void for_each_part(job const& asked, F const& f) const {
    if (kept) {
      f(*kept);
      return;
    }
    for (slab const& own : source.slabs) {
      if (auto p = bring(own)) {
        lay_bricks(*p, asked);
        f(*p);
        exec.fence("iso::dvh: the slab may go");
      }
    }
  }

 private:
  template <class Planes>
  [[nodiscard]] volume_view<T const, space> planes(Planes const& of, grid const& whole,
                                                   slab const& needed, char const* name) const {
    volume_view<T const, space> const v = of(needed);
    validate_slab(v, function);
    validate_contiguous(v.data, name, function);
    validate_brought(v.grid, v.planes(), whole, needed, name, function);
    return v;
  }
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

/// Returns a dose and a region as one slab.
template <class T, class Space>
slab_source<T, Space> source_of(volume_view<T const, Space> const& dose,
                                region<T, Space> const& where) {
  return {dose.grid,
          where.fractions.grid,
          std::vector<slab>(1, all_planes(dose.grid)),
          [dose](slab const&) { return dose; },
          [fractions = where.fractions](slab const&) { return fractions; },
          where.surface};
}

/// Makes the bricks of voxels whose corners are placed, finds the facts and checks them.
template <execution_space Exec, class T>
void find_facts(placed_region<Exec, T>& placed, job const& asked) {
  auto const& exec = placed.exec;
  std::int64_t bad_fractions = 0;
  auto& facts = placed.facts;
  region_facts_kernel<T>{{}, nullptr}.init(facts);
  auto const find = [&](slab const& own) {
    auto p = placed.bring(own);
    if (!p) {
      return;
    }
    bad_fractions += placed.lay_bricks(*p, asked);
    region_facts_kernel<T> const kernel{p->cells, p->bricks.data()};
    iso::detail::in_timed_batches(
        exec, p->cells.num_bricks(), asked, [&](std::int64_t first, std::int64_t last) {
          region_facts some{};
          Kokkos::parallel_reduce("iso::dvh: facts", cells_range(exec, first, last), kernel, some);
          exec.fence("iso::dvh: facts");
          kernel.join(facts, some);
        });
    if (placed.source.slabs.size() == 1) {
      placed.kept = std::make_shared<region_part<T, typename Exec::memory_space> const>(*p);
      if (p->dose.data.size() > 0) {
        placed.source.dose_planes = [dose = p->dose](slab const&) { return dose; };
      }
    }
  };
  placed.together(asked, [&] {
    for (slab const& own : placed.source.slabs) {
      find(own);
    }
  });
  std::uint64_t counts[2] = {std::uint64_t(bad_fractions), std::uint64_t(facts.not_finite)};
  placed.add_up(counts);
  bad_fractions = std::int64_t(counts[0]);
  facts.not_finite = std::int64_t(counts[1]);
  std::int64_t const voxels = size_of(placed.cells.extent);
  validate_fractions(bad_fractions, voxels, placed.function);
  validate_finite(facts.not_finite, voxels, placed.function);
  for (auto* range : {&facts.touched, &facts.whole}) {
    *range = placed.joined(*range);
    *range = {range->least + 0.0, range->largest + 0.0};  // -0 and 0 come in any order
  }
}

/// Places corners at first + n step along an axis, in voxels of the dose, and lays out the bricks.
template <execution_space Exec, class T>
void place_axis(placed_region<Exec, T>& placed, int axis, axis_steps const& steps,
                std::int64_t extent) {
  using space = typename Exec::memory_space;
  auto& cells = placed.cells;
  std::int64_t const dose_extent = placed.source.dose.extent[axis];
  cells.extent[axis] = extent;
  cells.dose.extent[axis] = dose_extent;
  auto const layout = brick_axis_of(steps.first, steps.step, extent, max_brick_extent<space>(axis));
  cells.brick_size[axis] = layout.size;
  cells.brick_shift[axis] = layout.shift;
  cells.brick_count[axis] = layout.count;
  placed.corners[axis] =
      iso::detail::copied<space>(placed.exec, "iso::dvh: corners",
                                 corner_places(steps.first, steps.step, extent, dose_extent));
  cells.corners[axis] = placed.corners[axis].data();
  if (axis == 2) {
    cells.own = {0, extent};
    placed.along_z = {steps, extent, dose_extent};
  }
}

/// Returns the bytes of the corners and bricks of voxels along three axes of a dose, bricks of
/// those that some of its planes own.
template <class Space>
double bytes_of_cells(axis_steps const (&steps)[3], array<std::int64_t, 3> const& extent,
                      std::int64_t dose_extent, slab const& own) {
  double corners = 0;
  double bricks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    auto const& [first, step] = steps[axis];
    std::int64_t const voxels = extent[std::size_t(axis)];
    corners += double(voxels + 1) * sizeof(axis_place);
    auto const layout = brick_axis_of(first, step, voxels, max_brick_extent<Space>(axis));
    bricks *= double(
        axis < 2
            ? layout.count
            : bricks_of(layout, voxels_along_z{steps[2], voxels, dose_extent}.owned(own)).count);
  }
  return corners + bricks * sizeof(brick);
}

/// Places the voxels of a source in its dose, without the facts.
template <execution_space Exec, class T>
void place_axes(placed_region<Exec, T>& placed) {
  auto const& exec = placed.exec;
  auto const& source = placed.source;
  grid const& g = source.fractions;
  placed.has_fractions = true;
  auto& cells = placed.cells;
  for (int axis = 0; axis < 3; ++axis) {
    auto const steps = steps_of(g, source.dose, axis);
    place_axis(placed, axis, steps, g.extent[axis]);
    auto const held = held_along(steps.first, steps.step, g.extent[axis], source.dose.extent[axis]);
    cells.held.from[axis] = held.first;
    cells.held.to[axis] = held.second;
  }
  placed.voxel = voxel_volume(g);
  placed.scale = {1, double(g.size())};
  if (auto const points = std::int64_t(source.surface.extent(0)); points > 0) {
    placed.points = {0, double(source.dose.extent[2])};
    if (source.slabs.size() > 1 || placed.ranks != nullptr) {
      Kokkos::parallel_reduce("iso::dvh: planes of the surface", cells_range(exec, 0, points),
                              surface_planes_kernel{source.surface.data(), source.dose.origin.z,
                                                    source.dose.spacing.z, source.dose.extent[2]},
                              placed.points);
      exec.fence("iso::dvh: planes of the surface");
    }
  }
}

/// Places the voxels of a source in its dose.
/// \param ranks  that share the dose; the source's slab is then what this one owns, if any
template <execution_space Exec, class T>
placed_region<Exec, T> placed_in(Exec const& exec,
                                 slab_source<T, typename Exec::memory_space> const& source,
                                 char const* function, job const& asked,
                                 backend::communicator* ranks = nullptr) {
  if (ranks == nullptr) {
    validate_slabs(source.slabs, source.dose, function);
  }
  placed_region<Exec, T> placed{};
  placed.exec = exec;
  placed.source = source;
  placed.function = function;
  placed.ranks = ranks;
  placed.together(asked, [&] { place_axes(placed); });
  find_facts(placed, asked);
  return placed;
}

}  // namespace iso::dvh::detail
