// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_LANE_PART_HPP
#define ISO_BACKEND_DETAIL_LANE_PART_HPP

#include <iso/backend/detail/lanes_scalar.hpp>
#include <iso/backend/lane_value.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/backend/detail/lane_part.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// Places in an array, one after the other, from `low` on: a register of them.
template <class Isa, int Width>
struct run_of_places {
  std::int64_t low;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, lane_shape<Isa, Width, Width>> load(T const* p) const {
    using to = lane_value<T, lane_shape<Isa, Width, Width>>;
    to out;
    out.r[0] = Isa::template load<typename to::reg>(p + low);
    return out;
  }
  /// Loads the same of the array that lies `bytes` further on.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto load(T const* p, std::uint32_t bytes) const {
    return load(reinterpret_cast<T const*>(reinterpret_cast<char const*>(p) + bytes));
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto load_if(bool exists, T const* p) const {
    return exists ? load(p) : lane_value<T, lane_shape<Isa, Width, Width>>(T(0));
  }
};

/// A place of its own for every lane.
template <class Shape>
struct places_of_lanes {
  lane_value<std::int32_t, Shape> k;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, Shape> load(T const* p) const {
    return gather(p, k);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, Shape> load(T const* p, std::uint32_t bytes) const {
    return load(reinterpret_cast<T const*>(reinterpret_cast<char const*>(p) + bytes));
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, Shape> load_if(bool exists, T const* p) const {
    return exists ? load(p) : lane_value<T, Shape>(T(0));
  }
};

/// The values that `Picked::pick` finds, at neighbouring places and at the ends of an array.
template <class T, class Shape, class Picked>
struct picks {
  using value = lane_value<T, Shape>;
  using index = lane_value<std::int32_t, Shape>;

  /// Gives f at k and at k + 1 of every lane.
  KOKKOS_FORCEINLINE_FUNCTION void pair(index const& k, value& a, value& b) const {
    auto const& self = static_cast<Picked const&>(*this);
    a = self.pick(k);
    b = self.pick(k + index(1));
  }
  /// Gives the same, and zero at places outside [from, to). Where `from` is not zero, none of 0 to
  /// from - 2 may be asked for.
  KOKKOS_FORCEINLINE_FUNCTION void pair_within(index const& k, std::int32_t from, std::int32_t to,
                                               value& a, value& b) const {
    auto const& self = static_cast<Picked const&>(*this);
    index const last(to - 1);
    index const next = k + index(1);
    index const below = clamp(k, index(from), last);
    index const above = clamp(next, index(from), last);
    a = select(below == k, self.pick(below), value(T(0)));
    b = select(above == next, self.pick(above), value(T(0)));
  }
};

/// The value f of neighbouring places, worked out once for all lanes: `Count` registers of places
/// for each register of lanes, from a low of its own on, out of which every lane picks. An even
/// number.
template <class T, class Shape, int Count = 2>
struct place_window : picks<T, Shape, place_window<T, Shape, Count>> {
  using value = lane_value<T, Shape>;
  using index = lane_value<std::int32_t, Shape>;
  using isa = typename Shape::isa;
  std::int32_t low[Shape::registers];
  typename value::reg places[Shape::registers][Count];

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION place_window(std::int32_t const* lows, std::int32_t stride,
                                           F const& f) {
    using run = run_of_places<isa, Shape::width>;
    ISO_EACH_REGISTER(int i = 0; i < Shape::registers; ++i) {
      low[i] = lows[i * stride];
      ISO_EACH_REGISTER(int n = 0; n < Count; ++n) {
        places[i][n] = f(run{low[i] + n * Shape::width}).r[0];
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION value pick(index const& k) const { return picked(within(k)); }
  KOKKOS_FORCEINLINE_FUNCTION void pair(index const& k, value& a, value& b) const {
    index const at = within(k);
    a = picked(at);
    b = picked(at + index(1));
  }

 private:
  /// Returns k as counted from where the register's window begins.
  KOKKOS_FORCEINLINE_FUNCTION index within(index const& k) const {
    index out;
    ISO_EACH_REGISTER(int i = 0; i < Shape::registers; ++i) {
      out.r[i] = isa::sub(k.r[i], isa::template all<typename index::reg>(low[i]));
    }
    return out;
  }
  KOKKOS_FORCEINLINE_FUNCTION value picked(index const& at) const {
    value out;
    ISO_EACH_REGISTER(int i = 0; i < Shape::registers; ++i) {
      out.r[i] = isa::pick(places[i][0], places[i][1], at.r[i]);
      ISO_EACH_REGISTER(int n = 2; n < Count; n += 2) {
        auto const before =
            isa::less(at.r[i], isa::template all<typename index::reg>(n * Shape::width));
        out.r[i] =
            isa::select(before, out.r[i], isa::pick(places[i][n], places[i][n + 1], at.r[i]));
      }
    }
    return out;
  }
};

/// The value f of a place of each lane's own.
template <class T, class Shape, class F>
struct scattered_places : picks<T, Shape, scattered_places<T, Shape, F>> {
  F const& f;

  KOKKOS_FORCEINLINE_FUNCTION explicit scattered_places(F const& function) : f(function) {}
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, Shape> pick(
      lane_value<std::int32_t, Shape> const& k) const {
    return f(places_of_lanes<Shape>{k});
  }
};

/// The part of `Count` neighbouring lanes from `first` on, of `32 Rows` in memory.
template <class Isa, int Count, int Width>
struct lane_part {
  using shape = lane_shape<Isa, Count, Width>;
  template <class T>
  using per_lane = lane_value<T, shape>;
  using index = per_lane<std::int32_t>;
  using mask = lane_mask<std::int32_t, shape>;
  static constexpr int num_rows = 1;

  int first;

  KOKKOS_FORCEINLINE_FUNCTION explicit lane_part(int first_lane) : first(first_lane) {}

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int first_row() const { return first / 32; }

  /// Loads p[lane].
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> load(T const* p) const {
    per_lane<T> out;
    ISO_EACH_REGISTER(int i = 0; i < shape::registers; ++i) {
      out.r[i] = Isa::template load<typename per_lane<T>::reg>(p + first + i * Width);
    }
    return out;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void store(T* p, per_lane<T> const& x) const {
    ISO_EACH_REGISTER(int i = 0; i < shape::registers; ++i) {
      Isa::store(p + first + i * Width, x.r[i]);
    }
  }
  template <class Array>
    requires requires(Array const& a) { a.data(); }
  KOKKOS_FORCEINLINE_FUNCTION auto load(Array const& a) const {
    return load(a.data());
  }
  template <class Array, class V>
    requires requires(Array& a) { a.data(); }
  KOKKOS_FORCEINLINE_FUNCTION void store(Array& a, V const& x) const {
    store(a.data(), x);
  }
  /// Returns the lane's number, from 0.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION index lane() const {
    index out;
    ISO_EACH_REGISTER(int i = 0; i < shape::registers; ++i) {
      out.r[i] = Isa::add(Isa::template ramp<typename index::reg>(),
                          Isa::template all<typename index::reg>((first + i * Width) % 32));
    }
    return out;
  }

  /// Splits z into its floor and the rest; `split` is for z >= 0 alone. Takes numbers below 2^22.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split(per_lane<T> const& z, index& whole,
                                                per_lane<T>& rest) {
    whole = truncate(z);
    rest = z - convert<T>(whole);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void split_signed(per_lane<T> const& z, index& whole,
                                                       per_lane<T>& rest) {
    per_lane<T> const down = floor(z);
    whole = truncate(down);
    rest = z - down;
  }

  /// Finds f(place) for neighbouring places that permutes pick from, register i's beginning at
  /// lows[i stride], `Window` registers of them; or for places far apart. `f` says what stands at a
  /// place, whose load(p) is p[place].
  template <class T, int Window = 2, class F>
  KOKKOS_FORCEINLINE_FUNCTION static place_window<T, shape, Window> window(std::int32_t const* lows,
                                                                           std::int32_t stride,
                                                                           F const& f) {
    return {lows, stride, f};
  }
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION static scattered_places<T, shape, F> scattered(F const& f) {
    return scattered_places<T, shape, F>(f);
  }
  /// Returns the number of register i's first lane among all.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int first_of_register(int i) const {
    return first + i * Width;
  }
};

/// One lane on its own, for what is written in lane values and runs outside of a group.
using one_lane_part = lane_part<scalar_lanes, 1, 1>;

}  // namespace iso::backend::ISO_SET

#endif
