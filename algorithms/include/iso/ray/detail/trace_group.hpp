// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/ray/detail/entry.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

namespace iso::ray::detail {

/// The lanes of such a group are arrays of one thread, stepped together.
template <class Group>
concept steps_together = requires { Group::vector_bytes; };

/// Adds length * value, one fma each in order along the ray. Each product waits a step for its
/// value, so that the walk goes on while the value comes; a segment of no length adds zero.
template <class T>
struct weighted_sum {
  T const* KOKKOS_RESTRICT values;
  T at = T(0);
  T sum = T(0);
  T length_before = T(0);
  T value_before = T(0);

  template <class Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index index, T next) {
    T const length = next - at;
    T value = T(0);
    if (length > T(0)) {
      value = values[index];
    }
    sum = Kokkos::fma(length_before, value_before, sum);
    value_before = value;
    length_before = length;
    at = next;
  }
};

/// Integral of `values` along the ray that entered at `e`.
template <class Method, class T, class Index>
KOKKOS_FORCEINLINE_FUNCTION T trace(entry<T, Index> const& e, T const* KOKKOS_RESTRICT values) {
  weighted_sum<T> report{values};
  walk(Method{}, e, report);
  return Kokkos::fma(report.length_before, report.value_before, report.sum);
}

/// 32 rays in lock-step. A lane that has arrived goes on with segments of no length, so that a step
/// has no branch and the compiler can use whole registers.
template <class Group, class T, class Index>
struct rays_together {
  template <class X>
  using per_lane = typename Group::template per_lane<X>;
  static constexpr int rounds = 4;

  per_lane<T> first_x, first_y, first_z;  // as in entry
  per_lane<T> step_x, step_y, step_z;
  per_lane<Index> stride_x, stride_y, stride_z;
  per_lane<T> end;
  per_lane<T> at;                         // where the next segment begins
  per_lane<T> x, y, z;                    // next crossing of each axis
  per_lane<T> after_x, after_y, after_z;  // the one after it, number n
  per_lane<T> n_x, n_y, n_z;
  per_lane<Index> index;

  /// Segments whose values are still to be read.
  struct batch {
    per_lane<T> segment[rounds];
    per_lane<Index> where[rounds];
  };

  template <class Real>
  KOKKOS_FORCEINLINE_FUNCTION void enter_all(Group const& group, traversal_grid const& grid,
                                             per_lane<ray<Real>> const& rays) {
    per_lane<double> lengths;
    group.each([&](int lane) { lengths[lane] = scaled_length(rays[lane]); });
    group.each([&](int lane) {
      auto const e = enter<T, Index>(rays[lane], grid, lengths[lane]);
      first_x[lane] = e.first.x;
      first_y[lane] = e.first.y;
      first_z[lane] = e.first.z;
      step_x[lane] = e.step.x;
      step_y[lane] = e.step.y;
      step_z[lane] = e.step.z;
      stride_x[lane] = e.stride.x;
      stride_y[lane] = e.stride.y;
      stride_z[lane] = e.stride.z;
      end[lane] = e.end;
      index[lane] = e.index;
    });
    group.each([&](int lane) {
      at[lane] = T(0);
      n_x[lane] = n_y[lane] = n_z[lane] = T(1);
      x[lane] = first_x[lane];
      y[lane] = first_y[lane];
      z[lane] = first_z[lane];
      after_x[lane] = Kokkos::fma(T(1), step_x[lane], first_x[lane]);
      after_y[lane] = Kokkos::fma(T(1), step_y[lane], first_y[lane]);
      after_z[lane] = Kokkos::fma(T(1), step_z[lane], first_z[lane]);
    });
  }

  /// The next `rounds` segments: the state stays in registers meanwhile. The crossing after the
  /// next is kept ready, which takes an addition and an fma off the chain from one segment to the
  /// next.
  KOKKOS_FORCEINLINE_FUNCTION void advance(Group const& group, batch& b) {
    group.each([&](int lane) {
      T tx = x[lane], ty = y[lane], tz = z[lane];
      T ax = after_x[lane], ay = after_y[lane], az = after_z[lane];
      T nx = n_x[lane], ny = n_y[lane], nz = n_z[lane];
      T const dx = step_x[lane], dy = step_y[lane], dz = step_z[lane];
      T const fx = first_x[lane], fy = first_y[lane], fz = first_z[lane];
      Index const sx = stride_x[lane], sy = stride_y[lane], sz = stride_z[lane];
      T const last = end[lane];
      T here = at[lane];
      Index voxel = index[lane];
#pragma GCC unroll 4
      for (int round = 0; round < rounds; ++round) {
        T const plane = less_of(less_of(tx, ty), tz);
        T const next = less_of(plane, last);
        b.segment[round][lane] = next - here;
        b.where[round][lane] = voxel;
        here = next;
        T const gate = plane < last ? plane : T(-1);  // no crossing is negative
        bool const by_x = tx <= plane;
        bool const by_y = ty <= plane;
        bool const by_z = tz <= plane;
        voxel += tx <= gate ? sx : Index(0);
        voxel += ty <= gate ? sy : Index(0);
        voxel += tz <= gate ? sz : Index(0);
        tx = by_x ? ax : tx;
        ty = by_y ? ay : ty;
        tz = by_z ? az : tz;
        T const ux = nx + T(1), uy = ny + T(1), uz = nz + T(1);
        nx = by_x ? ux : nx;
        ny = by_y ? uy : ny;
        nz = by_z ? uz : nz;
        ax = Kokkos::fma(nx, dx, fx);
        ay = Kokkos::fma(ny, dy, fy);
        az = Kokkos::fma(nz, dz, fz);
      }
      x[lane] = tx, y[lane] = ty, z[lane] = tz;
      after_x[lane] = ax, after_y[lane] = ay, after_z[lane] = az;
      n_x[lane] = nx, n_y[lane] = ny, n_z[lane] = nz;
      at[lane] = here;
      index[lane] = voxel;
    });
  }

  /// Asks the cache for what every tenth lane will read: where rays lie close together, for all of
  /// it.
  KOKKOS_FORCEINLINE_FUNCTION static void expect(batch const& b, T const* KOKKOS_RESTRICT values) {
    for (int round = 0; round < rounds; ++round) {
      for (int lane = 0; lane < 32; lane += 10) {
        __builtin_prefetch(values + b.where[round][lane]);
      }
    }
  }

  /// Adds what those segments saw. Plain loads first: they beat a gather instruction.
  KOKKOS_FORCEINLINE_FUNCTION static void add(Group const& group, batch const& b,
                                              T const* KOKKOS_RESTRICT values, per_lane<T>& sums) {
    per_lane<T> value[rounds];
    for (int round = 0; round < rounds; ++round) {
      for (int lane = 0; lane < 32; ++lane) {
        value[round][lane] = values[b.where[round][lane]];
      }
    }
    group.each([&](int lane) {
      T sum = sums[lane];
#pragma GCC unroll 4
      for (int round = 0; round < rounds; ++round) {
        T const more = Kokkos::fma(b.segment[round][lane], value[round][lane], sum);
        sum = b.segment[round][lane] > T(0) ? more : sum;
      }
      sums[lane] = sum;
    });
  }

  /// All segments of all lanes, each lane's in order. Several batches are under way at once, so
  /// that what one will read has time to come while the others are worked on.
  KOKKOS_FORCEINLINE_FUNCTION void sum_up(Group const& group, T const* KOKKOS_RESTRICT values,
                                          per_lane<T>& sums) {
    if (!any_left()) {
      return;
    }
    constexpr int ahead = 4;
    batch batches[ahead];
    for (auto& b : batches) {
      advance(group, b);
      expect(b, values);
    }
    int oldest = 0;
    while (any_left()) {
      for (int i = 0; i < 2; ++i) {
        batch& b = batches[oldest];
        add(group, b, values, sums);
        advance(group, b);
        expect(b, values);
        oldest = (oldest + 1) % ahead;
      }
    }
    for (int i = 0; i < ahead; ++i) {
      add(group, batches[(oldest + i) % ahead], values, sums);
    }
  }

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool any_left() const {
    int left = 0;
    for (int lane = 0; lane < 32; ++lane) {
      left += at[lane] < end[lane] ? 1 : 0;
    }
    return left > 0;
  }
};

/// Integrals of `values` (on `grid`, z fastest) along 32 rays, one a lane; an empty ray gives 0.
///
/// `Index` is a signed integer that holds the grid's size: 32 bits where that fits, for speed. `T`
/// is the type of the values and of the sums, `Real` that of the rays. The bits depend neither on
/// the group's kind nor on Method.
template <class Method, class Index, class T, class Group, class Real>
KOKKOS_FORCEINLINE_FUNCTION void trace_group(
    Group const& group, traversal_grid const& grid, T const* KOKKOS_RESTRICT values,
    typename Group::template per_lane<ray<Real>> const& rays,
    typename Group::template per_lane<T>& sums) {
  if constexpr (steps_together<Group> && std::is_same_v<Method, branchless>) {
    rays_together<Group, T, Index> all;
    all.enter_all(group, grid, rays);
    sums = typename Group::template per_lane<T>(T(0));
    all.sum_up(group, values, sums);
  } else {
    group.each(
        [&](int lane) { sums[lane] = trace<Method>(enter<T, Index>(rays[lane], grid), values); });
  }
}

}  // namespace iso::ray::detail
