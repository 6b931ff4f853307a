// SPDX-License-Identifier: BSD-3-Clause
//! Reconstructs by the iterative method that a request names.
#pragma once

#include "checkpoint.hpp"
#include "memory.hpp"
#include "scan.hpp"

#include <iso/cases/memory.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/noise_of_counts.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace iso::jobs {

enum class iterative_method { sirt, sart, os_sart, cgls, lsqr, mlem, osem, tv };

constexpr auto words(iterative_method) {
  using enum iterative_method;
  return std::array{word{sirt, "sirt"}, word{sart, "sart"}, word{os_sart, "os-sart"},
                    word{cgls, "cgls"}, word{lsqr, "lsqr"}, word{mlem, "mlem"},
                    word{osem, "osem"}, word{tv, "tv"}};
}

/// Returns the method of that name.
/// \throws iso::invalid_argument  there is none
inline iterative_method method_named(std::string const& name) {
  auto const known = from_word<iterative_method>(name);
  ISO_VALIDATE(known,
               "iso reconstruct: method '{}' is not known (it is none of the iterations); see iso "
               "reconstruct --help",
               name);
  return *known;
}

/// The options that a method has.
struct options_of_method {
  bool relaxation;
  bool block;
  bool order;
  bool columns;
  bool box;
  bool damping;
  bool weight;

  explicit options_of_method(iterative_method method)
      : relaxation(method == iterative_method::sirt || method == iterative_method::sart ||
                   method == iterative_method::os_sart),
        block(method == iterative_method::os_sart || method == iterative_method::osem),
        order(block || method == iterative_method::sart),
        columns(order && relaxation),
        box(relaxation || method == iterative_method::tv),
        damping(method == iterative_method::lsqr),
        weight(method == iterative_method::tv) {}
};

inline constexpr double default_relaxation = 1;
inline constexpr auto default_order = ct::block_order::golden;
inline constexpr auto default_columns = ct::column_sums::of_blocks;

/// Returns the views of a block.
inline std::int64_t block_of(iterative_request const& request, iterative_method method,
                             std::int64_t views) {
  return method == iterative_method::sart
             ? 1
             : request.block.value_or(std::min<std::int64_t>(8, views));
}

/// Throws iso::invalid_argument naming the first option that the method has not, or has to have.
inline void check_options(iterative_request const& request, iterative_method method) {
  options_of_method const has(method);
  auto const check_has = [&](bool given, bool has, char const* option) {
    ISO_VALIDATE(has || !given,
                 "iso reconstruct: --{} (method {} has no such option); leave it out", option,
                 request.method);
  };
  check_has(request.relaxation.has_value(), has.relaxation, "relaxation");
  check_has(request.block.has_value(), has.block, "block");
  ISO_VALIDATE(request.iterations.value_or(1) >= 1,
               "iso reconstruct: --iterations {} (at least one is needed); ask for 1 or more",
               *request.iterations);
  ISO_VALIDATE(request.block.value_or(1) >= 1,
               "iso reconstruct: --block {} (at least one view is needed); ask for 1 or more",
               *request.block);
  check_has(request.order.has_value(), has.order, "order");
  check_has(request.columns.has_value(), has.columns, "column-sums");
  check_has(request.lower.has_value(), has.box, "lower");
  check_has(request.upper.has_value(), has.box, "upper");
  check_has(request.damping.has_value(), has.damping, "damping");
  check_has(request.weight.has_value(), has.weight, "weight");
  check_has(request.stop_gap.has_value(), has.weight, "stop-gap");
  ISO_VALIDATE(
      request.damping.value_or(0) == 0 || (request.stop_residual == 0 && !request.stop_noise),
      "iso reconstruct: --damping with --stop-residual or --stop-noise (what lsqr tells is then "
      "that of the damped problem); leave one of them out");
  ISO_VALIDATE(!has.weight || request.weight.has_value(),
               "iso reconstruct: --method tv without --weight (how much variation costs is for you "
               "to say); give --weight");
}

/// Counts volumes and sets of projections that a method holds at once: the table of
/// docs/algorithms/iterative.md, and the readings. A block is `part` of a set, that of mlem all.
inline std::array<double, 2> arrays_held(iterative_method method, std::int64_t blocks, double part,
                                         bool columns_of_scan) {
  double const columns = columns_of_scan ? 1 : double(blocks);
  switch (method) {
    case iterative_method::sart:
    case iterative_method::os_sart:
      return {2 + columns, (blocks == 1 ? 3 : 4) + part};
    case iterative_method::osem:
      return {2 + columns, 3 + part};
    case iterative_method::mlem:
      return {3, 4};
    case iterative_method::lsqr:
      return {4, 4};
    case iterative_method::tv:
      return {9, 7};
    case iterative_method::sirt:
    case iterative_method::cgls:
      break;
  }
  return {3, 4};
}

/// Returns the bytes of scratch memory that a method's projector takes, whose blocks have so many
/// views.
template <class T, class Exec>
std::int64_t scratch_of(Exec const& exec, ct::geometry const& g, grid const& box,
                        std::int64_t block, ct::block_order order,
                        ct::projector_options const& projector) {
  auto const blocks = ct::split_views(g.num_views(), block, order);
  std::vector<ct::view_vectors> views;
  for (std::int64_t const view : blocks.views) {
    views.push_back(g.views()[std::size_t(view)]);
  }
  return ct::projector_pair<Exec, T>::bytes_needed(
      exec, ct::geometry(g.kind(), g.num_u(), g.num_v(), views), box, blocks, projector);
}

/// Counts volumes and sets of projections of a method's state, which a checkpoint holds.
inline std::array<double, 2> arrays_of_state(iterative_method method) {
  switch (method) {
    case iterative_method::cgls:
      return {2, 1};
    case iterative_method::lsqr:
      return {3, 1};
    case iterative_method::tv:
      return {7, 3};
    case iterative_method::sirt:
    case iterative_method::sart:
    case iterative_method::os_sart:
    case iterative_method::mlem:
    case iterative_method::osem:
      break;
  }
  return {1, 0};
}

/// Returns the bytes of the host that a checkpoint takes: its arrays, or once the readings, which
/// it knows the scan by; and one array on its way from a GPU.
template <class T, class Exec>
double checkpoint_bytes(Exec const&, iterative_method method, double voxels, double pixels) {
  auto const state = arrays_of_state(method);
  double const held = std::max(state[0] * voxels + state[1] * pixels, pixels);
  return (held + (backend::is_device<Exec> ? std::max(voxels, pixels) : 0)) * double(sizeof(T));
}

/// Returns what a checkpoint belongs to. How often an iteration runs, and where, changes no bit.
template <class T>
std::vector<std::pair<std::string, std::string>> belongings_of(iterative_request const& request,
                                                               iterative_method by,
                                                               ct::geometry const& g,
                                                               grid const& box,
                                                               std::vector<T> const& readings) {
  auto const add_vector = [](fingerprint& print, vec3<double> const& v) {
    print.add(v.x);
    print.add(v.y);
    print.add(v.z);
  };
  fingerprint scan;
  scan.add(g.kind() == ct::beam::cone ? 0 : 1);
  for (auto const& view : g.views()) {
    add_vector(scan, view.source);
    add_vector(scan, view.detector_origin);
    add_vector(scan, view.u_step);
    add_vector(scan, view.v_step);
  }
  scan.add(double(g.num_u()));
  scan.add(double(g.num_v()));
  scan.add(readings);
  scan.add(request.reading_mask ? request.reading_mask->values : std::vector<float>());
  fingerprint volume;
  for (auto const n : box.extent) {
    volume.add(double(n));
  }
  add_vector(volume, box.spacing);
  add_vector(volume, box.origin);
  volume.add(request.start ? request.start->values : std::vector<float>());
  volume.add(request.mask ? request.mask->values : std::vector<float>());
  std::vector<std::pair<std::string, std::string>> all = {
      {"method", request.method},
      {"projector", name_of(request.projector)},
      {"backprojector", std::string(to_word(request.projector.backprojection))},
      {"oversampling", std::to_string(request.projector.oversampling)},
      {"precision", sizeof(T) == 4 ? "float" : "double"},
      {"scan", scan.text()},
      {"volume", volume.text()}};
  // Those that the method has, as it takes them: where one is not given, by its default.
  auto const tell = [&](char const* name, auto const& value) {
    all.emplace_back(name, message("{}", {iso::detail::as_message_arg(value)}));
  };
  auto const tell_bound = [&](char const* name, std::optional<double> const& bound) {
    if (bound) {
      tell(name, *bound);
    } else {
      tell(name, by == iterative_method::tv ? "from the data" : "none");
    }
  };
  options_of_method const has(by);
  if (has.relaxation) {
    tell("relaxation", request.relaxation.value_or(default_relaxation));
  }
  if (has.block) {
    tell("block", block_of(request, by, g.num_views()));
  }
  if (has.order) {
    tell("order", to_word(request.order.value_or(default_order)));
  }
  if (has.columns) {
    tell("column sums", to_word(request.columns.value_or(default_columns)));
  }
  if (has.box) {
    tell_bound("lower bound", request.lower);
    tell_bound("upper bound", request.upper);
  }
  if (has.damping) {
    tell("damping", request.damping.value_or(0));
  }
  if (has.weight) {
    tell("weight", *request.weight);
  }
  return all;
}

/// Returns ||b - A x|| of the readings that count, and its part of ||b||, by one more projection.
template <class T, class Exec, class Space>
std::array<double, 2> residual_of(Exec const& exec, ct::geometry const& g,
                                  ct::projector_options projector,
                                  projection_view<T const, Space> const& b,
                                  volume_view<T const, Space> const& x,
                                  ct::iterative_masks<T, Space> const& masks, job const& control) {
  projector.backprojection = ct::backprojection::adjoint;  // which is not run
  ct::projector_pair<Exec, T> const pair(
      exec, g, x.grid, ct::split_views(g.num_views(), g.num_views(), ct::block_order::sequential),
      projector);
  auto const ax =
      make_projections<T, Space>(exec, "iso::jobs::residual", g.num_views(), g.num_u(), g.num_v());
  pair.forward(0, x, ax, control);
  auto const norm = [&](T const* projected) {
    return std::sqrt(
        sum_of(exec, std::int64_t(ax.data.size()),
               ct::detail::square_misfit_term<T>{b.data.data(), masks.readings.data(), projected}));
  };
  double const residual = norm(ax.data.data());
  double const readings = norm(nullptr);
  return {residual, readings > 0 ? residual / readings : residual};
}

/// Counts readings above `most` that a mask leaves.
template <class T>
struct above_reading {
  T const* readings;
  T const* mask;  ///< may be null
  double most;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& number) const {
    bool const counts = mask == nullptr || mask[i] != T(0);
    number += counts && double(readings[i]) > most + 1e-6 ? 1 : 0;
  }
};

/// Runs the method; `readings` makes the projections, `keep` takes the volume.
template <class T, class Exec, class Readings, class Keep>
void iterate_scan(Exec const& exec, iterative_request const& request, ct::geometry const& g,
                  grid const& box, observer const& watch, reconstruct_result& result,
                  Readings const& readings, Keep const& keep) {
  using space = typename Exec::memory_space;
  using method = iterative_method;
  method const by = method_named(request.method);
  check_options(request, by);
  double const min_gap = sizeof(T) == 4 ? 1e-5 : 0;
  double const gap = request.stop_gap.value_or(1e-3);
  ISO_VALIDATE(gap == 0 || gap >= min_gap,
               "iso reconstruct: --stop-gap {} in float (a gap is off by about {} there); give "
               "--precision double",
               gap, min_gap);
  auto const order = request.order.value_or(default_order);
  auto const columns = request.columns.value_or(default_columns);
  double const infinite = std::numeric_limits<double>::infinity();
  ct::value_range const range{request.lower.value_or(-infinite), request.upper.value_or(infinite)};
  auto const& projector = request.projector;
  std::int64_t const views = g.num_views();
  double const pixels = double(views) * double(g.num_u()) * double(g.num_v());
  std::int64_t const most = request.iterations.value_or(by == method::tv ? 1000 : 20);
  ISO_VALIDATE(request.block.value_or(1) <= views,
               "iso reconstruct: --block {} (the scan has {} views); ask for {} or fewer",
               *request.block, views, views);
  bool const in_blocks = by == method::sart || by == method::os_sart || by == method::osem;
  std::int64_t const block = in_blocks ? block_of(request, by, views) : views;
  std::int64_t const blocks = (views + block - 1) / block;
  double const part = double((views + blocks - 1) / blocks) / double(views);
  auto const held = arrays_held(by, blocks, part, columns == ct::column_sums::of_scan);
  // Texture units read three stacks of planes; one volume more says how many there are.
  double const volumes =
      held[0] + (request.mask ? 1 : 0) + (projector.projection == ct::projection::texture ? 4 : 0);
  double const sets = held[1] + (request.reading_mask ? 2 : 0);
  double const wanted = (volumes * double(box.size()) + sets * pixels) * double(sizeof(T)) +
                        double(scratch_of<T>(exec, g, box, block, order, projector));
  watch.step(0, "preparing");
  auto const compute = [&] {
    auto const given = readings();
    projection_view<T const, space> const b = given;
    auto const x = make_volume<T, space>(exec, "iso::jobs::volume", box);
    ct::iterative_masks<T, space> masks;
    // A mask is 1 where it is not 0.
    auto const ones = [](std::vector<float> values) {
      for (float& value : values) {
        value = value != 0 ? 1.0F : 0.0F;
      }
      return values;
    };
    if (request.start) {
      cases::put(exec, x.data, request.start->values);
    }
    if (request.mask) {
      auto const mask = make_volume<T, space>(exec, "iso::jobs::mask", box);
      cases::put(exec, mask.data, ones(request.mask->values));
      masks.voxels = mask.data;
    }
    if (request.reading_mask) {
      auto const mask =
          make_projections<T, space>(exec, "iso::jobs::reading_mask", views, g.num_u(), g.num_v());
      cases::put(exec, mask.data, ones(request.reading_mask->values));
      masks.readings = mask.data;
    }
    ct::stopping_rules rules{
        .iterations = most, .relative_residual = request.stop_residual, .gap = gap};
    if (request.stop_noise) {
      rules.noise = ct::noise_of_counts<Exec, T>(exec, b, *request.stop_noise, {masks.readings});
      ISO_VALIDATE(is_finite(rules.noise),
                   "iso reconstruct: --stop-noise (readings are too large to be of counted "
                   "photons); mask them, or leave --stop-noise out");
      result.dark_readings = ct::detail::count_of(
          exec, std::int64_t(b.data.size()),
          above_reading<T>{b.data.data(), masks.readings.data(), std::log(*request.stop_noise)});
    }
    checkpoint_of<T, Exec> const checkpoint(
        exec, request.checkpoint,
        request.checkpoint.empty()
            ? typename checkpoint_of<T, Exec>::belongings()
            : belongings_of<T>(request, by, g, box, cases::fetch(exec, given.data)));
    std::string doing = "preparing";
    job control;
    control.cancelled = [&] {
      if (watch.cancelled) {
        exec.fence("iso::jobs::reconstruct: a batch of views");
        return watch.cancelled();
      }
      return false;
    };
    auto const run = [&](auto&& made) {
      checkpoint.restore(made, result.history);
      result.resumed = std::int64_t(result.history.size());
      ISO_VALIDATE(result.resumed <= most,
                   "iso reconstruct: --iterations {} (the checkpoint has made {}); ask for as "
                   "many, or name another file",
                   most, result.resumed);
      rules.proceed = [&](ct::iteration const& now) {
        doing = now.gap == now.gap ? message("gap {:.2e}", {now.gap})
                                   : message("residual {:.3e}", {now.relative_residual});
        result.history.push_back({now.number, now.residual, now.relative_residual, now.gap});
        if (now.number % request.checkpoint_every == 0) {
          checkpoint.save(made, result.history);
        }
        return true;
      };
      control.progress = [&](double fraction) { watch.step(fraction, doing); };
      rules.iterations = most - result.resumed;
      bool const done = !result.history.empty() && rules.met_by(result.history.back());
      if (rules.iterations >= 1 && !done) {
        result.time_ms = 1e3 * cases::seconds_of(exec, [&] { ct::iterate(made, rules, control); });
        if (result.history.back().number % request.checkpoint_every != 0) {
          checkpoint.save(made, result.history);
        }
      }
      result.rule_met = rules.met_by(result.history.back());
    };
    switch (by) {
      case method::sirt:
      case method::sart:
      case method::os_sart:
        run(ct::sart<Exec, T>(exec, g, b, x,
                              {.block_views = by == method::sirt ? 0 : block,
                               .order = order,
                               .relaxation = request.relaxation.value_or(default_relaxation),
                               .columns = columns,
                               .box = range,
                               .projector = projector},
                              masks, control));
        break;
      case method::cgls:
        run(ct::cgls<Exec, T>(exec, g, b, x, {.projector = projector}, masks, control));
        break;
      case method::lsqr:
        run(ct::lsqr<Exec, T>(exec, g, b, x,
                              {.damping = request.damping.value_or(0), .projector = projector},
                              masks, control));
        break;
      case method::mlem:
      case method::osem:
        run(ct::mlem<Exec, T>(
            exec, g, b, x,
            {.block_views = by == method::mlem ? 0 : block, .order = order, .projector = projector},
            masks, control));
        break;
      case method::tv: {
        ct::total_variation<Exec, T> made(
            exec, g, b, x, {.weight = *request.weight, .box = range, .projector = projector}, masks,
            control);
        run(made);
        result.box = {made.box().lower, made.box().upper};
        break;
      }
    }
    if (request.final_residual) {
      control.progress = {};
      result.final_residual =
          residual_of<T>(exec, g, projector, b, volume_view<T const, space>(x), masks, control);
    }
    keep(x);
    return 0;
  };
  bool const could_share = (by == method::sart || by == method::os_sart) && blocks > 1 &&
                           columns == ct::column_sums::of_blocks;
  char const* const what = could_share
                               ? "iso reconstruct (a volume a block; --column-sums scan takes one)"
                               : "iso reconstruct";
  auto const whole = [](double bytes) {
    return bytes < 0x1p61 ? std::int64_t(bytes) : std::int64_t(1) << 61;
  };
  if (!request.checkpoint.empty()) {
    check_free(exec, whole(wanted),
               whole(checkpoint_bytes<T>(exec, by, double(box.size()), pixels)), what);
  }
  result.bytes_needed = whole(wanted);
  guard_memory(exec, result.bytes_needed, what, compute);
}

}  // namespace iso::jobs
