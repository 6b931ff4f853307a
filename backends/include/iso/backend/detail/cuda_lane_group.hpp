// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/detail/columns_present.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::backend::detail {

template <class Exec>
inline constexpr bool is_cuda = false;

template <class Kernel>
struct cuda_body;
template <class Kernel, int Warps>
struct cuda_team_body;

#if ISO_HAS_CUDA
template <>
inline constexpr bool is_cuda<Kokkos::Cuda> = true;

/// A warp. What a lane keeps is a register, so that indexing it costs nothing.
class cuda_lane_group {
 public:
  template <class T>
  class per_lane {
   public:
    per_lane() = default;
    KOKKOS_FUNCTION per_lane(T x) : value_(x) {}
    KOKKOS_FUNCTION T& operator[](int) { return value_; }
    KOKKOS_FUNCTION T const& operator[](int) const { return value_; }

   private:
    T value_;
  };

  KOKKOS_FUNCTION explicit cuda_lane_group(int lane) : lane_(lane) {}

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    f(lane_);
  }

  template <class Index, class F>
  KOKKOS_FORCEINLINE_FUNCTION void strided(Index begin, Index end, F&& f) const {
    for (Index i = begin + Index(lane_); i < end; i += Index(32)) {
      f(lane_, i);
    }
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(per_lane<T> const& x) const {
    T total = x[0];
    KOKKOS_IF_ON_DEVICE((for (int offset = 16; offset > 0; offset /= 2) {
      total = total + __shfl_xor_sync(0xffffffffU, total, offset);
    }))
    return total;
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> shuffle(per_lane<T> const& x,
                                                  per_lane<int> const& from) const {
    KOKKOS_IF_ON_DEVICE((return per_lane<T>(__shfl_sync(0xffffffffU, x[0], from[0]));))
    KOKKOS_IF_ON_HOST((static_cast<void>(from); return x;))
  }

  /// x of one lane, for all.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T broadcast(per_lane<T> const& x, int from) const {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(0xffffffffU, x[0], from);))
    KOKKOS_IF_ON_HOST((static_cast<void>(from); return x[0];))
  }

  KOKKOS_FORCEINLINE_FUNCTION bool any(per_lane<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __any_sync(0xffffffffU, x[0]) != 0;))
    KOKKOS_IF_ON_HOST((return x[0];))
  }

  /// Smallest and largest of all lanes.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t lowest(per_lane<std::int32_t> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __reduce_min_sync(0xffffffffU, x[0]);))
    KOKKOS_IF_ON_HOST((return x[0];))
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t highest(per_lane<std::int32_t> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __reduce_max_sync(0xffffffffU, x[0]);))
    KOKKOS_IF_ON_HOST((return x[0];))
  }

  /// Bit l of the result is x of lane l.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t mask(per_lane<bool> const& x) const {
    KOKKOS_IF_ON_DEVICE((return __ballot_sync(0xffffffffU, x[0]);))
    KOKKOS_IF_ON_HOST((return x[0] ? 1U : 0U;))
  }

  /// Calls f from one lane only, for what the group writes once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(F&& f) const {
    if (lane_ == 0) {
      f();
    }
  }

  /// Nothing to do: other warps hide the wait.
  template <int Count, class T>
  KOKKOS_FORCEINLINE_FUNCTION static void prefetch(T const*) {}

  /// What `split` adds to every integer part; `blend_columns` expects columns moved back by as
  /// much.
  template <class T>
  static constexpr std::uint32_t index_bias = sizeof(T) == 4 ? 0x4b400000U : 0U;

  /// z to its floor (plus index_bias, modulo 2^32) and the rest, for |z| < 2^22: an addition that
  /// rounds down, where a conversion would wait for the slower pipe.
  KOKKOS_FORCEINLINE_FUNCTION static void split(float z, std::uint32_t& whole, float& rest) {
    KOKKOS_IF_ON_DEVICE((float const shifted = __fadd_rd(z, 12582912.0F);
                         whole = __float_as_uint(shifted); rest = z - (shifted - 12582912.0F);))
    KOKKOS_IF_ON_HOST((whole = std::uint32_t(z); rest = z - float(whole);))
  }
  KOKKOS_FORCEINLINE_FUNCTION static void split(double z, std::uint32_t& whole, double& rest) {
    KOKKOS_IF_ON_DEVICE((double const shifted = __dadd_rd(z, 6755399441055744.0);
                         whole = std::uint32_t(__double2loint(shifted));
                         rest = z - (shifted - 6755399441055744.0);))
    KOKKOS_IF_ON_HOST((whole = std::uint32_t(z); rest = z - double(whole);))
  }
  /// The same without the bias.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(T z, std::int32_t& whole, T& rest) {
    std::uint32_t biased;
    split(z, biased, rest);
    whole = std::int32_t(biased - index_bias<T>);
  }

  /// Four voxels about a point of each lane, on their way: of two neighbouring columns, at the
  /// heights z and z + 1.
  template <class T>
  struct columns {
    T lower_at_z;
    T lower_above;
    T upper_at_z;
    T upper_above;
  };

  /// Asks for the four voxels; `blend_columns` waits for them.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION columns<T> read_columns(T const* lower, T const* upper, std::int32_t,
                                                      per_lane<std::uint32_t> const& z) const {
    T const* KOKKOS_RESTRICT const p = lower + z[0];
    T const* KOKKOS_RESTRICT const q = upper + z[0];
    return {p[0], p[1], q[0], q[1]};
  }

  /// Interpolates: the columns with weight w, then the heights with the lane's fraction.
  template <class T, class Blend>
  KOKKOS_FORCEINLINE_FUNCTION void blend_columns(columns<T> const& c, T w,
                                                 per_lane<T> const& fraction, per_lane<T>& out,
                                                 Blend const& blend) const {
    out[0] = blend(fraction[0], blend(w, c.lower_at_z, c.upper_at_z),
                   blend(w, c.lower_above, c.upper_above));
  }

  /// A plane's voxels are worth asking for while the plane before is summed.
  static constexpr bool reads_ahead = true;

  /// The same where neighbours may be missing: a column that does not exist (its pointer is then
  /// any valid column) and heights outside [0, height) count as zero. z lies in [-2, height].
  template <class T, class Blend>
  KOKKOS_FORCEINLINE_FUNCTION void blend_columns_at_edge(
      T const* lower, T const* upper, columns_present present, std::int32_t height, T w,
      per_lane<std::int32_t> const& z, per_lane<T> const& fraction, per_lane<T>& out,
      Blend const& blend) const {
    // Loads at clamped heights and selects: no branch, so that an unrolled loop's loads overlap.
    std::int32_t const most = height - 1;
    std::int32_t const below = Kokkos::max(0, Kokkos::min(z[0], most));
    std::int32_t const above = Kokkos::max(0, Kokkos::min(z[0] + 1, most));
    T const p0 = present.lower ? lower[below] : T(0);
    T const p1 = present.lower ? lower[above] : T(0);
    T const q0 = present.upper ? upper[below] : T(0);
    T const q1 = present.upper ? upper[above] : T(0);
    T const a = below == z[0] ? blend(w, p0, q0) : T(0);
    T const b = above == z[0] + 1 ? blend(w, p1, q1) : T(0);
    out[0] = blend(fraction[0], a, b);
  }

 private:
  int lane_;
};

template <class Kernel>
struct cuda_body {
  Kernel kernel;
  std::int64_t first;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint32_t i) const {
    kernel(cuda_lane_group(int(i & 31U)), first + std::int64_t(i >> 5U));
  }
};

template <class Kernel, int Warps>
struct cuda_team_body {
  Kernel kernel;
  std::int64_t first;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(
      Kokkos::TeamPolicy<Kokkos::Cuda>::member_type const& team) const {
    int const thread = team.team_rank();
    std::int64_t const group = std::int64_t(team.league_rank()) * Warps + (thread >> 5);
    if (group < count) {
      kernel(cuda_lane_group(thread & 31), first + group);
    }
  }
};
#endif

}  // namespace iso::backend::detail
