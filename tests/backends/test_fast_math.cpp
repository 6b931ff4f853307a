// SPDX-License-Identifier: BSD-3-Clause
// A program that somebody linked with -ffast-math is told so by the registry.
#include <iso/backend/registry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <string>

int main() {
  Kokkos::ScopeGuard const kokkos;
  try {
    iso::backend::with_name("serial", [](auto) {});
  } catch (iso::backend::floating_point_error const& failure) {
    std::puts(failure.what());
    return std::string(failure.what()).find("-ffast-math") == std::string::npos ? 1 : 0;
  }
  std::puts("nothing was thrown");
  return 1;
}
