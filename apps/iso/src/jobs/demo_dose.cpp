// SPDX-License-Identifier: BSD-3-Clause
#include "demo_runs.hpp"
#include "memory.hpp"

#include <iso/backend/registry.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/slab_phantom.hpp>
#include <iso/dose/terma.hpp>
#include <iso/oracle/dose.hpp>

#include <algorithm>
#include <string>

namespace iso::jobs {
namespace {

/// A 10 cm x 10 cm field of 6 MV onto the slab phantom, its isocentre 10 cm behind the surface.
struct slab_irradiation {
  grid phantom;
  std::vector<double> density;
  dose::beam field;
  grid region;
  dose::exponential_kernel kernel = dose::named_kernel("6mv");
  dose::cone_set cones = dose::make_cones(kernel);
  dose::spectrum photons = dose::named_spectrum("mohan_6mv");

  explicit slab_irradiation(std::int64_t voxels) {
    double const voxel = dose::slab_phantom_width / double(voxels);
    phantom = dose::slab_phantom_grid(voxel);
    auto const slabs = dose::slab_phantom();
    auto const& n = phantom.extent;
    std::vector<double> layers;
    for (std::int64_t j = 0; j < n[1]; ++j) {
      layers.push_back(dose::mean_density(slabs, double(j) * voxel, double(j + 1) * voxel));
    }
    density.resize(std::size_t(phantom.size()));
    for (std::size_t v = 0; v < density.size(); ++v) {
      density[v] = layers[v / std::size_t(n[2]) % std::size_t(n[1])];
    }
    field.isocentre = {0, 100, 0};
    field.fluence = dose::fluence_map::rectangle(-50, 50, -50, 50);
    region = dose::region_around(field, phantom);
  }
  [[nodiscard]] double steps() const { return double(region.size()) * double(cones.size()); }

  /// Lines through some voxels, summed by hand; NaN elsewhere.
  [[nodiscard]] std::vector<double> exact() const {
    auto const view = [](grid const& g, std::vector<double> const& values) {
      return host_density{g, Kokkos::View<double const***, Kokkos::LayoutRight, Kokkos::HostSpace>(
                                 values.data(), std::size_t(g.extent[0]), std::size_t(g.extent[1]),
                                 std::size_t(g.extent[2]))};
    };
    auto const terma = exact_terma(field, photons, {}, view(phantom, density), region);
    std::vector<double> inside;
    vec3<double> const first = phantom.to_index(region.origin);
    for (std::int64_t v = 0; v < region.size(); ++v) {
      // Slabs differ along y alone.
      auto const j = v / region.extent[2] % region.extent[1] + std::int64_t(first.y + 0.5);
      inside.push_back(density[std::size_t(j * phantom.extent[2])]);
    }
    return exact_dose(field, cones, true, view(region, terma), view(region, inside),
                      std::max<std::int64_t>(region.size() / 40, 1) | 1);
  }
};

template <class T, class Exec>
void irradiate_on(Exec const& exec, std::string const& backend, demo_state& state,
                  slab_irradiation const& what, std::vector<double> const& exact) {
  using space = typename Exec::memory_space;
  state.next("dose on " + backend);
  std::vector<T> const values(what.density.begin(), what.density.end());
  auto const& n = what.phantom.extent;
  auto const density = make_volume<T, space>(exec, "iso::jobs::density", what.phantom);
  Kokkos::deep_copy(
      exec, density.data,
      Kokkos::View<T const***, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
          values.data(), std::size_t(n[0]), std::size_t(n[1]), std::size_t(n[2])));
  dose::terma_plan<space> const beam(exec, what.field, what.photons);
  dose::convolution_plan<T, space> const plan(exec, what.region, what.field, what.cones);
  workspace<space> const scratch(dose::convolution_bytes_needed<Exec, T>(exec, plan));
  auto const released = make_volume<T, space>(exec, "iso::jobs::terma", what.region);
  auto const out = make_volume<T, space>(exec, "iso::jobs::dose", what.region);
  double best = 1e30;
  for (int run = 0; run < 2; ++run) {
    Kokkos::deep_copy(exec, out.data, T(0));
    best = std::min(best, seconds_of(exec, [&] {
                      dose::terma<Exec, T>(exec, beam, density, released);
                      dose::convolve<Exec, T>(exec, plan, released, density, out, scratch);
                    }));
  }
  auto doses = fetch(exec, out.data);
  if constexpr (sizeof(T) == 4) {
    if (backend == state.request.backends.front()) {
      draw_depths(state, "dose_slab.png", what.region, doses);
    }
  }
  double const error = relative_l1(doses, exact);
  state.add<T>(
      "dose_slab", backend, std::move(doses), best, error,
      {5 * double(sizeof(T)) * double(what.region.size()), 35 * what.steps(), arithmetic_of<T>});
}

}  // namespace

void run_dose(demo_state& state) {
  slab_irradiation const what(state.request.size);
  auto const exact = what.exact();
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      irradiate_on<float>(exec, name, state, what, exact);
      irradiate_on<double>(exec, name, state, what, exact);
    });
  }
}

}  // namespace iso::jobs
