// SPDX-License-Identifier: BSD-3-Clause
#include "coverage.hpp"
#include "memory.hpp"
#include "precision.hpp"
#include "rank_parts.hpp"
#include "rank_views.hpp"
#include "repeats.hpp"
#include "scan.hpp"

#include <iso/cases/bits.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/jobs/project.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

namespace iso::jobs {
namespace {

grid grid_of(project_request const& request) {
  if (request.phantom_size == 0) {
    return make_grid(request.volume);
  }
  ISO_VALIDATE(request.phantom_size >= 1 && request.phantom_size <= 8192,
               "phantom size {} (must be from 1 to 8192 voxels a side); choose another by --size",
               request.phantom_size);
  double const spacing = request.phantom_width / double(request.phantom_size);
  std::int64_t const n = request.phantom_size;
  return grid::centred({n, n, n}, {spacing, spacing, spacing});
}

template <class T, class Exec>
volume_view<T, typename Exec::memory_space> volume_of(Exec const& exec,
                                                      project_request const& request, grid const& g,
                                                      job const& asked) {
  if (request.phantom_size == 0) {
    return files::make_volume_view<T>(exec, request.volume);
  }
  auto const volume = make_volume<T, typename Exec::memory_space>(exec, "iso::jobs::phantom", g);
  auto const phantom = ct::shepp_logan(request.phantom_width / 2);
  ct::rasterise_ellipsoids<Exec, T>(exec, phantom, volume, {}, asked);
  return volume;
}

// On the host some views at a time, so that progress and cancellation come often enough; no bit
// depends on it. A GPU takes all at once.
template <class T, class Exec>
void project_in_parts(Exec const& exec, ct::geometry const& g,
                      volume_view<T, typename Exec::memory_space> const& volume,
                      projection_view<T, typename Exec::memory_space> const& projections,
                      workspace<typename Exec::memory_space> const& work,
                      ct::forward_project_options const& options, observer const& watch) {
  bool const whole = backend::is_device<Exec> || options.sum == iso::summation::reproducible;
  std::int64_t const part =
      whole ? g.num_views() : std::max<std::int64_t>(8, (g.num_views() + 63) / 64);
  std::int64_t const image = g.num_u() * g.num_v();
  for (std::int64_t first = 0; first < g.num_views(); first += part) {
    auto const some = g.subset(first, std::min(part, g.num_views() - first));
    auto const staged = ct::stage(exec, some);
    auto const out = projections_at<T, typename Exec::memory_space>(
        projections.data.data() + first * image, some);
    job control;
    control.progress = [&](double fraction) {
      double const views = double(first) + fraction * double(some.num_views());
      watch.step(views / double(g.num_views()), "projecting");
    };
    ct::forward_project<Exec, T>(exec, staged, volume, out, work, options, control);
    exec.fence("iso::jobs::project: one part");
    control.progress(1);
  }
}

/// Counts values that are not finite: voxels near the largest number overflow in a sum.
template <class T>
std::int64_t count_not_finite(std::span<T const> values) {
  return std::count_if(values.begin(), values.end(), [](T x) { return !std::isfinite(x); });
}

/// Keeps the rows that ranks have projected: as views in their file, whole on rank 0, or neither.
/// \param rows  of this rank, [views, u, rows], on the host
template <class T>
void keep_rows(project_request const& request, rank_parts const& parts, T const* rows,
               observer const& watch, projection_result& result) {
  auto const& g = parts.plan().scan();
  job const asked{{}, watch.cancelled};
  view_carrier<T> const carrier(parts.ranks(), parts.plan(),
                                view_shares(g, num_ranks(), sizeof(T)));
  if (request.shared_output != nullptr) {
    request.shared_output->begin<T>({g.num_views(), g.num_u(), g.num_v()});
  }
  std::int64_t spoiled = 0;
  result.hash = hash_text(carrier.collect(rows, [&](std::int64_t first, std::span<T const> values) {
    spoiled += count_not_finite(values);
    if (request.shared_output != nullptr) {
      request.shared_output->write<T>(first, values, asked);
    }
    asked.step(0);
  }));
  result.not_finite = parts.part().count(spoiled);
  if (request.shown_view) {
    result.shown = carrier.collect_views(rows, {*request.shown_view, *request.shown_view + 1}, 0);
  }
  if (request.gathers) {
    result.values = carrier.collect_views(rows, {0, g.num_views()}, 0);
  }
}

/// Returns the options of a pair that projects so.
ct::projector_options pair_options(ct::forward_project_options const& options) {
  return {.method = options.method, .sum = options.sum, .oversampling = options.oversampling};
}

/// Projects on the ranks that share the job: each has its planes and its rows.
template <class T, class Exec>
void project_on_ranks(Exec const& exec, project_request const& request, ct::geometry const& g,
                      grid const& box, ct::forward_project_options const& options,
                      observer const& watch, passing<T> const& through, projection_result& result) {
  using space = typename Exec::memory_space;
  rank_parts const parts(g, box);
  auto const by = pair_options(options);
  auto const all = all_views(g);
  result.bytes_needed = parts.check_memory<T>(
      exec,
      through.pairs.bytes
          ? through.pairs.bytes(parts.plan(), all, by, true)
          : ct::ranked_pair<Exec, T>::bytes_needed(exec, parts.rank(), parts.plan(), all, by),
      "iso project");
  auto const x = parts.volume<T>(exec, "iso::jobs::volume");
  if (request.read_planes) {
    std::vector<float> here;
    iso::detail::check_together(parts.ranks(), "iso project", [&] {
      here = request.read_planes(parts.plan().planes(parts.rank()));
    });
    cases::put(exec, x.data, here);
  } else if (request.phantom_size == 0) {
    parts.put_volume(exec, x.data, request.volume.values);
  } else if (x.data.size() > 0) {
    ct::rasterise_ellipsoids<Exec, T>(exec, ct::shepp_logan(request.phantom_width / 2), x, {},
                                      job{{}, watch.cancelled});
  }
  auto const p = parts.readings<T>(exec, "iso::jobs::projections");
  auto const pair = parts.place(exec, through.pairs).template make<T, space>(g, box, all, by);
  auto const compute = [&](job const& asked) { pair->forward(0, x, p, asked); };
  result.time_ms =
      1e3 * seconds_of(exec, [&] {
        compute({[&](double part) { watch.step(part, "projecting"); }, watch.cancelled});
      });
  result.streaming = pair->streaming();
  if (result.streaming) {
    result.streaming = streamed_calls{.forward = true}.of(*result.streaming);
  }
  auto const rows = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, p.data);
  Kokkos::deep_copy(exec, rows, p.data);
  exec.fence("iso::jobs::project: the rows are on the host");
  keep_rows<T>(request, parts, rows.data(), watch, result);
  result.repeats = repeat(exec, request.repeats, watch, compute);
}

/// Returns a projection of the whole scan by the device of `through`, as a call.
template <class T, class Volume, class Projections>
std::function<void(job const&)> streamed_projection(ct::streamed const& through,
                                                    ct::geometry const& g, Volume const& volume,
                                                    Projections const& projections,
                                                    ct::forward_project_options const& options,
                                                    projection_result& result) {
  auto const pair = through.make<T>(g, volume.grid, all_views(g), pair_options(options));
  return [=, &result](job const& control) {
    pair->forward(0, volume, projections, control);
    result.streaming = streamed_calls{.forward = true}.of(pair->streaming().value());
  };
}

template <class T, class Exec>
projection_result run(Exec const& exec, project_request const& request, observer const& watch,
                      passing<T> const& by) {
  using space = typename Exec::memory_space;
  ct::streamed const& through = by.alone;
  auto const volume_grid = grid_of(request);
  validate(volume_grid, "iso project");
  projection_result result;
  auto const g = behind_volume(ct::make_geometry(request.geometry.scan), volume_grid,
                               request.extend_rays, result.views_within);
  ct::forward_project_options options;
  options.method = request.method;
  options.sum = request.sum;
  options.oversampling = request.oversampling;
  std::optional<ct::streaming_report> streamed;
  if (through) {
    streamed = through.plan<T>(g, volume_grid, all_views(g), pair_options(options));
  }
  std::int64_t const scratch =
      through ? 0 : ct::forward_project_bytes_needed<T>(exec, g, volume_grid, options);
  std::int64_t const pixels = g.num_views() * g.num_u() * g.num_v();
  double const wanted = double(volume_grid.size()) * sizeof(T) + double(pixels) * sizeof(T) +
                        double(streamed ? streamed->host_bytes : scratch);
  // The readings of the result.
  auto const copied = whole_bytes(double(pixels) * sizeof(T));

  watch.step(0, "preparing");
  result.extent = {g.num_views(), g.num_u(), g.num_v()};
  result.voxels = volume_grid.size();
  // Joseph's samples blend over a voxel, half of which lies outside.
  bool const blends = options.method == ct::projector::joseph_linear ||
                      options.method == ct::projector::joseph_spline;
  result.blind_views = missed_views(g, volume_grid, blends ? 0.5 : 0);
  if (num_ranks() > 1) {
    project_on_ranks<T>(exec, request, g, volume_grid, options, watch, by, result);
    watch.step(1, "done");
    return result;
  }
  guard_memory(exec, whole_bytes(wanted), copied, "iso project", [&] {
    tell_streamed(watch, streamed, {.forward = true},
                  wanted + double(copied) + double(request.volume.values.size()) * sizeof(float));
    auto const volume = volume_of<T>(exec, request, volume_grid, job{{}, watch.cancelled});
    auto const projections = make_projections<T, space>(exec, "iso::jobs::projections",
                                                        g.num_views(), g.num_u(), g.num_v());
    workspace<space> const work(scratch);
    std::function<void(job const&)> compute;
    if constexpr (!backend::is_device<Exec>) {
      if (through) {
        compute = streamed_projection<T>(through, g, volume, projections, options, result);
      }
    }
    result.time_ms =
        1e3 * seconds_of(exec, [&] {
          if (compute) {
            compute({[&](double part) { watch.step(part, "projecting"); }, watch.cancelled});
          } else {
            project_in_parts<T>(exec, g, volume, projections, work, options, watch);
          }
        });
    auto values = fetch(exec, projections.data);
    result.hash = hash_text(hash_bits<T>(values));
    result.not_finite = count_not_finite(std::span<T const>(values));
    result.values = std::move(values);
    if (!compute) {
      compute = [&, staged = ct::stage(exec, g)](job const& asked) {
        ct::forward_project<Exec, T>(exec, staged, volume, projections, work, options, asked);
      };
    }
    result.repeats = repeat(exec, request.repeats, watch, compute);
    return 0;
  });
  watch.step(1, "done");
  return result;
}

}  // namespace

projection_result project(project_request const& request, observer const& watch) {
  return in_precision(request.backend, request.precision, request.memory, false,
                      [&](auto const& exec, auto zero, auto const& through) {
                        return run<decltype(zero)>(exec, request, watch, through);
                      });
}

}  // namespace iso::jobs
