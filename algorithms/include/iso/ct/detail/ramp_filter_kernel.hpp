// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/ct/detail/padded_images.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The convolution of every row of u with the ramp filter, directly: out[u] = sum over u' ascending
/// of taps[|u - u'|] in[u'], each step an fma, for `Outputs` neighbouring u of 32 v a group.
template <class T, int Outputs>
struct ramp_filter_kernel {
  T const* taps;  ///< [-num_u .. num_u], taps[num_u] being tap 0
  T const* in;    ///< padded
  T* out;         ///< padded
  padded_images shape;

  KOKKOS_FUNCTION std::int32_t tiles_along_u() const {
    return (shape.num_u + Outputs - 1) / Outputs;
  }
  KOKKOS_FUNCTION std::int64_t groups_per_view() const {
    return std::int64_t(tiles_along_u()) * (shape.pitch() / 32);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const view = index / groups_per_view();
    auto const place = std::int32_t(index - view * groups_per_view());
    std::int32_t const tile = place / (shape.pitch() / 32);
    std::int32_t const first_u = tile * Outputs;
    std::int32_t const first_v = (place - tile * (shape.pitch() / 32)) * 32;
    std::int64_t const corner = view * shape.image_size() + shape.pitch() + first_v;
    group.template parts<T, 1>([&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value sum[Outputs];
      for (int j = 0; j < Outputs; ++j) {
        sum[j] = value(T(0));
      }
      T const* KOKKOS_RESTRICT const column = in + corner;
      T const* KOKKOS_RESTRICT const tap = taps + shape.num_u + first_u;
      for (std::int32_t from = 0; from < shape.num_u; ++from) {
        value const x = part.load(column + std::int64_t(from) * shape.pitch());
        ISO_EACH_REGISTER(int j = 0; j < Outputs; ++j) {
          sum[j] = fma(value(tap[j - from]), x, sum[j]);
        }
      }
      for (int j = 0; j < Outputs && first_u + j < shape.num_u; ++j) {
        part.store(out + corner + std::int64_t(first_u + j) * shape.pitch(), sum[j]);
      }
    });
  }
};

/// Taps as T, from -num_u to num_u; those beyond the last are never used.
template <class T>
struct mirror_taps_kernel {
  Kokkos::View<double const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> taps;
  T* mirrored;
  std::int32_t num_u;

  KOKKOS_FUNCTION void operator()(std::int32_t index) const {
    std::int32_t const n = index < num_u ? num_u - index : index - num_u;
    mirrored[index] = n < num_u ? T(taps(n)) : T(0);
  }
};

template <class T>
struct clear_kernel {
  T* values;
  KOKKOS_FUNCTION void operator()(std::int64_t index) const { values[index] = T(0); }
};

}  // namespace iso::ct::detail
