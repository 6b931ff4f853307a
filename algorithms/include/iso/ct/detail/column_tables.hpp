// SPDX-License-Identifier: BSD-3-Clause
//! Loads three neighbouring columns of voxels or pixels, out of which neighbouring lanes pick.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_COLUMN_TABLES_HPP
#define ISO_CT_DETAIL_COLUMN_TABLES_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/interpolation.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/ct/detail/column_tables.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// True where a lane picks out of two registers by one instruction. Where it takes four, rays that
/// lean gain nothing by tables.
template <class Group>
consteval bool find_picks_at_once() {
  if constexpr (Group::has_windows) {
    return Group::isa::num_registers == 32;
  } else {
    return false;
  }
}
template <class Group>
inline constexpr bool picks_at_once = find_picks_at_once<Group>();

/// Three neighbouring columns of a plane, out of which the lanes of each register pick: two
/// registers of each column, from a place of the register's own on.
template <class T, class Part>
class three_columns {
 public:
  using value = typename Part::template per_lane<T>;
  using index = typename Part::index;
  using isa = typename Part::shape::isa;
  static constexpr int width = Part::shape::width;
  static constexpr int registers = Part::shape::registers;

  /// Loads them; register n begins at plane[places[n stride]] and two times `column` further on.
  KOKKOS_FORCEINLINE_FUNCTION three_columns(T const* plane, std::int64_t column,
                                            std::int32_t const* places, std::int32_t stride) {
    ISO_EACH_REGISTER(int n = 0; n < registers; ++n) {
      T const* at = plane + places[n * stride];
      for (int c = 0; c < 3; ++c) {
        first_[c][n] = isa::template load<typename value::reg>(at);
        second_[c][n] = isa::template load<typename value::reg>(at + width);
        at += column;
      }
    }
  }

  /// Returns k as counted from from[n stride] for the lanes of register n.
  KOKKOS_FORCEINLINE_FUNCTION static index counted(index const& k, std::int32_t const* from,
                                                   std::int32_t stride) {
    index out;
    ISO_EACH_REGISTER(int n = 0; n < registers; ++n) {
      out.r[n] = isa::sub(k.r[n], isa::template all<typename index::reg>(from[n * stride]));
    }
    return out;
  }
  /// Returns whether four neighbours of every lane were loaded, from the lower column and height
  /// on.
  KOKKOS_FORCEINLINE_FUNCTION static bool hold(index const& column, index const& height) {
    // No bit above those of 0 and 1, and of the places; a number below zero has them all.
    return all_of(((column & index(~1)) |
                   ((height | (height + index(1))) & index(~(2 * width - 1)))) == index(0));
  }
  /// Returns whether the voxels of these columns and heights were loaded, in every lane.
  KOKKOS_FORCEINLINE_FUNCTION static bool have(index const& column, index const& height) {
    return all_of(((column & index(~3)) | (height & index(~(2 * width - 1)))) == index(0) &
                  (column < index(3)));
  }
  /// Returns, for every lane, the values of two neighbouring columns at a height, blended.
  KOKKOS_FORCEINLINE_FUNCTION value blended(value const& weight, index const& column,
                                            index const& height) const {
    auto const second = column == index(1);
    value const middle = picked(1, height);
    return blend(weight, select(second, middle, picked(0, height)),
                 select(second, picked(2, height), middle));
  }
  /// Returns, for every lane, the value of a column, 0, 1 or 2, at a height.
  KOKKOS_FORCEINLINE_FUNCTION value at(index const& column, index const& height) const {
    return select(column == index(2), picked(2, height),
                  select(column == index(1), picked(1, height), picked(0, height)));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION value picked(int c, index const& height) const {
    value out;
    ISO_EACH_REGISTER(int n = 0; n < registers; ++n) {
      out.r[n] = isa::pick(first_[c][n], second_[c][n], height.r[n]);
    }
    return out;
  }

  typename value::reg first_[3][registers];
  typename value::reg second_[3][registers];
};

/// Of each of `Planes` planes, where the three columns of a part's registers begin: the column, the
/// height, and the place of both in the plane.
template <class T, class Part, std::int32_t Planes>
class column_tables {
 public:
  using columns = three_columns<T, Part>;
  using index = typename Part::index;
  static constexpr int width = Part::shape::width;
  static constexpr int registers = Part::shape::registers;

  /// Returns whether the volume has room for three columns of two registers.
  template <class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION static bool fit(Sampling const& where) {
    return where.p_extent >= 3 && where.q_held.last - where.q_held.first >= 2 * width;
  }

  /// The planes are those from `first` on. Neighbouring rays lie between the outer two of a
  /// register, but for rounding: three_columns::hold says whether they do.
  template <class Lanes, class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION column_tables(Part const& part, Lanes const (&slope)[2],
                                            Lanes const (&base)[2], std::int32_t first,
                                            Sampling const& where)
      : first_(first) {
    using planes = backend::lane_part<typename columns::isa, Planes, width>;  // a plane a lane
    using coordinate = typename planes::template per_lane<T>;
    using place = typename planes::index;
    planes const all{0};
    coordinate const i = convert<T>(all.lane() + place(first));
    for (int n = 0; n < registers; ++n) {
      auto const lowest = [&](int c) {
        auto const at = [&](int lane) {
          return fma(i, coordinate(slope[c].data()[lane]), coordinate(base[c].data()[lane]));
        };
        int const lane = part.first_of_register(n);
        return truncate(floor(min(at(lane), at(lane + width - 1))));
      };
      place const p = clamp(lowest(0), place(0), place(where.p_extent - 3));
      place const q = clamp(lowest(1) - place(1), place(where.q_held.first),
                            place(where.q_held.last - 2 * width));
      all.store(columns_[n], p);
      all.store(heights_[n], q);
      all.store(places_[n], p * place(std::int32_t(where.p)) + q);
    }
  }

  /// Returns columns and heights as counted from where those of plane i begin.
  KOKKOS_FORCEINLINE_FUNCTION index column(index const& k, std::int32_t i) const {
    return columns::counted(k, &columns_[0][i - first_], Planes);
  }
  KOKKOS_FORCEINLINE_FUNCTION index height(index const& k, std::int32_t i) const {
    return columns::counted(k, &heights_[0][i - first_], Planes);
  }
  /// Loads those of plane i.
  template <class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION columns load(Sampling const& where, std::int32_t i) const {
    return {where.volume + std::int64_t(i) * where.plane, std::int64_t(where.p),
            &places_[0][i - first_], Planes};
  }
  /// Asks the caches for those of plane i. Rays that lean meet columns in no order that hardware
  /// would guess. The middle column comes with its neighbours' next planes.
  template <class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Sampling const& where, std::int32_t i) const {
    T const* const plane = where.volume + std::int64_t(i) * where.plane;
    for (int n = 0; n < registers; ++n) {
      T const* const first = plane + places_[n][i - first_];
      prefetch(first);
      prefetch(first + 2 * std::int64_t(where.p));
    }
  }

 private:
  /// Asks the second level, as the first one has no room for a plane's columns.
  KOKKOS_FORCEINLINE_FUNCTION static void prefetch(T const* column) {
    KOKKOS_IF_ON_HOST((constexpr int bytes = 2 * width * int(sizeof(T));
                       auto const* const from = reinterpret_cast<char const*>(column);
                       for (int byte = 0; byte < bytes; byte += 64) {
                         __builtin_prefetch(from + byte, 0, 2);
                       } __builtin_prefetch(from + bytes - 1, 0, 2);))
    KOKKOS_IF_ON_DEVICE((static_cast<void>(column);))
  }

  std::int32_t first_;
  alignas(64) std::int32_t columns_[registers][Planes];
  alignas(64) std::int32_t heights_[registers][Planes];
  alignas(64) std::int32_t places_[registers][Planes];
};

}  // namespace iso::ct::detail::ISO_SET

#endif
