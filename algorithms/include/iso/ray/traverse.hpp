// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/traverse.hpp
//! Walks a ray through a grid, voxel by voxel; callable inside any kernel.
#ifndef ISO_SET
#ifndef ISO_RAY_TRAVERSE_HPP
#define ISO_RAY_TRAVERSE_HPP

#include <iso/backend/unroll.hpp>
#include <iso/ray/detail/entry.hpp>
#include <iso/ray/ray.hpp>
#include <iso/ray/traversal_grid.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ray {

/// The traversal that steps along one axis at a time, chosen by branches.
/// \par Method  J. Amanatides, A. Woo, Eurographics 1987
struct amanatides_woo {};

/// The traversal without branches: every comparison is a flag, and leaving by an edge or a corner
/// steps along several axes at once.
/// \par Method  K. Xiao et al., Med. Phys. 39(12), 2012 (algorithm 2)
struct branchless {};

/// The traversal that merges the three series of crossings. Each segment's voxel is found anew,
/// from how many of each series lie before it (the paper takes the segment's middle, which rounding
/// can put next door).
/// \par Method  R. L. Siddon, Med. Phys. 12(2), 1985
struct siddon {};

}  // namespace iso::ray

#define ISO_SET_HEADER <iso/ray/traverse.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ray::detail::ISO_SET {

/// The receiver of a walk's segments. It calls the caller's visitor for those of positive length,
/// and counts them. The walks below give it every segment that they step over: a linear index, and
/// where the segment ends.
template <class T, class Visit>
struct reporter {
  Visit& visit;
  T at = T(0);
  std::int32_t count = 0;

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index index, T next) {
    T const length = next - at;
    if (length > T(0)) {
      visit(index, length);
      ++count;
    }
    at = next;
  }
};

/// Leaves a voxel across the next plane of one axis.
template <class Report, class T, class Index>
KOKKOS_FORCEINLINE_FUNCTION void cross(Report& report, Index& index, T& next, T& crossed, T step,
                                       T first, Index stride) {
  report(index, next);
  index += stride;
  crossed += T(1);
  next = Kokkos::fma(crossed, step, first);
}

template <class T, class Index, class Report>
KOKKOS_FORCEINLINE_FUNCTION void walk(amanatides_woo, entry<T, Index> const& e, Report& report) {
  vec3<T> t = e.first;
  vec3<T> n{};
  Index index = e.index;
  ISO_DEVICE_UNROLL
  for (;;) {
    if (t.x < t.y) {
      if (t.x < t.z) {
        if (!(t.x < e.end)) {
          break;
        }
        cross(report, index, t.x, n.x, e.step.x, e.first.x, e.stride.x);
        continue;
      }
    } else if (t.y < t.z) {
      if (!(t.y < e.end)) {
        break;
      }
      cross(report, index, t.y, n.y, e.step.y, e.first.y, e.stride.y);
      continue;
    }
    if (!(t.z < e.end)) {
      break;
    }
    cross(report, index, t.z, n.z, e.step.z, e.first.z, e.stride.z);
  }
  report(index, e.end);
}

/// Does one axis of the branchless step: the flag becomes a count, a crossing and an offset.
template <class T, class Index>
KOKKOS_FORCEINLINE_FUNCTION void step_if(bool flag, T& next, T& crossed, Index& index, T step,
                                         T first, Index stride) {
  crossed = flag ? crossed + T(1) : crossed;
  next = Kokkos::fma(crossed, step, first);
  index += flag ? stride : Index(0);
}

template <class T, class Index, class Report>
KOKKOS_FORCEINLINE_FUNCTION void walk(branchless, entry<T, Index> const& e, Report& report) {
  vec3<T> t = e.first;
  vec3<T> n{};
  Index index = e.index;
  T next;
  ISO_DEVICE_UNROLL
  do {
    next = less_of(less_of(t.x, t.y), t.z);
    report(index, less_of(next, e.end));
    step_if(t.x <= next, t.x, n.x, index, e.step.x, e.first.x, e.stride.x);
    step_if(t.y <= next, t.y, n.y, index, e.step.y, e.first.y, e.stride.y);
    step_if(t.z <= next, t.z, n.z, index, e.step.z, e.first.z, e.stride.z);
  } while (next < e.end);
}

template <class T, class Index, class Report>
KOKKOS_FORCEINLINE_FUNCTION void walk(siddon, entry<T, Index> const& e, Report& report) {
  vec3<T> t = e.first;
  vec3<T> n{};
  Index none{};
  auto const voxel = [&] {
    return e.index + Index(n.x) * e.stride.x + Index(n.y) * e.stride.y + Index(n.z) * e.stride.z;
  };
  T next = less_of(less_of(t.x, t.y), t.z);
  ISO_DEVICE_UNROLL
  while (next < e.end) {
    report(voxel(), next);
    step_if(t.x <= next, t.x, n.x, none, e.step.x, e.first.x, Index(0));
    step_if(t.y <= next, t.y, n.y, none, e.step.y, e.first.y, Index(0));
    step_if(t.z <= next, t.z, n.z, none, e.step.z, e.first.z, Index(0));
    next = less_of(less_of(t.x, t.y), t.z);
  }
  report(voxel(), e.end);
}

}  // namespace iso::ray::detail::ISO_SET

namespace iso::ray::ISO_SET {

/// Calls visit(index, length) for every voxel that `r` crosses, in order along the ray, and returns
/// how many those are: at most Nx + Ny + Nz - 2.
///
/// `index` is the voxel's std::int64_t linear index, z fastest (`g.at(index)` gives the three), and
/// `length` > 0 the chord inside it as a T, mm. Segments whose length rounds to zero are not
/// visited, so a corner or an edge is credited to nobody twice. A ray in a face between two voxels
/// visits the upper one, in the grid's upper face none; an empty ray (iso/ray/ray.hpp) none.
///
/// A plane lies at the double nearest to origin + (n - 1/2) spacing, which is exact on grids whose
/// spacing and origin are dyadic (0.5, 0.75) and half a unit in the last place away on others
/// (0.1): a ray along a plane and that close to it may be credited, with its whole chord, to the
/// voxel across the plane. Against these planes, where a part of a ray runs within rounding of a
/// corner, a voxel whose exact chord is below 4 (Nx + Ny + Nz) eps max(1, distance of the origin /
/// diagonal) diagonals may be missing or extra.
///
/// The set-up runs in double precision, the steps in T. Grids of more than 2^24 voxels along an
/// axis want T = double; in float they are not visited. Determinism: backend_to_backend; all
/// methods report the same voxels and the same bits.
template <class Method, real T, class Visit>
KOKKOS_FUNCTION std::int32_t traverse(ray<T> const& r, traversal_grid const& g, Visit&& visit) {
  ISO_SET_OF(iso::ray::detail)::reporter<T, Visit> report{visit};
  ISO_SET_OF(iso::ray::detail)::walk(Method{}, detail::enter<T, std::int64_t>(r, g), report);
  return report.count;
}

}  // namespace iso::ray::ISO_SET

#endif
