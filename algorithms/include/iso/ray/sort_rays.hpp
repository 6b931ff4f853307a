// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/sort_rays.hpp
//! Finds an order of rays in which neighbours walk through neighbouring voxels.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/job.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ray/ray.hpp>
#include <iso/ray/traversal_grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ray {

/// The property that neighbouring rays share after sorting.
enum class ray_order {
  entry_and_exit,     ///< where they enter and where they leave, both to 1/32 of the grid
  octant_then_entry,  ///< first the signs of their direction, then where they enter, to 1/512
};

namespace detail {

/// Gives the keys' place in the scratch memory; `permutation` holds the other ones until the end.
inline std::uint64_t* take_keys(workspace_parts& memory, std::int64_t count) {
  return memory.take<std::uint64_t>({count});
}

/// Launches the sort. It is instantiated in src/ray/sort_rays.cpp for every backend, float and
/// double.
template <execution_space Exec, real T>
void launch_sort_rays(Exec const& exec, traversal_grid const& grid, ray<T> const* rays,
                      std::int64_t count, ray_order order, std::uint64_t* scratch,
                      std::int64_t* permutation, job const& control);

}  // namespace detail

/// Returns the scratch bytes that sort_rays wants for `count` rays: about 8 each. Enqueues nothing.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  `count` is negative, or bytes beyond 63 bits
template <execution_space Exec>
std::int64_t sort_rays_bytes_needed(Exec const&, std::int64_t count) {
  workspace_parts memory("iso::ray::sort_rays");
  detail::take_keys(memory, count);
  return memory.bytes();
}

/// Finds the order in which rays lie close together: the i-th of them is rays[permutation[i]]. The
/// key is the interleaved bits (Morton code) of the ray's entry into the grid with those of its
/// exit, or below the octant of its direction; equal keys keep the rays' own order, and empty rays
/// come last.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `permutation`. About
/// log2(n / 32) passes over 8 bytes a ray (docs/algorithms/rays.md).
/// Determinism: backend_to_backend; no two keys are equal, so there is one answer.
///
/// \param[in]  rays         [n], n <= 2^32; world coordinates, mm
/// \param[in]  grid         the grid that they will walk
/// \param[out] permutation  [n]
/// \param      scratch      at least sort_rays_bytes_needed; free again after the next fence
/// \param      control      asked several times a second, on a processor; no progress is told
/// \throws iso::invalid_argument  invalid grid, lengths that differ, too many rays, an array
///                                without memory, a permutation that overlaps the rays, too little
///                                scratch, an unknown order
/// \throws iso::cancelled         as job::step
template <execution_space Exec, view Rays, view Permutation>
  requires accesses<Exec, typename Rays::memory_space> &&
           accesses<Exec, typename Permutation::memory_space>
void sort_rays(Exec const& exec, Rays const& rays, grid const& g, Permutation const& permutation,
               workspace<typename Exec::memory_space> const& scratch,
               ray_order order = ray_order::entry_and_exit, job const& control = {}) {
  using element = typename Rays::non_const_value_type;
  using scalar = decltype(element{}.t_min);
  static_assert(Rays::rank() == 1 && std::is_same_v<element, ray<scalar>> &&
                    !std::is_same_v<typename Rays::array_layout, Kokkos::LayoutStride>,
                "iso::ray::sort_rays: rays must be a dense rank-1 view of iso::ray::ray<T>");
  static_assert(Permutation::rank() == 1 &&
                    std::is_same_v<typename Permutation::value_type, std::int64_t> &&
                    !std::is_same_v<typename Permutation::array_layout, Kokkos::LayoutStride>,
                "iso::ray::sort_rays: permutation must be a dense writable rank-1 view of "
                "std::int64_t");
  validate(g, "iso::ray::sort_rays");
  auto const count = std::int64_t(rays.extent(0));
  ISO_VALIDATE(count == std::int64_t(permutation.extent(0)),
               "iso::ray::sort_rays: {} rays and a permutation of {} (lengths must agree); give "
               "the permutation an element for each ray",
               count, permutation.extent(0));
  ISO_VALIDATE(count <= std::int64_t(1) << 32,
               "iso::ray::sort_rays: {} rays (at most 2^32 at a time); sort them in parts", count);
  ISO_VALIDATE(order >= ray_order::entry_and_exit && order <= ray_order::octant_then_entry,
               "iso::ray::sort_rays: order {} (is none of the enumeration); choose one of "
               "iso::ray::ray_order",
               int(order));
  validate_memory({memory_of(rays, "rays"), memory_of(permutation, "permutation")},
                  "iso::ray::sort_rays");
  validate_apart(memory_of(permutation, "permutation"), {memory_of(rays, "rays")},
                 "iso::ray::sort_rays");
  validate(scratch, sort_rays_bytes_needed(exec, count), "iso::ray::sort_rays");
  if (count > 0) {
    workspace_parts memory(scratch, "iso::ray::sort_rays");
    detail::launch_sort_rays<Exec, scalar>(exec, traversal_grid(g), rays.data(), count, order,
                                           detail::take_keys(memory, count), permutation.data(),
                                           control);
  }
}

}  // namespace iso::ray
