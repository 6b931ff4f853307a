// SPDX-License-Identifier: BSD-3-Clause
//! Reconstructs by the iterative method that a request names.
#pragma once

#include "memory.hpp"

#include <iso/cases/memory.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace iso::jobs {

enum class iterative_method { sirt, sart, os_sart, cgls, lsqr, mlem, osem, tv };

inline constexpr std::array<std::pair<std::string_view, iterative_method>, 8> iterations = {
    {{"sirt", iterative_method::sirt},
     {"sart", iterative_method::sart},
     {"os-sart", iterative_method::os_sart},
     {"cgls", iterative_method::cgls},
     {"lsqr", iterative_method::lsqr},
     {"mlem", iterative_method::mlem},
     {"osem", iterative_method::osem},
     {"tv", iterative_method::tv}}};

/// Throws iso::invalid_argument naming the first option that the method has not, or has to have.
inline void check_options(iterative_request const& request, iterative_method method) {
  bool const row_action = method == iterative_method::sirt || method == iterative_method::sart ||
                          method == iterative_method::os_sart;
  bool const blocks = method == iterative_method::os_sart || method == iterative_method::osem;
  bool const ordered = blocks || method == iterative_method::sart;
  bool const boxed = row_action || method == iterative_method::tv;
  auto const refuse = [&](bool given, bool has, char const* option) {
    ISO_VALIDATE(has || !given, "iso reconstruct: --{} (method {} has no such option) leave it out",
                 option, request.method);
  };
  refuse(request.relaxation.has_value(), row_action, "relaxation");
  refuse(request.block.has_value(), blocks, "block");
  refuse(request.order.has_value(), ordered, "order");
  refuse(request.lower.has_value(), boxed, "lower");
  refuse(request.upper.has_value(), boxed, "upper");
  refuse(request.damping.has_value(), method == iterative_method::lsqr, "damping");
  refuse(request.weight.has_value(), method == iterative_method::tv, "weight");
  refuse(request.stop_gap.has_value(), method == iterative_method::tv, "stop-gap");
  ISO_VALIDATE(method != iterative_method::tv || request.weight.has_value(),
               "iso reconstruct: --method tv without --weight (how much variation costs is for you "
               "to say) give --weight");
}

/// Runs the method; `readings` makes the projections, `keep` takes the volume.
template <class T, class Exec, class Readings, class Keep>
void iterate_scan(Exec const& exec, iterative_request const& request, ct::geometry const& g,
                  grid const& box, observer const& watch, reconstruct_result& result,
                  Readings const& readings, Keep const& keep) {
  using space = typename Exec::memory_space;
  auto const method = std::find_if(iterations.begin(), iterations.end(), [&](auto const& entry) {
    return entry.first == request.method;
  });
  ISO_VALIDATE(method != iterations.end(), "iso reconstruct: method '{}' is not known",
               request.method);
  check_options(request, method->second);
  auto const order = request.order.value_or("golden");
  ISO_VALIDATE(order == "golden" || order == "sequential",
               "iso reconstruct: order '{}' is not known (choose golden or sequential)", order);
  auto const by = order == "golden" ? ct::block_order::golden : ct::block_order::sequential;
  double const infinite = std::numeric_limits<double>::infinity();
  ct::value_range const range{request.lower.value_or(-infinite), request.upper.value_or(infinite)};

  // Volumes and sets of projections held at once: the table of docs/algorithms/iterative.md, and
  // the readings.
  std::int64_t const views = g.num_views();
  std::int64_t const block =
      method->second == iterative_method::sart ? 1 : request.block.value_or(8);
  std::int64_t const blocks = (views + block - 1) / (block < 1 ? 1 : block);
  std::array<std::int64_t, 2> held = {3, 4};
  switch (method->second) {
    case iterative_method::sirt:
    case iterative_method::mlem:
      break;
    case iterative_method::sart:
    case iterative_method::os_sart:
    case iterative_method::osem:
      held = {2 + blocks, 4};
      break;
    case iterative_method::cgls:
      held = {3, 4};
      break;
    case iterative_method::lsqr:
      held = {4, 4};
      break;
    case iterative_method::tv:
      held = {7, 6};
      break;
  }
  double const pixels = double(views) * double(g.num_u()) * double(g.num_v());
  double const wanted =
      (double(held[0]) * double(box.size()) + double(held[1]) * pixels) * double(sizeof(T)) +
      double(ct::back_project_bytes_needed<T>(exec, g, box));
  watch.step(0, "preparing");
  guard_memory(
      exec, wanted < 0x1p62 ? std::int64_t(wanted) : std::int64_t(1) << 62, "iso reconstruct", [&] {
        auto const given = readings();
        projection_view<T const, space> const b = given;
        auto const x = make_volume<T, space>(exec, "iso::jobs::volume", box);
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
          ct::stopping_rules rules{.iterations = request.iterations,
                                   .relative_residual = request.stop_residual,
                                   .gap = request.stop_gap.value_or(1e-3)};
          rules.proceed = [&](ct::iteration const& now) {
            doing = now.gap == now.gap ? message("gap {:.2e}", {now.gap})
                                       : message("residual {:.3e}", {now.relative_residual});
            result.history.push_back({now.number, now.residual, now.relative_residual, now.gap});
            return true;
          };
          control.progress = [&](double fraction) { watch.step(fraction, doing); };
          result.time_ms =
              1e3 * cases::seconds_of(exec, [&] { ct::iterate(made, rules, control); });
        };
        switch (method->second) {
          case iterative_method::sirt:
          case iterative_method::sart:
          case iterative_method::os_sart:
            run(ct::sart<Exec, T>(
                exec, g, b, x,
                {.block_views = method->second == iterative_method::sirt ? 0 : block,
                 .order = by,
                 .relaxation = request.relaxation.value_or(1),
                 .box = range},
                {}, control));
            break;
          case iterative_method::cgls:
            run(ct::cgls<Exec, T>(exec, g, b, x, {}, {}, control));
            break;
          case iterative_method::lsqr:
            run(ct::lsqr<Exec, T>(exec, g, b, x, {.damping = request.damping.value_or(0)}, {},
                                  control));
            break;
          case iterative_method::mlem:
          case iterative_method::osem:
            run(ct::mlem<Exec, T>(
                exec, g, b, x,
                {.block_views = method->second == iterative_method::mlem ? 0 : block, .order = by},
                {}, control));
            break;
          case iterative_method::tv: {
            ct::total_variation<Exec, T> made(
                exec, g, b, x, {.weight = *request.weight, .box = range}, {}, control);
            result.box = {made.box().lower, made.box().upper};
            run(made);
            break;
          }
        }
        keep(x);
        return 0;
      });
}

}  // namespace iso::jobs
