// SPDX-License-Identifier: BSD-3-Clause
// A volume in a memory space that is not the execution space's: no overload takes it.
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Core.hpp>

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using memory = exec_space::memory_space;
#ifdef ISO_RIGHT
using volume_space = memory;
#else
using volume_space = Kokkos::AnonymousSpace;
#endif

}  // namespace

void project(exec_space const& exec, iso::ct::staged_geometry<memory> const& scan,
             iso::volume_view<float const, volume_space> const& volume,
             iso::projection_view<float, memory> const& projections,
             iso::workspace<memory> const& scratch) {
  iso::ct::forward_project(exec, scan, volume, projections, scratch);
}
