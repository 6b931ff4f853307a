// SPDX-License-Identifier: BSD-3-Clause
//! Does the second step of FDK: rows convolved with the ramp.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_RAMP_FILTER_KERNEL_HPP
#define ISO_CT_DETAIL_RAMP_FILTER_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/ct/detail/padded_images.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// Taps as T at the distances from -reach to reach, or, `odd_only`, at 2 m + 1 for m from -reach to
/// reach; those beyond the last are zero. After them that at distance 0.
template <class T>
struct mirrored_taps {
  Kokkos::View<double const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> taps;
  T* mirrored;
  std::int32_t reach;
  bool odd_only;

  /// Reckons with what tiles of outputs read beyond the detector's width, and whole vectors.
  static std::int32_t reach_of(std::int32_t num_u) { return (num_u + 35) / 4 * 4; }
  static std::int64_t count(std::int32_t reach) { return 2 * std::int64_t(reach) + 2; }

  KOKKOS_FUNCTION void operator()(std::int32_t index) const {
    std::int32_t const m = index - reach;
    std::int32_t const n = m > reach ? 0 : odd_only ? 2 * m + 1 : m;
    std::int32_t const distance = n < 0 ? -n : n;
    mirrored[index] = distance < std::int32_t(taps.extent(0)) ? T(taps(distance)) : T(0);
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/ramp_filter_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Computes the convolution of every row of u with the ramp filter, directly: out[u] = sum over u'
/// ascending of taps[u - u'] in[u'], each step an fma. A group is `Outputs` neighbouring u (an even
/// number) of a tile of `Rows` x 32 v, `Rows` being at most two; `Outputs` x `Outputs` steps at a
/// time are written out, so that taps stay in registers. `OddOnly`: taps at even distances but 0
/// are zero, and left out.
template <class T, int Outputs, int Rows, bool OddOnly>
struct ramp_filter_kernel {
  ISO_KERNEL(ramp_filter_kernel<T, Outputs, Rows, OddOnly>);

  T const* taps;   ///< from the middle of mirrored_taps on
  T const* tap_0;  ///< at distance 0
  T const* in;     ///< padded
  T* out;          ///< padded
  padded_images shape;
  std::int32_t first_tile;       ///< along v
  std::int32_t tiles;            ///< along v
  std::int64_t first_group = 0;  ///< of the launch

  KOKKOS_FUNCTION std::int32_t tiles_along_u() const {
    return (shape.num_u + Outputs - 1) / Outputs;
  }
  KOKKOS_FUNCTION std::int64_t groups_per_view() const {
    return std::int64_t(tiles_along_u()) * tiles;
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const index = first_group + of_launch;
    std::int64_t const view = index / groups_per_view();
    auto const place = std::int32_t(index - view * groups_per_view());
    // Neighbouring groups read the same pixels.
    std::int32_t const first_u = place % tiles_along_u() * Outputs;
    std::int32_t const first_row = (first_tile + place / tiles_along_u()) * Rows;
    std::int32_t const rows = shape.groups() - first_row < Rows ? shape.groups() - first_row : Rows;
    // Pixel (0, 0) of the rows.
    std::int64_t const corner = shape.at(view, 1) + 1 + 32 * first_row;
    T const middle = *tap_0;
    group.template parts<T, registers<Group>(), Rows>(rows, [&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value sum[Outputs];
      ISO_EACH_REGISTER(int j = 0; j < Outputs; ++j) { sum[j] = value(T(0)); }
      T const* KOKKOS_RESTRICT column = in + corner;
      std::int32_t from = 0;
      for (; from + Outputs <= shape.num_u; from += Outputs) {
        block_taps<Group::has_windows> const near(taps, first_u - from);
        if (from == first_u) {
          add_block<true>(part, near, middle, column, sum);
        } else {
          add_block<false>(part, near, middle, column, sum);
        }
        column += std::int64_t(Outputs) * shape.pitch();
      }
      for (; from < shape.num_u; ++from) {
        value const x = part.load(column);
        column += shape.pitch();
        ISO_EACH_REGISTER(int j = 0; j < Outputs; ++j) {
          std::int32_t const n = first_u + j - from;
          if (!OddOnly || n % 2 != 0 || n == 0) {
            T const tap = !OddOnly ? taps[n] : n == 0 ? middle : taps[(n - 1) / 2];
            sum[j] = fma(value(tap), x, sum[j]);
          }
        }
      }
      ISO_EACH_REGISTER(int j = 0; j < Outputs; ++j) {
        if (first_u + j < shape.num_u) {
          part.store(out + corner + std::int64_t(first_u + j) * shape.pitch(), sum[j]);
        }
      }
    });
  }

 private:
  /// Counts the registers of pixels in a part: as many as leave registers to the sums.
  template <class Group>
  static constexpr int registers() {
    if constexpr (Group::has_windows) {
      return Group::isa::num_registers / (2 * Outputs);
    }
    return 1;
  }

  /// The taps between `Outputs` pixels and as many sums, `distance` being that of the first to the
  /// first. A processor multiplies by what lies in memory, a GPU by registers.
  template <bool InMemory>
  struct block_taps {
    static constexpr int count = OddOnly ? Outputs : 2 * Outputs;
    std::conditional_t<InMemory, T const*, T[count]> tap;

    KOKKOS_FORCEINLINE_FUNCTION block_taps(T const* taps, std::int32_t distance) {
      T const* const first = taps + (OddOnly ? (distance - Outputs) / 2 : distance - Outputs);
      if constexpr (InMemory) {
        tap = first;
      } else {
        using four = backend::pack<T, 4>;
        ISO_EACH_REGISTER(int n = 0; n < count; n += 4) {
          four const x = backend::vector_load(reinterpret_cast<four const*>(first + n));
          ISO_EACH_REGISTER(int i = 0; i < 4; ++i) { tap[n + i] = x[i]; }
        }
      }
    }
    /// Returns the tap n further than `distance`, an odd number where the others are left out.
    KOKKOS_FORCEINLINE_FUNCTION T operator[](int n) const {
      return tap[OddOnly ? (n + Outputs - 1) / 2 : n + Outputs];
    }
  };

  /// Does the steps from `Outputs` pixels to as many sums. `Diagonal`: they are the same u.
  template <bool Diagonal, class Part, class Taps, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(Part const& part, Taps const& near, T middle,
                                             T const* KOKKOS_RESTRICT column,
                                             Value (&sum)[Outputs]) const {
    ISO_EACH_REGISTER(int s = 0; s < Outputs; ++s) {
      Value const x = part.load(column + std::int64_t(s) * shape.pitch());
      ISO_EACH_REGISTER(int j = 0; j < Outputs; ++j) {
        if (!OddOnly || (j - s) % 2 != 0) {
          sum[j] = fma(Value(near[j - s]), x, sum[j]);
        } else if (Diagonal && j == s) {
          sum[j] = fma(Value(middle), x, sum[j]);
        }
      }
    }
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
