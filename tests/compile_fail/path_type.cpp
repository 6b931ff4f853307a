// SPDX-License-Identifier: BSD-3-Clause
// Paths in another type than the volume's: radiological_path says what it wants.
#include <iso/ray/radiological_path.hpp>

#include <Kokkos_Core.hpp>

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using memory = exec_space::memory_space;
#ifdef ISO_RIGHT
using path = float;
#else
using path = double;
#endif

}  // namespace

void integrate(exec_space const& exec, Kokkos::View<iso::ray::ray<float>*, memory> const& rays,
               iso::volume_view<float const, memory> const& volume,
               Kokkos::View<path*, memory> const& paths) {
  iso::ray::radiological_path(exec, rays, volume, paths);
}
