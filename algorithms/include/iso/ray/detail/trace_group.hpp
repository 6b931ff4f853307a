// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ray/detail/entry.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

namespace iso::ray::detail {

/// The lanes of such a group are arrays of one thread, stepped together.
template <class Group>
concept steps_together = requires { Group::vector_bytes; };

/// Sum over the voxels of `e` of length * value, one fma each in order along the ray.
template <class Method, class T, class Index>
KOKKOS_FORCEINLINE_FUNCTION T trace(entry<T, Index> const& e, T const* KOKKOS_RESTRICT values) {
  T sum = T(0);
  walk(Method{}, e, [&](Index index, T length) { sum = Kokkos::fma(length, values[index], sum); });
  return sum;
}

/// `trace` for 32 rays in lock-step, the same bits: a lane that has arrived goes on with segments of
/// no length, so that a step has no branch and the compiler can use whole registers.
template <class T, class Index, class Group, class Real>
KOKKOS_FORCEINLINE_FUNCTION void trace_together(
    Group const& group, traversal_grid const& grid, T const* KOKKOS_RESTRICT values,
    typename Group::template per_lane<ray<Real>> const& rays,
    typename Group::template per_lane<T>& sums) {
  using lengths = typename Group::template per_lane<T>;
  using offsets = typename Group::template per_lane<Index>;
  lengths fx, fy, fz, dx, dy, dz, tx, ty, tz, end;
  lengths nx(T(0)), ny(T(0)), nz(T(0)), at(T(0));
  offsets index, sx, sy, sz;
  group.each([&](int lane) {
    auto const e = enter<T, Index>(rays[lane], grid);
    fx[lane] = tx[lane] = e.first.x;
    fy[lane] = ty[lane] = e.first.y;
    fz[lane] = tz[lane] = e.first.z;
    dx[lane] = e.step.x;
    dy[lane] = e.step.y;
    dz[lane] = e.step.z;
    sx[lane] = e.stride.x;
    sy[lane] = e.stride.y;
    sz[lane] = e.stride.z;
    end[lane] = e.end;
    index[lane] = e.index;
    sums[lane] = T(0);
  });
  // Eight steps at a time in three passes: where the rays go, what lies there, what it adds up to. The
  // middle pass is plain loads, which beat a gather instruction; the others fill whole registers.
  constexpr int rounds = 8;
  lengths segment[rounds], value[rounds];
  offsets where[rounds];
  for (bool under_way = true; under_way;) {
    group.each([&](int lane) {
      T x = tx[lane], y = ty[lane], z = tz[lane];
      T cx = nx[lane], cy = ny[lane], cz = nz[lane];
      T here = at[lane];
      T const last = end[lane];
      T const step_x = dx[lane], step_y = dy[lane], step_z = dz[lane];
      T const first_x = fx[lane], first_y = fy[lane], first_z = fz[lane];
      Index const stride_x = sx[lane], stride_y = sy[lane], stride_z = sz[lane];
      Index offset = index[lane];
#pragma GCC unroll 8
      for (int round = 0; round < rounds; ++round) {
        T const plane = less_of(less_of(x, y), z);
        T const next = less_of(plane, last);
        segment[round][lane] = next - here;
        where[round][lane] = offset;
        here = next;
        bool const inside = plane < last;
        bool const by_x = inside & (x <= plane);
        bool const by_y = inside & (y <= plane);
        bool const by_z = inside & (z <= plane);
        cx += by_x ? T(1) : T(0);
        cy += by_y ? T(1) : T(0);
        cz += by_z ? T(1) : T(0);
        x = Kokkos::fma(cx, step_x, first_x);
        y = Kokkos::fma(cy, step_y, first_y);
        z = Kokkos::fma(cz, step_z, first_z);
        offset += by_x ? stride_x : Index(0);
        offset += by_y ? stride_y : Index(0);
        offset += by_z ? stride_z : Index(0);
      }
      tx[lane] = x;
      ty[lane] = y;
      tz[lane] = z;
      nx[lane] = cx;
      ny[lane] = cy;
      nz[lane] = cz;
      at[lane] = here;
      index[lane] = offset;
    });
    for (int round = 0; round < rounds; ++round) {
      for (int lane = 0; lane < 32; ++lane) {
        value[round][lane] = values[where[round][lane]];
      }
    }
    group.each([&](int lane) {
      T sum = sums[lane];
#pragma GCC unroll 8
      for (int round = 0; round < rounds; ++round) {
        T const more = Kokkos::fma(segment[round][lane], value[round][lane], sum);
        sum = segment[round][lane] > T(0) ? more : sum;
      }
      sums[lane] = sum;
    });
    int left = 0;
    for (int lane = 0; lane < 32; ++lane) {
      left += at[lane] < end[lane] ? 1 : 0;
    }
    under_way = left > 0;
  }
}

/// Integrals of `values` (on `grid`, z fastest) along 32 rays, one a lane; an empty ray gives 0.
///
/// `Index` is a signed integer that holds the grid's size: 32 bits where that fits, for speed. `T` is
/// the type of the values and of the sums, `Real` that of the rays. The bits depend
/// neither on the group's kind nor on Method.
template <class Method, class Index, class T, class Group, class Real>
KOKKOS_FORCEINLINE_FUNCTION void trace_group(
    Group const& group, traversal_grid const& grid, T const* KOKKOS_RESTRICT values,
    typename Group::template per_lane<ray<Real>> const& rays,
    typename Group::template per_lane<T>& sums) {
  if constexpr (steps_together<Group> && std::is_same_v<Method, branchless>) {
    trace_together<T, Index, Group, Real>(group, grid, values, rays, sums);
  } else {
    group.each([&](int lane) {
      sums[lane] = trace<Method>(enter<T, Index>(rays[lane], grid), values);
    });
  }
}

}  // namespace iso::ray::detail
