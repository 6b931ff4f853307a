// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_RAY_DETAIL_TRACE_GROUP_HPP
#define ISO_RAY_DETAIL_TRACE_GROUP_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/ray/detail/entry.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/ray/detail/trace_group.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ray::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

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

/// Returns the integral of `values` along the ray that entered at `e`.
template <class Method, class T, class Index>
KOKKOS_FORCEINLINE_FUNCTION T trace(entry<T, Index> const& e, T const* KOKKOS_RESTRICT values) {
  weighted_sum<T> report{values};
  ISO_SET_OF(iso::ray::detail)::walk(Method{}, e, report);
  return Kokkos::fma(report.length_before, report.value_before, report.sum);
}

/// One axis of a part's rays in lock-step. The crossing after the next is kept ready, which takes
/// an addition and an fma off the chain from one segment to the next.
template <class Lengths, class Indices>
struct axis_together {
  using T = typename Lengths::element;
  Lengths first;  // as in entry
  Lengths step;
  Indices stride;
  Lengths next;   // crossing
  Lengths after;  // the one after it, number n
  Lengths n;

  [[gnu::always_inline]] axis_together(Lengths const& from, Lengths const& by, Indices const& over)
      : first(from),
        step(by),
        stride(over),
        next(from),
        after(fma(Lengths(T(1)), by, from)),
        n(1) {}

  /// Steps the rays whose next plane is `plane`, the nearest of the three axes'.
  [[gnu::always_inline]] void cross(Lengths const& plane, Indices& voxel) {
    auto const reached = next <= plane;
    voxel = select(reached, voxel + stride, voxel);
    next = select(reached, after, next);
    n = select(reached, n + Lengths(T(1)), n);
    after = fma(n, step, first);
  }
};

/// Walks 32 rays, a register of them at a time in lock-step, its state in registers all the way.
///
/// A round makes one segment of each ray. The voxel's value is requested from memory at once and
/// read `ahead` batches later, beside the making of a new segment: the loads fill the time in which
/// a round waits for the one before it. A ray that has arrived goes on with segments of no length
/// in voxel 0.
template <class Group, class T, class Index>
struct rays_together {
  template <class X>
  using lane_array = typename Group::template lane_array<X>;
  using lane_index =
      std::conditional_t<sizeof(T) == 4 && sizeof(Index) == 4, std::int32_t, std::int64_t>;

  using isa = typename Group::isa;
  static constexpr int width = isa::template width<lane_index>;
  using part = typename Group::template part<width>;
  using lengths = typename part::template per_lane<T>;
  using indices = typename part::template per_lane<lane_index>;
  using axis = axis_together<lengths, indices>;
  static constexpr int rounds = 4;       // a batch
  static constexpr int ahead = 16;       // batches
  static constexpr int look_again = 64;  // batches

  lane_array<T> first_x, first_y, first_z;  // as in entry
  lane_array<T> step_x, step_y, step_z;
  lane_array<lane_index> stride_x, stride_y, stride_z;
  lane_array<T> end;
  lane_array<lane_index> index;

  /// Segments whose values are still to be read.
  struct batch {
    alignas(64) T segment[rounds][width];
    alignas(64) lane_index where[rounds][width];
    int from;  // first lane of the register
  };

  /// Sums of a register's rays, in registers of 32 bytes at most: one of 64 is dear to put together
  /// from single loads.
  struct sums_together {
    static constexpr int narrow = width * int(sizeof(T)) < 32 ? width : 32 / int(sizeof(T));
    using narrow_part = typename Group::template part<narrow>;
    using narrow_lengths = typename narrow_part::template per_lane<T>;
    narrow_lengths sum[width / narrow];

    [[gnu::always_inline]] explicit sums_together(T const* sums) {
      for (int k = 0; k < width / narrow; ++k) {
        sum[k] = narrow_part{k * narrow}.load(sums);
      }
    }
    [[gnu::always_inline]] void store(T* sums) const {
      for (int k = 0; k < width / narrow; ++k) {
        narrow_part{k * narrow}.store(sums, sum[k]);
      }
    }

    /// Adds what one round's segments saw.
    [[gnu::always_inline]] void add(batch const& b, int round, T const* KOKKOS_RESTRICT values) {
#pragma GCC unroll 2
      for (int k = 0; k < width / narrow; ++k) {
        narrow_part const lanes{k * narrow};
        narrow_lengths const segment = lanes.load(b.segment[round]);
        auto const value = gather(values, lanes.load(b.where[round]));
        sum[k] = fma_where(narrow_lengths(T(0)) < segment, segment, value, sum[k]);
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

    [[gnu::always_inline]] walkers(rays_together const& all, part const& p)
        : x(p.load(all.first_x), p.load(all.step_x), p.load(all.stride_x)),
          y(p.load(all.first_y), p.load(all.step_y), p.load(all.stride_y)),
          z(p.load(all.first_z), p.load(all.step_z), p.load(all.stride_z)),
          end(p.load(all.end)),
          at(T(0)),
          voxel(p.load(all.index)) {}

    [[nodiscard, gnu::always_inline]] bool any_left() const { return !all_of(end == at); }

    /// Makes the next segment of each ray, and asks for the outer two's voxels.
    [[gnu::always_inline]] void advance(batch& b, int round, T const* KOKKOS_RESTRICT values) {
      part const lanes{0};
      lengths const plane = min(min(x.next, y.next), z.next);
      lengths const next = min(plane, end);
      lanes.store(b.segment[round], next - at);
      lanes.store(b.where[round], voxel);
      at = next;
      x.cross(plane, voxel);
      y.cross(plane, voxel);
      z.cross(plane, voxel);
      voxel = select(plane < end, voxel, indices(0));
      __builtin_prefetch(values + b.where[round][0]);
      __builtin_prefetch(values + b.where[round][width - 1]);
    }
  };

  template <class Real>
  [[gnu::always_inline]] void enter_all(Group const& group, traversal_grid const& grid,
                                        lane_array<ray<Real>> const& rays) {
    lane_array<double> lengths;
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

  /// Returns whether hardly two neighbours read near each other: then the outer two's lines are not
  /// what the others want.
  [[gnu::noinline]] static bool far_apart(batch const& b) {
    constexpr auto line = 64 / lane_index(sizeof(T));
    int on_their_way = 0;
    int near = 0;
    for (int lane = 0; lane + 1 < width; ++lane) {
      lane_index const here = b.where[0][lane];
      lane_index const away = b.where[0][lane + 1] - here;
      on_their_way += here != 0 ? 1 : 0;
      near += ((here != 0) & (away < line) & (away > -line)) ? 1 : 0;
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

  /// Sums up all segments of all rays, each ray's in order.
  [[gnu::always_inline]] void sum_up(T const* KOKKOS_RESTRICT values, lane_array<T>& sums) const {
    batch batches[ahead];
    int made = 0;
    for (int from = 0; from < 32; from += width) {
      walkers w(*this, part{from});
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

/// Integrates `values` (on `grid`, z fastest) along 32 rays, one a lane; an empty ray gives 0.
///
/// `Index` is a signed integer that holds the grid's size: 32 bits where that fits, for speed. `T`
/// is the type of the values and of the sums, `Real` that of the rays. The bits depend neither on
/// the group's kind nor on Method.
template <class Method, class Index, class T, class Group, class Real>
KOKKOS_FORCEINLINE_FUNCTION void trace_group(
    Group const& group, traversal_grid const& grid, T const* KOKKOS_RESTRICT values,
    typename Group::template lane_array<ray<Real>> const& rays,
    typename Group::template lane_array<T>& sums) {
  if constexpr (Group::has_windows && std::is_same_v<Method, branchless>) {
    rays_together<Group, T, Index> all;
    all.enter_all(group, grid, rays);
    sums = typename Group::template lane_array<T>(T(0));
    all.sum_up(values, sums);
  } else {
    group.each(
        [&](int lane) { sums[lane] = (trace<Method>)(enter<T, Index>(rays[lane], grid), values); });
  }
}

}  // namespace iso::ray::detail::ISO_SET

#endif
