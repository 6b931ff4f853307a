// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/lane_value.hpp
//! Provides lane values: what some of a group's 32 lanes hold, as a value with operators.
//!
//! A kernel does not choose the type: `group.parts` (iso/backend/lane_group.hpp) hands it a part of
//! the lanes, `Part::per_lane<T>` is the value of that part and `Part::index` its integers. On CUDA
//! a value is one register of a thread for each row of lanes; on a processor it is one or several
//! vector registers; anywhere else it is a short array. Every operation rounds as the scalar one
//! does, so all forms give the same bits.
#ifndef ISO_SET
#ifndef ISO_BACKEND_LANE_VALUE_HPP
#define ISO_BACKEND_LANE_VALUE_HPP

#include <iso/backend/detail/cuda_reciprocal.hpp>
#include <iso/backend/unroll.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/backend/lane_value.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// The shape of a part: `Count` lanes held in registers of `Width` lanes of the instruction set
/// `Isa`.
template <class Isa, int Count, int Width>
struct lane_shape {
  using isa = Isa;
  static constexpr int count = Count;
  static constexpr int width = Width;
  static constexpr int registers = Count / Width;
  static_assert(Count % Width == 0);
};

/// A truth value for each lane. One mask serves values of every type of its part.
template <class T, class Shape>
struct lane_mask {
  using isa = typename Shape::isa;
  typename isa::template mask<T, Shape::width> r[Shape::registers];
};

/// A T for each lane.
template <class T, class Shape>
struct lane_value {
  using element = T;
  using shape = Shape;
  using isa = typename Shape::isa;
  using reg = typename isa::template reg<T, Shape::width>;
  /// The lanes of one register.
  using piece = lane_value<T, lane_shape<isa, Shape::width, Shape::width>>;
  reg r[Shape::registers];

  lane_value() = default;
  /// Makes a value that is `x` in all lanes.
  KOKKOS_FORCEINLINE_FUNCTION lane_value(T x) {
    ISO_EACH_REGISTER(int i = 0; i < Shape::registers; ++i) { r[i] = isa::template all<reg>(x); }
  }
  KOKKOS_FORCEINLINE_FUNCTION piece one(int i) const {
    piece p;
    p.r[0] = r[i];
    return p;
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(int i, piece const& p) { r[i] = p.r[0]; }
};

#define ISO_LANE_BINARY(name, operation)                                         \
  template <class T, class S>                                                    \
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> name(lane_value<T, S> const& a,   \
                                                    lane_value<T, S> const& b) { \
    lane_value<T, S> out;                                                        \
    ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {                        \
      out.r[i] = S::isa::operation(a.r[i], b.r[i]);                              \
    }                                                                            \
    return out;                                                                  \
  }
ISO_LANE_BINARY(operator+, add)
ISO_LANE_BINARY(operator-, sub)
ISO_LANE_BINARY(operator*, mul)
ISO_LANE_BINARY(operator/, div)
ISO_LANE_BINARY(operator|, bit_or)
ISO_LANE_BINARY(operator&, bit_and)
ISO_LANE_BINARY(min, min)  // the second where they are equal or not ordered
ISO_LANE_BINARY(max, max)
#undef ISO_LANE_BINARY

#define ISO_LANE_COMPARISON(name, operation)                                    \
  template <class T, class S>                                                   \
  KOKKOS_FORCEINLINE_FUNCTION lane_mask<T, S> name(lane_value<T, S> const& a,   \
                                                   lane_value<T, S> const& b) { \
    lane_mask<T, S> out;                                                        \
    ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {                       \
      out.r[i] = S::isa::operation(a.r[i], b.r[i]);                             \
    }                                                                           \
    return out;                                                                 \
  }
ISO_LANE_COMPARISON(operator<, less)
ISO_LANE_COMPARISON(operator<=, less_equal)
ISO_LANE_COMPARISON(operator==, equal)
#undef ISO_LANE_COMPARISON

/// Returns a b + c, rounded once.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> fma(lane_value<T, S> const& a,
                                                 lane_value<T, S> const& b,
                                                 lane_value<T, S> const& c) {
  lane_value<T, S> out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::fma(a.r[i], b.r[i], c.r[i]);
  }
  return out;
}
/// Returns 1 / a, rounded once, of numbers from 2^-64 to 2^64.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> reciprocal(lane_value<T, S> const& a) {
  if constexpr (S::width == 1) {
    lane_value<T, S> out;
    ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
      out.r[i] = iso::backend::detail::reciprocal(a.r[i]);
    }
    return out;
  } else {
    return lane_value<T, S>(T(1)) / a;
  }
}
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> floor(lane_value<T, S> const& a) {
  lane_value<T, S> out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) { out.r[i] = S::isa::floor(a.r[i]); }
  return out;
}
/// Rounds towards zero, to 32 bits; takes numbers that 32 bits hold.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<std::int32_t, S> truncate(lane_value<T, S> const& a) {
  using to = lane_value<std::int32_t, S>;
  to out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::template truncate<typename to::reg>(a.r[i]);
  }
  return out;
}
/// Rounds to the nearest whole number, of two the even one; takes numbers that 32 bits hold.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<std::int32_t, S> nearest(lane_value<T, S> const& a) {
  using to = lane_value<std::int32_t, S>;
  to out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::template nearest<typename to::reg>(a.r[i]);
  }
  return out;
}
/// Returns 32-bit integers as T, exactly or rounded to nearest.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> convert(lane_value<std::int32_t, S> const& k) {
  using to = lane_value<T, S>;
  to out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::template convert<typename to::reg>(k.r[i]);
  }
  return out;
}
/// Returns the bits of every lane as a U.
template <class U, class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<U, S> bit_cast(lane_value<T, S> const& a) {
  using to = lane_value<U, S>;
  to out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::template bits<typename to::reg>(a.r[i]);
  }
  return out;
}

template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_mask<T, S> operator&(lane_mask<T, S> const& a,
                                                      lane_mask<T, S> const& b) {
  lane_mask<T, S> out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) { out.r[i] = S::isa::both(a.r[i], b.r[i]); }
  return out;
}
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_mask<T, S> operator!(lane_mask<T, S> const& a) {
  lane_mask<T, S> out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) { out.r[i] = S::isa::negated(a.r[i]); }
  return out;
}
/// Returns whether it holds for every lane of this work item's.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION bool all_of(lane_mask<T, S> const& a) {
  bool all = true;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    all = all && S::isa::template every<S::width>(a.r[i]);
  }
  return all;
}
/// Returns whether it holds for some lane of this work item's.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION bool any_of(lane_mask<T, S> const& a) {
  return !all_of(!a);
}

/// Picks a where m, else b. The mask may be of another type as wide, or of integers beside doubles.
template <class M, class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> select(lane_mask<M, S> const& m,
                                                    lane_value<T, S> const& a,
                                                    lane_value<T, S> const& b) {
  lane_value<T, S> out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::select(m.r[i], a.r[i], b.r[i]);
  }
  return out;
}
/// Returns a b + c where m, else c.
template <class M, class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> fma_where(lane_mask<M, S> const& m,
                                                       lane_value<T, S> const& a,
                                                       lane_value<T, S> const& b,
                                                       lane_value<T, S> const& c) {
  return select(m, fma(a, b, c), c);
}
/// Reads p[k] of every lane, of an array that nobody writes meanwhile.
template <class T, class K, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> gather(T const* p, lane_value<K, S> const& k) {
  using to = lane_value<T, S>;
  to out;
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    out.r[i] = S::isa::template gather<typename to::reg>(p, k.r[i]);
  }
  return out;
}
/// Reads p[k] and p[k + 1] of every lane, k >= 0, of such an array.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION void gather_pairs(T const* p, lane_value<std::int32_t, S> const& k,
                                              lane_value<T, S>& a, lane_value<T, S>& b) {
  ISO_EACH_REGISTER(int i = 0; i < S::registers; ++i) {
    S::isa::gather_pairs(p, k.r[i], a.r[i], b.r[i]);
  }
}
/// Returns lowest where k is below it, highest where above.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> clamp(lane_value<T, S> const& k,
                                                   lane_value<T, S> const& lowest,
                                                   lane_value<T, S> const& highest) {
  return min(max(k, lowest), highest);
}

/// Returns a + w (b - a), as iso::blend.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION lane_value<T, S> blend(lane_value<T, S> const& w,
                                                   lane_value<T, S> const& a,
                                                   lane_value<T, S> const& b) {
  return fma(w, b - a, a);
}

}  // namespace iso::backend::ISO_SET

#endif
