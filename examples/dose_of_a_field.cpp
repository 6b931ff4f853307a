// SPDX-License-Identifier: BSD-3-Clause
// The dose of a 10 cm x 10 cm field of 6 MV in a cube of water, 90 cm from the source.
#include <iso/core/space.hpp>
#include <iso/dose/calculator.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  using exec_space = Kokkos::DefaultExecutionSpace;
  using space = iso::space::device;
  exec_space const exec;
  iso::grid const water{{100, 100, 100}, {2, 2, 2}, {-99, 1, -99}};
  auto const density = iso::make_volume<float, space>(exec, "density", water);  // g/cm3
  Kokkos::deep_copy(exec, density.data, 1.0F);
  auto const dose = iso::make_volume<float, space>(exec, "dose", water);  // Gy per photon/cm2

  // Gantry at 0: the beam goes along +y. The isocentre lies 10 cm behind the surface.
  iso::dose::beam field;
  field.isocentre = {0, 100, 0};
  field.fluence = iso::dose::fluence_map::rectangle(-50, 50, -50, 50);
  iso::dose::calculator<exec_space, float> calculator(exec, water, iso::dose::named_kernel("6mv"),
                                                      iso::dose::named_spectrum("mohan_6mv"));
  calculator.add(field, density, dose);

  auto const gray = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dose.data);
  auto const on_axis = [&](std::int64_t j) {
    std::int64_t const middle = 49;
    return gray(middle, j, middle);
  };
  float const at_100 = on_axis(49) + on_axis(50);
  for (int const depth : {10, 20, 50, 100, 150}) {
    float const sum = on_axis(depth / 2 - 1) + on_axis(depth / 2);
    Kokkos::printf("%3d mm: %.4f\n", depth, double(sum / at_100));
  }
}
