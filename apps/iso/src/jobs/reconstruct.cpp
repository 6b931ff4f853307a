// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "scan.hpp"

#include <iso/ct/fdk.hpp>
#include <iso/jobs/bits.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace iso::jobs {
namespace {

constexpr std::array<std::pair<char const*, ct::ramp_window>, 5> windows = {
    {{"ram-lak", ct::ramp_window::ram_lak},
     {"shepp-logan", ct::ramp_window::shepp_logan},
     {"cosine", ct::ramp_window::cosine},
     {"hamming", ct::ramp_window::hamming},
     {"hann", ct::ramp_window::hann}}};

ct::ramp_window window_named(std::string const& name) {
  for (auto const& [known, window] : windows) {
    if (name == known) {
      return window;
    }
  }
  throw invalid_argument(
      message("window '{}' is not known (choose ram-lak, shepp-logan, cosine, hamming or hann)",
              {std::string_view(name)}));
}

// By default as many voxels as pixels, at the pixels' distance at the z axis.
grid grid_of(reconstruct_request const& request, ct::geometry const& g) {
  auto const& w = g.views().front();
  double magnification = 1;
  if (g.kind() == ct::beam::cone) {
    vec3<double> const n = cross(w.u_step, w.v_step);
    magnification = dot(n, w.detector_origin - w.source) / -dot(n, w.source);
  }
  double const spacing =
      request.spacing > 0 ? request.spacing : std::abs(norm(w.u_step) / magnification);
  auto const n = [&](int axis, std::int64_t pixels) {
    auto const wanted = request.extent[std::size_t(axis)];
    return wanted > 0 ? wanted : pixels;
  };
  return grid::centred({n(0, g.num_u()), n(1, g.num_u()), n(2, g.num_v())},
                       {spacing, spacing, spacing});
}

template <class T>
files::host_volume on_host(grid const& g, std::vector<T> const& values,
                           std::optional<double> water) {
  files::host_volume v;
  v.extent = {g.extent[0], g.extent[1], g.extent[2]};
  v.spacing = {g.spacing.x, g.spacing.y, g.spacing.z};
  v.origin = {g.origin.x, g.origin.y, g.origin.z};
  v.values.resize(values.size());
  std::transform(values.begin(), values.end(), v.values.begin(),
                 [&](T x) { return float(water ? 1000 * (double(x) / *water - 1) : double(x)); });
  return v;
}

template <class T, class Exec>
reconstruct_result run(Exec const& exec, reconstruct_request const& request,
                       observer const& watch) {
  using space = typename Exec::memory_space;
  auto const g = make_geometry(request.geometry);
  ISO_VALIDATE(std::int64_t(request.projections.size()) == g.num_views() * g.num_u() * g.num_v(),
               "iso reconstruct: {} readings (the geometry has {} views of {} x {} pixels) make "
               "them agree",
               request.projections.size(), g.num_views(), g.num_u(), g.num_v());
  ISO_VALIDATE(!request.water_attenuation || *request.water_attenuation > 0,
               "iso reconstruct: attenuation of water {} /mm (must be positive)",
               request.water_attenuation.value_or(0));
  auto const volume_grid = grid_of(request, g);
  validate(volume_grid, "iso reconstruct");
  std::int64_t const scratch = ct::fdk_bytes_needed<Exec, T>(g);
  double const wanted =
      (double(volume_grid.size()) + double(request.projections.size())) * double(sizeof(T)) +
      double(scratch);
  watch.step(0, "preparing");
  reconstruct_result result;
  guard_memory(
      exec, wanted < 0x1p62 ? std::int64_t(wanted) : std::int64_t(1) << 62, "iso reconstruct", [&] {
        ct::fdk_plan<space> const plan(exec, g, {window_named(request.window), request.cutoff});
        auto const pixels = make_projections<T, space>(exec, "iso::jobs::projections",
                                                       g.num_views(), g.num_u(), g.num_v());
        auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, pixels.data);
        std::copy(request.projections.begin(), request.projections.end(), host.data());
        Kokkos::deep_copy(exec, pixels.data, host);
        exec.fence("iso::jobs::reconstruct: projections in place");
        auto const volume =
            make_volume<T, space>(exec, "iso::jobs::volume", volume_grid, unit::per_mm);
        workspace<space> const work(scratch);
        job control;
        control.progress = [&](double fraction) {
          // So that progress is of what has been done.
          exec.fence("iso::jobs::reconstruct: a batch of views");
          watch.step(fraction, "reconstructing");
        };
        result.time_ms = 1e3 * seconds_of(exec, [&] {
                           ct::fdk<Exec, T>(exec, plan, pixels, volume, work, control);
                         });
        auto const values = fetch(exec, volume.data);
        result.hash = hash_text(hash_bits<T>(values));
        result.volume = on_host(volume_grid, values, request.water_attenuation);
        return 0;
      });
  watch.step(1, "done");
  return result;
}

}  // namespace

std::vector<std::string> window_names() {
  std::vector<std::string> names;
  for (auto const& [name, window] : windows) {
    names.emplace_back(name);
  }
  return names;
}

reconstruct_result reconstruct(reconstruct_request const& request, observer const& watch) {
  ISO_VALIDATE(request.precision == "float" || request.precision == "double",
               "precision '{}' is not known (choose float or double)", request.precision);
  reconstruct_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    result = request.precision == "float" ? run<float>(exec, request, watch)
                                          : run<double>(exec, request, watch);
  });
  return result;
}

}  // namespace iso::jobs
