// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_DETAIL_MAX_ABS_HPP
#define ISO_DETAIL_MAX_ABS_HPP

#include <iso/backend/atomic_maximum.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <algorithm>
#include <cstdint>

#define ISO_SET_HEADER <iso/detail/max_abs.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Takes the atomic maximum of *max_abs and the largest finite |x| of a stretch of x. A maximum has
/// no order. Where `FlagsNotFinite`, *not_finite becomes 1 if an x is not finite.
template <class T, bool FlagsNotFinite>
struct max_abs_kernel {
  ISO_KERNEL(max_abs_kernel<T, FlagsNotFinite>);

  /// The number of values that a lane asks for at once: a short x is read in one wait.
  static constexpr int steps = 32;
  static constexpr std::int64_t block = 32 * steps;
  T const* x;
  std::int64_t length;
  std::int64_t stride;
  double* max_abs;
  std::int32_t* not_finite;

  std::int64_t num_groups = groups_for(length);

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.trigger_dependent_launch();
    group.wait_for_previous_launch();
    typename Group::template lane_array<T> most(T(0));
    typename Group::template lane_array<T> rest(T(0));  // NaN behind what is not finite
    for (std::int64_t first = block * index; first < length; first += block * num_groups) {
      typename Group::template lane_array<T> values[steps];
      if (stride == 1 && first + block <= length) {
        T const* const here = x + first;
        backend::unrolled<steps>([&](auto step) {
          group.each([&](int lane) { values[step][lane] = here[32 * int(step) + lane]; });
        });
      } else {
        backend::unrolled<steps>([&](auto step) {
          group.each([&](int lane) {
            std::int64_t const i = first + 32 * int(step) + lane;
            values[step][lane] = i < length ? x[i * stride] : T(0);
          });
        });
      }
      backend::unrolled<steps>([&](auto step) {
        group.each([&](int lane) {
          T const size = Kokkos::fabs(values[step][lane]);
          most[lane] = is_finite(size) && size > most[lane] ? size : most[lane];
          if constexpr (FlagsNotFinite) {
            rest[lane] += size - size;
          }
        });
      });
    }
    typename Group::template lane_array<double> size;
    group.each([&](int lane) { size[lane] = double(most[lane]); });
    double const top = group.highest(size);
    group.once([&] {
      if (top > 0) {
        backend::atomic_maximum(max_abs, top);
      }
    });
    if constexpr (FlagsNotFinite) {
      typename Group::template lane_array<bool> bad;
      group.each([&](int lane) { bad[lane] = rest[lane] != T(0); });
      if (group.any(bad)) {
        group.once([&] { backend::atomic_maximum(not_finite, 1); });
      }
    }
  }

 private:
  /// Returns 1024 at most, since they update one number, in step (2 ns each on an H200); more where
  /// each would read more than 16 blocks.
  static std::int64_t groups_for(std::int64_t length) {
    std::int64_t const blocks = (length + block - 1) / block;
    return std::min(blocks, std::max(std::int64_t(1024), blocks / 16));
  }
};

}  // namespace iso::detail::ISO_SET

#endif
