// SPDX-License-Identifier: BSD-3-Clause
#include "demo_runs.hpp"
#include "memory.hpp"

#include <iso/backend/registry.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <algorithm>
#include <array>

namespace iso::jobs {
namespace {

/// Of `count` elements about two thousand have their exact answer computed: one of so many, an odd
/// number.
std::int64_t stride_of(std::int64_t count) { return count / 4000 * 2 + 1; }
std::int64_t stride_of(ct::geometry const& g) {
  return stride_of(g.num_views() * g.num_u() * g.num_v());
}

struct method {
  char const* name;
  ct::projector projector;
  iso::summation sum = iso::summation::ordered;

  [[nodiscard]] ct::forward_project_options options() const {
    ct::forward_project_options all;
    all.method = projector;
    all.sum = sum;
    return all;
  }
};
constexpr std::array<method, 6> methods = {{
    {"joseph_ordered", ct::projector::joseph_linear},
    {"joseph_reproducible", ct::projector::joseph_linear, iso::summation::reproducible},
    {"joseph_spline", ct::projector::joseph_spline},
    {"amanatides_woo", ct::projector::amanatides_woo},
    {"branchless", ct::projector::branchless},
    {"siddon", ct::projector::siddon},
}};

template <class T>
struct timed {
  std::vector<T> values;
  double seconds = 0;
};

// One scan of one volume on one backend, by whichever method is asked for.
template <class Exec, class T>
class scanner {
 public:
  using space = typename Exec::memory_space;
  scanner(Exec const& exec, ct::geometry const& g, volume_view<T const, space> const& volume)
      : exec_(exec),
        staged_(ct::stage(exec, g)),
        volume_(volume),
        out_(make_projections<T, space>(exec, "iso::jobs::demo", g.num_views(), g.num_u(),
                                        g.num_v())) {}

  // The shorter of two runs (on a GPU, of four): the first pays for pages and clocks.
  double time(method const& m) {
    auto const options = m.options();
    workspace<space> const work(
        ct::forward_project_bytes_needed<Exec, T>(staged_.host(), volume_.grid, options));
    double best = 1e30;
    for (int run = 0; run < (backend::is_device<Exec> ? 4 : 2); ++run) {
      best = std::min(best, seconds_of(exec_, [&] {
                        ct::forward_project<Exec, T>(exec_, staged_, volume_, out_, work, options);
                      }));
    }
    return best;
  }
  timed<T> run(method const& m) {
    double const seconds = time(m);
    return {fetch(exec_, out_.data), seconds};
  }

 private:
  Exec exec_;
  ct::staged_geometry<space> staged_;
  volume_view<T const, space> volume_;
  projection_view<T, space> out_;
};

template <class T, class Exec>
timed<T> analytic_projections(Exec const& exec, demo_state& state) {
  auto const& g = state.plan.scan;
  auto const out = make_projections<T, typename Exec::memory_space>(
      exec, "iso::jobs::exact", g.num_views(), g.num_u(), g.num_v());
  auto const phantom = ct::shepp_logan(state.plan.width / 2);
  auto const staged = ct::stage(exec, g);
  double const seconds =
      seconds_of(exec, [&] { ct::project_ellipsoids<Exec, T>(exec, phantom, staged, out, {4}); });
  return {fetch(exec, out.data), seconds};
}

// Times rasteriser and analytic projections of the phantom; returns the latter.
template <class T, class Exec>
std::vector<double> run_analytic(Exec const& exec, std::string const& backend, demo_state& state,
                                 volume_view<T, typename Exec::memory_space> const& volume) {
  auto const& plan = state.plan;
  auto const phantom = ct::shepp_logan(plan.width / 2);
  double const seconds =
      seconds_of(exec, [&] { ct::rasterise_ellipsoids<Exec, T>(exec, phantom, volume); });
  auto voxels = fetch(exec, volume.data);
  if constexpr (sizeof(T) == 4) {
    if (backend == state.request.backends.front()) {
      // The skull is overexposed.
      draw_slice(state, "phantom.png", plan.volume, voxels, {0, 0.5});
    }
  }
  double const raster_error =
      relative_l1(voxels, exact_raster(phantom, plan.volume, 5, stride_of(plan.volume.size())));
  state.add<T>("phantom_raster", backend, std::move(voxels), seconds, raster_error,
               raster_work<T>(plan.volume));

  state.next("exact projections on " + backend);
  auto analytic = analytic_projections<T>(exec, state);
  std::vector<double> const truth(analytic.values.begin(), analytic.values.end());
  double const error =
      relative_l1(analytic.values, exact_projections(phantom, plan.scan, 4, stride_of(plan.scan)));
  state.add<T>("phantom_exact_projection", backend, std::move(analytic.values), analytic.seconds,
               error, ellipsoid_work<T>(phantom, plan.scan, 4));
  return truth;
}

void draw_difference(demo_state& state, std::vector<float> const& projected,
                     std::vector<double> const& exact) {
  auto const& g = state.plan.scan;
  std::vector<float> difference(std::size_t(g.num_u() * g.num_v()));
  for (std::size_t i = 0; i < difference.size(); ++i) {
    difference[i] = projected[i] - float(exact[i]);
  }
  draw_projection(state, "difference_joseph.png", g, difference);
}

template <class T, class Exec>
void run_phantom_on(Exec const& exec, std::string const& backend, demo_state& state) {
  auto const& plan = state.plan;
  bool const drawn = sizeof(T) == 4 && backend == state.request.backends.front();
  state.next("phantom on " + backend);
  auto const volume = make_volume<T, typename Exec::memory_space>(exec, "iso::jobs::phantom",
                                                                  plan.volume, unit::per_mm);
  auto const truth = run_analytic<T>(exec, backend, state, volume);

  scanner<Exec, T> scan(exec, plan.scan, volume);
  for (auto const& m : methods) {
    state.next(std::string(m.name) + " on " + backend);
    auto projected = scan.run(m);
    if constexpr (sizeof(T) == 4) {
      if (drawn && std::string_view(m.name) == "joseph_ordered") {
        draw_projection(state, "projection_joseph.png", plan.scan, projected.values);
        draw_difference(state, projected.values, truth);
      }
    }
    double const error = relative_l1(projected.values, truth);
    state.add<T>(std::string("project_") + m.name, backend, std::move(projected.values),
                 projected.seconds, error, projection_work<T>(m.options(), plan.scan, plan.volume));
  }
}

template <class T, class Exec>
std::vector<T> run_ct_method(Exec const& exec, std::string const& backend, demo_state& state,
                             ct::geometry const& g, files::host_volume const& volume,
                             method const& m) {
  state.next(std::string("chest CT, ") + m.name + " on " + backend);
  auto const loaded = load<T>(exec, volume);
  scanner<Exec, T> scan(exec, g, loaded);
  auto projected = scan.run(m);
  double const error = relative_l1(
      projected.values, exact_projections(view_of(volume), g, m.options(), stride_of(g)));
  auto const values = projected.values;
  state.add<T>(std::string("chest_ct_") + m.name, backend, std::move(projected.values),
               projected.seconds, error, projection_work<T>(m.options(), g, loaded.grid));
  return values;
}

template <class Exec>
void run_large_on(Exec const& exec, std::string const& backend, demo_state& state) {
  std::int64_t const n = 512;
  auto const box = grid::centred({n, n, n}, {0.5, 0.5, 0.5});
  auto const g = ct::circular_cone({n, n, 0.768, 0.768, 0, 0}, 1000, 1536,
                                   ct::even_angles(360, 2 * std::numbers::pi));
  std::int64_t const bytes = 4 * (box.size() + g.num_views() * n * n);
  try {
    check_free(exec, 2 * bytes, "demo at 512 voxels a side");
  } catch (out_of_memory const& failure) {
    state.result.notes.emplace_back(failure.what());
    return;
  }
  auto const volume =
      make_volume<float, typename Exec::memory_space>(exec, "iso::jobs::large", box, unit::per_mm);
  auto const phantom = ct::shepp_logan(128);
  ct::rasterise_ellipsoids<Exec, float>(exec, phantom, volume, {2});
  auto const exact = exact_projections(phantom, g, 4, stride_of(g));
  scanner<Exec, float> scan(exec, g, volume);
  for (auto const& m : {methods[0], methods[1], methods[3], methods[4]}) {
    state.watch.step(0.99, std::string(m.name) + " at 512 on " + backend);
    auto projected = scan.run(m);
    double const error = relative_l1(projected.values, exact);
    state.add<float>(std::string("project_") + m.name + "_512", backend,
                     std::move(projected.values), projected.seconds, error,
                     projection_work<float>(m.options(), g, box));
  }
}

}  // namespace

template <class T>
void run_phantom(demo_state& state) {
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      run_phantom_on<T>(exec, name, state);
    });
  }
}
template void run_phantom<float>(demo_state&);
template void run_phantom<double>(demo_state&);

void run_ct(demo_state& state, files::host_volume const& volume) {
  double const wide = 1.6 * std::max({double(volume.extent[0]) * volume.spacing[0],
                                      double(volume.extent[1]) * volume.spacing[1],
                                      double(volume.extent[2]) * volume.spacing[2]});
  auto const g = ct::circular_cone({160, 128, 1.3 * wide / 160, 1.3 * wide / 160, 0, 0}, 1000, 1536,
                                   ct::even_angles(24, 2 * std::numbers::pi));
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      run_ct_method<double>(exec, name, state, g, volume, methods[0]);
      auto const drawn = run_ct_method<float>(exec, name, state, g, volume, methods[0]);
      if (name == state.request.backends.front()) {
        draw_projection(state, "chest_ct_projection.png", g, drawn);
      }
      run_ct_method<float>(exec, name, state, g, volume, methods[4]);
    });
  }
}

void run_large(demo_state& state) {
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      using exec = typename decltype(tag)::execution_space;
      if constexpr (backend::is_device<exec>) {
        run_large_on(exec(), name, state);
      }
    });
  }
}

}  // namespace iso::jobs
