// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_LANE_PART_HPP
#define ISO_BACKEND_DETAIL_LANE_PART_HPP

#include <iso/backend/detail/lanes_scalar.hpp>
#include <iso/backend/lane_value.hpp>
#include <iso/backend/pack.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/backend/detail/lane_part.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// Holds places in an array, one after the other, from `low` on: a register of them.
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

/// Holds a place of its own for every lane.
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

/// Holds what `Picked::pick` finds, at neighbouring places and at the ends of an array.
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
  /// Gives the same, and zero at places outside [0, count).
  KOKKOS_FORCEINLINE_FUNCTION void pair_within(index const& k, std::int32_t count, value& a,
                                               value& b) const {
    auto const& self = static_cast<Picked const&>(*this);
    index const last(count - 1);
    index const next = k + index(1);
    index const below = clamp(k, index(0), last);
    index const above = clamp(next, index(0), last);
    a = select(below == k, self.pick(below), value(T(0)));
    b = select(above == next, self.pick(above), value(T(0)));
  }
};

/// Holds f of neighbouring places, worked out once for all lanes: two registers of places for each
/// register of lanes, from a low of its own on, out of which every lane picks.
template <class T, class Shape>
struct place_window : picks<T, Shape, place_window<T, Shape>> {
  using value = lane_value<T, Shape>;
  using index = lane_value<std::int32_t, Shape>;
  using isa = typename Shape::isa;
  std::int32_t low[Shape::registers];
  typename value::reg first[Shape::registers];
  typename value::reg second[Shape::registers];

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION place_window(std::int32_t const* lows, std::int32_t stride,
                                           F const& f) {
    using run = run_of_places<isa, Shape::width>;
    ISO_EACH_REGISTER(int i = 0; i < Shape::registers; ++i) {
      low[i] = lows[i * stride];
      first[i] = f(run{low[i]}).r[0];
      second[i] = f(run{low[i] + Shape::width}).r[0];
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
      out.r[i] = isa::pick(first[i], second[i], at.r[i]);
    }
    return out;
  }
};

/// Holds f of a place of each lane's own.
template <class T, class Shape, class F>
struct scattered_places : picks<T, Shape, scattered_places<T, Shape, F>> {
  F const& f;

  KOKKOS_FORCEINLINE_FUNCTION explicit scattered_places(F const& function) : f(function) {}
  KOKKOS_FORCEINLINE_FUNCTION lane_value<T, Shape> pick(
      lane_value<std::int32_t, Shape> const& k) const {
    return f(places_of_lanes<Shape>{k});
  }
};

/// Describes where lanes find a column's number each; `from` is to be added.
template <class Column>
struct columns_in_memory {
  std::int32_t from;
  Column const* p;
};

/// Holds `Count` numbers of T at p + Count column, for a lane each.
template <class T, int Count, class Column>
struct numbers_of_columns {
  static constexpr int count = Count;
  T const* p;
  Column const* columns;
};

/// Says which lanes there are: all, or those below a number, the others being the last of them.
struct all_lanes {
  KOKKOS_FORCEINLINE_FUNCTION int operator()(int lane) const { return lane; }
};
struct first_lanes {
  int count;
  KOKKOS_FORCEINLINE_FUNCTION int operator()(int lane) const {
    return lane < count ? lane : count - 1;
  }
};

/// Describes where lane first + n finds its numbers, from the offset-th on.
template <class T, int Count, class Column, class Lanes>
struct number_places {
  T const* p;
  Column const* columns;
  Lanes lane;
  int first;
  int offset;

  KOKKOS_FORCEINLINE_FUNCTION T const* operator()(int n) const {
    return p + (std::int64_t(Count) * columns[lane(first + n)] + offset);
  }
};
template <class T>
struct one_place {
  T const* p;
  KOKKOS_FORCEINLINE_FUNCTION T const* operator()(int) const { return p; }
};

template <class Part>
struct lanes_below;

/// Describes a part none of whose lanes is left out; lanes_below says what these are.
struct every_lane {
  template <int>
  KOKKOS_FORCEINLINE_FUNCTION static bool reaches(int) {
    return true;
  }
  template <int, class V>
  KOKKOS_FORCEINLINE_FUNCTION static V const& chosen(int, V const& x, V const&) {
    return x;
  }
};

/// Represents `Count` neighbouring lanes from `first` on, of `32 Rows` in memory.
template <class Isa, int Count, int Width>
struct lane_part : every_lane {
  using shape = lane_shape<Isa, Count, Width>;
  template <class T>
  using per_lane = lane_value<T, shape>;
  using index = per_lane<std::int32_t>;
  using mask = lane_mask<std::int32_t, shape>;
  static constexpr int num_rows = 1;
  /// Is a part with another number of lanes, in registers of the same width.
  template <int Lanes>
  using with_lanes = lane_part<Isa, Lanes, Width>;

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

  /// Finds f(place) for neighbouring places that a permute picks from, register i's beginning at
  /// lows[i stride]; or for places far apart. `f` says what stands at a place, whose load(p) is
  /// p[place].
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION static place_window<T, shape> window(std::int32_t const* lows,
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

  // Products. Every lane has as many numbers; they lie side by side. Register i of the part's is
  // made when it is asked for, so that a sum of many registers needs few others. `first` and the
  // part's length are multiples of K, and one of the two lengths is a multiple of the other.

  template <class T>
  using piece = typename per_lane<T>::piece;

  /// Returns `N` numbers, in every lane.
  template <int N, class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> repeat(T const* numbers) const {
    per_lane<T> out;
    ISO_EACH_REGISTER(int i = 0; i < shape::registers; ++i) {
      out.r[i] = Isa::template spread<typename per_lane<T>::reg, (N < Width ? N : Width), 1>(
          one_place<T>{numbers + (first + i * Width) % N});
    }
    return out;
  }
  template <class Column>
  KOKKOS_FORCEINLINE_FUNCTION static columns_in_memory<Column> columns(std::int32_t from,
                                                                       Column const* p) {
    return {from, p};
  }
  /// Returns what x has at the lanes' columns.
  template <class T, int K, class Column>
  KOKKOS_FORCEINLINE_FUNCTION static numbers_of_columns<T, K, Column> fetch(
      pack<T, K> const* x, columns_in_memory<Column> const& columns) {
    return {reinterpret_cast<T const*>(x + columns.from), columns.p};
  }
  /// Does the same for each of `R` rows.
  template <int R, class T, int K, class Column, class Lanes = all_lanes>
  KOKKOS_FORCEINLINE_FUNCTION piece<T> spread(numbers_of_columns<T, K, Column> const& x, int i,
                                              Lanes const& lanes = {}) const {
    Column const* const columns = x.columns + first / (R * K);
    piece<T> out;
    if constexpr (R * K == 1 && std::is_same_v<Lanes, all_lanes>) {
      out.r[0] = Isa::template gather_runs<typename piece<T>::reg>(x.p, columns + i * Width);
    } else {
      out.r[0] = Isa::template spread<typename piece<T>::reg, (K < Width ? K : Width),
                                      (R * K < Width ? Width / (R * K) : 1)>(
          number_places<T, K, Column, Lanes>{x.p, columns, lanes, i * Width / (R * K),
                                             K > Width ? i * Width % K : 0});
    }
    return out;
  }
  /// Returns the lanes' stored numbers as T, `K` times each.
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION piece<T> widened(pack<Stored, R> const* p, int i) const {
    static_assert(Width == 1 || Width % K == 0);
    piece<T> out;
    out.r[0] = Isa::template repeated<K>(
        Isa::template widened<typename piece<T>::reg>(reinterpret_cast<Stored const*>(p) +
                                                      first / K + i / K * Width),
        i % K * (Width / K));
    return out;
  }
  /// Calls f(part) for the lanes below `count`, at least one.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void below(int count, F const& f) const {
    f(lanes_below<lane_part>{*this, count});
  }
};

/// Describes the lanes below `count` of a part, for products.
template <class Part>
struct lanes_below {
  using shape = typename Part::shape;
  using isa = typename shape::isa;
  static constexpr int width = shape::width;
  template <class T>
  using per_lane = typename Part::template per_lane<T>;
  template <class T>
  using piece = typename Part::template piece<T>;

  Part const& part;
  int count;

  template <class Column>
  KOKKOS_FORCEINLINE_FUNCTION static auto columns(std::int32_t from, Column const* p) {
    return Part::columns(from, p);
  }
  template <class X, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION static auto fetch(X const* x, Columns const& columns) {
    return Part::fetch(x, columns);
  }
  template <int R, class X>
  KOKKOS_FORCEINLINE_FUNCTION auto spread(X const& x, int i) const {
    constexpr int numbers = R * X::count;
    return part.template spread<R>(x, i, first_lanes{count - part.first / numbers});
  }
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION piece<T> widened(pack<Stored, R> const* p, int i) const {
    int const at = part.first / K + i / K * width;
    piece<T> out;
    out.r[0] =
        isa::template repeated<K>(isa::template widened<typename piece<T>::reg>(
                                      reinterpret_cast<Stored const*>(p) + at, count * R - at),
                                  i % K * (width / K));
    return out;
  }
  /// Returns whether register i has any of these lanes, of `N` numbers each.
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION bool reaches(int i) const {
    return part.first + i * width < count * N;
  }
  /// Returns a in these lanes, b in the others.
  template <int N, class V>
  KOKKOS_FORCEINLINE_FUNCTION V chosen(int i, V const& a, V const& b) const {
    using index = piece<std::int32_t>;
    index number;
    number.r[0] = isa::template ramp<typename index::reg>();
    return select(number < index(count * N - (part.first + i * width)), a, b);
  }
};

/// One lane on its own, for what is written in lane values and runs outside of a group.
using one_lane_part = lane_part<scalar_lanes, 1, 1>;

}  // namespace iso::backend::ISO_SET

#endif
