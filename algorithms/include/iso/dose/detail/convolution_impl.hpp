// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/detail/copied.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/detail/lattice_kernels.hpp>
#include <iso/dose/detail/sampled_kernels.hpp>
#include <iso/dose/detail/table_lattice_kernel.hpp>
#include <iso/dose/detail/voxel_lines_kernel.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>

namespace iso::dose {
namespace detail {

/// How the walk is laid onto a machine. No bit depends on it.
template <class Exec>
struct lattice_tuning {
  static constexpr bool by_items = backend::is_device<Exec>;
  static constexpr int most_rows = 8;  ///< of an item
  /// A row of lanes begins where a register may; behind the last there is room for one block.
  static constexpr std::int64_t lane_multiple = 32;
  static constexpr std::int64_t room = 64;
  static constexpr std::size_t items_together = 16;
  /// Lines that a thread takes through a slab in turn.
  static constexpr std::int32_t most_bundle = 16;
  /// Long launches want more rows a thread, short ones more threads.
  static int rows(std::int64_t directions) { return directions > 128 ? 8 : 4; }
};

/// Lines that are under way at the same time, in bundles.
struct lattice_schedule {
  std::int32_t bundles;
  std::int32_t bundle;

  lattice_schedule(std::int32_t lines, std::int32_t threads, std::int32_t most_bundle) {
    bundle = std::clamp((lines + threads - 1) / threads, 1, most_bundle);
    bundles = std::min(threads, (lines + bundle - 1) / bundle);
  }
  [[nodiscard]] std::int32_t lines() const { return bundles * bundle; }
};

inline std::int32_t most_lines_at_once(std::vector<lattice_class> const& classes,
                                       std::int32_t threads, std::int32_t most_bundle) {
  std::int32_t most = 0;
  for (lattice_class const& c : classes) {
    if (c.first < c.last) {
      most = std::max(most, lattice_schedule(c.last - c.first, threads, most_bundle).lines());
    }
  }
  return most;
}

/// Whether lines carry exponentials through the lattice's copies.
template <class T, class Space>
bool walks_lattice(convolution_plan<T, Space> const& plan) {
  return plan.options().engine == dose_engine::lattice && plan.num_terms() > 0;
}

/// Elements before and behind a copy that displaced lanes may read.
inline std::int64_t table_room(iso::grid const& g) {
  return std::max({g.extent[0], g.extent[1], g.extent[2]}) + 64;
}

template <class T, int Terms, class Exec>
struct convolution_scratch {
  using tuning = lattice_tuning<Exec>;
  using word = typename fixed_point<T>::word;
  lattice_range* range;
  cone_terms<T, Terms>* terms;
  T* voxels[2];
  T* densities[2];  ///< by slabs; by items they stand beside the TERMA
  word* sums[2];
  T* states;
  T* terma;  ///< where voxels follow lines back: the region, without gaps
  T* density;
  T* samples[5];  ///< non_voxel: TERMA and density by samples and by rays; dose

  convolution_scratch(workspace_parts& memory, Exec const& exec,
                      convolution_plan<T, typename Exec::memory_space> const& plan)
      : range(memory.take<lattice_range>({1})),
        terms(memory.take<cone_terms<T, Terms>>({plan.num_directions()})),
        voxels{},
        densities{},
        sums{},
        states(nullptr),
        terma(nullptr),
        density(nullptr),
        samples{} {
    auto const& s = plan.storage();
    if (!walks_lattice(plan) && plan.options().engine == dose_engine::lattice) {
      auto const& n = plan.region().extent;
      for (int copy = 0; copy < 2; ++copy) {
        voxels[copy] = memory.take<T>({plan.region().size() + 2 * table_room(plan.region())});
        densities[copy] = memory.take<T>({plan.region().size() + 2 * table_room(plan.region())});
        std::int64_t const fast = n[copy == 0 ? 2 : 0];
        sums[copy] = memory.take<word>({n[1], n[copy == 0 ? 0 : 2], (fast + 31) / 32 * 32});
      }
      return;
    }
    if (!walks_lattice(plan)) {
      terma = memory.take<T>({plan.region().size()});
      density = memory.take<T>({plan.region().size()});
      if (plan.options().engine == dose_engine::non_voxel) {
        for (T*& part : samples) {
          part = memory.take<T>({s.most_samples});
        }
        sums[0] = memory.take<word>({plan.region().size()});
      }
      return;
    }
    for (int copy = 0; copy < 2; ++copy) {
      bool const joined = s.rows > 0;
      voxels[copy] = memory.take<T>({s.layout.size[copy], joined ? 2 : 1});
      densities[copy] = memory.take<T>({joined ? 0 : s.layout.size[copy]});
      sums[copy] = memory.take<word>({s.layout.size[copy]});
    }
    std::int64_t const lines =
        s.rows > 0
            ? 0
            : most_lines_at_once(s.classes, std::int32_t(exec.concurrency()), tuning::most_bundle);
    states = memory.take<T>({lines, Terms, s.state_size});
  }
};

/// Where the first voxel of `region` stands in a volume on `g`, which has all of its voxels.
template <class T, class Space>
boxed_volume<T> box_of(volume_view<T, Space> const& v, std::int64_t offset) {
  auto const& n = v.grid.extent;
  return {v.data.data() + offset, n[1] * n[2], n[2]};
}
/// Elements to the region's first voxel.
/// \throws iso::invalid_argument  naming `name`: voxels do not coincide, or some are missing
std::int64_t offset_of(iso::grid const& region, iso::grid const& g, char const* name);
void validate_options(convolution_options const& options, bool tabulated, cone_set const& cones,
                      iso::grid const& region, beam_frame const& frame);

template <class T, int Terms, class Exec>
void walk_items(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                convolution_scratch<T, Terms, Exec> const& s) {
  auto const& tables = plan.storage();
  auto const launch = [&](auto rows) {
    lattice_item_kernel<T, Terms, decltype(rows)::value> kernel{
        tables.items.data(), tables.lines.data(), tables.planes.data(), s.terms, {}, {}, {}};
    for (int copy = 0; copy < 2; ++copy) {
      kernel.voxels[copy] = reinterpret_cast<backend::pack<T, 2> const*>(s.voxels[copy]);
      kernel.sums[copy] = s.sums[copy];
      kernel.first_element[copy] = std::int32_t(tables.layout.at(copy, 0, 0, 0));
    }
    backend::for_each_lane_group<128>("iso::dose::convolve", exec,
                                      std::int64_t(tables.items.extent(0)), kernel,
                                      plan.options().shape);
  };
  if (tables.rows == 8) {
    launch(backend::constant<8>());
  } else {
    launch(backend::constant<4>());
  }
}

template <class T, int Terms, class Exec>
void walk_slabs(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                convolution_scratch<T, Terms, Exec> const& s) {
  using tuning = lattice_tuning<Exec>;
  auto const& tables = plan.storage();
  auto const threads = std::int32_t(exec.concurrency());
  lattice_slab_kernel<T, Terms> kernel{};
  kernel.lines = tables.lines.data();
  kernel.planes = tables.planes.data();
  kernel.terms = s.terms;
  for (int copy = 0; copy < 2; ++copy) {
    std::int64_t const first = tables.layout.at(copy, 0, 0, 0);
    kernel.terma[copy] = s.voxels[copy] + first;
    kernel.density[copy] = s.densities[copy] + first;
    kernel.sums[copy] = s.sums[copy] + first;
  }
  kernel.states = s.states;
  kernel.state_size = tables.state_size;
  for (std::size_t which = 0; which < tables.classes.size(); ++which) {
    lattice_class const& lines = tables.classes[which];
    if (lines.first == lines.last) {
      continue;
    }
    lattice_schedule const schedule(lines.last - lines.first, threads, tuning::most_bundle);
    kernel.bundle = schedule.bundle;
    auto const planes = std::int32_t(plan.region().extent[which / 2]);
    kernel.slabs = (planes + kernel.slab_planes - 1) / kernel.slab_planes;
    for (std::int32_t first = lines.first; first < lines.last; first += schedule.lines()) {
      kernel.first_line = first;
      kernel.last_line = std::min(first + schedule.lines(), lines.last);
      for (kernel.step = 0; kernel.step < kernel.slabs + schedule.bundles - 1; ++kernel.step) {
        backend::for_each_lane_group("iso::dose::convolve", exec, schedule.bundles, kernel);
      }
    }
  }
}

/// The rays of non_voxel along a direction, which cover the region.
template <class T>
ray_grid<T> rays_along(iso::grid const& g, vec3<double> const& direction, double spacing,
                       double step) {
  // The axis that lies most across the direction.
  int least = 0;
  for (int axis = 1; axis < 3; ++axis) {
    least = std::fabs(direction[axis]) < std::fabs(direction[least]) ? axis : least;
  }
  vec3<double> across;
  across[least] = 1;
  across = across - dot(across, direction) * direction;
  across = (1 / norm(across)) * across;
  ray_grid<T> r{{across, cross(direction, across)}, direction, {}, T(spacing), T(step), {}, 0};
  for (int axis = 0; axis < 3; ++axis) {
    r.middle[axis] =
        g.origin[axis] + 0.5 * g.spacing[axis] * double(g.extent[std::size_t(axis)] - 1);
  }
  auto const reach = [&](vec3<double> const& along) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      sum += std::fabs(along[axis]) * g.spacing[axis] * double(g.extent[std::size_t(axis)]);
    }
    return sum;
  };
  r.rays[0] = std::int64_t(reach(r.across[0]) / spacing) + 2;
  r.rays[1] = std::int64_t(reach(r.across[1]) / spacing) + 2;
  r.samples = std::int64_t(reach(direction) / step) + 2;
  return r;
}

/// Engines whose voxels, or samples, follow lines back, by either kind of kernel.
template <class Absorption, class T, int Terms, class Exec>
void follow_lines(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  typename Absorption::tables const* tables, boxed_volume<T> const& dose,
                  convolution_scratch<T, Terms, Exec> const& s) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  iso::grid const& g = plan.region();
  cone_line<T> const* const lines = plan.storage().directions.data();
  auto const launch = [&](auto const& kernel) {
    backend::for_each_lane_group("iso::dose::convolve", exec, kernel.num_groups(), kernel,
                                 plan.options().shape);
  };
  auto const walk = [&](auto method) {
    launch(voxel_lines_kernel<decltype(method), T, Absorption>{
        g, ray::traversal_grid(g), plan.frame().source, lines, tables, plan.num_directions(),
        s.terma, s.density, s.range, plan.unit(), dose});
  };
  interpolated_region<T> const region{s.terma, s.density, {g.extent[0], g.extent[1], g.extent[2]}};
  if (plan.options().engine == dose_engine::voxel_samples) {
    launch(voxel_samples_kernel<T, Absorption>{g, region, T(plan.options().radial_step),
                                               plan.frame().source, lines, tables,
                                               plan.num_directions(), s.range, plan.unit(), dose});
    return;
  }
  if (plan.options().engine == dose_engine::voxel_lines) {
    switch (plan.options().traversal) {
      case ray::traversal::siddon:
        return walk(ray::siddon());
      case ray::traversal::branchless:
        return walk(ray::branchless());
      default:
        return walk(ray::amanatides_woo());
    }
  }
  for (std::size_t n = 0; n < plan.storage().axes.size(); ++n) {
    vec3<double> const& along = plan.storage().axes[n];
    auto const rays =
        rays_along<T>(g, along, plan.options().ray_spacing, plan.options().radial_step);
    vec3<double> const v = rays.middle - plan.frame().source;
    Kokkos::parallel_for("iso::dose::convolve: ray trace", policy(exec, 0, rays.size()),
                         ray_trace_kernel<T>{rays, g, region, s.samples[0], s.samples[1]});
    Kokkos::parallel_for(
        "iso::dose::convolve: transpose", policy(exec, 0, rays.size()),
        ray_transpose_kernel<T>{rays, {s.samples[0], s.samples[1]}, {s.samples[2], s.samples[3]}});
    Kokkos::parallel_for("iso::dose::convolve: lines", policy(exec, 0, rays.size()),
                         ray_convolution_kernel<T, Absorption>{
                             rays,
                             T(dot(v, along)),
                             {T(dot(v, rays.across[0])), T(dot(v, rays.across[1]))},
                             s.samples[2],
                             s.samples[3],
                             lines,
                             tables,
                             std::int64_t(n),
                             s.samples[4]});
    Kokkos::parallel_for("iso::dose::convolve: sum", policy(exec, 0, g.size()),
                         ray_sum_kernel<T>{rays, g, s.samples[4], s.sums[0], n == 0});
  }
  Kokkos::parallel_for(
      "iso::dose::convolve: join", policy(exec, 0, g.size()),
      add_sums_to_dose_kernel<T>{
          {g.extent[0], g.extent[1], g.extent[2]}, s.sums[0], plan.unit(), s.range, dose});
}

/// The lattice's lines by a table.
template <class T, int Terms, class Exec>
void follow_table(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                  boxed_volume<T> const& dose, convolution_scratch<T, Terms, Exec> const& s) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using array = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  using word = typename fixed_point<T>::word;
  iso::grid const& g = plan.region();
  auto const& storage = plan.storage();
  auto const& n = g.extent;
  std::int64_t const room = table_room(g);
  // Classes come by marching axis, those of z last.
  std::int32_t const of_z = storage.classes[4].first;
  for (int copy = 0; copy < 2; ++copy) {
    bool const turned = copy == 1;
    auto const fill = [&](boxed_volume<T const> const& from, bool scaled, T* to) {
      Kokkos::deep_copy(exec, array(to, std::size_t(g.size() + 2 * room)), T(0));
      Kokkos::parallel_for(
          "iso::dose::convolve: copy", policy(exec, 0, g.size()),
          turn_kernel<T>{{n[0], n[1], n[2]}, from, s.range, scaled, turned, to + room});
    };
    fill(terma, true, s.voxels[copy]);
    fill(density, false, s.densities[copy]);
    table_lattice_kernel<T> const kernel{n[turned ? 2 : 0],
                                         n[1],
                                         n[turned ? 0 : 2],
                                         storage.directions.data(),
                                         storage.lines.data(),
                                         storage.planes.data(),
                                         storage.bins.data(),
                                         turned ? of_z : 0,
                                         turned ? std::int32_t(plan.num_directions()) : of_z,
                                         s.voxels[copy] + room,
                                         s.densities[copy] + room,
                                         s.sums[copy]};
    backend::for_each_lane_group("iso::dose::convolve", exec, kernel.num_groups(), kernel,
                                 plan.options().shape);
  }
  auto const bias = word(word(plan.num_directions()) * fixed_point<T>::magic_bits);
  Kokkos::parallel_for(
      "iso::dose::convolve: join", policy(exec, 0, g.size()),
      table_join_kernel<T>{
          {n[0], n[1], n[2]}, {s.sums[0], s.sums[1]}, bias, plan.unit(), s.range, dose});
}

/// Every engine but the lattice.
template <class T, int Terms, class Exec>
void follow_back(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                 boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                 boxed_volume<T> const& dose, convolution_scratch<T, Terms, Exec> const& s) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  iso::grid const& g = plan.region();
  auto const& storage = plan.storage();
  auto const copy = [&](boxed_volume<T const> const& from, bool scaled, T* to) {
    Kokkos::parallel_for(
        "iso::dose::convolve: copy", policy(exec, 0, g.size()),
        box_copy_kernel<T>{from, {g.extent[0], g.extent[1], g.extent[2]}, s.range, scaled, to});
  };
  copy(terma, true, s.terma);
  copy(density, false, s.density);
  if (plan.num_terms() == 0) {
    T const* const tables = storage.bins.data();
    follow_lines<table_absorption<T>>(exec, plan, tables, dose, s);
    return;
  }
  // Chords are no longer than a voxel's diagonal, but for rounding.
  double const longest = std::max(1.001 * norm(g.spacing), plan.options().radial_step);
  Kokkos::parallel_for(
      "iso::dose::convolve: terms", policy(exec, 0, plan.num_directions()),
      line_terms_kernel<T, Terms>{storage.directions.data(), s.range, T(longest), s.terms});
  follow_lines<exponential_absorption<T, Terms>>(exec, plan, s.terms, dose, s);
}

/// The lattice's lines.
template <class T, int Terms, class Exec>
void walk_lattice(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                  boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                  boxed_volume<T> const& dose, convolution_scratch<T, Terms, Exec> const& s) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using word = typename fixed_point<T>::word;
  auto const& tables = plan.storage();
  Kokkos::parallel_for("iso::dose::convolve: terms", policy(exec, 0, plan.num_directions()),
                       cone_terms_kernel<T, Terms>{tables.lines.data(), s.range, s.terms});
  for (int copy = 0; copy < 2; ++copy) {
    lattice_copy_kernel<T> const kernel{
        tables.layout,     copy,        terma, density, s.range, tables.rows > 0, s.voxels[copy],
        s.densities[copy], s.sums[copy]};
    backend::for_each_lane_group("iso::dose::convolve: copy", exec, kernel.num_groups(), kernel);
  }
  if (tables.rows > 0) {
    walk_items<T, Terms>(exec, plan, s);
  } else {
    walk_slabs<T, Terms>(exec, plan, s);
  }
  auto const bias = word(word(plan.num_directions()) * fixed_point<T>::magic_bits);
  backend::for_each_lane_group(
      "iso::dose::convolve: join", exec, plan.region().extent[0] * plan.region().extent[1],
      lattice_join_kernel<T>{
          tables.layout, {s.sums[0], s.sums[1]}, bias, plan.unit(), s.range, dose});
}

template <class T, int Terms, class Exec>
void convolve_terms(Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
                    boxed_volume<T const> const& terma, boxed_volume<T const> const& density,
                    boxed_volume<T> const& dose,
                    workspace<typename Exec::memory_space> const& scratch) {
  workspace_parts parts(scratch, "convolution");
  convolution_scratch<T, Terms, Exec> const s(parts, exec, plan);
  auto const& n = plan.region().extent;
  Kokkos::parallel_for("iso::dose::convolve: clear", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                       clear_range_kernel{s.range});
  lattice_range_kernel<T> const range{
      terma, density, {n[0], n[1], n[2]}, s.range, std::min<std::int64_t>(n[0] * n[1], 1024)};
  backend::for_each_lane_group("iso::dose::convolve: range", exec, range.num_groups, range);
  if (walks_lattice(plan)) {
    walk_lattice(exec, plan, terma, density, dose, s);
  } else if (plan.options().engine == dose_engine::lattice) {
    follow_table(exec, plan, terma, density, dose, s);
  } else {
    follow_back(exec, plan, terma, density, dose, s);
  }
}

/// `to` from what is in double.
template <class T>
void convert(lattice_line<double> const& from, lattice_line<T>& to) {
  to = {from.copy,
        from.lanes,
        from.rows,
        from.planes,
        from.row_stride,
        from.plane_stride,
        from.way,
        from.table,
        from.least_lane_shift,
        from.most_lane_shift,
        from.least_row_shift,
        from.most_row_shift,
        {},
        {},
        {},
        {}};
  for (int n = 0; n < most_kernel_terms; ++n) {
    to.half_step[n] = T(from.half_step[n]);
    to.energy[n] = T(from.energy[n]);
    to.tilt_first[n] = T(from.tilt_first[n]);
    to.tilt_second[n] = T(from.tilt_second[n]);
  }
}
template <class T>
void convert(lattice_plane<double> const& from, lattice_plane<T>& to) {
  to = {from.lane_shift,   from.row_shift_and_lane_step,
        T(from.constant),  T(from.lane),
        T(from.row),       T(from.lane_row),
        T(from.lane_lane), T(from.row_row)};
}
template <class T>
void convert(cone_line<double> const& from, cone_line<T>& to) {
  to = {from.direction,
        from.cone,
        from.lattice,
        {from.axes[0], from.axes[1], from.axes[2]},
        {from.slopes[0], from.slopes[1]},
        T(from.cosine),
        {},
        {},
        {},
        {}};
  for (int n = 0; n < most_kernel_terms; ++n) {
    to.rate[n] = T(from.rate[n]);
    to.energy[n] = T(from.energy[n]);
    to.tilt_first[n] = T(from.tilt_first[n]);
    to.tilt_second[n] = T(from.tilt_second[n]);
  }
}
template <class To, class From>
std::vector<To> converted(std::vector<From> const& from) {
  std::vector<To> out(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    convert(from[i], out[i]);
  }
  return out;
}

}  // namespace detail

template <real T, class Space>
template <execution_space Exec>
convolution_plan<T, Space>::convolution_plan(Exec const& exec, iso::grid const& region,
                                             beam_frame const& frame, point_kernel const& kernel,
                                             cone_set const& cones, fluence_map const& field,
                                             convolution_options const& options)
    : region_(region),
      frame_(frame),
      num_directions_(cones.size()),
      num_terms_(cones.num_terms),
      options_(options) {
  using tuning = detail::lattice_tuning<Exec>;
  using point = detail::fixed_point<T>;
  detail::validate_options(options, std::holds_alternative<tabulated_kernel>(kernel), cones, region,
                           frame);
  bool const by_items = options.walk == lattice_walk::fastest
                            ? tuning::by_items
                            : options.walk == lattice_walk::by_items;
  storage_.layout = detail::lattice_layout(region, by_items ? tuning::most_rows : 0,
                                           tuning::lane_multiple, tuning::room);
  auto tables = detail::make_lattice(region, storage_.layout, frame, kernel, cones, field,
                                     options.tilt, point::direction_bits, point::total_bits);
  unit_ = tables.unit;
  storage_.classes = tables.classes;
  std::vector<detail::lattice_item> items;
  if (by_items && options.engine == dose_engine::lattice && num_terms_ > 0) {
    storage_.rows = tuning::rows(num_directions_);
    items = detail::make_items(tables, storage_.rows, tuning::items_together);
  }
  for (auto const& l : tables.lines) {
    std::int64_t const lanes = (l.lanes + 31) / 32 * 32 + (l.most_lane_shift - l.least_lane_shift);
    std::int64_t const rows = l.rows + (l.most_row_shift - l.least_row_shift);
    storage_.state_size = std::max(storage_.state_size, lanes * rows);
  }
  char const* const label = "iso::dose::convolution_plan";
  storage_.lines = iso::detail::copied<Space>(
      exec, label, detail::converted<detail::lattice_line<T>>(tables.lines));
  storage_.planes = iso::detail::copied<Space>(
      exec, label, detail::converted<detail::lattice_plane<T>>(tables.planes));
  storage_.items = iso::detail::copied<Space>(exec, label, items);
  std::vector<T> bins(tables.bins.size());
  std::transform(tables.bins.begin(), tables.bins.end(), bins.begin(),
                 [](double x) { return T(x); });
  storage_.bins = iso::detail::copied<Space>(exec, label, bins);
  for (auto const& line : tables.directions) {
    storage_.axes.push_back(line.direction);
    if (options.engine == dose_engine::non_voxel) {
      storage_.most_samples = std::max(
          storage_.most_samples,
          detail::rays_along<T>(region, line.direction, options.ray_spacing, options.radial_step)
              .size());
    }
  }
  storage_.directions = iso::detail::copied<Space>(
      exec, label, detail::converted<detail::cone_line<T>>(tables.directions));
}

template <execution_space Exec, real T>
std::int64_t convolution_bytes_needed(
    Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan) {
  workspace_parts parts("convolution");
  if (plan.num_terms() != 4) {
    detail::convolution_scratch<T, 2, Exec>(parts, exec, plan);
  } else {
    detail::convolution_scratch<T, 4, Exec>(parts, exec, plan);
  }
  return parts.bytes();
}

template <execution_space Exec, real T>
void convolve(
    Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& terma,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    volume_view<std::type_identity_t<T>, typename Exec::memory_space> const& dose,
    workspace<typename Exec::memory_space> const& scratch) {
  validate(terma, "convolve");
  validate(density, "convolve");
  validate(dose, "convolve");
  validate_contiguous(terma.data, "terma", "convolve");
  validate_contiguous(density.data, "density", "convolve");
  validate_contiguous(dose.data, "dose", "convolve");
  ISO_VALIDATE(
      terma.grid == plan.region(),
      "convolve: terma of [{}, {}, {}] voxels (it must be on the plan's region, of [{}, {}, "
      "{}])",
      terma.grid.extent[0], terma.grid.extent[1], terma.grid.extent[2], plan.region().extent[0],
      plan.region().extent[1], plan.region().extent[2]);
  std::int64_t const density_at = detail::offset_of(plan.region(), density.grid, "density");
  std::int64_t const dose_at = detail::offset_of(plan.region(), dose.grid, "dose");
  memory_range const work{scratch.data(), std::uint64_t(scratch.size()), "scratch"};
  auto const inputs = {memory_of(terma.data, "terma"), memory_of(density.data, "density")};
  validate_apart(memory_of(dose.data, "dose"),
                 {memory_of(terma.data, "terma"), memory_of(density.data, "density"), work},
                 "convolve");
  validate_apart(work, inputs, "convolve");
  validate(scratch, convolution_bytes_needed<Exec, T>(exec, plan), "convolution");
  Kokkos::Profiling::ScopedRegion const region("iso::dose::convolve");
  auto const run = [&](auto terms) {
    detail::convolve_terms<T, decltype(terms)::value>(exec, plan, detail::box_of<T const>(terma, 0),
                                                      detail::box_of<T const>(density, density_at),
                                                      detail::box_of<T>(dose, dose_at), scratch);
  };
  if (plan.num_terms() != 4) {
    run(backend::constant<2>());
  } else {
    run(backend::constant<4>());
  }
}

#define ISO_DOSE_CONVOLVE(linkage, Exec, T)                                  \
  linkage template void convolve<Exec, T>(                                   \
      Exec const&, convolution_plan<T, Exec::memory_space> const&,           \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      volume_view<std::type_identity_t<T>, Exec::memory_space> const&,       \
      workspace<Exec::memory_space> const&);
ISO_FOR_EACH_INSTANCE(ISO_DOSE_CONVOLVE, extern)

}  // namespace iso::dose
