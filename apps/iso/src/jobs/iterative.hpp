// SPDX-License-Identifier: BSD-3-Clause
//! Reconstructs by the iterative method that a request names.
#pragma once

#include "checkpoint.hpp"
#include "memory.hpp"
#include "precision.hpp"
#include "rank_parts.hpp"
#include "repeats.hpp"
#include "scan.hpp"

#include <iso/cases/memory.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/detail/checkpoint_belongings.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/noise_of_counts.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace iso::jobs {

/// The type of the method that has these options.
template <class Exec, class T>
struct method_of {
  static ct::sart<Exec, T> type(ct::sart_options const&);
  static ct::mlem<Exec, T> type(ct::mlem_options const&);
  static ct::cgls<Exec, T> type(ct::cgls_options const&);
  static ct::lsqr<Exec, T> type(ct::lsqr_options const&);
  static ct::total_variation<Exec, T> type(ct::total_variation_options const&);
};
template <class Exec, class T, class Options>
using method_with = decltype(method_of<Exec, T>::type(std::declval<Options>()));

/// Throws iso::invalid_argument where options of the request do not go together, or with the scan.
inline void check_options(iterative_request const& request, std::int64_t views) {
  check_fields(request.rules, "iso reconstruct");
  std::visit(
      [&](auto const& options) {
        check_fields(options, "iso reconstruct");
        using type = std::remove_cvref_t<decltype(options)>;
        if constexpr (requires { options.block_views; }) {
          ISO_VALIDATE(options.block_views <= views,
                       "iso reconstruct: --block {} (the scan has {} views); ask for {} or fewer",
                       options.block_views, views, views);
        }
        if constexpr (std::is_same_v<type, ct::lsqr_options>) {
          ISO_VALIDATE(
              options.damping == 0 || (request.rules.relative_residual == 0 && !request.stop_noise),
              "iso reconstruct: --damping with --stop-residual or --stop-noise (what lsqr "
              "tells is then that of the damped problem); leave one of them out");
        }
      },
      request.options);
}

/// Returns the bytes of the host that a checkpoint takes: its arrays, or once the readings, which
/// it knows the scan by; and one array on its way from a GPU.
template <class T, class Exec>
double checkpoint_bytes(std::int64_t visited, double voxels, double pixels) {
  double const held = std::max(double(visited), pixels * double(sizeof(T)));
  return held + (backend::is_device<Exec> ? std::max(voxels, pixels) : 0) * double(sizeof(T));
}

/// Returns what a checkpoint belongs to.
/// \param given  ct::detail::given_arrays or given_hashes
template <class T, class Given>
ct::detail::belongings belongings_of(iterative_request const& request, ct::geometry const& g,
                                     grid const& box, Given const& given) {
  return std::visit(
      [&](auto const& options) {
        return ct::detail::belongings_of<T>(request.method, options, g, box, given);
      },
      request.options);
}
template <class T>
ct::detail::given_arrays<T> arrays_of(iterative_request const& request,
                                      std::vector<T> const& readings) {
  auto const span_of = [](auto const& given) {
    return given ? std::span<float const>(given->values) : std::span<float const>();
  };
  return {readings, span_of(request.reading_mask), span_of(request.start), span_of(request.mask)};
}

/// Returns the blocks of views by which the request's method projects.
inline ct::view_blocks blocks_of(iterative_request const& request, std::int64_t num_views) {
  return std::visit(
      [&](auto const& options) {
        if constexpr (requires { options.block_views; }) {
          if (options.block_views > 0) {
            return ct::split_views(num_views, options.block_views, options.order);
          }
        }
        return ct::split_views(num_views, num_views, ct::block_order::sequential);
      },
      request.options);
}

/// Returns ||b - A x|| of the readings that count, and its part of ||b||, by one more projection:
/// of the method's blocks, so that it is streamed within what the method was.
template <class T, class Exec, class Space>
std::array<double, 2> residual_of(
    Exec const& exec, ct::geometry const& g, ct::view_blocks const& blocks,
    ct::projector_options const& projector, projection_view<T const, Space> const& b,
    volume_view<T const, Space> const& x, ct::iterative_masks<T, Space> const& masks,
    ct::elsewhere const& through, job const& control, ct::detail::rank_part const& part = {}) {
  ct::projector_pair<Exec, T> const pair(exec, g, x.grid, blocks, projector, through);
  auto const n = pair.scan();
  using data = typename projection_view<T, Space>::data_type;
  projection_view<T, Space> const ax{
      allocate<data>("iso::jobs::residual", {n[0], n[1], n[2]}, exec)};
  if (blocks.count() == 1) {
    pair.forward(0, x, ax, control);
  } else {
    projection_view<T, Space> const some{
        allocate<data>("iso::jobs::residual", {blocks.max_size(), n[1], n[2]}, exec)};
    for (std::int64_t s = 0; s < blocks.count(); ++s) {
      std::int64_t const begin = blocks.begins[std::size_t(s)];
      projection_view<T, Space> const of_block{data(some.data.data(), blocks.size(s), n[1], n[2])};
      pair.forward(s, x, of_block, control);
      for (std::int64_t i = 0; i < blocks.size(s); ++i) {
        Kokkos::deep_copy(exec,
                          Kokkos::subview(ax.data, blocks.views[std::size_t(begin + i)],
                                          Kokkos::ALL, Kokkos::ALL),
                          Kokkos::subview(of_block.data, i, Kokkos::ALL, Kokkos::ALL));
      }
    }
  }
  auto const norm = [&](T const* projected) {
    return std::sqrt(ct::detail::sum_of_parts(
        exec, part, std::int64_t(ax.data.size()),
        ct::detail::square_misfit_term<T>{b.data.data(), masks.readings.data(), projected}));
  };
  double const residual = norm(ax.data.data());
  double const readings = norm(nullptr);
  return {residual, readings > 0 ? residual / readings : residual};
}

constexpr double reading_rounding = 1e-6;  // of the logarithm of photons, in float

/// Counts readings above `most` that a mask leaves.
template <class T>
struct above_reading {
  T const* readings;
  T const* mask;  ///< may be null
  double most;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    bool const counts = mask == nullptr || mask[i] != T(0);
    number += counts && double(readings[i]) > most + reading_rounding ? 1 : 0;
  }
};

/// The memory that a run of iterations takes, bytes.
struct iterative_memory {
  std::int64_t needed = 0;      ///< where it computes
  std::int64_t checkpoint = 0;  ///< of the host
  std::int64_t host = 0;        ///< of the host, besides
  bool in_blocks = false;       ///< of which one volume a block
};

/// What a run of iterations takes beside what the method has, bytes.
struct memory_beside {
  double readings = 0;  ///< where it computes
  double given = 0;     ///< of the host: readings as the request has them
  double result = 0;    ///< of the host, beside the volume: while the result is made
};

/// \param streamed  what the method's arrays pass through, if they do
template <class T, class Exec>
iterative_memory memory_of(Exec const& exec, iterative_request const& request,
                           ct::geometry const& g, grid const& box, memory_beside const& beside,
                           std::optional<ct::streaming_report> const& streamed) {
  double const voxels = double(box.size());
  double const pixels = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  // The volume, the readings, and masks as they are given.
  double const as_given =
      ((request.mask ? 2 : 1) * voxels + (request.reading_mask ? pixels : 0)) * double(sizeof(T)) +
      beside.readings;
  auto const blocks = blocks_of(request, g.num_views());
  double const of_pair =
      streamed ? double(streamed->host_bytes) -
                     double(ct::projector_pair<Exec, T>::bytes_needed(
                         exec, ct::detail::in_order(g, blocks), box, blocks, request.projector()))
               : 0;
  iterative_memory memory;
  std::visit(
      [&](auto const& options) {
        using method = method_with<Exec, T, decltype(options)>;
        memory.needed = whole_bytes(
            double(method::bytes_needed(exec, g, box, options, request.reading_mask.has_value())) +
            as_given + of_pair);
        memory.checkpoint =
            whole_bytes(checkpoint_bytes<T, Exec>(method::bytes_visited(g, box), voxels, pixels));
        if constexpr (std::is_same_v<method, ct::sart<Exec, T>>) {
          memory.in_blocks = options.block_views > 0 && options.block_views < g.num_views() &&
                             options.columns == ct::column_sums::of_blocks;
        }
      },
      request.options);
  // The method's arrays are free again when the result is made.
  double const of_method = backend::is_device<Exec> ? 0 : double(memory.needed) - as_given;
  memory.host = whole_bytes(std::max(beside.result - of_method, 0.0));
  return memory;
}

/// Returns 1 where a mask is not 0.
inline std::vector<float> ones_of(std::vector<float> values) {
  for (float& value : values) {
    value = value != 0 ? 1.0F : 0.0F;
  }
  return values;
}

/// Puts the start into `x`, and returns the masks: 1 where they are given as not 0.
template <class T, class Exec>
ct::iterative_masks<T, typename Exec::memory_space> put_given(
    Exec const& exec, iterative_request const& request, ct::geometry const& g,
    volume_view<T, typename Exec::memory_space> const& x) {
  using space = typename Exec::memory_space;
  ct::iterative_masks<T, space> masks;
  if (request.start) {
    cases::put(exec, x.data, request.start->values);
  }
  if (request.mask) {
    auto const mask = make_volume<T, space>(exec, "iso::jobs::mask", x.grid);
    cases::put(exec, mask.data, ones_of(request.mask->values));
    masks.voxels = mask.data;
  }
  if (request.reading_mask) {
    auto const mask = make_projections<T, space>(exec, "iso::jobs::reading_mask", g.num_views(),
                                                 g.num_u(), g.num_v());
    cases::put(exec, mask.data, ones_of(request.reading_mask->values));
    masks.readings = mask.data;
  }
  return masks;
}

/// Returns the request's rules, with what the noise of its photons leaves.
/// \param part  what is here of the readings
template <class T, class Exec, class Space>
ct::stopping_rules rules_of(Exec const& exec, iterative_request const& request,
                            projection_view<T const, Space> const& b,
                            ct::iterative_masks<T, Space> const& masks, reconstruct_result& result,
                            ct::detail::rank_part const& part = {}) {
  auto rules = request.rules;
  if (request.stop_noise) {
    // Readings of one photon lie above the logarithm of slightly fewer, and add nothing then.
    double const photons =
        *request.stop_noise * (result.are_clipped_left_out ? 1 - 3 * reading_rounding : 1);
    // As ct::noise_of_counts, of all parts.
    bool const all_count = masks.readings.size() == 0;
    ct::detail::variance_of_counts<T> const variance{
        b.data.data(), all_count ? b.data.data() : masks.readings.data(), all_count,
        photons * (1 + reading_rounding)};
    rules.noise = std::sqrt(
        ct::detail::sum_of_parts(exec, part, std::int64_t(b.data.size()), variance) / photons);
    result.noise = rules.noise;
    ISO_VALIDATE(is_finite(rules.noise),
                 "iso reconstruct: --stop-noise (readings are too large to be of counted "
                 "photons); mask them, or leave --stop-noise out");
    result.dark_readings = part.count(ct::detail::count_of(
        exec, std::int64_t(b.data.size()),
        above_reading<T>{b.data.data(), masks.readings.data(), std::log(*request.stop_noise)}));
  }
  return rules;
}

/// Iterates from where a checkpoint left the method, to the rules' end.
template <class T, class Exec, class Method>
void run_method(Exec const& exec, iterative_request const& request, ct::stopping_rules rules,
                checkpoint_of<T, Exec> const& checkpoint, observer const& watch, job control,
                Method& made, reconstruct_result& result) {
  checkpoint.restore(made, result.history);
  result.resumed = std::int64_t(result.history.size());
  ISO_VALIDATE(result.resumed <= rules.iterations,
               "iso reconstruct: --iterations {} (the checkpoint has made {}); ask for as many, or "
               "name another file",
               rules.iterations, result.resumed);
  std::string doing = "preparing";
  rules.proceed = [&](ct::iteration const& now) {
    doing = now.gap == now.gap ? message("gap {:.2e}", {now.gap})
                               : message("residual {:.3e}", {now.relative_residual});
    result.history.push_back(now);
    if (now.number % request.checkpoint_every == 0) {
      checkpoint.save(made, result.history);
    }
    return true;
  };
  control.progress = [&](double fraction) { watch.step(fraction, doing); };
  rules.iterations -= result.resumed;
  bool const done = !result.history.empty() && rules.met_by(result.history.back());
  if (rules.iterations >= 1 && !done) {
    result.time_ms = 1e3 * cases::seconds_of(exec, [&] { ct::iterate(made, rules, control); });
    if (result.history.back().number % request.checkpoint_every != 0) {
      checkpoint.save(made, result.history);
    }
  }
  result.rule_met = rules.met_by(result.history.back());
}

/// Runs the method again, each time from the start; the sums that it prepares are not timed.
template <class T, class Exec, class Space>
repeats_result repeat_method(Exec const& exec, iterative_request const& request,
                             ct::geometry const& g, projection_view<T const, Space> const& b,
                             volume_view<T, Space> const& x, ct::stopping_rules const& rules,
                             repeats_request const& repeats, observer const& watch,
                             ct::elsewhere const& through) {
  return std::visit(
      [&](auto const& options) {
        std::optional<method_with<Exec, T, decltype(options)>> made;
        return repeat(
            exec, repeats, watch, [&](job const& asked) { ct::iterate(*made, rules, asked); },
            [&](job const& asked) {
              made.reset();
              Kokkos::deep_copy(exec, x.data, T(0));
              auto const masks = put_given<T>(exec, request, g, x);
              made.emplace(exec, g, b, x, options, masks, asked, through);
            });
      },
      request.options);
}

/// Throws where a gap is asked for that numbers of T do not tell.
template <class T>
void check_gap(iterative_request const& request) {
  double const min_gap = sizeof(T) == 4 ? 1e-5 : 0;
  ISO_VALIDATE(request.rules.gap == 0 || request.rules.gap >= min_gap,
               "iso reconstruct: --stop-gap {} in float (a gap is off by about {} there); give "
               "--precision double",
               request.rules.gap, min_gap);
}

/// Returns the bytes that a run of iterations takes of a rank where it computes, beside the rank's
/// volume and readings: what the method has of its planes and rows, masks, and the pair's.
template <class T, class Exec>
std::int64_t bytes_on_rank(Exec const& exec, iterative_request const& request,
                           rank_parts const& parts, pairs_on_ranks const& passes) {
  auto const& plan = parts.plan();
  geometry_part const part(plan, parts.rank());
  auto const blocks = blocks_of(request, plan.scan().num_views());
  std::int64_t bytes = passes.bytes ? passes.bytes(plan, blocks, request.projector(), true)
                                    : ct::ranked_pair<Exec, T>::bytes_needed(
                                          exec, parts.rank(), plan, blocks, request.projector());
  if (!part.has_both()) {
    return bytes;
  }
  // What a method says of a scan of the rank's rows and a grid of its planes, but for the pair.
  bool const masked = request.reading_mask.has_value();
  std::visit(
      [&](auto const& options) {
        using method = method_with<Exec, T, decltype(options)>;
        bytes += method::bytes_needed(exec, part.scan(), part.box(), options, masked) -
                 ct::projector_pair<Exec, T>::bytes_needed(
                     exec, ct::detail::in_order(part.scan(), blocks), part.box(), blocks,
                     request.projector());
      },
      request.options);
  return bytes + std::int64_t(sizeof(T)) *
                     ((request.mask ? part.voxels() : 0) + (masked ? part.readings() : 0));
}

/// Puts the planes of a given volume where the method has them. Returns the hash of the whole,
/// where a checkpoint wants it.
template <class Exec, class View>
std::uint64_t put_given_planes(Exec const& exec, iterative_request const& request,
                               rank_parts const& parts, files::host_volume const& given,
                               planes_reader const& read, bool as_ones, View const& to) {
  auto const own = parts.plan().planes(parts.rank());
  std::vector<float> here;
  if (!read) {
    check_alike(given.values, "volumes");
  }
  iso::detail::check_together(parts.ranks(), "iso reconstruct", [&] {
    here = read ? read(own)
                : cut_columns(given.values, given.extent[2], column_range{own.first, own.last});
  });
  auto const& n = given.extent;
  std::uint64_t const hash =
      request.checkpoint.empty()
          ? iso::detail::fnv1a_of_nothing
          : hash_of_planes(parts.ranks(), here, n[0] * n[1], parts.all_planes());
  cases::put(exec, to, as_ones ? ones_of(std::move(here)) : here);
  return hash;
}

/// Runs the method on the ranks that share the job: each has its planes and its rows of all that
/// the method has. `take` fills rows of readings and of their mask, and returns the hashes of the
/// whole; `keep` takes the planes.
/// \param passes  makes what the parts pass through; empty: they lie where `exec` computes
template <class T, class Exec, class Take, class Keep>
void iterate_on_ranks(Exec const& exec, iterative_request const& request, ct::geometry const& g,
                      rank_parts const& parts, repeats_request const& repeats,
                      observer const& watch, pairs_on_ranks const& passes,
                      reconstruct_result& result, Take const& take, Keep const& keep) {
  using space = typename Exec::memory_space;
  check_options(request, g.num_views());
  check_gap<T>(request);
  result.bytes_needed = parts.check_memory<T>(exec, bytes_on_rank<T>(exec, request, parts, passes),
                                              "iso reconstruct");
  watch.step(0, "preparing");
  auto const b = parts.readings<T>(exec, "iso::jobs::projections");
  ct::iterative_masks<T, space> masks;
  auto of_readings = decltype(b.data)();
  if (request.reading_mask) {
    of_readings = parts.readings<T>(exec, "iso::jobs::reading_mask").data;
    masks.readings = of_readings;
  }
  auto given = take(b.data, of_readings);
  auto const x = parts.volume<T>(exec, "iso::jobs::volume");
  auto const restart = [&] {
    Kokkos::deep_copy(exec, x.data, T(0));
    if (request.start) {
      given.start =
          put_given_planes(exec, request, parts, *request.start, request.read_start, false, x.data);
    }
  };
  restart();
  if (request.mask) {
    auto const mask = parts.volume<T>(exec, "iso::jobs::mask");
    given.voxel_mask =
        put_given_planes(exec, request, parts, *request.mask, request.read_mask, true, mask.data);
    masks.voxels = mask.data;
  }
  // What the noise leaves is of the whole, and every rank finds the same.
  auto const rules =
      rules_of<T>(exec, request, projection_view<T const, space>(b), masks, result, parts.part());
  auto const through = parts.place(exec, passes);
  checkpoint_of<T, Exec> const checkpoint(
      exec, request.checkpoint,
      request.checkpoint.empty() ? typename checkpoint_of<T, Exec>::belongings()
                                 : belongings_of<T>(request, g, parts.plan().grid(), given),
      &parts);
  job control;
  control.cancelled = watch.cancelled;
  std::visit(
      [&](auto const& options) {
        using method = method_with<Exec, T, decltype(options)>;
        std::optional<method> made(std::in_place, exec, g, b, x, options, masks, control, through);
        run_method(exec, request, rules, checkpoint, watch, control, *made, result);
        result.streaming = made->streaming();
        if constexpr (requires { made->box(); }) {
          result.box = {made->box().lower, made->box().upper};
        }
        if (request.final_residual) {
          result.final_residual = residual_of<T, Exec, space>(
              exec, g, blocks_of(request, g.num_views()), request.projector(), b, x, masks, through,
              control, parts.part());
        }
        keep(x);
        result.repeats = repeat(
            exec, repeats, watch, [&](job const& asked) { ct::iterate(*made, rules, asked); },
            [&](job const& asked) {
              made.reset();
              restart();
              made.emplace(exec, g, b, x, options, masks, asked, through);
            });
      },
      request.options);
}

/// Returns the calls that a method has streamed.
inline streamed_calls calls_of(iterative_request const& request) {
  return std::visit(
      [](auto const& options) {
        // Methods with blocks make their step while the slab is there.
        bool const steps = requires { options.block_views; };
        return streamed_calls{true, !steps, steps};
      },
      request.options);
}

/// Runs the method; `readings` makes the projections; `keep` takes the volume.
template <class T, class Exec, class Readings, class Keep>
void iterate_scan(Exec const& exec, iterative_request const& request, ct::geometry const& g,
                  grid const& box, repeats_request const& repeats, observer const& watch,
                  ct::streamed const& through, reconstruct_result& result, Readings const& readings,
                  memory_beside const& beside, Keep const& keep) {
  using space = typename Exec::memory_space;
  check_options(request, g.num_views());
  check_gap<T>(request);
  std::optional<ct::streaming_report> streamed;
  if (through) {
    streamed = through.plan<T>(g, box, blocks_of(request, g.num_views()), request.projector());
  }
  auto const memory = memory_of<T>(exec, request, g, box, beside, streamed);
  result.bytes_needed = memory.needed;
  char const* const what = memory.in_blocks
                               ? "iso reconstruct (a volume a block; --column-sums scan takes one)"
                               : "iso reconstruct";
  if (!request.checkpoint.empty()) {
    check_free(exec, memory.needed, std::max(memory.checkpoint, memory.host), what);
  }
  watch.step(0, "preparing");
  guard_memory(exec, memory.needed, memory.host, what, [&] {
    tell_streamed(watch, streamed, calls_of(request),
                  double(memory.needed) + double(memory.host) + beside.given +
                      (request.checkpoint.empty() ? 0 : double(memory.checkpoint)));
    projection_view<T const, space> const b = readings();
    auto const x = make_volume<T, space>(exec, "iso::jobs::volume", box);
    auto const masks = put_given<T>(exec, request, g, x);
    auto const rules = rules_of<T>(exec, request, b, masks, result);
    checkpoint_of<T, Exec> const checkpoint(
        exec, request.checkpoint,
        request.checkpoint.empty()
            ? typename checkpoint_of<T, Exec>::belongings()
            : belongings_of<T>(request, g, box, arrays_of<T>(request, cases::fetch(exec, b.data))));
    job control;
    control.cancelled = [&] {
      if (watch.cancelled) {
        exec.fence("iso::jobs::reconstruct: a batch of views");
        return watch.cancelled();
      }
      return false;
    };
    std::visit(
        [&](auto const& options) {
          method_with<Exec, T, decltype(options)> made(exec, g, b, x, options, masks, control,
                                                       through);
          run_method(exec, request, rules, checkpoint, watch, control, made, result);
          result.streaming = made.streaming();
          if (result.streaming) {
            result.streaming = calls_of(request).of(*result.streaming);
          }
          if constexpr (requires { made.box(); }) {
            result.box = {made.box().lower, made.box().upper};
          }
        },
        request.options);
    if (request.final_residual) {
      result.final_residual =
          residual_of<T>(exec, g, blocks_of(request, g.num_views()), request.projector(), b,
                         volume_view<T const, space>(x), masks, through, control);
    }
    keep(x);
    result.repeats = repeat_method<T>(exec, request, g, b, x, rules, repeats, watch, through);
    return 0;
  });
}

}  // namespace iso::jobs
