// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/streamed.hpp and streamed_pair.hpp declare.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/back_project_step.hpp>
#include <iso/ct/detail/elementwise.hpp>
#include <iso/ct/detail/pair_options.hpp>
#include <iso/ct/detail/streamed_fdk_impl.hpp>
#include <iso/ct/detail/streamed_slabs.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/streamed_pair.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/survey.hpp>

#include <algorithm>
#include <utility>

namespace iso::ct {
namespace detail {

/// Throws where a pair cannot be streamed by these options.
void validate_streamed(projector_options const& options);

/// The parts of the device's memory while a volume is projected.
template <class Exec, class T>
struct forward_memory {
  using sums_type = ray_sums<T, typename Exec::memory_space>;
  std::int64_t sums_bytes;
  std::byte* sums;
  slab_buffers<T> slabs;

  forward_memory(Exec const& exec, workspace_parts& memory, geometry const& g,
                 iso::grid const& volume, forward_project_options const& options, std::int64_t halo,
                 streaming_plan const& plan)
      : sums_bytes(sums_type::bytes_needed(exec, g.subset(0, std::min(plan.views, g.num_views())),
                                           volume, {0, false}, options)),
        sums(memory.take<std::byte>({sums_bytes})),
        slabs(memory, volume, plan.planes + 2 * halo) {}
};

/// The parts of the device's memory while projections go back. All behind them is scratch.
template <class T>
struct adjoint_memory {
  T* stack;
  slab_buffers<T> slabs;
  T* x = nullptr;  ///< a slab of the voxels of which steps are made, where any are
  T* weights = nullptr;
  voxel_bounds* bounds = nullptr;  ///< of each slab of them
  chunk_buffers<std::uint16_t> stored;

  adjoint_memory(workspace_parts& memory, std::int64_t num_u, std::int64_t num_v,
                 iso::grid const& volume, streaming_plan const& plan, bool steps,
                 bool stored_readings)
      : stack(memory.take<T>({plan.views, num_u, num_v})),
        slabs(memory, volume, plan.planes),
        stored(memory, stored_readings ? std::min(plan.views, chunk_views) : 0, num_u, num_v) {
    if (steps) {
      auto const& n = volume.extent;
      x = memory.take<T>({n[0], n[1], std::min(plan.planes, n[2])});
      weights = memory.take<T>({n[0], n[1], std::min(plan.planes, n[2])});
      bounds = memory.take<voxel_bounds>({pieces_of(n[2], plan.planes)});
    }
  }
};

/// Returns the options of projections of a scan: one path for all views, however they are divided.
template <class T>
forward_project_options streamed_forward(projector_options const& o, geometry const& g,
                                         iso::grid const& volume) {
  auto options = forward_options(o);
  options.sum = summation::reproducible;
  bool const fast = groups_of(g, volume, joseph_path::automatic, sizeof(T)).fast;
  options.path = fast ? joseph_path::automatic : joseph_path::general;
  return options;
}

/// Returns the scratch bytes of an adjoint of any of these scans onto a slab.
template <class Exec, class T>
std::int64_t adjoint_scratch(Exec const& exec, std::vector<geometry> const& scans,
                             iso::grid const& volume, projector_options const& o, slab const& one) {
  std::int64_t bytes = 0;
  for (geometry const& g : scans) {
    for (std::int32_t words = o.words; words <= 3; ++words) {
      bytes = std::max(
          bytes, back_project_bytes_needed<T>(exec, g, volume, one, adjoint_options(o, words)));
    }
  }
  return bytes;
}

/// Returns the bytes of the staging buffers of a pair: of pieces in and out.
template <class T>
std::pair<std::int64_t, std::int64_t> pair_staging(geometry const& g, iso::grid const& volume,
                                                   view_blocks const& blocks,
                                                   projector_options const& options,
                                                   streaming_report const& report) {
  std::int64_t const halo = largest_halo(g, volume, streamed_forward<T>(options, g, volume));
  std::int64_t const back = std::max(report.adjoint.planes, report.step.planes);
  std::int64_t const image = g.num_u() * g.num_v();
  auto [in, out] = staging_bytes<T>(volume, std::max(report.forward.planes + 2 * halo, back), back,
                                    blocks.max_size(), image);
  // Readings go back with the weights of their rays.
  std::int64_t const weighted = 2 * std::min(blocks.max_size(), chunk_views) * image;
  return {std::max(in, weighted * std::int64_t(sizeof(T))), out};
}

/// The division of what projections are compared with: the readings, their mask, and weights of
/// rays where the adjoint's unit follows from what it is given.
template <class T>
struct comparison_pieces {
  std::int64_t views;  ///< of a piece
  bool fits;  ///< there are places for it, and for the weights that come in with an adjoint

  comparison_pieces(iso::grid const& volume, geometry const& g, streaming_report const& report,
                    std::int64_t halo, bool masked, bool scatters)
      : views(views_beside<T>(volume, report.forward.planes + 2 * halo, report.forward.views,
                              g.num_u() * g.num_v(), 1 + (masked ? 1 : 0) + (scatters ? 1 : 0))) {
    // Of a piece that comes in with an adjoint: into the places of the second slab and of x.
    std::int64_t const weights = std::min(report.step.views, chunk_views) * g.num_u() * g.num_v();
    auto const& n = volume.extent;
    fits = views > 0 && weights <= n[0] * n[1] * std::min(report.step.planes, n[2]);
  }
};

/// Returns whether the adjoint of any of these scans adds whole numbers.
template <class T>
bool scatters(std::vector<geometry> const& scans, iso::grid const& volume,
              projector_options const& o) {
  return o.backprojection == backprojection::adjoint &&
         std::any_of(scans.begin(), scans.end(), [&](geometry const& g) {
           return !gathers(g, volume, sizeof(T), adjoint_options(o));
         });
}

inline fdk_options centred_fdk() { return {.scan = {.detector = detector_placement::centred}}; }

}  // namespace detail

template <execution_space Exec, real T>
streaming_report streamed_pair<Exec, T>::plan(Exec const& exec, geometry const& g,
                                              iso::grid const& volume, view_blocks const& blocks,
                                              projector_options const& options,
                                              streaming_options const& limits) {
  char const* const function = "iso::ct::streamed_pair";
  validate(volume, function);
  detail::validate_streamed(options);
  auto const scans = detail::scans_of(detail::in_order(g, blocks), blocks);
  geometry const& scan = *std::max_element(
      scans.begin(), scans.end(),
      [](geometry const& a, geometry const& b) { return a.num_views() < b.num_views(); });
  bool const adjoint = options.backprojection == backprojection::adjoint;
  // A plan takes as much wherever it is.
  std::int64_t const of_fdk =
      adjoint ? 0
              : fdk_plan<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace(),
                                            detail::in_order(g, blocks), detail::centred_fdk())
                    .bytes_held();
  std::int64_t const fixed = detail::views_bytes(g) + of_fdk;
  auto const forward = detail::streamed_forward<T>(options, g, volume);
  std::int64_t const halo = detail::largest_halo(g, volume, forward);
  auto const forward_bytes = [&](std::int64_t v, std::int64_t planes) {
    workspace_parts parts(function);
    detail::forward_memory<Exec, T>(exec, parts, scan, volume, forward, halo, {v, planes, 0});
    return fixed + parts.bytes();
  };
  std::int64_t scratch_planes = 0;  // the scratch of these planes is known
  std::int64_t scratch = 0;
  auto const back_bytes = [&](std::int64_t v, std::int64_t planes, bool steps) {
    if (planes != scratch_planes) {
      scratch_planes = planes;
      scratch =
          adjoint ? detail::adjoint_scratch<Exec, T>(exec, scans, volume, options,
                                                     detail::slab_of(all_planes(volume), planes, 0))
                  : weighted_back_project_bytes_needed<T>(exec, scan, detail::centred_fdk());
    }
    workspace_parts parts(function);
    detail::adjoint_memory<T>(parts, g.num_u(), g.num_v(), volume, {v, planes, 0}, steps,
                              limits.stored_readings);
    return fixed + parts.bytes() + scratch;
  };
  auto const adjoint_bytes = [&](std::int64_t v, std::int64_t planes) {
    return back_bytes(v, planes, false);
  };
  auto const step_bytes = [&](std::int64_t v, std::int64_t planes) {
    return back_bytes(v, planes, true);
  };
  std::int64_t const min_views = std::min<std::int64_t>(scan.num_views(), detail::chunk_views);
  detail::validate_limits(function, limits, min_views,
                          std::max(forward_bytes(min_views, 1), step_bytes(min_views, 1)));
  streaming_report report;
  report.fixed_bytes = fixed;
  auto const divided = [&](detail::plan_bytes const& bytes_of) {
    return detail::divide(volume.extent[2], scan.num_views(), limits, detail::slab_grain<Exec>,
                          bytes_of);
  };
  detail::streamed_sizes sizes{volume, {}, g.num_u() * g.num_v(), sizeof(T), sizeof(T)};
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    sizes.views.push_back(blocks.size(b));
  }
  report.forward = sizes.of_forward(divided(forward_bytes), halo);
  report.step = sizes.of_adjoint(divided(step_bytes), 2);
  sizes.reading_bytes = limits.stored_readings ? sizeof(std::uint16_t) : sizeof(T);
  report.adjoint = sizes.of_adjoint(divided(adjoint_bytes));
  report.device_bytes = std::max(
      {report.forward.device_bytes, report.adjoint.device_bytes, report.step.device_bytes});
  bool const of_readings = detail::scatters<T>(scans, volume, options);
  if (detail::comparison_pieces<T>(volume, g, report, halo, false, of_readings).fits) {
    report.beside_in =
        (of_readings ? 3 : 2) * g.num_views() * sizes.pixels * std::int64_t(sizeof(T));
  }
  auto const [in, out] = detail::pair_staging<T>(g, volume, blocks, options, report);
  detail::set_host_bytes<Exec>(report, in, out);
  return report;
}

template <execution_space Exec, real T>
streamed_pair<Exec, T>::streamed_pair(Exec const& exec, geometry const& g, iso::grid const& volume,
                                      view_blocks const& blocks, projector_options const& options,
                                      streaming_options const& limits)
    : exec_(exec),
      grid_(volume),
      options_(options),
      stored_readings_(limits.stored_readings),
      forward_(detail::streamed_forward<T>(options, g, volume)),
      halo_(detail::largest_halo(g, volume, forward_)),
      scatters_(detail::scatters<T>(detail::scans_of(detail::in_order(g, blocks), blocks), volume,
                                    options)),
      report_(plan(exec, g, volume, blocks, options, limits)) {
  if (limits.told) {
    limits.told(report_);
  }
  staged_geometry<space> const all(exec, detail::in_order(g, blocks));
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    scans_.push_back(all.subset(blocks.begins[std::size_t(b)], blocks.size(b)));
  }
  if (options.backprojection == backprojection::fdk) {
    fdk_plan<space> const whole(exec, all.host(), detail::centred_fdk());
    for (std::int64_t b = 0; b < blocks.count(); ++b) {
      plans_.push_back(whole.subset(blocks.begins[std::size_t(b)], blocks.size(b)));
    }
  }
  memory_.reserve(report_.device_bytes - report_.fixed_bytes);
  auto const [in, out] = detail::pair_staging<T>(g, volume, blocks, options, report_);
  bus_ = iso::detail::bus<Exec>(exec, in, out);
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::page_lock(typename volume::data_type const& array) {
  if (auto lock = backend::page_lock(exec_, array)) {
    locked_.push_back(std::move(lock));
    report_.page_locked_bytes += std::int64_t(array.size() * sizeof(T));
  }
}

template <execution_space Exec, real T>
streaming_report streamed_pair<Exec, T>::report() const {
  return detail::with_traffic(report_, bus_);
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::forward(std::int64_t block, const_volume const& x,
                                     projections const& p, job const& control) {
  project(block, x, p, nullptr, nullptr, control);
}

template <execution_space Exec, real T>
std::optional<detail::misfit_bounds> streamed_pair<Exec, T>::misfit(
    std::int64_t block, const_volume const& x, detail::compared_rays<T> const& of,
    projections const& r, voxel_bounds const* known, job const& control) {
  bool const masked = of.mask != nullptr;
  auto const pieces = compared(masked);
  if (!pieces.fits) {
    return {};
  }
  comparison to{{of.readings}, masked, pieces.views};
  if (masked) {
    to.arrays.push_back(of.mask);
  }
  if (scatters_) {
    to.arrays.push_back(of.weights);
  }
  project(block, x, r, known, &to, control);
  return to.bounds;
}

template <execution_space Exec, real T>
detail::comparison_pieces<T> streamed_pair<Exec, T>::compared(bool masked) const {
  return {grid_, scans_.front().host(), report_, halo_, masked, scatters_};
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::page_lock_compared(typename projections::data_type const& array,
                                                bool masked) {
  if (compared(masked).fits) {
    page_lock(array);
  }
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::project(std::int64_t block, const_volume const& x,
                                     projections const& p, voxel_bounds const* known,
                                     comparison* to, job const& control) {
  char const* const function = "iso::ct::streamed_pair::forward";
  auto const& scan = scans_[std::size_t(block)];
  geometry const& g = scan.host();
  detail::validate_streamed_arrays(x, grid_,
                                   detail::incoming_readings<Exec, T>(const_projections(p)),
                                   {g.num_views(), g.num_u(), g.num_v()}, function);
  auto const& plan = report_.forward;
  workspace_parts parts(memory_, function);
  detail::forward_memory<Exec, T> const m(exec_, parts, g, grid_, forward_, halo_,
                                          {std::min(plan.views, g.num_views()), plan.planes, 0});
  validate(memory_, parts.bytes(), function);
  detail::slab_pieces<Exec, T, T const> const slabs{m.slabs, x, all_planes(grid_), plan.planes,
                                                    halo_};
  std::int64_t const last = slabs.count() - 1;
  auto const bounds = known != nullptr ? *known : bounds_of(Kokkos::DefaultHostExecutionSpace(), x);
  detail::for_each_view_batch(
      g.num_views(), plan.views, control,
      [&](std::int64_t first, std::int64_t count, job const& part) {
        ray_sums<T, space> sums(exec_, scan.subset(first, count), grid_, bounds, forward_,
                                detail::part_of_memory<space>(m.sums, m.sums_bytes));
        bus_.carry(
            exec_, last + 1, [&](std::int64_t n) { return slabs.piece(n, true, false); },
            [&](std::int64_t n) {
              if (n < last) {
                sums.add(exec_, slabs.at(n), slabs.own(n), detail::step_of(part, n, last + 1));
              }
            });
        leave(sums, slabs, first, count, p, to, detail::step_of(part, last, last + 1));
      });
}

template <execution_space Exec, real T>
template <class Slabs>
void streamed_pair<Exec, T>::leave(ray_sums<T, space> const& sums, Slabs const& slabs,
                                   std::int64_t first, std::int64_t count, projections const& p,
                                   comparison* to, job const& control) {
  // With the last slab rays are whole: some leave while others are added. What they are compared
  // with comes into the place of the slab before.
  using piece = typename iso::detail::bus<Exec>::piece;
  std::int64_t const last = slabs.count() - 1;
  std::int64_t const num_u = std::int64_t(p.data.extent(1));
  std::int64_t const num_v = std::int64_t(p.data.extent(2));
  std::int64_t const image = num_u * num_v;
  std::int64_t const size = to != nullptr ? to->views : detail::max_chunk_views;
  std::int64_t const pieces = detail::pieces_of(count, size);
  std::int64_t const beside = to != nullptr ? std::int64_t(to->arrays.size()) : 0;
  auto* const found = reinterpret_cast<detail::misfit_bounds*>(slabs.buffers.data[(last + 1) % 2]);
  T* const numbers = reinterpret_cast<T*>(found + detail::padded_results(pieces));
  auto const place = [&](std::int64_t n, std::int64_t which) {
    return numbers + (n % 2 * beside + which) * size * image;
  };
  auto* const words = reinterpret_cast<T*>(sums.words().data());
  bus_.carry(
      exec_, pieces,
      [&](std::int64_t n) {
        auto const [begin, views] = detail::views_of(count, size, n);
        piece one{reinterpret_cast<std::byte*>(words + begin * image),
                  {},
                  detail::runs_of(p, first + begin, views)};
        for (std::int64_t which = 0; which < beside; ++which) {
          auto const all = detail::views_at<Kokkos::HostSpace>(
              to->arrays[std::size_t(which)], std::int64_t(p.data.extent(0)), num_u, num_v);
          one.beside[std::size_t(which)] = {reinterpret_cast<std::byte*>(place(n, which)),
                                            detail::runs_of(all, first + begin, views)};
        }
        return one;
      },
      [&](std::int64_t n) {
        auto const [begin, views] = detail::views_of(count, size, n);
        auto some = sums.of_views(begin, views);
        some.add(exec_, slabs.at(last), slabs.own(last), detail::step_of(control, n, pieces));
        // Pixels take the place of their words.
        T* const pixels = words + begin * image;
        some.finish(exec_, detail::views_at<space>(pixels, views, num_u, num_v));
        if (to != nullptr) {
          detail::find_in_numbers(
              "iso::ct::streamed: misfit", exec_, views * image,
              detail::bounded_misfit<T>{{place(n, 0), to->masked ? place(n, 1) : nullptr, pixels},
                                        scatters_ ? place(n, beside - 1) : nullptr},
              found + n);
        }
      });
  if (to != nullptr) {
    for (auto const& one : detail::found_in_numbers(exec_, found, pieces)) {
      to->bounds = to->bounds.joined(one);
    }
  }
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::adjoint(std::int64_t block, const_projections const& p,
                                     volume const& x, onto to, job const& control,
                                     std::int32_t words) {
  validate(to, "iso::ct::streamed_pair::adjoint");
  go_back(block, p, x, to, nullptr, control, words);
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::adjoint(std::int64_t block,
                                     stored_readings<Kokkos::HostSpace> const& p, volume const& x,
                                     onto to, job const& control, std::int32_t words) {
  char const* const function = "iso::ct::streamed_pair::adjoint";
  validate(to, function);
  go_back(block, {p, stored_readings_, function}, x, to, nullptr, control, words);
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::adjoint_step(std::int64_t block, const_projections const& p,
                                          volume const& x, detail::voxel_step<T> const& by,
                                          volume const& correction, job const& control,
                                          std::int32_t words) {
  method_step step{x, by};
  go_back(block, p, correction, onto::zero, &step, control, words);
}

template <execution_space Exec, real T>
std::optional<voxel_bounds> streamed_pair<Exec, T>::weighted_step(
    std::int64_t block, const_projections const& r, detail::misfit_bounds const& found,
    T const* ray_weights, volume const& x, detail::voxel_step<T> const& by,
    volume const& correction, job const& control, std::int32_t words) {
  method_step step{x, by, ray_weights, found.weighted};
  go_back(block, r, correction, onto::zero, &step, control, words);
  return step.made;
}

template <execution_space Exec, real T>
void streamed_pair<Exec, T>::go_back(std::int64_t block,
                                     detail::incoming_readings<Exec, T> const& p,
                                     volume const& sums, onto to, method_step* step,
                                     job const& control, std::int32_t words) {
  char const* const function = "iso::ct::streamed_pair::adjoint";
  auto const& scan = scans_[std::size_t(block)];
  geometry const& g = scan.host();
  detail::validate_streamed_arrays(sums, grid_, p, {g.num_views(), g.num_u(), g.num_v()}, function);
  auto const& plan = step == nullptr ? report_.adjoint : report_.step;
  auto options = detail::adjoint_options(options_, words);
  if (plans_.empty() && !detail::gathers(g, grid_, sizeof(T), options)) {
    // The scatter's unit is the block's, whatever part of it is there.
    options.max_abs =
        step != nullptr && step->ray_weights != nullptr ? step->largest_weighted : p.largest_size();
  }
  workspace_parts parts(memory_, function);
  detail::adjoint_memory<T> const m(parts, g.num_u(), g.num_v(), grid_, plan, step != nullptr,
                                    stored_readings_);
  validate(memory_, parts.bytes(), function);
  auto const scratch = detail::rest_of(memory_, parts.bytes());
  std::int64_t const image = g.num_u() * g.num_v();
  detail::slab_pieces<Exec, T, T> const slabs{m.slabs, sums, all_planes(grid_), plan.planes, 0};
  detail::for_each_view_batch(
      g.num_views(), plan.views, control,
      [&](std::int64_t first, std::int64_t count, job const& part) {
        onto const now = first == 0 ? to : onto::stored;
        // Adds some of the views to a slab.
        auto const add = [&](std::int64_t n, std::int64_t begin, std::int64_t views, onto on,
                             job const& slice) {
          projection_view<T const, space> const stack =
              detail::views_at<space>(m.stack + begin * image, views, g.num_u(), g.num_v());
          if (plans_.empty()) {
            options.first_view = first + begin;
            back_project<Exec, T>(exec_, scan, stack, slabs.at(n), scratch, options, on, slice);
          } else {
            weighted_back_project<Exec, T>(exec_,
                                           plans_[std::size_t(block)].subset(first + begin, views),
                                           stack, slabs.at(n), scratch, on, slice);
          }
        };
        // Weights of rays come into the places of the second slab and of x, which come later.
        T const* const ray_weights = step != nullptr ? step->ray_weights : nullptr;
        auto const weights_of = [&](std::int64_t n) { return n % 2 == 0 ? m.slabs.data[1] : m.x; };
        detail::pass_first_slab(
            exec_, bus_, slabs, now, count, detail::chunk_views,
            detail::step_of(part, 0, slabs.count()),
            [&](std::int64_t n, std::int64_t begin, std::int64_t views) {
              auto one = p.piece(m.stored, n, first + begin, views,
                                 reinterpret_cast<std::byte*>(m.stack + begin * image));
              if (ray_weights != nullptr) {
                auto const all = detail::views_at<Kokkos::HostSpace>(ray_weights, g.num_views(),
                                                                     g.num_u(), g.num_v());
                one.beside[0] = {reinterpret_cast<std::byte*>(weights_of(n)),
                                 detail::runs_of(all, first + begin, views)};
              }
              return one;
            },
            [&](std::int64_t n, std::int64_t begin, std::int64_t views, onto on, job const& slice) {
              T* const readings = m.stack + begin * image;
              p.arrive(exec_, m.stored, n,
                       detail::views_at<space>(readings, views, g.num_u(), g.num_v()));
              if (ray_weights != nullptr) {
                detail::for_each_number("iso::ct::streamed: weigh", exec_, views * image,
                                        detail::weigh<T>{weights_of(n), readings, readings});
              }
              add(0, begin, views, on, slice);
            });
        auto const add_all = [&](std::int64_t n) {
          add(n, 0, count, now, detail::step_of(part, n, slabs.count()));
        };
        if (step == nullptr || first + count < g.num_views()) {
          detail::pass_other_slabs(exec_, bus_, slabs, now, add_all);
        } else {
          pass_method_step(m, slabs, now, *step, add_all);
        }
      });
}

template <execution_space Exec, real T>
template <class Memory, class Slabs, class AddAll>
void streamed_pair<Exec, T>::pass_method_step(Memory const& m, Slabs const& slabs, onto now,
                                              method_step& step, AddAll const& add_all) {
  using constant = volume_view<T const, Kokkos::HostSpace>;
  constant const weights{grid_, typename constant::data_type(step.by.weights, grid_.extent[0],
                                                             grid_.extent[1], grid_.extent[2])};
  auto by = step.by;
  by.weights = m.weights;
  detail::pass_steps(exec_, bus_, slabs, now, step.x, reinterpret_cast<std::byte*>(m.x), weights,
                     reinterpret_cast<std::byte*>(m.weights), add_all, [&](std::int64_t n) {
                       auto const sum = slabs.at(n).data;
                       detail::find_in_numbers(
                           "iso::ct::streamed: step", exec_, std::int64_t(sum.size()),
                           detail::bounded_step<T>{{by, sum.data(), m.x}}, m.bounds + n);
                     });
  for (auto const& one : detail::found_in_numbers(exec_, m.bounds, slabs.count())) {
    step.made = step.made.joined(one);
  }
}

struct streamed::maker : detail::pair_maker {
  [[nodiscard]] virtual std::shared_ptr<detail::fdk_elsewhere<float>> fdk_of_float(
      geometry const& g, iso::grid const& volume, fdk_options const& options) const = 0;
  [[nodiscard]] virtual std::shared_ptr<detail::fdk_elsewhere<double>> fdk_of_double(
      geometry const& g, iso::grid const& volume, fdk_options const& options) const = 0;
  // Of the type of their first argument.
  [[nodiscard]] virtual streaming_report plan(float, geometry const& g, iso::grid const& volume,
                                              view_blocks const& blocks,
                                              projector_options const& options) const = 0;
  [[nodiscard]] virtual streaming_report plan(double, geometry const& g, iso::grid const& volume,
                                              view_blocks const& blocks,
                                              projector_options const& options) const = 0;
  [[nodiscard]] virtual streaming_report plan_fdk(float, geometry const& g, iso::grid const& volume,
                                                  fdk_options const& options) const = 0;
  [[nodiscard]] virtual streaming_report plan_fdk(double, geometry const& g,
                                                  iso::grid const& volume,
                                                  fdk_options const& options) const = 0;
};

template <class Device>
struct streamed::maker_on final : streamed::maker {
  Device device;
  streaming_options limits;
  maker_on(Device const& d, streaming_options const& l) : device(d), limits(l) {}
  [[nodiscard]] std::shared_ptr<detail::any_pair> make(
      float, geometry const& g, iso::grid const& volume, view_blocks const& blocks,
      projector_options const& options) const override {
    return std::make_shared<streamed_pair<Device, float>>(device, g, volume, blocks, options,
                                                          limits);
  }
  [[nodiscard]] std::shared_ptr<detail::any_pair> make(
      double, geometry const& g, iso::grid const& volume, view_blocks const& blocks,
      projector_options const& options) const override {
    return std::make_shared<streamed_pair<Device, double>>(device, g, volume, blocks, options,
                                                           limits);
  }
  [[nodiscard]] std::shared_ptr<detail::fdk_elsewhere<float>> fdk_of_float(
      geometry const& g, iso::grid const& volume, fdk_options const& options) const override {
    return std::make_shared<streamed_fdk<Device, float>>(device, g, volume, options, limits);
  }
  [[nodiscard]] std::shared_ptr<detail::fdk_elsewhere<double>> fdk_of_double(
      geometry const& g, iso::grid const& volume, fdk_options const& options) const override {
    return std::make_shared<streamed_fdk<Device, double>>(device, g, volume, options, limits);
  }
  [[nodiscard]] streaming_report plan(float, geometry const& g, iso::grid const& volume,
                                      view_blocks const& blocks,
                                      projector_options const& options) const override {
    return streamed_pair<Device, float>::plan(device, g, volume, blocks, options, limits);
  }
  [[nodiscard]] streaming_report plan(double, geometry const& g, iso::grid const& volume,
                                      view_blocks const& blocks,
                                      projector_options const& options) const override {
    return streamed_pair<Device, double>::plan(device, g, volume, blocks, options, limits);
  }
  [[nodiscard]] streaming_report plan_fdk(float, geometry const& g, iso::grid const& volume,
                                          fdk_options const& options) const override {
    return streamed_fdk<Device, float>::division(device, g, volume, options, limits);
  }
  [[nodiscard]] streaming_report plan_fdk(double, geometry const& g, iso::grid const& volume,
                                          fdk_options const& options) const override {
    return streamed_fdk<Device, double>::division(device, g, volume, options, limits);
  }
};

template <execution_space Device>
streamed::streamed(Device const& device, streaming_options const& options)
    : streamed(std::make_shared<maker_on<Device>>(device, options)) {}

#define ISO_CT_STREAMED(linkage, Exec, T) linkage template class streamed_pair<Exec, T>;
#define ISO_CT_STREAMED_ON(Exec, ...) \
  __VA_ARGS__ template streamed::streamed(Exec const&, streaming_options const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_STREAMED, extern)
ISO_FOR_EACH_BACKEND(ISO_CT_STREAMED_ON, extern)

}  // namespace iso::ct
