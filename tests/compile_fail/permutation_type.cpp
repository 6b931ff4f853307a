// SPDX-License-Identifier: BSD-3-Clause
// A permutation in 32 bits: sort_rays says what it wants.
#include <iso/ray/sort_rays.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using memory = exec_space::memory_space;
#ifdef ISO_RIGHT
using number = std::int64_t;
#else
using number = std::int32_t;
#endif

}  // namespace

void sort(exec_space const& exec, Kokkos::View<iso::ray::ray<float>*, memory> const& rays,
          iso::grid const& g, Kokkos::View<number*, memory> const& permutation,
          iso::workspace<memory> const& scratch) {
  iso::ray::sort_rays(exec, rays, g, permutation, scratch);
}
