// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/detail/product_lanes.hpp
//! Provides what products do with the lanes of a group, beyond what iso/backend/lane_group.hpp has.
//! A lane has a number for each row of a block and each vector; a group's lie side by side.
//!
//! Members of `product_lanes<Group>`:
//! - `stepped_array<T>`: an array that is walked 32 places a step; `ask(step)` is what a step
//!   holds, `from(step)` the array from a step on;
//! - `parts_of_sums<T, N>(group, f)` calls f(part) for parts of N sums a lane, for loops that keep
//!   them in registers; `sums_in_one_part<T, N>`: one part holds them all;
//! - `sums<T, N>(group, x, g)`: N sums over the lanes, of g(number), of what parts_of_sums left in
//!   x, each by the tree of `group.sum`. Its `each(f)` calls f(n, sum) for every n, its `any(f)`
//!   returns whether f(sum) holds for some n.
//!
//! Members of these parts, beside those of the group's. Register i of a part's numbers is made when
//! it is asked for, so that a sum of many registers needs few others:
//! - `repeat<N>(numbers)`: N numbers, in every lane;
//! - `columns(from, c)`, `fetch(x, columns)`, `spread<R>(fetched, i)`: what x has at the lanes'
//!   columns, once for each of R rows, register i of it;
//! - `widened<T, K>(stored, i)`: the lanes' stored numbers as T, K times each, register i of them;
//! - `below(count, f)` calls f(part) for the lanes below `count`, at least one. Of this part,
//!   `reaches<N>(i)` says whether register i has any of these lanes, of N numbers each, and
//!   `chosen<N>(i, a, b)` is a in these and b in the others.
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_PRODUCT_LANES_HPP
#define ISO_SPARSE_DETAIL_PRODUCT_LANES_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/sparse/detail/product_lanes_scalar.hpp>

#if defined(__x86_64__)
#include <iso/sparse/detail/product_lanes_avx2.hpp>
#include <iso/sparse/detail/product_lanes_avx512.hpp>
#endif

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::sparse::detail {

/// The frequency with which a kernel reads an array.
enum class caching {
  cached,     ///< parts of it again, or by neighbours: caches keep it
  streaming,  ///< from end to end, and nobody writes it meanwhile: iso::backend::streaming_load
};

}  // namespace iso::sparse::detail

#define ISO_SET_HEADER <iso/sparse/detail/product_lanes.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// A part none of whose lanes is left out; lanes_below says what these are.
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

/// A part of a group on a GPU, a thread's lane: register i is number i of it. What is asked for is
/// loaded at once.
template <class Part>
struct thread_product_part : Part, every_lane {
  template <class T>
  using per_lane = typename Part::template per_lane<T>;
  template <class T>
  using piece = typename per_lane<T>::piece;

  KOKKOS_FORCEINLINE_FUNCTION explicit thread_product_part(int lane) : Part(lane) {}

  template <int N, class T>
  KOKKOS_FORCEINLINE_FUNCTION static per_lane<T> repeat(T const* numbers) {
    per_lane<T> out;
    ISO_EACH_REGISTER(int n = 0; n < N; ++n) { out.r[n] = numbers[n]; }
    return out;
  }
  template <class Column>
  KOKKOS_FORCEINLINE_FUNCTION static std::int32_t columns(std::int32_t from, Column column) {
    return from + std::int32_t(column);
  }
  template <class T, int K>
  KOKKOS_FORCEINLINE_FUNCTION static backend::pack<T, K> fetch(backend::pack<T, K> const* x,
                                                               std::int32_t column) {
    return backend::vector_load(x + column);
  }
  template <int R, class T, int K>
  KOKKOS_FORCEINLINE_FUNCTION static piece<T> spread(backend::pack<T, K> const& x, int i) {
    return piece<T>(x[i % K]);
  }
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION static piece<T> widened(backend::pack<Stored, R> const& a, int i) {
    return piece<T>(backend::widen<T>(a[i / K]));
  }
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION static piece<T> widened(
      backend::streamed<backend::pack<Stored, R>> const& a, int i) {
    return widened<T, K>(a.get(), i);
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void below(int count, F const& f) const {
    if (this->lane().r[0] < count) {
      f(*this);
    }
  }
};

/// The sums that a GPU's group has made, shared out over its lanes.
template <class Group, class T, int Count>
struct thread_sums {
  Group const& group;
  T value;

  /// Calls f(n, sum n) for every n, each on one lane.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    if (group.lane() % (32 / Count) == 0) {
      f(group.lane() / (32 / Count), value);
    }
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    return group.any(f(value));
  }
};

/// The lanes of a product on a GPU, whose threads have a lane each.
template <class Group>
struct product_lanes {
  /// One pointer with the lane in it; `ask` loads the lane's.
  template <class T, caching Caching = caching::cached>
  class stepped_array {
   public:
    KOKKOS_FUNCTION stepped_array(Group const& group, T const* array)
        : place_(backend::opaque_address(array + group.lane())) {}
    /// Returns the same from `step` on: what is asked of it by constants costs no arithmetic.
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION stepped_array from(std::int32_t step) const {
      stepped_array later = *this;
      later.place_ += 32 * step;
      return later;
    }
    KOKKOS_FORCEINLINE_FUNCTION auto ask(std::int32_t step) const {
      T const* const p = place_ + 32 * step;
      if constexpr (Caching == caching::cached) {
        return T(*p);
      } else if constexpr (sizeof(T) < 4) {
        return backend::streaming_load(p);
      } else {
        return backend::streamed<T>(p);
      }
    }

   private:
    T const* place_;
  };

  template <class T, int N>
  static constexpr bool sums_in_one_part = true;
  template <class T, int N, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void parts_of_sums(Group const& group, F const& f) {
    f(thread_product_part<typename Group::template part<N>>(group.lane()));
  }

  /// Halves, at every step, the values that a lane still carries. Sum n ends in the lanes from
  /// 32 n / Count on.
  template <class T, int Count, class F>
  KOKKOS_FORCEINLINE_FUNCTION static thread_sums<Group, T, Count> sums(
      Group const& group, typename Group::template lane_array<T, Count> const& x, F const& f) {
    static_assert(Count >= 1 && Count <= 32 && (Count & (Count - 1)) == 0,
                  "iso::sparse: sums of 1, 2, 4, 8, 16 or 32 at once");
    T found[Count];
    ISO_EACH_REGISTER(int n = 0; n < Count; ++n) {
      found[n] = f(backend::one_lane_part::per_lane<T>(x(n, group.lane()))).r[0];
    }
    return {group, halved<16>(group, found)};
  }

 private:
  template <int Offset, class T, int Count>
  KOKKOS_FORCEINLINE_FUNCTION static T halved(Group const& group, T (&x)[Count]) {
    if constexpr (Offset == 0) {
      return x[0];
    } else if constexpr (Count == 1) {
      x[0] += Group::exchanged(x[0], Offset);
      return halved<Offset / 2>(group, x);
    } else {
      bool const upper = (group.lane() & Offset) != 0;
      T kept[Count / 2];
      for (int n = 0; n < Count / 2; ++n) {
        kept[n] = upper ? x[n + Count / 2] : x[n];
        kept[n] += Group::exchanged(upper ? x[n] : x[n + Count / 2], Offset);
      }
      return halved<Offset / 2>(group, kept);
    }
  }
};

/// The places where lanes find a column's number each; `from` is added to them.
template <class Column>
struct columns_in_memory {
  std::int32_t from;
  Column const* p;
};

/// `Count` numbers of T at p + Count column, for a lane each.
template <class T, int Count, class Column>
struct numbers_of_columns {
  static constexpr int count = Count;
  T const* p;
  Column const* columns;
};

/// The lanes that take part: all, or those below a number, the others being the last of them.
struct all_lanes {
  KOKKOS_FORCEINLINE_FUNCTION int operator()(int lane) const { return lane; }
};
struct first_lanes {
  int count;
  KOKKOS_FORCEINLINE_FUNCTION int operator()(int lane) const {
    return lane < count ? lane : count - 1;
  }
};

/// The place where lane first + n finds its numbers, from the offset-th on.
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

/// A part of the numbers that an array_lane_group keeps. `first` and the part's length are
/// multiples of K, and one of the two lengths is a multiple of the other.
template <class Isa, int Count, int Width>
struct register_product_part : backend::lane_part<Isa, Count, Width>, every_lane {
  using lanes = backend::lane_part<Isa, Count, Width>;
  using operations = product_operations<Isa>;
  using shape = typename lanes::shape;
  template <class T>
  using per_lane = typename lanes::template per_lane<T>;
  template <class T>
  using piece = typename per_lane<T>::piece;
  using lanes::first;

  KOKKOS_FORCEINLINE_FUNCTION explicit register_product_part(int first_number)
      : lanes(first_number) {}

  template <int N, class T>
  KOKKOS_FORCEINLINE_FUNCTION per_lane<T> repeat(T const* numbers) const {
    per_lane<T> out;
    ISO_EACH_REGISTER(int i = 0; i < shape::registers; ++i) {
      out.r[i] = operations::template spread<typename per_lane<T>::reg, (N < Width ? N : Width), 1>(
          one_place<T>{numbers + (first + i * Width) % N});
    }
    return out;
  }
  template <class Column>
  KOKKOS_FORCEINLINE_FUNCTION static columns_in_memory<Column> columns(std::int32_t from,
                                                                       Column const* p) {
    return {from, p};
  }
  template <class T, int K, class Column>
  KOKKOS_FORCEINLINE_FUNCTION static numbers_of_columns<T, K, Column> fetch(
      backend::pack<T, K> const* x, columns_in_memory<Column> const& columns) {
    return {reinterpret_cast<T const*>(x + columns.from), columns.p};
  }
  template <int R, class T, int K, class Column, class Lanes = all_lanes>
  KOKKOS_FORCEINLINE_FUNCTION piece<T> spread(numbers_of_columns<T, K, Column> const& x, int i,
                                              Lanes const& lanes = {}) const {
    Column const* const columns = x.columns + first / (R * K);
    piece<T> out;
    if constexpr (R * K == 1 && std::is_same_v<Lanes, all_lanes>) {
      out.r[0] = operations::template gather_runs<typename piece<T>::reg>(x.p, columns + i * Width);
    } else {
      out.r[0] = operations::template spread<typename piece<T>::reg, (K < Width ? K : Width),
                                             (R * K < Width ? Width / (R * K) : 1)>(
          number_places<T, K, Column, Lanes>{x.p, columns, lanes, i * Width / (R * K),
                                             K > Width ? i * Width % K : 0});
    }
    return out;
  }
  template <class T, int K, class Stored, int R>
  KOKKOS_FORCEINLINE_FUNCTION piece<T> widened(backend::pack<Stored, R> const* p, int i) const {
    static_assert(Width == 1 || (Width % K == 0 && shape::registers / K % 2 == 0));
    piece<T> out;
    out.r[0] = operations::template repeated<K>(
        operations::template widened_register<typename piece<T>::reg>(
            reinterpret_cast<Stored const*>(p) + first / K, i / K),
        i % K * (Width / K));
    return out;
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void below(int count, F const& f) const {
    f(lanes_below<register_product_part>{*this, count});
  }
};

/// The lanes below `count` of a part.
template <class Part>
struct lanes_below {
  using shape = typename Part::shape;
  using isa = typename shape::isa;
  using operations = typename Part::operations;
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
  KOKKOS_FORCEINLINE_FUNCTION piece<T> widened(backend::pack<Stored, R> const* p, int i) const {
    int const at = part.first / K + i / K * width;
    piece<T> out;
    out.r[0] = operations::template repeated<K>(
        operations::template widened<typename piece<T>::reg>(
            reinterpret_cast<Stored const*>(p) + at, count * R - at),
        i % K * (width / K));
    return out;
  }
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION bool reaches(int i) const {
    return part.first + i * width < count * N;
  }
  template <int N, class V>
  KOKKOS_FORCEINLINE_FUNCTION V chosen(int i, V const& a, V const& b) const {
    using index = piece<std::int32_t>;
    index number;
    number.r[0] = isa::template ramp<typename index::reg>();
    return select(number < index(count * N - (part.first + i * width)), a, b);
  }
};

/// The sums that an array_lane_group has made.
template <class T, int Count>
struct array_sums {
  T value[Count];

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F&& f) const {
    for (int n = 0; n < Count; ++n) {
      f(n, value[n]);
    }
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool any(F&& f) const {
    bool found = false;
    for (int n = 0; n < Count; ++n) {
      found |= f(value[n]);
    }
    return found;
  }
};

/// The lanes of a product where lanes lie in arrays between operations, and in registers of `Isa`
/// within them.
template <class Isa>
struct product_lanes<backend::array_lane_group<Isa>> {
  using group_type = backend::array_lane_group<Isa>;
  using operations = product_operations<Isa>;

  template <class T, caching = caching::cached>
  class stepped_array {
   public:
    KOKKOS_FUNCTION stepped_array(group_type const&, T const* array) : array_(array) {}
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION stepped_array from(std::int32_t step) const {
      stepped_array later = *this;
      later.array_ += 32 * std::int64_t(step);
      return later;
    }
    KOKKOS_FORCEINLINE_FUNCTION T const* ask(std::int32_t step) const {
      return array_ + 32 * std::int64_t(step);
    }

   private:
    T const* KOKKOS_RESTRICT array_;
  };

  template <class T, int N>
  static constexpr bool sums_in_one_part = 32 * N <= Isa::num_registers * Isa::template width<T>;
  /// Takes one part where the machine has as many registers, else parts of half of them.
  template <class T, int N, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void parts_of_sums(group_type const&, F const& f) {
    constexpr int width = Isa::template width<T>;
    constexpr int held = Isa::num_registers / 2 * width;
    if constexpr (sums_in_one_part<T, N>) {
      f(register_product_part<Isa, 32 * N, width>(0));
    } else {
      for (int first = 0; first < 32 * N; first += held) {
        f(register_product_part<Isa, held, width>(first));
      }
    }
  }

  template <class T, int N, class F>
  KOKKOS_FORCEINLINE_FUNCTION static array_sums<T, N> sums(
      group_type const&, typename group_type::template lane_array<T, N> const& x, F const& f) {
    constexpr int width = Isa::template width<T>;
    constexpr int last = N > width ? N / width : 1;
    array_sums<T, N> result;
    ISO_EACH_REGISTER(int i = 0; i < last; ++i) {
      operations::template store_folded<(N < width ? N : width)>(
          result.value + i * width,
          tree<last, 32 * N / width, width>(x.data() + i * width, f).r[0]);
    }
    return result;
  }

 private:
  /// Returns the sum of every Stride-th of `Registers` registers from p on, as a tree: halves of
  /// them first.
  template <int Stride, int Registers, int Width, class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION static auto tree(T const* p, F const& f) {
    using value = backend::lane_value<T, backend::lane_shape<Isa, Width, Width>>;
    if constexpr (Stride == Registers) {
      value x;
      x.r[0] = Isa::template load<typename value::reg>(p);
      return f(x);
    } else {
      value const lower = tree<2 * Stride, Registers, Width>(p, f);
      return lower + tree<2 * Stride, Registers, Width>(p + Stride * Width, f);
    }
  }
};

}  // namespace iso::sparse::detail::ISO_SET

#endif
