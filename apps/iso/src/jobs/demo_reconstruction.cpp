// SPDX-License-Identifier: BSD-3-Clause
#include "demo_runs.hpp"
#include "memory.hpp"

#include <iso/backend/registry.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <algorithm>
#include <string>

namespace iso::jobs {
namespace {

/// A reconstruction from projections where they lie, and the shorter of two runs.
template <class T, class Exec>
std::pair<std::vector<T>, double> reconstructed(
    Exec const& exec, ct::geometry const& g, grid const& box,
    projection_view<T const, typename Exec::memory_space> const& projections) {
  using space = typename Exec::memory_space;
  ct::fdk_reconstructor<Exec, T> const reconstructor(exec, g, box);
  auto const volume = make_volume<T, space>(exec, "iso::jobs::demo", box, unit::per_mm);
  double best = 1e30;
  for (int run = 0; run < 2; ++run) {
    best = std::min(best, seconds_of(exec, [&] { reconstructor.apply(projections, volume); }));
  }
  return {fetch(exec, volume.data), best};
}

template <class T, class Exec>
void reconstruct_phantom_on(Exec const& exec, std::string const& backend, demo_state& state) {
  state.next("FDK on " + backend);
  auto const& box = state.plan.volume;
  auto const& g = state.plan.reconstruction;
  using space = typename Exec::memory_space;
  auto const phantom = ct::shepp_logan(state.plan.width / 2);
  auto const projections =
      make_projections<T, space>(exec, "iso::jobs::exact", g.num_views(), g.num_u(), g.num_v());
  ct::project_ellipsoids<Exec, T>(exec, phantom, ct::stage(exec, g), projections, {1});
  auto const truth = make_volume<T, space>(exec, "iso::jobs::phantom", box, unit::per_mm);
  ct::rasterise_ellipsoids<Exec, T>(exec, phantom, truth);
  auto const exact = fetch(exec, truth.data);
  auto [values, seconds] = reconstructed<T>(exec, g, box, projections);
  if constexpr (sizeof(T) == 4) {
    if (backend == state.request.backends.front()) {
      draw_slice(state, "reconstruction_fdk.png", box, values, {0, 0.5});
    }
  }
  double const error = relative_l1(values, std::vector<double>(exact.begin(), exact.end()));
  state.add<T>("reconstruct_fdk", backend, std::move(values), seconds, error,
               reconstruction_work<T>(g, box));
}

template <class Exec>
void reconstruct_ct_on(Exec const& exec, std::string const& backend, demo_state& state,
                       ct::geometry const& g, files::host_volume const& ct) {
  state.next("chest CT, FDK on " + backend);
  using space = typename Exec::memory_space;
  auto const volume = load<float>(exec, ct);
  auto const projections =
      make_projections<float, space>(exec, "iso::jobs::chest", g.num_views(), g.num_u(), g.num_v());
  workspace<space> const work(ct::forward_project_bytes_needed<Exec, float>(g, volume.grid));
  ct::forward_project<Exec, float>(exec, ct::stage(exec, g), volume, projections, work);
  auto [values, seconds] = reconstructed<float>(exec, g, volume.grid, projections);
  if (backend == state.request.backends.front()) {
    draw_slice(state, "chest_ct_fdk.png", volume.grid, values, {0, 0.03F});
  }
  double const error = relative_l1(values, std::vector<double>(ct.values.begin(), ct.values.end()));
  state.add<float>("chest_ct_fdk", backend, std::move(values), seconds, error,
                   reconstruction_work<float>(g, volume.grid));
}

}  // namespace

template <class T>
void run_reconstruction(demo_state& state) {
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      reconstruct_phantom_on<T>(exec, name, state);
    });
  }
}
template void run_reconstruction<float>(demo_state&);
template void run_reconstruction<double>(demo_state&);

void run_ct_reconstruction(demo_state& state, files::host_volume const& volume) {
  // The detector sees the whole of the CT in every view.
  auto const side = [&](std::size_t a) { return double(volume.extent[a]) * volume.spacing[a]; };
  double const wide = 1.2 * std::hypot(side(0), side(1));
  double const pixel = 1.536 * wide / 320;
  auto const rows = std::int64_t(1.536 * 1.3 * side(2) / pixel);
  auto const g = ct::circular_cone({320, rows, pixel, pixel, 0, 0}, 1000, 1536,
                                   ct::even_angles(180, 2 * std::numbers::pi));
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      reconstruct_ct_on(typename decltype(tag)::execution_space(), name, state, g, volume);
    });
  }
}

}  // namespace iso::jobs
