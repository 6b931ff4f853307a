// SPDX-License-Identifier: BSD-3-Clause
// Volumes in host memory that pass through a device within a limit of bytes, beside the same calls
// on arrays in the device's memory, in turn in one run; both with reproducible sums. N^3 voxels,
// N^2 pixels, cone views of cases::cone_scan. Rows:
//
//   streamed/<what>/<scan>/float/<backend>/<N>
//
// <what>: `forward`, `adjoint`, `fdk` (with `_locked`: of page-locked arrays), or an iteration of
// `sirt`, `os_sart` (4 blocks), `cgls`, `total_variation`. <scan>: `upright`, or `tilted`, whose
// detector is rolled by one degree and pitched by two. `sirt_ordered` is an iteration of SIRT in
// memory with reproducible sums beside one with ordered sums; nothing of it is streamed.
//
// The limit is 4 GiB at 1024 and 16 GiB at 1536, from 720 views, and in proportion to N^3 for
// others.
//
// The calls that docs/algorithms/streaming.md has from 1024 on and its sums beside ordered ones,
// and a few more, by one run. The rows there are of several runs and revisions, as it says.
//
//   F='^streamed/(.*upright.*/1024|((adjoint|fdk)_locked|sirt)/upright.*/1536|sirt_o.*/512)(/|$)'
//   iso_bench_streamed --benchmark_filter="$F"
//
// Counters beside the usual: `views`; `memory_ms`, in the device's memory, and `ms`, streamed:
// medians of alternating runs; `ratio`, of the second over the first; `limit` and `device_bytes`;
// `bytes_in` and `bytes_out`, carried by one call, and `formula_in` and `formula_out`, what the
// table of docs/algorithms/streaming.md says of the plan: of a projection with its halo, of an
// iteration the projection and the adjoint, with its step where the method has one.
//
// `error`: sum of |difference| of both results over the sum of sizes; 0, as they have the same
// bits.
#include "support/bench.hpp"

#include <iso/backend/event.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/reconstruction.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/streamed_fdk.hpp>
#include <iso/ct/streamed_pair.hpp>
#include <iso/ct/total_variation.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace iso::perf {

using namespace cases;

namespace {

using host_exec = Kokkos::DefaultHostExecutionSpace;
using host = Kokkos::HostSpace;
using T = float;

ct::geometry scan_of(std::int64_t n, bool tilted) {
  auto const scan = cone_scan(n, smoke() ? 32 : n >= 1024 ? 720 : 360);
  return tilted ? cases::tilted(scan) : scan;
}

std::int64_t limit_of(std::int64_t n) {
  std::int64_t const gib = std::int64_t(1) << 30;
  double const part = std::pow(double(n) / 1024, 3);
  return n == 1536 ? 16 * gib : std::int64_t(4 * double(gib) * part) + (smoke() ? 16 << 20 : 0);
}

/// The times of both, in turn, and what the streamed one has carried.
struct comparison {
  stopwatch here;
  stopwatch there;
  ct::streaming_report before;
  ct::streaming_report after;
  double formula_in = 0;
  double formula_out = 0;

  /// Has a call of these plans told beside what was carried.
  void expect(ct::streaming_plan const& plan) {
    formula_in += double(plan.bytes_in);
    formula_out += double(plan.bytes_out);
  }

  template <class Exec>
  void tell(benchmark::State& state, Exec const& exec, ct::geometry const& scan, std::int64_t limit,
            min_work work, double error) {
    double const ms = 1e3 * median(there.wall);
    double const memory_ms = 1e3 * median(here.wall);
    state.counters["views"] = double(scan.num_views());
    state.counters["memory_ms"] = memory_ms;
    state.counters["ms"] = ms;
    state.counters["ratio"] = ms / memory_ms;
    state.counters["limit"] = double(limit);
    state.counters["device_bytes"] = double(after.device_bytes);
    state.counters["bytes_in"] = double(after.bytes_in - before.bytes_in);
    state.counters["bytes_out"] = double(after.bytes_out - before.bytes_out);
    state.counters["formula_in"] = formula_in;
    state.counters["formula_out"] = formula_out;
    set_counters(state, exec, ms / 1e3, work, error);
  }
};

template <class View, class Other>
double distance(View const& a, Other const& b) {
  auto const x = Kokkos::create_mirror_view_and_copy(host(), a);
  auto const y = Kokkos::create_mirror_view_and_copy(host(), b);
  double apart = 0;
  double size = 0;
  Kokkos::parallel_reduce(
      "iso::perf::distance",
      Kokkos::RangePolicy<host_exec, Kokkos::IndexType<std::int64_t>>(0, std::int64_t(x.size())),
      [=](std::int64_t i, double& difference, double& sum) {
        difference += std::abs(double(x.data()[i]) - double(y.data()[i]));
        sum += std::abs(double(x.data()[i]));
      },
      apart, size);
  return apart / size;
}

template <class A, class B>
void copy_to(A const& to, B const& from) {
  Kokkos::deep_copy(to, Kokkos::create_mirror_view_and_copy(typename A::memory_space(), from));
}

/// The page-locks of a volume and a stack, if any.
struct page_locks {
  std::shared_ptr<void> volume;
  std::shared_ptr<void> stack;

  template <class Exec>
  page_locks(Exec const& exec, volume_view<T, host> const& x, projection_view<T, host> const& p,
             bool wanted)
      : volume(wanted ? backend::page_lock(exec, x.data) : nullptr),
        stack(wanted ? backend::page_lock(exec, p.data) : nullptr) {}
};

/// Times calls of `here` and `there` in turn.
template <class Exec, class Here, class There, class Report>
comparison in_turn(benchmark::State& state, Exec const& exec, Here const& here, There const& there,
                   Report const& report) {
  comparison c;
  here();
  there();
  c.before = report();
  bool first = true;
  for (auto _ : state) {
    c.here.run(exec, here);
    c.there.run(exec, there);
    state.SetIterationTime(c.there.wall.back());
    c.after = first ? report() : c.after;
    first = false;
  }
  return c;
}

template <class Exec>
void measure_pair(benchmark::State& state, bool forward, bool tilted, bool locked, std::int64_t n) {
  using space = typename Exec::memory_space;
  Exec const exec;
  auto const phantom = smooth_volume(n);
  auto const& box = phantom.box;
  auto const scan = scan_of(n, tilted);
  auto const blocks =
      ct::split_views(scan.num_views(), scan.num_views(), ct::block_order::sequential);
  ct::projector_options const options{.sum = summation::reproducible};
  ct::projector_pair<Exec, T> const memory(exec, scan, box, blocks, options);
  ct::streamed_pair<Exec, T> streamed(exec, scan, box, blocks, options, {limit_of(n)});
  auto const x = make_volume<T, space>(exec, "x", box);
  copy_to(x.data, phantom.template on<T>(exec).data);
  auto const p =
      make_projections<T, space>(exec, "p", scan.num_views(), scan.num_u(), scan.num_v());
  memory.forward(0, x, p);
  auto const x_host = make_volume<T, host>(host_exec(), "x", box);
  auto const p_host =
      make_projections<T, host>(host_exec(), "p", scan.num_views(), scan.num_u(), scan.num_v());
  copy_to(x_host.data, x.data);
  copy_to(p_host.data, p.data);
  page_locks const locks(exec, x_host, p_host, locked);
  auto c = in_turn(
      state, exec, [&] { forward ? memory.forward(0, x, p) : memory.adjoint(0, p, x); },
      [&] { forward ? streamed.forward(0, x_host, p_host) : streamed.adjoint(0, p_host, x_host); },
      [&] { return streamed.report(); });
  auto const& plan = forward ? c.after.forward : c.after.adjoint;
  state.counters["planes"] = double(plan.planes);
  c.expect(plan);
  c.tell(state, exec, scan, limit_of(n),
         projection_work<T>(ct::forward_project_options{}, scan, box),
         forward ? distance(p.data, p_host.data) : distance(x.data, x_host.data));
}

template <class Exec>
void measure_fdk(benchmark::State& state, bool tilted, bool locked, std::int64_t n) {
  using space = typename Exec::memory_space;
  Exec const exec;
  auto const phantom = smooth_volume(n);
  auto const& box = phantom.box;
  auto const scan = scan_of(n, tilted);
  auto const p = input_projections{phantom}.template on<T>(exec, scan);
  auto const p_host =
      make_projections<T, host>(host_exec(), "p", scan.num_views(), scan.num_u(), scan.num_v());
  copy_to(p_host.data, p.data);
  auto const x = make_volume<T, space>(exec, "x", box);
  auto const x_host = make_volume<T, host>(host_exec(), "x", box);
  ct::fdk_reconstructor<Exec, T> const memory(exec, scan, box);
  ct::streamed_fdk<Exec, T> streamed(exec, scan, box, {}, {limit_of(n)});
  page_locks const locks(exec, x_host, p_host, locked);
  auto c = in_turn(
      state, exec, [&] { memory.apply(p, x); }, [&] { streamed.apply(p_host, x_host); },
      [&] { return streamed.report(); });
  auto const& plan = c.after.adjoint;
  state.counters["planes"] = double(plan.planes);
  c.expect(plan);
  c.tell(state, exec, scan, limit_of(n), reconstruction_work<T>(scan, box, 0),
         distance(x.data, x_host.data));
}

template <class Exec, template <class, class> class Method, class Options>
void measure_method(benchmark::State& state, Options options, bool tilted, std::int64_t n) {
  using space = typename Exec::memory_space;
  Exec const exec;
  host_exec const on_host;
  auto const phantom = smooth_volume(n);
  auto const& box = phantom.box;
  auto const scan = scan_of(n, tilted);
  options.projector.sum = summation::reproducible;
  auto const p = input_projections{phantom}.template on<T>(exec, scan);
  auto const p_host =
      make_projections<T, host>(on_host, "p", scan.num_views(), scan.num_u(), scan.num_v());
  copy_to(p_host.data, p.data);
  auto const x = make_volume<T, space>(exec, "x", box);
  auto const x_host = make_volume<T, host>(on_host, "x", box);
  Method<Exec, T> memory(exec, scan, p, x, options);
  ct::streamed const through(exec, {limit_of(n)});
  Method<host_exec, T> streamed(on_host, scan, p_host, x_host, options, {}, {}, through);
  auto c = in_turn(
      state, exec, [&] { memory.step(); }, [&] { streamed.step(); },
      [&] { return *streamed.streaming(); });
  bool const steps = requires { options.block_views; };
  c.expect(c.after.forward);
  c.formula_in += steps ? double(c.after.beside_in) : 0;
  c.expect(steps ? c.after.step : c.after.adjoint);
  c.tell(state, exec, scan, limit_of(n), iteration_work<T>(2, scan, box),
         distance(x.data, x_host.data));
}

template <class Exec>
void measure_sums(benchmark::State& state, bool tilted, std::int64_t n) {
  using space = typename Exec::memory_space;
  Exec const exec;
  auto const phantom = smooth_volume(n);
  auto const scan = scan_of(n, tilted);
  auto const p = input_projections{phantom}.template on<T>(exec, scan);
  auto const x = make_volume<T, space>(exec, "x", phantom.box);
  auto const y = make_volume<T, space>(exec, "y", phantom.box);
  ct::sart<Exec, T> ordered(exec, scan, p, x);
  ct::sart<Exec, T> reproducible(exec, scan, p, y,
                                 ct::sart_options{.projector = {.sum = summation::reproducible}});
  auto c = in_turn(
      state, exec, [&] { ordered.step(); }, [&] { reproducible.step(); },
      [] { return ct::streaming_report(); });
  c.tell(state, exec, scan, 0, iteration_work<T>(2, scan, phantom.box), distance(x.data, y.data));
}

template <class Exec>
void add_rows_of(std::string const& name) {
  constexpr bool device = backend::is_device<Exec>;
  std::vector<std::int64_t> const sizes = smoke()  ? std::vector<std::int64_t>{32}
                                          : device ? std::vector<std::int64_t>{1024, 512, 1536}
                                                   : std::vector<std::int64_t>{128};
  for (auto const n : sizes) {
    auto const add = [&](std::string const& what, bool tilted, auto const& run) {
      add_row("streamed/" + what + (tilted ? "/tilted" : "/upright") + "/float/" + name + "/" +
                  std::to_string(n),
              3, run);
    };
    for (bool const tilted : {false, true}) {
      for (bool const locked : {false, true}) {
        if (locked && !device) {
          continue;
        }
        std::string const of = locked ? "_locked" : "";
        for (bool const forward : {true, false}) {
          add((forward ? "forward" : "adjoint") + of, tilted, [=](benchmark::State& state) {
            measure_pair<Exec>(state, forward, tilted, locked, n);
          });
        }
        add("fdk" + of, tilted,
            [=](benchmark::State& state) { measure_fdk<Exec>(state, tilted, locked, n); });
      }
      auto const method = [&]<template <class, class> class Method>(std::string const& what,
                                                                    auto const& options) {
        add(what, tilted, [=](benchmark::State& state) {
          measure_method<Exec, Method>(state, options, tilted, n);
        });
      };
      method.template operator()<ct::sart>("sirt", ct::sart_options{});
      if (n <= 1024) {
        std::int64_t const views = scan_of(n, false).num_views();
        method.template operator()<ct::sart>(
            "os_sart",
            ct::sart_options{.block_views = views / 4, .columns = ct::column_sums::of_scan});
        method.template operator()<ct::cgls>("cgls", ct::cgls_options{});
        method.template operator()<ct::total_variation>(
            "total_variation",
            ct::total_variation_options{.weight = 0.01, .box = {.lower = 0, .upper = 0.1}});
        add("sirt_ordered", tilted,
            [=](benchmark::State& state) { measure_sums<Exec>(state, tilted, n); });
      }
    }
  }
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
