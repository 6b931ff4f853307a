// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/sort_rays.hpp
//! An order of rays in which neighbours walk through neighbouring voxels.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/grid.hpp>
#include <iso/ray/ray.hpp>
#include <iso/ray/traversal_grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ray {

/// What neighbouring rays have in common.
enum class ray_order {
  entry_and_exit,     ///< where they enter and where they leave, both to 1/32 of the grid
  octant_then_entry,  ///< first the signs of their direction, then where they enter, to 1/512
};

namespace detail {

/// Instantiated in src/ray/sort_rays.cpp for every backend, float and double.
template <execution_space Exec, real T>
void launch_sort_rays(Exec const& exec, traversal_grid const& grid, ray<T> const* rays,
                      std::int64_t count, ray_order order, std::uint64_t* keys,
                      std::int64_t* permutation);

}  // namespace detail

/// The order in which rays lie close together: the i-th of them is rays[permutation[i]]. The key is
/// the interleaved bits (Morton code) of the ray's entry into the grid with those of its exit, or
/// below the octant of its direction; equal keys keep the rays' own order, and empty rays come
/// last.
///
/// Enqueued on `exec`, which it fences (the sort of the backend may). Overwrites `permutation`;
/// allocates 8 bytes a ray besides what the backend's sort takes.
/// Determinism: backend_to_backend; no two keys are equal, so there is one answer.
///
/// \param[in]  rays         [n], n <= 2^32; world coordinates, mm
/// \param[in]  grid         the grid that they will walk
/// \param[out] permutation  [n]
/// \throws iso::invalid_argument  invalid grid, lengths that differ, too many rays, an unknown
/// order
template <execution_space Exec, view Rays, view Permutation>
  requires accesses<Exec, typename Rays::memory_space> &&
           accesses<Exec, typename Permutation::memory_space>
void sort_rays(Exec const& exec, Rays const& rays, grid const& g, Permutation const& permutation,
               ray_order order = ray_order::entry_and_exit) {
  using element = typename Rays::non_const_value_type;
  using scalar = decltype(element{}.t_min);
  static_assert(Rays::rank() == 1 && std::is_same_v<element, ray<scalar>>,
                "iso::ray::sort_rays: rays must be a rank-1 view of iso::ray::ray<T>");
  static_assert(std::is_same_v<typename Permutation::value_type, std::int64_t>,
                "iso::ray::sort_rays: permutation must be a writable view of std::int64_t");
  validate(g, "iso::ray::sort_rays");
  auto const count = std::int64_t(rays.extent(0));
  ISO_VALIDATE(count == std::int64_t(permutation.extent(0)),
               "iso::ray::sort_rays: {} rays and a permutation of {} (lengths must agree)", count,
               permutation.extent(0));
  ISO_VALIDATE(count <= std::int64_t(1) << 32,
               "iso::ray::sort_rays: {} rays (at most 2^32 at a time) sort them in parts", count);
  ISO_VALIDATE(order >= ray_order::entry_and_exit && order <= ray_order::octant_then_entry,
               "iso::ray::sort_rays: order {} (is none of the enumeration) choose one of "
               "iso::ray::ray_order",
               int(order));
  if (count == 0) {
    return;
  }
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> const keys(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::ray::sort_rays"),
      std::size_t(count));
  detail::launch_sort_rays<Exec, scalar>(exec, traversal_grid(g), rays.data(), count, order,
                                         keys.data(), permutation.data());
  exec.fence("iso::ray::sort_rays: the keys may go");
}

}  // namespace iso::ray
