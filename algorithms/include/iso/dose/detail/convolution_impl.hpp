// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/dose/convolution.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/detail/copied.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/detail/convolution_scratch.hpp>
#include <iso/dose/detail/convolution_words.hpp>
#include <iso/dose/detail/lattice/schedule.hpp>
#include <iso/dose/detail/lattice/tuning.hpp>
#include <iso/dose/detail/lattice/walk.hpp>
#include <iso/dose/detail/lines/follow.hpp>
#include <iso/dose/detail/table/bins.hpp>
#include <iso/dose/detail/table/follow.hpp>
#include <iso/dose/detail/table/tiles.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace iso::dose {
namespace detail {

/// Returns the box of `v` whose first voxel lies `offset` elements from the volume's first.
template <class T, class Space>
boxed_volume<T> box_of(volume_view<T, Space> const& v, std::int64_t offset) {
  auto const& n = v.grid.extent;
  return {v.data.data() + offset, n[1] * n[2], n[2]};
}

/// The number of groups that look for the range: a GPU wants its registers full. No bit depends on
/// it.
template <class Exec>
inline constexpr std::int64_t range_groups = backend::is_device<Exec> ? 8192 : 1024;

/// The kernel that sets a voxel of a region to zero.
template <class T>
struct clear_kernel {
  boxed_volume<T> to;
  std::int64_t ny, nz;

  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    std::int64_t const row = voxel / nz;
    to.row(row / ny, row % ny)[voxel % nz] = 0;
  }
};

/// Returns how many elements the first voxel of `region` lies behind that of a volume on `g`, which
/// must have all its voxels.
/// \throws iso::invalid_argument  naming `name`: voxels do not coincide, or some are missing
std::int64_t offset_of(iso::grid const& region, iso::grid const& g, char const* name);
void validate_options(convolution_options const& options, cone_set const& cones,
                      iso::grid const& region, beam_frame const& frame);

/// Returns the kernel that launches are compiled for.
plan_kernel kernel_of(cone_set const& cones);

/// Returns the values that slabs keep for each term of the longest line.
std::int64_t state_size_of(lattice_tables const& tables);

/// Walks the lattice's lines.
template <class T, class Kernel, class Exec>
void walk_lattice(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                  sum_target<T> const& to, convolution_scratch<T, Kernel, Exec> const& s,
                  job const& control) {
  using space = typename Exec::memory_space;
  using word = typename fixed_point<T>::word;
  auto const& tables = plan.storage();
  copy_region<0>(exec, plan, terma, density, s);
  copy_region<1>(exec, plan, terma, density, s);
  if constexpr (std::is_same_v<Kernel, tabulated>) {
    follow_table(exec, plan, std::get<tile_walk<space>>(tables.walk), s, control);
  } else {
    backend::for_each_index("iso::dose::convolve: terms", exec, plan.num_directions(),
                            cone_terms_kernel<lattice_line<T>, T, Kernel::terms>{
                                tables.lines.data(), s.range, T(1), s.terms});
    if (auto const* const items = std::get_if<item_walk<space>>(&tables.walk)) {
      walk_items(exec, plan, *items, s);
    } else if constexpr (lattice_tuning<Exec>::has_slabs) {
      walk_slabs(exec, plan, std::get<slab_walk>(tables.walk), s, control);
    }
  }
  auto const bias = word(word(plan.num_directions()) * fixed_point<T>::magic_bits);
  auto const join = [&](auto const& target) {
    lattice_join_kernel<T, std::decay_t<decltype(target)>> const kernel{
        tables.layout, {s.sums[0], s.sums[1]}, bias, plan.unit(), s.range, target};
    backend::for_each_lane_group("iso::dose::convolve: join", exec, kernel.num_groups(), kernel);
  };
  if (to.is_words()) {
    join(to.words);
  } else {
    join(to.dose);
  }
  control.step(1);
}

/// Runs every engine but the lattice.
template <class T, class Kernel, class Exec>
void follow_back(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                 back_walk const& walk, boxed_volume<T const> const& terma,
                 boxed_volume<T const> const& density, sum_target<T> const& to,
                 convolution_scratch<T, Kernel, Exec> const& s, job const& control) {
  auto const& storage = plan.storage();
  copy_region<0>(exec, plan, terma, density, s);
  if constexpr (std::is_same_v<Kernel, tabulated>) {
    T const* const tables = storage.bins.data();
    follow_lines<table_absorption<T>>(exec, plan, walk, tables, to, s, control);
  } else {
    // Chords are no longer than a voxel's diagonal, but for rounding.
    double const longest =
        std::max(1.001 * norm(plan.region().spacing), plan.options().radial_step);
    backend::for_each_index("iso::dose::convolve: terms", exec, plan.num_directions(),
                            cone_terms_kernel<cone_line<T>, T, Kernel::terms>{
                                storage.directions.data(), s.range, T(longest), s.terms});
    follow_lines<exponential_absorption<T, Kernel::terms>>(exec, plan, walk, s.terms, to, s,
                                                           control);
  }
}

/// Checks what a convolution reads. Returns how many elements the region's first voxel lies behind
/// that of `density`.
template <class T, class Space>
std::int64_t place_of_density(convolution_plan<T, Space> const& plan,
                              volume_view<T const, Space> const& terma,
                              volume_view<T const, Space> const& density) {
  validate(terma, "iso::dose::convolve");
  validate(density, "iso::dose::convolve");
  validate_contiguous(terma.data, "terma", "iso::dose::convolve");
  validate_contiguous(density.data, "density", "iso::dose::convolve");
  ISO_VALIDATE(terma.grid == plan.region(),
               "iso::dose::convolve: terma of [{}, {}, {}] voxels (it must be on the plan's "
               "region, of [{}, {}, {}]); make it on convolution_plan::region",
               terma.grid.extent[0], terma.grid.extent[1], terma.grid.extent[2],
               plan.region().extent[0], plan.region().extent[1], plan.region().extent[2]);
  return offset_of(plan.region(), density.grid, "density");
}

template <class Kernel, class T, class Exec>
void convolve_by(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                 boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                 sum_target<T> const& to, workspace<typename Exec::memory_space> const& scratch,
                 job const& control) {
  workspace_parts parts(scratch, "iso::dose::convolve");
  convolution_scratch<T, Kernel, Exec> const s(parts, exec, plan);
  auto const& n = plan.region().extent;
  backend::for_each_index("iso::dose::convolve: clear", exec, 1, clear_range_kernel{s.range});
  lattice_range_kernel<T> const range{terma,
                                      density,
                                      {n[0], n[1], n[2]},
                                      s.range,
                                      std::min<std::int64_t>(n[0] * n[1], range_groups<Exec>)};
  backend::for_each_lane_group("iso::dose::convolve: range", exec, range.num_groups, range);
  if (auto const* const back = std::get_if<back_walk>(&plan.storage().walk)) {
    follow_back(exec, plan, *back, terma, density, to, s, control);
  } else {
    walk_lattice(exec, plan, terma, density, to, s, control);
  }
}

template <execution_space Exec, real T>
void convolve_to_words(
    Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& terma,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    typename fixed_point<T>::word* words, workspace<typename Exec::memory_space> const& scratch,
    job const& control) {
  std::int64_t const density_at = place_of_density(plan, terma, density);
  validate(scratch, convolve_bytes_needed<T>(exec, plan), "iso::dose::convolve");
  Kokkos::Profiling::ScopedRegion const region("iso::dose::convolve");
  auto const& n = plan.region().extent;
  std::visit(
      [&](auto kernel) {
        convolve_by<decltype(kernel), T>(exec, plan, box_of<T const>(terma, 0),
                                         box_of<T const>(density, density_at),
                                         {{}, {words, n[1], n[2]}}, scratch, control);
      },
      plan.storage().kernel);
}

/// Converts `from`, which is in double, to the precision of `to`.
template <class T>
void convert(line_terms<double> const& from, line_terms<T>& to) {
  for (int n = 0; n < max_kernel_terms; ++n) {
    to.rate[n] = T(from.rate[n]);
    to.energy[n] = T(from.energy[n]);
    for (int p = 0; p < tilt_degree; ++p) {
      to.tilt.coefficients[p][n] = T(from.tilt.coefficients[p][n]);
    }
  }
  to.tilt.least = T(from.tilt.least);
  to.tilt.most = T(from.tilt.most);
}
template <class T>
void convert(lattice_line<double> const& from, lattice_line<T>& to) {
  to.path = from.path;
  convert(from.terms, to.terms);
  to.cosine = T(from.cosine);
  to.toward_lane = T(from.toward_lane);
  to.toward_row = T(from.toward_row);
}
template <class T>
void convert(lattice_plane<double> const& from, lattice_plane<T>& to) {
  to = {from.lane_shift, from.row_shift_and_lane_step, T(from.toward)};
}
template <class T>
void convert(cone_line<double> const& from, cone_line<T>& to) {
  to.path = from.path;
  to.cosine = T(from.cosine);
  convert(from.terms, to.terms);
}
/// Adds an array in the precision of its target.
template <class To, class From>
iso::detail::packed_arrays::place<To> add_converted(iso::detail::packed_arrays& arrays,
                                                    std::vector<From> const& from) {
  return arrays.add<To>(from, [](From const& x) {
    To to{};
    convert(x, to);
    return to;
  });
}

}  // namespace detail

template <real T, class Space>
template <execution_space Exec>
convolution_plan<T, Space>::convolution_plan(Exec const& exec, iso::grid const& region,
                                             beam_frame const& frame, fluence_map const& field,
                                             cone_set const& cones,
                                             convolution_options const& options,
                                             detail::direction_range const& some,
                                             iso::detail::reused_copy<Exec>* memory)
    : region_(region), frame_(frame), options_(options) {
  using tuning = detail::lattice_tuning<Exec>;
  using point = detail::fixed_point<T>;
  detail::validate_options(options, cones, region, frame);
  storage_.kernel = detail::kernel_of(cones);
  bool const on_lattice = options.engine == dose_engine::lattice;
  bool const by_items =
      on_lattice && !is_table() &&
      (options.walk == lattice_walk::fastest ? tuning::by_items
                                             : options.walk == lattice_walk::by_items);
  ISO_VALIDATE(!on_lattice || is_table() || by_items || tuning::has_slabs,
               "iso::dose::convolution_plan: a walk by slabs on a GPU (threads of processors walk "
               "so); choose lattice_walk::fastest");
  if (on_lattice) {
    // Lines by a table are followed past the region's sides.
    std::int64_t const border = is_table() ? 1 : by_items ? tuning::max_rows : 0;
    storage_.layout = detail::lattice_layout(region, border, tuning::lane_multiple, tuning::room);
  } else {
    storage_.layout = detail::lattice_layout(region, 0, 1, 0);
  }
  auto tables = detail::make_lattice(region, storage_.layout, frame, field, cones, options.tilt,
                                     point::direction_bits, point::total_bits,
                                     std::numeric_limits<T>::digits, some);
  num_directions_ = std::int64_t(tables.lines.size());
  unit_ = tables.unit;
  iso::detail::packed_arrays arrays;
  int const rows = tuning::rows(num_directions_);
  std::vector<detail::lattice_item> items;
  if (by_items) {
    // Before planes are copied, whose shifts it wraps round.
    items = detail::make_items(tables, rows, tuning::items_together);
  } else if (on_lattice && is_table()) {
    items = detail::make_tiles(tables);
  }
  arrays.reserve(sizeof(detail::lattice_item) * items.size() +
                 sizeof(detail::lattice_plane<T>) * tables.planes.size() + (1 << 18));
  auto const of_items = arrays.add(items);
  auto const lines = detail::add_converted<detail::lattice_line<T>>(arrays, tables.lines);
  auto const planes = detail::add_converted<detail::lattice_plane<T>>(arrays, tables.planes);
  auto const bins = arrays.add<T>(tables.bins, [](double x) { return T(x); });
  auto const directions = detail::add_converted<detail::cone_line<T>>(arrays, tables.directions);
  if (memory != nullptr) {
    storage_.memory = memory->take(exec, arrays.bytes());
  } else {
    storage_.memory =
        iso::detail::copied<Space>(exec, "iso::dose::convolution_plan", arrays.bytes());
  }
  storage_.lines = lines.in(storage_.memory);
  storage_.planes = planes.in(storage_.memory);
  storage_.bins = bins.in(storage_.memory);
  storage_.directions = directions.in(storage_.memory);
  if (by_items) {
    storage_.walk = detail::item_walk<Space>{rows, of_items.in(storage_.memory)};
  } else if (on_lattice && is_table()) {
    storage_.walk = detail::tile_walk<Space>{
        of_items.in(storage_.memory),
        {items, 64 * std::int64_t(sizeof(T)), detail::table_tuning<Exec>::bytes}};
  } else if (on_lattice) {
    storage_.walk = detail::slab_walk{tables.classes, detail::state_size_of(tables)};
  } else {
    detail::back_walk back{{}, 0};
    for (auto const& line : tables.directions) {
      back.directions.push_back(line.path.direction);
      if (options.engine == dose_engine::non_voxel) {
        auto const rays = detail::rays_along<T>(region, line.path.direction, options.ray_spacing,
                                                options.radial_step);
        back.max_samples = std::max(back.max_samples, rays.size());
      }
    }
    storage_.walk = std::move(back);
  }
}

template <real T, execution_space Exec>
std::int64_t convolve_bytes_needed(Exec const& exec,
                                   convolution_plan<T, typename Exec::memory_space> const& plan) {
  workspace_parts parts("iso::dose::convolve");
  std::visit(
      [&](auto kernel) {
        detail::convolution_scratch<T, decltype(kernel), Exec>(parts, exec, plan);
      },
      plan.storage().kernel);
  return parts.bytes();
}

template <execution_space Exec, real T>
void convolve(
    Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& terma,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    volume_view<std::type_identity_t<T>, typename Exec::memory_space> const& dose,
    workspace<typename Exec::memory_space> const& scratch, onto to, job const& control) {
  validate(to, "iso::dose::convolve");
  validate(dose, "iso::dose::convolve");
  validate_contiguous(dose.data, "dose", "iso::dose::convolve");
  std::int64_t const density_at = detail::place_of_density(plan, terma, density);
  std::int64_t const dose_at = detail::offset_of(plan.region(), dose.grid, "dose");
  memory_range const work{scratch.data(), std::uint64_t(scratch.size()), "scratch"};
  auto const inputs = {memory_of(terma.data, "terma"), memory_of(density.data, "density")};
  validate_apart(memory_of(dose.data, "dose"),
                 {memory_of(terma.data, "terma"), memory_of(density.data, "density"), work},
                 "iso::dose::convolve");
  validate_apart(work, inputs, "iso::dose::convolve");
  validate(scratch, convolve_bytes_needed<T>(exec, plan), "iso::dose::convolve");
  Kokkos::Profiling::ScopedRegion const region("iso::dose::convolve");
  auto const to_dose = detail::box_of<T>(dose, dose_at);
  if (to == onto::zero) {
    auto const& n = plan.region().extent;
    backend::for_each_index("iso::dose::convolve::clear", exec, n[0] * n[1] * n[2],
                            detail::clear_kernel<T>{to_dose, n[1], n[2]});
  }
  std::visit(
      [&](auto kernel) {
        detail::convolve_by<decltype(kernel), T>(exec, plan, detail::box_of<T const>(terma, 0),
                                                 detail::box_of<T const>(density, density_at),
                                                 {{to_dose}, {}}, scratch, control);
      },
      plan.storage().kernel);
}

#define ISO_DOSE_CONVOLVE(linkage, Exec, T)                                                  \
  linkage template void convolve<Exec, T>(                                                   \
      Exec const&, convolution_plan<T, Exec::memory_space> const&,                           \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&,                 \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&,                 \
      volume_view<std::type_identity_t<T>, Exec::memory_space> const&,                       \
      workspace<Exec::memory_space> const&, onto, job const&);                               \
  linkage template std::int64_t convolve_bytes_needed<T, Exec>(                              \
      Exec const&, convolution_plan<T, Exec::memory_space> const&);                          \
  linkage template convolution_plan<T, Exec::memory_space>::convolution_plan(                \
      Exec const&, iso::grid const&, beam_frame const&, fluence_map const&, cone_set const&, \
      convolution_options const&, detail::direction_range const&,                            \
      iso::detail::reused_copy<Exec>*);                                                      \
  linkage template void detail::convolve_to_words<Exec, T>(                                  \
      Exec const&, convolution_plan<T, Exec::memory_space> const&,                           \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&,                 \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&,                 \
      detail::fixed_point<T>::word*, workspace<Exec::memory_space> const&, job const&);
ISO_FOR_EACH_INSTANCE(ISO_DOSE_CONVOLVE, extern)

}  // namespace iso::dose
