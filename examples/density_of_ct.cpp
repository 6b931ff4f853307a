// SPDX-License-Identifier: BSD-3-Clause
// Reads a CT in Hounsfield units, and writes its mass density.
//
// density_of_ct CT DENSITY    files of any format that iso::files knows; CT may be a DICOM folder
#include <iso/dose/density.hpp>
#include <iso/files/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <exception>

namespace {

void convert(char const* from, char const* to) {
  using space = iso::space::device;
  Kokkos::DefaultExecutionSpace const exec;
  auto const ct = iso::files::read_volume_view<float>(exec, from);
  auto const density = iso::make_volume<float, space>(exec, "density", ct.grid);
  iso::dose::staged_density_table<space> const table(
      exec, iso::dose::named_density_table("schneider_2000"));
  iso::dose::density_from_hounsfield(exec, table, ct, density);
  iso::files::write_volume_view(exec, density, to, "g/cm3");
  std::printf("%s: %lld voxels\n", to, static_cast<long long>(ct.grid.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: density_of_ct CT DENSITY\n", stderr);
    return 2;
  }
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  try {
    convert(argv[1], argv[2]);
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
  }
}
