// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/backends/lane_operations.hpp
//! A kernel that does everything lane values can do, and writes it down.
#ifndef ISO_SET
#ifndef TESTS_BACKENDS_LANE_OPERATIONS_HPP
#define TESTS_BACKENDS_LANE_OPERATIONS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace lane_operations {

using iso::bits_of;

inline constexpr int rows = 2;
inline constexpr int group_lanes = 32 * rows;
inline constexpr std::int64_t groups = 120;
inline constexpr std::int64_t all_lanes = group_lanes * groups;
inline constexpr std::int32_t wide_places = 16;  ///< of the narrowest window of four registers
inline constexpr std::int32_t table_length = 64;

/// What a lane computes: values of T, and integers.
enum of_values {
  sum,
  difference_of,
  product,
  quotient,
  fused,
  down,
  smaller,
  larger,
  where_less,
  where_less_equal,
  where_equal,
  where_not,
  where_both,
  where_integers,
  fused_where,
  blended,
  clamped,
  converted,
  bits_joined,
  gathered,
  gathered_lower,
  gathered_upper,
  rest,
  rest_signed,
  stored,
  lower_of_pair,
  upper_of_pair,
  lower_within,
  upper_within,
  window_lower,
  window_upper,
  window_lower_within,
  window_upper_within,
  wide_window,
  count_of_values
};
enum of_integers {
  truncated,
  rounded,
  whole,
  whole_signed,
  lane_number,
  row_number,
  int_sum,
  int_difference,
  int_product,
  int_smaller,
  int_larger,
  int_where_less,
  int_where_less_equal,
  int_where_equal,
  int_gathered,
  all_less,
  any_less,
  part_lanes,
  part_rows,
  count_of_integers
};

/// The inputs of all lanes. `ends` says which end of the table the places of a group are near.
template <class T>
struct inputs {
  T const* a;
  T const* b;
  T const* c;
  T const* z;      ///< any, below 2^22 in size
  T const* table;  ///< [table_length]
  std::int32_t const* i;
  std::int32_t const* j;
  std::int32_t const* place;   ///< with the next one in the table
  std::int32_t const* beyond;  ///< may lie outside of the table
};

KOKKOS_INLINE_FUNCTION constexpr bool at_end(std::int64_t group) { return group % 2 == 1; }

}  // namespace lane_operations

#define ISO_SET_HEADER "lane_operations.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace lane_operations::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

template <class Part, class T>
struct outputs {
  Part const& part;
  T* values;
  std::int32_t* integers;

  KOKKOS_FUNCTION void operator()(of_values which,
                                  typename Part::template per_lane<T> const& x) const {
    part.store(values + which * all_lanes, x);
  }
  KOKKOS_FUNCTION void operator()(of_integers which, typename Part::index const& x) const {
    part.store(integers + which * all_lanes, x);
  }
};

/// What stands in the table at a place, inside or anywhere.
template <class Address>
struct inside {
  Address const& table;
  template <class Place>
  KOKKOS_FUNCTION auto operator()(Place const& place) const {
    return place.load(table);
  }
};
template <class Address>
struct anywhere {
  Address const& table;
  template <class Place>
  KOKKOS_FUNCTION auto operator()(Place const& place) const {
    return place.load_if(true, table);
  }
};

template <class T, int Registers>
struct every_operation {
  ISO_KERNEL(every_operation<T, Registers>);

  inputs<T> in;
  T* values;
  std::int32_t* integers;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const first = index * group_lanes;
    group.template parts<T, Registers, rows>(rows, [&](auto const& part) {
      using part_type = std::decay_t<decltype(part)>;
      outputs<part_type, T> const out{part, values + first, integers + first};
      arithmetic(part, first, out);
      comparisons(part, first, out);
      of_index(part, first, out);
      places<Group>(part, first, index, out);
      typename Group::template lane_array<T, rows> kept;
      part.store(kept, part.load(in.a + first));
      out(stored, part.load(kept));
      auto const z = part.load(in.z + first);
      typename part_type::index k;
      auto r = z;
      part.split_signed(z, k, r);
      out(whole_signed, k);
      out(rest_signed, r + decltype(r)(T(0)));  // of -0 a zero of either sign
      part.split(max(z, decltype(r)(T(0))), k, r);
      out(whole, k - typename part_type::index(std::int32_t(Group::template index_bias<T>)));
      out(rest, r);
    });
  }

 private:
  template <class Part, class Out>
  KOKKOS_FUNCTION void arithmetic(Part const& part, std::int64_t first, Out const& out) const {
    using value = typename Part::template per_lane<T>;
    using backend::bit_cast;
    value const a = part.load(in.a + first);
    value const b = part.load(in.b + first);
    value const c = part.load(in.c + first);
    out(sum, a + b);
    out(difference_of, a - b);
    out(product, a * b);
    out(quotient, a / b);
    out(fused, fma(a, b, c));
    out(down, floor(a));
    out(smaller, min(a, b));
    out(larger, max(a, b));
    out(blended, blend(c, a, b));
    out(clamped, clamp(a, value(T(-1)), value(T(2))));
    out(bits_joined, bit_cast<T>(bit_cast<bits_of<T>>(a) | bit_cast<bits_of<T>>(b)));
    out(truncated, truncate(part.load(in.z + first)));
    out(rounded, nearest(part.load(in.z + first)));
  }
  template <class Part, class Out>
  KOKKOS_FUNCTION void comparisons(Part const& part, std::int64_t first, Out const& out) const {
    auto const a = part.load(in.a + first);
    auto const b = part.load(in.b + first);
    auto const c = part.load(in.c + first);
    auto const i = part.load(in.i + first);
    auto const j = part.load(in.j + first);
    out(where_less, select(a < b, a, c));
    out(where_less_equal, select(a <= b, a, c));
    out(where_equal, select(a == b, a, c));
    out(where_not, select(!(a < b), a, c));
    out(where_both, select((a < b) & (b < c), a, c));
    out(where_integers, select(i < j, a, c));
    out(fused_where, fma_where(i <= j, a, b, c));
    using index = typename Part::index;
    out(all_less, index(all_of(i < j) ? 1 : 0));
    out(any_less, index(any_of(a < b) ? 1 : 0));
    out(part_lanes, index(Part::shape::count));
    out(part_rows, index(Part::num_rows));
  }
  template <class Part, class Out>
  KOKKOS_FUNCTION void of_index(Part const& part, std::int64_t first, Out const& out) const {
    auto const i = part.load(in.i + first);
    auto const j = part.load(in.j + first);
    out(converted, backend::convert<T>(i));
    out(lane_number, part.lane());
    out(int_sum, i + j);
    out(int_difference, i - j);
    out(int_product, i * j);
    out(int_smaller, min(i, j));
    out(int_larger, max(i, j));
    out(int_where_less, select(i < j, i, j + j));
    out(int_where_less_equal, select(i <= j, i, j + j));
    out(int_where_equal, select(i == j, i, j + j));
    out(int_gathered, gather(in.i, part.load(in.place + first)));
    out(gathered, gather(in.table, part.load(in.place + first)));
    typename Part::template per_lane<T> lower;
    typename Part::template per_lane<T> upper;
    gather_pairs(in.table, part.load(in.place + first), lower, upper);
    out(gathered_lower, lower);
    out(gathered_upper, upper);
    out(row_number, typename Part::index(part.first_row()));
  }
  template <class Group, class Part, class Out>
  KOKKOS_FUNCTION void places(Part const& part, std::int64_t first, std::int64_t group,
                              Out const& out) const {
    using address = typename Group::template address<T>;
    using value = typename Part::template per_lane<T>;
    auto const place = part.load(in.place + first);
    auto const beyond = part.load(in.beyond + first);
    address const table(in.table);
    inside<address> const within{table};
    anywhere<address> const everywhere{table};
    value a;
    value b;
    Part::template scattered<T>(within).pair(place, a, b);
    out(lower_of_pair, a);
    out(upper_of_pair, b);
    value c;
    value d;
    Part::template scattered<T>(everywhere).pair_within(beyond, 0, table_length, c, d);
    out(lower_within, c);
    out(upper_within, d);
    using index = typename Part::index;
    index const from_end = (part.lane() * index(3)) & index(wide_places - 1);
    index const spread = at_end(group) ? index(table_length - 1) - from_end : from_end;
    value wide = gather(in.table, spread);
    if constexpr (Group::has_windows) {
      constexpr int width = Part::shape::width;
      std::int32_t low[Part::shape::registers];
      for (std::int32_t& l : low) {
        l = at_end(group) ? table_length - 2 * width : 0;
      }
      Part::template window<T>(low, 1, within).pair(place, a, b);
      Part::template window<T>(low, 1, everywhere).pair_within(beyond, 0, table_length, c, d);
      for (std::int32_t& l : low) {
        l = at_end(group) ? table_length - 4 * width : 0;
      }
      wide = Part::template window<T, 4>(low, 1, within).pick(spread);
    }
    out(window_lower, a);
    out(window_upper, b);
    out(window_lower_within, c);
    out(window_upper_within, d);
    out(wide_window, wide);
  }
};

}  // namespace lane_operations::ISO_SET

#endif
