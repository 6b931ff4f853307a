// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/host_columns.hpp>
#include <iso/backend/detail/host_products.hpp>
#include <iso/backend/detail/host_vectors.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::backend::detail {

/// The sums that a group has made.
template <class T, int Count>
struct host_group_sums {
  T value[Count];

  /// f(n, sum n) for every n.
  template <class F>
  [[gnu::always_inline]] void each(F&& f) const {
    for (int n = 0; n < Count; ++n) {
      f(n, value[n]);
    }
  }
  /// Whether f(sum n) holds for some n.
  template <class F>
  [[gnu::always_inline]] bool any(F&& f) const {
    bool found = false;
    for (int n = 0; n < Count; ++n) {
      found |= f(value[n]);
    }
    return found;
  }
};

/// Thirty-two lanes in arrays that the compiler vectorises. `VectorBytes` is the register width
/// that permutes are written for; no bit depends on it.
template <int VectorBytes>
class host_lane_group {
 public:
  static constexpr int vector_bytes = VectorBytes;

  template <class T>
  class per_lane {
   public:
    per_lane() = default;
    per_lane(T x) {
      for (int lane = 0; lane < 32; ++lane) {
        value_[lane] = x;
      }
    }
    T& operator[](int lane) { return value_[lane]; }
    T const& operator[](int lane) const { return value_[lane]; }

   private:
    alignas(64) T value_[32];
  };

  template <class F>
  [[gnu::always_inline]] void each(F&& f) const {
#pragma GCC ivdep
    for (int lane = 0; lane < 32; ++lane) {
      f(lane);
    }
  }

  template <class F>
  [[gnu::always_inline]] void each_below(std::int32_t count, F&& f) const {
    for (int lane = 0; lane < count; ++lane) {
      f(lane);
    }
  }

  template <class Index, class F>
  [[gnu::always_inline]] void strided(Index begin, Index end, F&& f) const {
    Index i = begin;
    for (; i + 32 <= end; i += 32) {
#pragma GCC ivdep
      for (int lane = 0; lane < 32; ++lane) {
        f(lane, i + Index(lane));
      }
    }
    for (int lane = 0; i + Index(lane) < end; ++lane) {
      f(lane, i + Index(lane));
    }
  }

  template <class T>
  [[gnu::always_inline]] T sum(per_lane<T> const& x) const {
    per_lane<T> partial = x;
    for (int offset = 16; offset > 0; offset /= 2) {
      for (int lane = 0; lane < offset; ++lane) {
        partial[lane] = partial[lane] + partial[lane + offset];
      }
    }
    return partial[0];
  }

  /// `Count` sums at once, each by the tree of `sum`.
  template <int Count, class T>
  [[gnu::always_inline]] host_group_sums<T, Count> sums(per_lane<T> (&x)[Count]) const {
    host_group_sums<T, Count> result;
    for (int n = 0; n < Count; ++n) {
      result.value[n] = sum(x[n]);
    }
    return result;
  }

  template <class T>
  [[gnu::always_inline]] per_lane<T> shuffle(per_lane<T> const& x,
                                             per_lane<int> const& from) const {
    per_lane<T> result;
    for (int lane = 0; lane < 32; ++lane) {
      result[lane] = x[from[lane] & 31];
    }
    return result;
  }

  template <class T>
  [[gnu::always_inline]] T broadcast(per_lane<T> const& x, int from) const {
    return x[from];
  }

  [[gnu::always_inline]] bool any(per_lane<bool> const& x) const {
    bool found = false;
    for (int lane = 0; lane < 32; ++lane) {
      found |= x[lane];
    }
    return found;
  }

  /// Smallest and largest of all lanes.
  [[gnu::always_inline]] std::int32_t lowest(per_lane<std::int32_t> const& x) const {
    std::int32_t least = x[0];
    for (int lane = 1; lane < 32; ++lane) {
      least = x[lane] < least ? x[lane] : least;
    }
    return least;
  }
  template <class T>
  [[gnu::always_inline]] T highest(per_lane<T> const& x) const {
    T most = x[0];
    for (int lane = 1; lane < 32; ++lane) {
      most = x[lane] > most ? x[lane] : most;
    }
    return most;
  }

  /// Bit l of the result is x of lane l.
  [[gnu::always_inline]] std::uint32_t mask(per_lane<bool> const& x) const {
    std::uint32_t bits = 0;
    for (int lane = 0; lane < 32; ++lane) {
      bits |= std::uint32_t(x[lane]) << lane;
    }
    return bits;
  }

  /// Calls f once for the group, for what it writes once.
  template <class F>
  [[gnu::always_inline]] void once(F&& f) const {
    f();
  }

  /// On a processor a launch begins when the one before it has ended.
  static void let_next_begin() {}
  static void await_previous() {}

  /// Whether what host_products.hpp has runs here.
  static constexpr bool has_products = VectorBytes == 64;
  /// Whether walk_columns runs here.
  static constexpr bool walks_columns = VectorBytes == 64;

  /// A processor looks ahead by itself.
  static constexpr int turns_ahead = 0;

  /// An array that is walked 32 places a turn: at(turn, lane) is its place 32 turn + lane.
  template <class T>
  class in_turns {
   public:
    in_turns(host_lane_group const&, T const* array) : array_(array) {}
    [[gnu::always_inline]] T const* at(std::int32_t turn, int lane) const {
      return array_ + 32 * turn + lane;
    }

   private:
    T const* KOKKOS_RESTRICT array_;
  };

  /// Asks the caches for `count` values from `p` on.
  template <class T>
  [[gnu::always_inline]] static void prefetch(T const* p, std::int32_t count) {
    auto const* const from = reinterpret_cast<char const*>(p);
    for (std::int32_t byte = 0; byte < count * std::int32_t(sizeof(T)) + 63; byte += 64) {
      __builtin_prefetch(from + byte);
    }
  }

  template <class T>
  static constexpr std::uint32_t index_bias = 0;

  /// z >= 0 to its integer part and the rest.
  template <class T>
  [[gnu::always_inline]] static void split(T z, std::uint32_t& whole, T& rest) {
    auto const truncated = std::int32_t(z);
    whole = std::uint32_t(truncated);
    rest = z - T(truncated);
  }
  /// Any z of less than 2^31 to its floor and the rest.
  template <class T>
  [[gnu::always_inline]] static void split_signed(T z, std::int32_t& whole, T& rest) {
    T const down = Kokkos::floor(z);
    whole = std::int32_t(down);
    rest = z - down;
  }

  /// Where a column begins.
  template <class T>
  class address {
   public:
    explicit address(T const* p) : value_(reinterpret_cast<char const*>(p)) {}
    /// `count` times `bytes` further on.
    [[nodiscard]] address plus(std::uint32_t count, std::uint32_t bytes) const {
      address to = *this;
      to.value_ += std::uint64_t(count) * bytes;
      return to;
    }
    [[nodiscard]] address plus(std::uint64_t bytes) const {
      address to = *this;
      to.value_ += bytes;
      return to;
    }
    [[nodiscard]] T const* pointer() const { return reinterpret_cast<T const*>(value_); }

   private:
    char const* value_;
  };

  template <class T>
  class near_address : public address<T> {
   public:
    near_address(address<T> const& a, T const*) : address<T>(a) {}
    near_address& operator=(address<T> const& a) {
      address<T>::operator=(a);
      return *this;
    }
  };
  template <class T>
  static bool near(T const*, T const*) {
    return true;
  }

  /// Where to find four voxels about a point of each lane: of two neighbouring columns of `height`
  /// voxels, at the heights z and z + 1.
  template <class T>
  struct columns {
    T const* lower;
    T const* upper;
    std::int32_t height;
    per_lane<std::uint32_t> const* z;  ///< outlives this: copying it costs a tenth of the time
  };

  template <class T>
  [[gnu::always_inline]] columns<T> read_columns(address<T> lower, std::uint32_t next,
                                                 std::int32_t height,
                                                 per_lane<std::uint32_t> const& z) const {
    return {lower.pointer(), lower.plus(std::uint64_t(next)).pointer(), height, &z};
  }

  /// Interpolates: the columns with weight w, then the heights with the lane's fraction.
  ///
  /// Where a register's lanes lie within two registers of voxels, which neighbouring pixels do
  /// unless the magnification is large, the columns are blended once for all of them and each lane
  /// picks its two heights by a permute; otherwise each lane gathers. Same operations on the same
  /// numbers.
  template <class T, class Blend>
  [[gnu::always_inline]] void blend_columns(columns<T> const& c, T w, per_lane<T> const& fraction,
                                            per_lane<T>& out, Blend const& blend) const {
    T const* const lower = c.lower;
    T const* const upper = c.upper;
    std::int32_t const height = c.height;
    per_lane<std::uint32_t> const& z = *c.z;
    for (int first = 0; first < 32; first += width<T>) {
      height_vec<T> heights;
      vectors::load(&z[first], heights);
      std::int32_t low;
      if (vectors::window(heights, height, low)) {
        auto const at = __builtin_convertvector(heights - low, index_vec<T>);
        blended_window<T> const columns(lower + low, upper + low, w);
        vec<T> fractions;
        vec<T> a;
        vec<T> b;
        vectors::load(&fraction[first], fractions);
        columns.pick(at, a);
        columns.pick(at + integer<T>(1), b);
        vectors::blend_vector(fractions, a, b, a);
        __builtin_memcpy(&out[first], &a, sizeof a);
      } else {
        for (int lane = first; lane < first + width<T>; ++lane) {
          std::uint32_t const k = z[lane];
          out[lane] = blend(fraction[lane], blend(w, lower[k], upper[k]),
                            blend(w, lower[k + 1], upper[k + 1]));
        }
      }
    }
  }

  /// The same where neighbours may be missing: heights outside [0, lower_height) of the lower
  /// column and [0, upper_height) of the upper count as zero; each is the volume's height or, where
  /// there is no such column, 0. z lies in [-2, height].
  template <class T, class Blend>
  [[gnu::always_inline]] void blend_columns_at_edge(
      address<T> lower_column, address<T> upper_column, std::int32_t lower_height,
      std::int32_t upper_height, T w, per_lane<std::int32_t> const& z, per_lane<T> const& fraction,
      per_lane<T>& out, Blend const& blend) const {
    std::int32_t const height = lower_height > upper_height ? lower_height : upper_height;
    T const* const lower = lower_column.pointer();
    T const* const upper = upper_column.pointer();
    for (int first = 0; first < 32; first += width<T>) {
      height_vec<T> heights;
      vectors::load(&z[first], heights);
      height_vec<T> below;
      height_vec<T> above;
      vectors::clamp(heights, height - 1, below);
      vectors::clamp(heights + 1, height - 1, above);
      std::int32_t low;
      if (vectors::window(below, height, low)) {
        blended_window<T> const columns(lower_height > 0 ? lower + low : nullptr,
                                        upper_height > 0 ? upper + low : nullptr, w);
        vec<T> const zero{};
        vec<T> fractions;
        vec<T> a;
        vec<T> b;
        vectors::load(&fraction[first], fractions);
        columns.pick(__builtin_convertvector(below - low, index_vec<T>), a);
        columns.pick(__builtin_convertvector(above - low, index_vec<T>), b);
        a = __builtin_convertvector(below == heights, index_vec<T>) ? a : zero;
        b = __builtin_convertvector(above == heights + 1, index_vec<T>) ? b : zero;
        vectors::blend_vector(fractions, a, b, a);
        __builtin_memcpy(&out[first], &a, sizeof a);
      } else {
        auto const at = [&](std::int32_t k) {
          T const a = k >= 0 && k < lower_height ? lower[k] : T(0);
          T const b = k >= 0 && k < upper_height ? upper[k] : T(0);
          return blend(w, a, b);
        };
        for (int lane = first; lane < first + width<T>; ++lane) {
          out[lane] = blend(fraction[lane], at(z[lane]), at(z[lane] + 1));
        }
      }
    }
  }

 private:
  using vectors = host_vectors<VectorBytes>;
  template <class T>
  using integer = typename vectors::template integer<T>;
  template <class T>
  using vec = typename vectors::template vec<T>;
  template <class T>
  using index_vec = typename vectors::template index_vec<T>;
  template <class T>
  using height_vec = typename vectors::template height_vec<T>;
  template <class T>
  using blended_window = typename vectors::template blended_window<T>;
  template <class T>
  static constexpr int width = vectors::template width<T>;
};

#if defined(__x86_64__) && defined(__GNUC__)
#define ISO_HOST_WIDE \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512"), flatten))
#endif

/// 64 where this processor has the AVX-512 that the wide body is compiled for, else 32.
inline int host_vector_bytes() {
#ifdef ISO_HOST_WIDE
  static bool const wide = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512vl") &&
                           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return wide ? 64 : 32;
#else
  return 32;
#endif
}

/// kernel(group, index), compiled for both widths. `Group` is host_lane_group or derived from it.
template <class Kernel, template <int> class Group = host_lane_group>
struct host_body {
  Kernel kernel;
  int vector_bytes;

  void operator()(std::int64_t index) const {
#ifdef ISO_HOST_WIDE
    if (vector_bytes == 64) {
      wide(kernel, index);
      return;
    }
#endif
    kernel(Group<32>{}, index);
  }

#ifdef ISO_HOST_WIDE
  ISO_HOST_WIDE static void wide(Kernel const& kernel, std::int64_t index) {
    kernel(Group<64>{}, index);
  }
#endif
};

}  // namespace iso::backend::detail
