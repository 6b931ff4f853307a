// SPDX-License-Identifier: BSD-3-Clause
#include "parity.hpp"

#include <iso/dose/convolution.hpp>
#include <iso/dose/terma.hpp>

namespace iso::test {
namespace {

struct dose_case {
  char const* name;
  char const* kernel;
  dose::cone_options cones;
  dose::convolution_options options;
};

/// TERMA, then dose, of an oblique field on densities that look random.
template <class T, class Exec>
std::vector<T> irradiated(Exec const& exec, dose_case const& c) {
  using space = typename Exec::memory_space;
  auto const g = grid::centred({37, 45, 41}, {2.5, 2, 3});
  dose::beam b;
  b.gantry = 0.7;
  b.couch = 0.2;
  b.fluence = dose::fluence_map::rectangle(-15, 22, -18, 13);
  auto const region = dose::region_around(b, g, 15);
  auto const density = make_volume<T, space>("density", g);
  auto const values = moved_to(exec, even_numbers<T>(std::size_t(g.size()), 5, 0, 2));
  using flat = Kokkos::View<T*, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, flat(density.data.data(), density.data.size()), values);
  auto const photons = dose::named_spectrum("mohan_6mv");
  auto const kernel = std::string(c.kernel) == "table"
                          ? dose::point_kernel(dose::mix_kernels(dose::water_kernels(), photons))
                          : dose::point_kernel(dose::named_kernel(c.kernel));
  dose::terma_plan<space> const beam(exec, b, photons);
  auto const released = make_volume<T, space>("terma", region);
  dose::terma<Exec, T>(exec, beam, density, released);
  dose::convolution_plan<T, space> const plan(exec, region, b, dose::make_cones(kernel, c.cones),
                                              c.options);
  auto const out = make_volume<T, space>("dose", region);
  workspace<space> const scratch(dose::convolution_bytes_needed<Exec, T>(exec, plan));
  dose::convolve<Exec, T>(exec, plan, released, density, out, scratch);
  exec.fence();
  auto all = moved_back(exec, static_cast<T const*>(released.data.data()), released.data.size());
  auto const doses = moved_back(exec, static_cast<T const*>(out.data.data()), out.data.size());
  all.insert(all.end(), doses.begin(), doses.end());
  return all;
}

template <class T>
void compare_precision(parity& all) {
  dose_case const cases[] = {
      {"lattice", "6mv", {}, {}},
      {"lattice four terms", "6mv_quad", {7, 5, dose::cone_placing::gauss}, {}},
      {"lattice untilted",
       "15mv",
       {12, 12, dose::cone_placing::equal_solid_angle},
       {.tilt = false}},
      {"voxel lines", "6mv", {4, 4}, {.engine = dose::dose_engine::voxel_lines}},
      {"lattice table", "table", {4, 8}, {}},
      {"voxel samples",
       "6mv_quad",
       {4, 4},
       {.engine = dose::dose_engine::voxel_samples, .radial_step = 3}},
      {"non voxel", "table", {4, 4}, {.engine = dose::dose_engine::non_voxel, .radial_step = 2}},
  };
  for (dose_case const& c : cases) {
    all.compare(std::string("dose ") + c.name + (sizeof(T) == 4 ? " float" : " double"),
                [&](auto const& exec) { return irradiated<T>(exec, c); });
  }
}

}  // namespace

void compare_dose(parity& all) {
  compare_precision<float>(all);
  compare_precision<double>(all);
}

}  // namespace iso::test
