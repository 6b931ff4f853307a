// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/cuda_address.hpp>
#include <iso/backend/detail/lane_part.hpp>
#include <iso/backend/detail/lanes_scalar.hpp>
#include <iso/backend/lane_value.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#if ISO_HAS_CUDA
namespace iso::backend::detail {

/// The number that `split` adds to every integer part, for the caller to take off.
template <class T>
inline constexpr std::uint32_t cuda_index_bias = sizeof(T) == 4 ? 0x4b400000U : 0U;

/// Splits z into its floor (plus index_bias, modulo 2^32) and the rest, for |z| < 2^22: an addition
/// that rounds down, where a conversion would wait for the slower pipe.
KOKKOS_FORCEINLINE_FUNCTION void cuda_split(float z, std::uint32_t& whole, float& rest) {
  KOKKOS_IF_ON_DEVICE((float const shifted = __fadd_rd(z, 12582912.0F);
                       whole = __float_as_uint(shifted); rest = z - (shifted - 12582912.0F);))
  KOKKOS_IF_ON_HOST((whole = std::uint32_t(z); rest = z - float(whole);))
}
KOKKOS_FORCEINLINE_FUNCTION void cuda_split(double z, std::uint32_t& whole, double& rest) {
  KOKKOS_IF_ON_DEVICE((double const shifted = __dadd_rd(z, 6755399441055744.0);
                       whole = std::uint32_t(__double2loint(shifted));
                       rest = z - (shifted - 6755399441055744.0);))
  KOKKOS_IF_ON_HOST((whole = std::uint32_t(z); rest = z - double(whole);))
}
/// Does the same without the bias.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void cuda_split_signed(T z, std::int32_t& whole, T& rest) {
  std::uint32_t biased;
  cuda_split(z, biased, rest);
  whole = std::int32_t(biased - cuda_index_bias<T>);
}

/// A lane of each of `Rows` rows.
template <int Rows>
class cuda_lane_part {
 public:
  using shape = lane_shape<scalar_lanes, Rows, 1>;
  template <class T>
  using per_lane = lane_value<T, shape>;
  using index = per_lane<std::int32_t>;
  using mask = lane_mask<std::int32_t, shape>;
  static constexpr int num_rows = Rows;

  KOKKOS_FUNCTION explicit cuda_lane_part(int lane) : lane_(lane) {}

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static int first_row() { return 0; }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(T const* p) const {
    per_lane<T> out;
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { out.r[row] = p[lane_ + 32 * row]; }
    return out;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void store(T* p, per_lane<T> const& x) const {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { p[lane_ + 32 * row] = x.r[row]; }
  }
  template <class Array>
    requires requires(Array const& a) { a(0, 0); }
  KOKKOS_FORCEINLINE_FUNCTION auto load(Array const& a) const {
    using T = std::decay_t<decltype(a(0, 0))>;
    per_lane<T> out;
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { out.r[row] = a(row, lane_); }
    return out;
  }
  template <class Array, class V>
    requires requires(Array& a) { a(0, 0); }
  KOKKOS_FORCEINLINE_FUNCTION void store(Array& a, V const& x) const {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) { a(row, lane_) = x.r[row]; }
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION index lane() const { return index(lane_); }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split(per_lane<T> const& z, index& whole,
                                                per_lane<T>& rest) {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
      std::uint32_t biased;
      cuda_split(z.r[row], biased, rest.r[row]);
      whole.r[row] = std::int32_t(biased);
    }
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(per_lane<T> const& z, index& whole,
                                                       per_lane<T>& rest) {
    ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
      cuda_split_signed(z.r[row], whole.r[row], rest.r[row]);
    }
  }

  /// A place of each lane's own, `Offset` beyond k.
  template <int Offset>
  struct places {
    template <class T>
    using per_lane = lane_value<T, shape>;
    index const& k;

    template <template <class> class Address, class T>
    KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(Address<T> const& p) const {
      per_lane<T> out;
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        out.r[row] = p.plus(std::uint32_t(k.r[row]), sizeof(T)).template read<Offset>();
      }
      return out;
    }
    /// Loads the same of the array that lies `bytes` further on.
    template <template <class> class Address, class T>
    KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(Address<T> const& p, std::uint32_t bytes) const {
      per_lane<T> out;
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        out.r[row] = p.plus(std::uint32_t(k.r[row]), sizeof(T)).plus(bytes).template read<Offset>();
      }
      return out;
    }
    /// Loads the two numbers of pair k of an array of pairs.
    template <template <class> class Address, class T>
    KOKKOS_FORCEINLINE_FUNCTION void load_two(Address<T> const& p, per_lane<T>& a,
                                              per_lane<T>& b) const {
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        p.plus(std::uint32_t(k.r[row]), 2 * sizeof(T))
            .template read_two<Offset>(a.r[row], b.r[row]);
      }
    }
  };
  /// The same where it lies in [0, count), elsewhere a zero.
  template <int Offset>
  struct places_within {
    index const& k;
    std::uint32_t count;

    template <class T>
    KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load_if(bool exists, cuda_address<T> const& p) const {
      per_lane<T> out;
      ISO_EACH_REGISTER(int row = 0; row < Rows; ++row) {
        out.r[row] = p.at(k.r[row]).template read_if_below<Offset>(std::uint32_t(k.r[row]) + Offset,
                                                                   exists ? count : 0U);
      }
      return out;
    }
  };
  template <class T, class F>
  struct picks {
    F const& f;

    KOKKOS_FORCEINLINE_FUNCTION void pair(index const& k, per_lane<T>& a, per_lane<T>& b) const {
      a = f(places<0>{k});
      b = f(places<1>{k});
    }
    /// Needs no lower end: negative places count as large.
    KOKKOS_FORCEINLINE_FUNCTION void pair_within(index const& k, std::int32_t /*from*/,
                                                 std::int32_t to, per_lane<T>& a,
                                                 per_lane<T>& b) const {
      a = f(places_within<0>{k, std::uint32_t(to)});
      b = f(places_within<1>{k, std::uint32_t(to)});
    }
  };
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION static picks<T, F> scattered(F const& f) {
    return {f};
  }

 private:
  int lane_;
};

}  // namespace iso::backend::detail
#endif
