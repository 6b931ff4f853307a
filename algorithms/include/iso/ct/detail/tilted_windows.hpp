// SPDX-License-Identifier: BSD-3-Clause
//! Finds what neighbouring voxels of a column see of a detector that leans, once for a register of
//! them.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_TILTED_WINDOWS_HPP
#define ISO_CT_DETAIL_TILTED_WINDOWS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/ct/detail/padded_images.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// A view as a column of voxels sees it: u = u(k) / depth(k) at the height k, counted in padded
/// pixels, v likewise, with the weight scale / depth(k)^2. Where the depth of all heights is one,
/// the others have been divided by it, and it is 1.
template <class T>
struct alignas(4 * sizeof(T)) tilted_column {
  T depth;  ///< at k = 0
  T u;
  T v;
  T scale;
  T depth_z;  ///< a voxel
  T u_z;
  T v_z;
  std::int16_t view;
  bool is_tame;  ///< between two heights, u and v lie between those there, to column_slack
};

/// How far u and v of a tame column may lie outside of those at both ends, by rounding: in float
/// three roundings, by 2^-24 of 2^14, of 2^14 + 2^13 and of 2^13, are 2^-7, and both the end and
/// the voxel are rounded. The bounds of is_tame are these powers: larger ones need a larger slack.
template <class T>
inline constexpr T column_slack = T(0.015625);

/// Where a view sees a height.
template <class V>
struct seen_place {
  V r;  ///< 1 / depth
  V u;
  V v;
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/tilted_windows.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Of each of up to `Views` views and each register of a part's heights: which columns of pixels
/// they are seen in, and where the two registers of pixels begin out of which lanes pick. Parts
/// come one after the other, from the lowest on.
template <class T, class Isa, int Registers, int Views>
class tilted_windows {
 public:
  static constexpr int width = Isa::template width<T>;

  /// How many columns of pixels hold what all lanes of a part see, 2 or 3. 1: they see none; 0:
  /// it is not known, or pixels are seen that two registers do not hold.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t columns(int n) const {
    return columns_[n];
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T const* image(int n) const { return images_[n]; }
  /// The first column, pixel and height in the view's image, those of register m at [m Views].
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T const* first(int n) const { return first_[0] + n; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t const* places(int n) const {
    return places_[0] + n;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int32_t const* heights(int n) const {
    return heights_[0] + n;
  }

  /// The first part begins at `lowest`.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION tilted_windows(Columns const& columns, int seen, T const* images,
                                             padded_images const& shape, T lowest)
      : shape_(shape) {
    for (int n = 0; n < Views; ++n) {
      bool const known = n < seen && columns[n].is_tame;
      depth_[n] = known ? columns[n].depth : T(1);
      u_[n] = known ? columns[n].u : T(0);  // at the border
      v_[n] = known ? columns[n].v : T(0);
      depth_z_[n] = known ? columns[n].depth_z : T(0);
      u_z_[n] = known ? columns[n].u_z : T(0);
      v_z_[n] = known ? columns[n].v_z : T(0);
      images_[n] = images + (n < seen ? shape.at(columns[n].view, 0) : 0);
    }
    last_ = at(lowest);
  }

  /// Goes on to the next part, which begins at `lowest`.
  KOKKOS_FORCEINLINE_FUNCTION void advance(T lowest) {
    views const all{0};
    coordinate most[Registers];
    coordinate sees[Registers];
    ISO_EACH_REGISTER(int m = 0; m < Registers; ++m) {
      // One height more than the register has.
      seen_place<coordinate> const next = at(lowest + T((m + 1) * width));
      coordinate const slack(column_slack<T>);
      coordinate const zero(T(0));
      coordinate const end_u(T(shape_.num_u + 1));
      coordinate const end_v(T(shape_.num_v + 1));
      coordinate const low_u = min(last_.u, next.u) - slack;
      coordinate const high_u = max(last_.u, next.u) + slack;
      coordinate const low_v = min(last_.v, next.v) - slack;
      coordinate const high_v = max(last_.v, next.v) + slack;
      last_ = next;
      // A part whose registers differ loads three columns for each, also behind the last cell.
      index const column = min(truncate(low_u), index(std::int32_t(shape_.columns() - 3)));
      index const height = truncate(low_v);
      coordinate const first = convert<T>(column);
      coordinate const columns =
          select(high_u < first + coordinate(T(1)), coordinate(T(2)), coordinate(T(3)));
      auto const fits = (zero < low_u) & (high_u < end_u) & (high_u < first + coordinate(T(2))) &
                        (zero < low_v) & (high_v < end_v) &
                        (high_v < convert<T>(height) + coordinate(T(2 * width - 1)));
      most[m] = select(fits, columns, zero);
      sees[m] = select((zero < high_u) & (low_u < end_u), coordinate(T(1)), zero);
      all.store(first_[m], first);
      all.store(heights_[m], height);
      all.store(places_[m], column * index(shape_.pitch()) + height);
    }
    coordinate columns = most[0];
    coordinate some = sees[0];
    ISO_EACH_REGISTER(int m = 1; m < Registers; ++m) {
      auto const all_fit = coordinate(T(0)) < min(columns, most[m]);
      columns = select(all_fit, max(columns, most[m]), coordinate(T(0)));
      some = max(some, sees[m]);
    }
    columns = select(coordinate(T(0)) < some, columns, coordinate(T(1)));
    all.store(columns_, truncate(columns));
  }

 private:
  using views = backend::lane_part<Isa, Views, width>;  // a view a lane
  using coordinate = typename views::template per_lane<T>;
  using index = typename views::index;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION seen_place<coordinate> at(T height) const {
    views const all{0};
    coordinate const z(height);
    coordinate const r = coordinate(T(1)) / fma(z, all.load(depth_z_), all.load(depth_));
    return {r, fma(z, all.load(u_z_) * r, all.load(u_) * r),
            fma(z, all.load(v_z_) * r, all.load(v_) * r)};
  }

  padded_images shape_;
  seen_place<coordinate> last_;
  alignas(64) T depth_[Views];
  alignas(64) T u_[Views];
  alignas(64) T v_[Views];
  alignas(64) T depth_z_[Views];
  alignas(64) T u_z_[Views];
  alignas(64) T v_z_[Views];
  T const* images_[Views];
  alignas(64) std::int32_t columns_[Views];
  alignas(64) T first_[Registers][Views];
  alignas(64) std::int32_t heights_[Registers][Views];
  alignas(64) std::int32_t places_[Registers][Views];
};

/// Blends the two columns of pixels about u at height v, and at the next, for the lanes of a part
/// that see `Count` columns, two or three. Lanes of register m pick from image[places[m stride]]
/// on, columns being `pitch` pixels apart; first[m stride] and heights[m stride] are the numbers of
/// the column and height there.
template <int Count, class T, class Shape>
KOKKOS_FORCEINLINE_FUNCTION void pick_pixels(T const* image, std::int32_t pitch,
                                             std::int32_t const* places, T const* first,
                                             std::int32_t const* heights, int stride,
                                             backend::lane_value<T, Shape> const& u,
                                             backend::lane_value<std::int32_t, Shape> const& v,
                                             backend::lane_value<T, Shape>& below,
                                             backend::lane_value<T, Shape>& above) {
  using isa = typename Shape::isa;
  using value = typename backend::lane_value<T, Shape>::piece;
  using index = typename backend::lane_value<std::int32_t, Shape>::piece;
  ISO_EACH_REGISTER(int m = 0; m < Shape::registers; ++m) {
    T const* at = image + places[m * stride];
    index const height = v.one(m) - index(heights[m * stride]);
    value lower[Count];
    value upper[Count];
    index const above_it = height + index(1);
    for (int c = 0; c < Count; ++c) {
      auto const one = isa::template load<typename value::reg>(at);
      auto const other = isa::template load<typename value::reg>(at + Shape::width);
      lower[c].r[0] = isa::pick(one, other, height.r[0]);
      upper[c].r[0] = isa::pick(one, other, above_it.r[0]);
      at += pitch;
    }
    value const column(first[m * stride]);
    if constexpr (Count == 2) {
      value const across = u.one(m) - column;
      below.set(m, blend(across, lower[0], lower[1]));
      above.set(m, blend(across, upper[0], upper[1]));
    } else {
      value const next = column + value(T(1));
      auto const second = next <= u.one(m);
      value const across = u.one(m) - select(second, next, column);
      below.set(
          m, blend(across, select(second, lower[1], lower[0]), select(second, lower[2], lower[1])));
      above.set(
          m, blend(across, select(second, upper[1], upper[0]), select(second, upper[2], upper[1])));
    }
  }
}

}  // namespace iso::ct::detail::ISO_SET

#endif
