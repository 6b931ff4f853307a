// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/host_vectors.hpp>
#include <iso/ray/detail/entry.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

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

/// A register of `Bytes`: the lane group's, and the one that half a register of indices goes with.
template <class T, int Bytes>
struct lanes_of : backend::detail::simd<T, Bytes> {};
template <>
struct lanes_of<float, 16> {
  using type [[gnu::vector_size(16)]] = float;
};

/// a b + c, lane by lane, which the compiler makes one instruction.
template <class Vector>
[[gnu::always_inline]] inline void fma_lanes(Vector const& a, Vector const& b, Vector const& c,
                                             Vector& out) {
  Vector result;
  for (int lane = 0; lane < int(sizeof(Vector) / sizeof(a[0])); ++lane) {
    result[lane] = Kokkos::fma(a[lane], b[lane], c[lane]);
  }
  out = result;
}

// What follows runs on hosts alone: nvcc takes no vectors in what is device code too.

/// One axis of a register of rays in lock-step. The crossing after the next is kept ready, which
/// takes an addition and an fma off the chain from one segment to the next.
template <class T, class Lengths, class Indices>
struct axis_together {
  Lengths first;  // as in entry
  Lengths step;
  Indices stride;
  Lengths next;   // crossing
  Lengths after;  // the one after it, number n
  Lengths n;

  template <class Index>
  [[gnu::always_inline]] axis_together(T const* from, T const* by, Index const* over) {
    __builtin_memcpy(&first, from, sizeof first);
    __builtin_memcpy(&step, by, sizeof step);
    __builtin_memcpy(&stride, over, sizeof stride);
    Lengths const zero{};
    next = first;
    n = zero + T(1);
    fma_lanes(n, step, first, after);
  }

  /// Steps the rays whose next plane is `plane`, the nearest of the three axes'.
  [[gnu::always_inline]] void cross(Lengths const& plane, Indices& voxel) {
    auto const reached = next <= plane;
    voxel = __builtin_convertvector(reached, Indices) ? voxel + stride : voxel;
    next = reached ? after : next;
    n = reached ? n + T(1) : n;
    fma_lanes(n, step, first, after);
  }
};

/// 32 rays, a register of them at a time in lock-step, its state in registers all the way.
///
/// A round makes one segment of each ray. The voxel's value is asked of the cache at once and read
/// `ahead` batches later, beside the making of a new segment: the loads fill the time in which a
/// round waits for the one before it. A ray that has arrived goes on with segments of no length in
/// voxel 0.
template <class Group, class T, class Index>
struct rays_together {
  template <class X>
  using per_lane = typename Group::template per_lane<X>;
  using lane_index =
      std::conditional_t<sizeof(T) == 4 && sizeof(Index) == 4, std::int32_t, std::int64_t>;

  static constexpr int width = Group::vector_bytes / int(sizeof(lane_index));
  static constexpr int rounds = 4;       // a batch
  static constexpr int ahead = 16;       // batches
  static constexpr int look_again = 64;  // batches
  using lengths = typename lanes_of<T, int(sizeof(T)) * width>::type;
  using indices = typename lanes_of<lane_index, Group::vector_bytes>::type;
  using axis = axis_together<T, lengths, indices>;

  per_lane<T> first_x, first_y, first_z;  // as in entry
  per_lane<T> step_x, step_y, step_z;
  per_lane<lane_index> stride_x, stride_y, stride_z;
  per_lane<T> end;
  per_lane<lane_index> index;

  /// Segments whose values are still to be read.
  struct batch {
    alignas(64) T segment[rounds][width];
    alignas(64) std::make_unsigned_t<lane_index> where[rounds][width];
    int from;  // first lane of the register
  };

  /// Sums of a register's rays, in parts: one of 64 bytes is dear to put together from single
  /// loads.
  struct sums_together {
    static constexpr int part = sizeof(lengths) < 32 ? width : 32 / int(sizeof(T));
    using part_lengths = typename lanes_of<T, int(sizeof(T)) * part>::type;
    part_lengths sum[width / part];

    [[gnu::always_inline]] explicit sums_together(T const* sums) {
      for (int k = 0; k < width / part; ++k) {
        __builtin_memcpy(&sum[k], sums + k * part, sizeof sum[k]);
      }
    }
    [[gnu::always_inline]] void store(T* sums) const {
      for (int k = 0; k < width / part; ++k) {
        __builtin_memcpy(sums + k * part, &sum[k], sizeof sum[k]);
      }
    }

    /// Adds what one round's segments saw. Plain loads: they beat a gather instruction.
    [[gnu::always_inline]] void add(batch const& b, int round, T const* KOKKOS_RESTRICT values) {
      part_lengths const zero{};
#pragma GCC unroll 2
      for (int k = 0; k < width / part; ++k) {
        part_lengths segment;
        part_lengths value;
        part_lengths more;
        for (int lane = 0; lane < part; ++lane) {
          value[lane] = values[b.where[round][k * part + lane]];
        }
        __builtin_memcpy(&segment, &b.segment[round][k * part], sizeof segment);
        part_lengths const before = sum[k];
        fma_lanes(segment, value, before, more);
        sum[k] = segment > zero ? more : before;
      }
    }
  };

  /// The rays of one register on their way.
  struct walkers {
    axis x;
    axis y;
    axis z;
    lengths end;
    lengths at;  // where the next segment begins
    indices voxel;

    [[gnu::always_inline]] walkers(rays_together const& all, int from)
        : x(&all.first_x[from], &all.step_x[from], &all.stride_x[from]),
          y(&all.first_y[from], &all.step_y[from], &all.stride_y[from]),
          z(&all.first_z[from], &all.step_z[from], &all.stride_z[from]) {
      lengths const zero{};
      at = zero;
      __builtin_memcpy(&end, &all.end[from], sizeof end);
      __builtin_memcpy(&voxel, &all.index[from], sizeof voxel);
    }

    [[nodiscard, gnu::always_inline]] bool any_left() const {
      lengths const rest = end - at;  // no bit is set where a ray has arrived
      std::uint64_t words[sizeof rest / 8];
      __builtin_memcpy(words, &rest, sizeof rest);
      std::uint64_t any = 0;
      for (std::uint64_t const word : words) {
        any |= word;
      }
      return any != 0;
    }

    /// Makes the next segment of each ray, and asks for the outer two's voxels.
    [[gnu::always_inline]] void advance(batch& b, int round, T const* KOKKOS_RESTRICT values) {
      lengths const xy = x.next < y.next ? x.next : y.next;
      lengths const plane = xy < z.next ? xy : z.next;
      lengths const next = plane < end ? plane : end;
      lengths const segment = next - at;
      __builtin_memcpy(b.segment[round], &segment, sizeof segment);
      __builtin_memcpy(b.where[round], &voxel, sizeof voxel);
      at = next;
      x.cross(plane, voxel);
      y.cross(plane, voxel);
      z.cross(plane, voxel);
      indices const voxel_0{};
      voxel = __builtin_convertvector(plane < end, indices) ? voxel : voxel_0;
      __builtin_prefetch(values + b.where[round][0]);
      __builtin_prefetch(values + b.where[round][width - 1]);
    }
  };

  template <class Real>
  [[gnu::always_inline]] void enter_all(Group const& group, traversal_grid const& grid,
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
  }

  // The next two stand on their own so that they take no registers from the loops that call them.

  /// Whether hardly two neighbours read near each other: then the outer two's lines are not what
  /// the others want.
  [[gnu::noinline]] static bool far_apart(batch const& b) {
    constexpr auto line = 64 / lane_index(sizeof(T));
    int on_their_way = 0;
    int near = 0;
    for (int lane = 0; lane + 1 < width; ++lane) {
      auto const here = lane_index(b.where[0][lane]);
      auto const away = lane_index(b.where[0][lane + 1]) - here;
      on_their_way += here != 0 ? 1 : 0;
      near += (here != 0) & (away < line) & (away > -line) ? 1 : 0;
    }
    return 4 * near < on_their_way;
  }

  [[gnu::noinline]] static void expect_all(batch const& b, T const* values) {
    for (int round = 0; round < rounds; ++round) {
      for (int lane = 0; lane < width; ++lane) {
        __builtin_prefetch(values + b.where[round][lane]);
      }
    }
    asm volatile("");  // a prefetch counts as no effect: the compiler would drop the calls
  }

  /// All segments of all rays, each ray's in order.
  [[gnu::always_inline]] void sum_up(T const* KOKKOS_RESTRICT values, per_lane<T>& sums) const {
    batch batches[ahead];
    int made = 0;
    for (int from = 0; from < 32; from += width) {
      walkers w(*this, from);
      bool left = w.any_left();
      bool far = false;
      auto const finish = [&](batch& b, int turn) {
        b.from = from;
        if (turn % look_again == 0) {
          far = far_apart(b);
        }
        if (far) {
          expect_all(b, values);
        }
        left = w.any_left();
      };
      int turn = 0;
      for (; left && made < ahead; ++turn, ++made) {
        batch& b = batches[made];
#pragma GCC unroll 4
        for (int round = 0; round < rounds; ++round) {
          w.advance(b, round, values);
        }
        finish(b, turn);
      }
      for (; left; ++turn, ++made) {
        batch& b = batches[made % ahead];
        sums_together sum(&sums[b.from]);
#pragma GCC unroll 4
        for (int round = 0; round < rounds; ++round) {
          sum.add(b, round, values);
          w.advance(b, round, values);
        }
        sum.store(&sums[b.from]);
        finish(b, turn);
      }
    }
    for (int i = made < ahead ? 0 : made - ahead; i < made; ++i) {
      batch const& b = batches[i % ahead];
      sums_together sum(&sums[b.from]);
#pragma GCC unroll 4
      for (int round = 0; round < rounds; ++round) {
        sum.add(b, round, values);
      }
      sum.store(&sums[b.from]);
    }
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
    all.sum_up(values, sums);
  } else {
    group.each(
        [&](int lane) { sums[lane] = trace<Method>(enter<T, Index>(rays[lane], grid), values); });
  }
}

}  // namespace iso::ray::detail
