// SPDX-License-Identifier: BSD-3-Clause
// Iterations of every method beside the projections and adjoints of their blocks, in turn in one
// run: N^3 voxels, cone views of the circle of cases::cone_scan. Rows:
//
//   iteration/<method>/<scan>/<precision>/<backend>/<N>
//
// <scan>: `upright`, or `tilted`, whose detector is rolled by one degree and pitched by two.
// `os_sart` and `osem` have blocks of 8 views and one volume of column sums (OSEM: one a block).
// `sirt_texture` projects by texture units, which CUDA alone has.
//
// Counters beside the usual: `views`; `pair_ms`, forward_project and back_project of all blocks,
// and `ms`, the iteration: medians of alternating runs, on a processor minima (Serial: of its
// processor time); `ratio`, the iteration's over the pair's.
//
// The model: cases::projection_work of each view forth and back; nothing else is counted.
//
// `error`: distance to the phantom after the iterations made, over its norm, in sums of sizes.
#include "support/bench.hpp"

#include <iso/cases/iteration.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/oracle/products.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

/// Times `method` beside the projections of blocks of so many views (0: all).
template <class Exec, class T, template <class, class> class Method, class Options>
void measure(benchmark::State& state, Options const& options, std::int64_t block_views, bool tilted,
             std::int64_t n, std::int64_t views) {
  using space = typename Exec::memory_space;
  Exec const exec;
  auto const phantom = smooth_volume(n);
  auto scan = cone_scan(n, views);
  if (tilted) {
    scan = cases::tilted(scan);
  }
  auto const readings = input_projections{phantom}.template on<T>(exec, scan);
  auto const x = make_volume<T, space>(exec, "x", phantom.box);
  Method<Exec, T> method(exec, scan, readings, x, options);
  auto const y = make_volume<T, space>(exec, "y", phantom.box);
  auto const p = make_projections<T, space>(exec, "p", views, scan.num_u(), scan.num_v());
  ct::projector_pair<Exec, T> const pair(
      exec, scan, phantom.box,
      ct::split_views(views, block_views == 0 ? views : block_views, ct::block_order::golden),
      options.projector);
  // Of A^T b for every method: like an iterate, it has numbers of no pattern everywhere. Those of
  // the phantom took a GPU less time.
  typename ct::projector_pair<Exec, T>::volume const seen =
      make_volume<T, space>(exec, "seen", phantom.box);
  ct::projector_pair<Exec, T>(exec, scan, phantom.box,
                              ct::split_views(views, views, ct::block_order::sequential))
      .adjoint(0, readings, seen);
  exec.fence("the scratch of it goes");
  auto const project = [&] {
    for (std::int64_t b = 0; b < pair.blocks().count(); ++b) {
      pair.forward(b, seen, pair.part(p, b));
      pair.adjoint(b, pair.part(p, b), y);
    }
  };
  auto const iterate = [&] { method.step(); };
  iterate();
  project();
  stopwatch both;
  stopwatch step;
  auto const typical = [](stopwatch const& times) {
    return backend::is_device<Exec>               ? median(times.wall)
           : std::is_same_v<Exec, Kokkos::Serial> ? least(times.processor)
                                                  : least(times.wall);
  };
  for (auto _ : state) {
    both.run(exec, project);
    step.run(exec, iterate);
    state.SetIterationTime(step.wall.back());
  }
  auto const found = fetch(exec, x.data);
  auto const truth = fetch(exec, phantom.template on<T>(exec).data);
  state.counters["views"] = double(views);
  state.counters["pair_ms"] = 1e3 * typical(both);
  state.counters["ms"] = 1e3 * typical(step);
  state.counters["ratio"] = typical(step) / typical(both);
  set_counters(state, exec, typical(step), iteration_work<T>(2, scan, phantom.box),
               oracle::relative_l1(found, std::vector<double>(truth.begin(), truth.end())));
}

template <class Exec, class T, template <class, class> class Method, class Options>
void add_method(std::string const& method, std::string const& end, Options const& options,
                std::int64_t block_views) {
  constexpr bool device = backend::is_device<Exec>;
  // One method shows how all grow.
  std::vector<std::int64_t> const sizes = smoke()   ? std::vector<std::int64_t>{24}
                                          : !device ? std::vector<std::int64_t>{128, 256}
                                          : method == "sirt"
                                              ? std::vector<std::int64_t>{512, 256, 1024}
                                              : std::vector<std::int64_t>{512};
  for (auto const n : sizes) {
    std::int64_t const views = smoke() ? 16 : device ? 360 * n / 512 : 64;
    for (bool const tilted : {false, true}) {
      add_row("iteration/" + method + (tilted ? "/tilted/" : "/upright/") + end + "/" +
                  std::to_string(n),
              5, [=](benchmark::State& state) {
                measure<Exec, T, Method>(state, options, block_views, tilted, n, views);
              });
    }
  }
}

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  std::string const end = "float/" + name;
  using T = float;
  add_method<Exec, T, ct::sart>("sirt", end, ct::sart_options{}, 0);
  add_method<Exec, T, ct::sart>(
      "os_sart", end, ct::sart_options{.block_views = 8, .columns = ct::column_sums::of_scan}, 8);
  if constexpr (backend::is_device<Exec>) {
    add_method<Exec, T, ct::sart>(
        "sirt_texture", end, ct::sart_options{.projector = {.projection = ct::projection::texture}},
        0);
  }
  add_method<Exec, T, ct::cgls>("cgls", end, ct::cgls_options{}, 0);
  add_method<Exec, T, ct::lsqr>("lsqr", end, ct::lsqr_options{}, 0);
  add_method<Exec, T, ct::mlem>("mlem", end, ct::mlem_options{}, 0);
  add_method<Exec, T, ct::mlem>("osem", end, ct::mlem_options{.block_views = 8}, 8);
  add_method<Exec, T, ct::total_variation>(
      "total_variation", end,
      ct::total_variation_options{.weight = 0.01, .box = {.lower = 0, .upper = 0.1}}, 0);
});

}  // namespace
}  // namespace iso::perf
