// SPDX-License-Identifier: BSD-3-Clause
//! Projects forward by Joseph for any geometry.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_JOSEPH_GENERAL_KERNEL_HPP
#define ISO_CT_DETAIL_JOSEPH_GENERAL_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/ct/detail/column_tables.hpp>
#include <iso/ct/detail/forward_project_tuning.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/detail/joseph_sample.hpp>
#include <iso/ct/detail/joseph_walk.hpp>
#include <iso/ct/detail/ray_sum.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// The planes in which a ray can meet a voxel, and those in which its point has four for certain.
struct sampled_planes {
  plane_range outer;
  plane_range inner;

  template <class T>
  KOKKOS_FUNCTION sampled_planes(joseph_line<T> const& line, grid const& g)
      : outer(line.planes), inner{0, 0} {
    std::int64_t const n[2] = {g.extent[std::size_t(other_axis(line.axis, 0))],
                               g.extent[std::size_t(other_axis(line.axis, 1))]};
    for (int c = 0; c < 2; ++c) {
      outer = planes_about(line.across[c], T(-1), T(n[c]), outer);
    }
    inner = outer;
    for (int c = 0; c < 2; ++c) {
      inner = planes_inside(line.across[c], T(0), T(n[c] - 1), inner);
    }
  }
};

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/joseph_general_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Adds the samples of one ray: the loop of Graetz 2020, algorithm 1, which every faster form must
/// match to the bit.
/// \param volume  voxel (0, 0, 0), which may lie before the planes that are held
template <class T, class Sum, class Weight>
KOKKOS_FUNCTION void joseph_integral(T const* volume, grid const& g, plane_range held,
                                     plane_range planes, boundary edge, Sum const& sum,
                                     joseph_line<T> const& line,
                                     typename Sum::template state<single_lane, 1>& s) {
  int const m = line.axis;
  int const a = other_axis(m, 0);
  int const b = other_axis(m, 1);
  auto const height = std::int64_t(held.last - held.first);
  std::int64_t const strides[3] = {g.extent[1] * height, height, 1};
  single_lane::part const lane{0};
  for (std::int32_t first = planes.first; first < planes.last;) {
    std::int32_t const end_of_block = (first / block_planes + 1) * block_planes;
    std::int32_t const last = planes.last < end_of_block ? planes.last : end_of_block;
    typename Sum::template running<single_lane::part> running(sum, lane, s);
    for (std::int32_t i = first; i < last; ++i) {
      running.template add<false>(edge_sample(
          volume + i * strides[m], line.across[0](i), strides[a], g.extent[std::size_t(a)],
          line.across[1](i), strides[b], g.extent[std::size_t(b)], edge, Weight{}));
    }
    running.store(lane, s, last - first);
    sum.end_block(s, 0, 0);
    first = last;
  }
}

/// Projects by Joseph for any geometry and any driving axis: a lane a ray, 32 neighbouring pixels
/// of a detector's row or column. Where all 32 have one driving axis they walk plane by plane
/// together; elsewhere each runs through joseph_integral. Where joseph_fast_kernel applies too, the
/// bits are the same.
///
/// A group walks `Lines` neighbouring lines of lanes. Several take a few planes together before the
/// next ones: what the first of them reads of a volume is in a processor's cache for the others.
template <class T, class AnySum, class Weight, int Lines>
struct joseph_general_kernel {
  ISO_KERNEL(joseph_general_kernel<T, AnySum, Weight, Lines>);
  using Sum = ISO_OF_SET(AnySum);
  /// Sums of slabs have no order.
  static constexpr bool takes_slabs = Sum::keeps_flags;
  /// The planes of a block that several lines take together.
  static constexpr std::int32_t few_planes = joseph_general_planes;

  index_view const* views;
  std::int64_t num_views;
  T const* volume;  ///< voxel (0, 0, 0), which may lie before the planes that are held
  T* projections;
  ray_sum_scale<T> const* scale;  ///< reproducible sums only
  std::uint32_t* flags;           ///< reproducible sums only: [group], a bit a pixel
  grid g;
  boundary edge;
  field_range<T> field;
  plane_range held;         ///< planes along z in memory
  slab_samples<T> samples;  ///< that are added
  region within;
  beam kind;
  std::int64_t num_u;
  std::int64_t num_v;
  bool lanes_along_u;  ///< neighbouring lanes take neighbouring u instead of v
  bool in_step;        ///< offsets in the volume fit 31 bits and coordinates 22 (lanes_may_walk)
  plane_range slab;    ///< of whole blocks, whichever axis drives
  slab_place place;
  bool last_launch = true;       ///< of all planes: rays that walk alone do so then
  std::int64_t first_group = 0;  ///< of this launch

  /// Returns the number of lines of a view that a group takes, and of those of all views.
  KOKKOS_FUNCTION std::int64_t sets_of_view() const {
    return ((lanes_along_u ? num_v : num_u) + Lines - 1) / Lines;
  }
  KOKKOS_FUNCTION std::int64_t num_lines() const { return num_views * sets_of_view(); }
  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return num_lines() * (((lanes_along_u ? num_u : num_v) + 31) / 32);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t in_launch) const {
    std::int64_t const index = first_group + in_launch;
    Sum const sum(scale);
    if constexpr (Lines == 1) {
      line_state<Group> line(pixel_row(*this, index), index);
      if (begin(group, sum, line)) {
        walk_all(group, sum, line);
        store(group, line.index, line.at, sum, line.rays);
      }
    } else {
      walk_together(group, sum, index);
    }
  }

 private:
  /// Thirty-two neighbouring pixels of one view. Pieces along the lanes slowest: what all views
  /// read of a volume for one of them stays in a cache.
  struct pixel_row {
    std::int64_t view;
    std::int64_t across;  ///< u, or v where the lanes go along u
    std::int64_t first;

    KOKKOS_FORCEINLINE_FUNCTION pixel_row() {}
    KOKKOS_FORCEINLINE_FUNCTION pixel_row(std::int64_t view_of, std::int64_t across_of,
                                          std::int64_t first_of)
        : view(view_of), across(across_of), first(first_of) {}
    KOKKOS_FUNCTION pixel_row(joseph_general_kernel const& k, std::int64_t index) {
      // A GPU divides 32 bits several times as fast as 64.
      if (k.num_groups() < std::int64_t(1) << 32) {
        locate(k, std::uint32_t(index));
      } else {
        locate(k, std::uint64_t(index));
      }
    }
    template <class Index>
    KOKKOS_FORCEINLINE_FUNCTION void locate(joseph_general_kernel const& k, Index index) {
      auto const all_lines = Index(k.num_lines());
      auto const lines = Index(k.sets_of_view());
      Index const tile = index / all_lines;
      Index const rest = index - tile * all_lines;
      Index const in_order = rest / lines;
      view = std::int64_t(in_order);
      across = std::int64_t(rest - in_order * lines) * Lines;
      first = std::int64_t(tile) * 32;
    }
    [[nodiscard]] KOKKOS_FUNCTION bool exists(joseph_general_kernel const& k, int lane) const {
      return first + lane < (k.lanes_along_u ? k.num_u : k.num_v);
    }
    [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixel(joseph_general_kernel const& k,
                                                     int lane) const {
      std::int64_t const u = k.lanes_along_u ? first + lane : across;
      std::int64_t const v = k.lanes_along_u ? across : first + lane;
      return (view * k.num_u + u) * k.num_v + v;
    }
    /// Returns the ray of a lane; lanes beyond the detector repeat its last pixel.
    [[nodiscard]] KOKKOS_FUNCTION joseph_line<T> line(joseph_general_kernel const& k,
                                                      int lane) const {
      std::int64_t const end = (k.lanes_along_u ? k.num_u : k.num_v) - 1;
      auto const along = double(first + lane < end ? first + lane : end);
      auto const beside = double(across);
      return make_line<T>(k.views[view], k.kind, k.g, k.lanes_along_u ? along : beside,
                          k.lanes_along_u ? beside : along, k.within);
    }
  };

  template <class Group>
  struct ray_state {
    template <class U>
    using lanes = typename Group::template lane_array<U>;
    lanes<std::int32_t> axis;
    lanes<T> slope[2];
    lanes<T> base[2];
    lanes<T> step;
    lanes<std::int32_t> first;  ///< planes that meet voxels; 2^30 and 0 where none does
    lanes<std::int32_t> last;
    lanes<std::int32_t> inner_first;  ///< planes with four voxels
    lanes<std::int32_t> inner_last;
    typename Sum::template state<Group, 1> sum;
  };

  /// A line of lanes at work.
  template <class Group>
  struct line_state {
    pixel_row at;
    std::int64_t index;  ///< of its flags
    std::int32_t axis;
    plane_range launched;  ///< in which samples are added
    ray_state<Group> rays;

    KOKKOS_FORCEINLINE_FUNCTION line_state() {}
    KOKKOS_FORCEINLINE_FUNCTION line_state(pixel_row const& row, std::int64_t number)
        : at(row), index(number) {}
  };

  /// Begins the sums of a line. Returns false where its rays do not walk together, or no sample of
  /// this launch is theirs: then it is done.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION bool begin(Group const& group, Sum const& sum,
                                         line_state<Group>& line) const {
    pixel_row const& at = line.at;
    ray_state<Group>& s = line.rays;
    group.each([&](int lane) {
      joseph_line<T> const ray = at.line(*this, lane);
      sampled_planes const planes(ray, g);
      std::int32_t const none = 1 << 30;
      s.axis[lane] = ray.axis;
      for (int c = 0; c < 2; ++c) {
        s.slope[c][lane] = ray.across[c].slope;
        s.base[c][lane] = ray.across[c].base;
      }
      s.step[lane] = ray.step;
      s.first[lane] = planes.outer.empty() ? none : planes.outer.first;
      s.last[lane] = planes.outer.empty() ? 0 : planes.outer.last;
      s.inner_first[lane] = planes.inner.empty() ? none : planes.inner.first;
      s.inner_last[lane] = planes.inner.empty() ? 0 : planes.inner.last;
    });
    std::int32_t const axis = group.highest(s.axis);
    bool joint = axis == group.lowest(s.axis);  // share their samples, in planes `own`
    plane_range own{0, std::int32_t(g.extent[std::size_t(axis)])};
    if (takes_slabs && joint && !samples.whole()) {
      coordinate<T> const z = middle_ray(group, s);
      joint = axis == 2 || (is_finite(z.slope) && is_finite(z.base));
      own = samples_of(axis, z, own);
    }
    if (!in_step || !joint) {
      if (last_launch) {
        walk_alone(group, line.index, at, sum, joint, own);
      }
      return false;
    }
    // The loads of a GPU's inner loop come together where these planes are the launch's.
    line.launched = takes_slabs ? own.clipped(slab) : slab;
    line.axis = axis;
    if (place == slab_place::middle && outer_planes(group, s, line.launched).empty()) {
      return false;  // what the launches before left stays
    }
    group.each([&](int lane) {
      sum.start(
          s.sum, 0, lane,
          takes_up(place) && at.exists(*this, lane) ? projections[at.pixel(*this, lane)] : T(0));
    });
    return true;
  }

  /// Walks several lines, a few planes of all of them after the other.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk_together(Group const& group, Sum const& sum,
                                                 std::int64_t index) const {
    line_state<Group> lines[Lines];
    std::int32_t count = 0;
    plane_range planes{0, 0};
    pixel_row const first(*this, index);
    std::int64_t const in_view = lanes_along_u ? num_v : num_u;
    for (std::int64_t across = first.across; across < first.across + Lines && across < in_view;
         ++across) {
      auto& line = lines[count];
      line.at = {first.view, across, first.first};
      line.index = (first.first / 32 * num_views + first.view) * in_view + across;
      if (begin(group, sum, line)) {
        planes = planes.joined(outer_planes(group, line.rays, line.launched));
        ++count;
      }
    }
    for (std::int32_t b = planes.first / block_planes * block_planes; b < planes.last;
         b += block_planes) {
      for (std::int32_t from = b; from < b + block_planes; from += few_planes) {
        for (std::int32_t n = 0; n < count; ++n) {
          plane_range const few = outer_planes(group, lines[n].rays,
                                               lines[n].launched.clipped(from, from + few_planes));
          if (!few.empty()) {
            with_sampling(lines[n].axis,
                          [&](auto const& where) { walk(group, sum, lines[n].rays, few, where); });
          }
        }
      }
      for (std::int32_t n = 0; n < count; ++n) {
        if (!outer_planes(group, lines[n].rays, lines[n].launched)
                 .clipped(b, b + block_planes)
                 .empty()) {
          group.each([&](int lane) { sum.end_block(lines[n].rays.sum, 0, lane); });
        }
      }
    }
    for (std::int32_t n = 0; n < count; ++n) {
      store(group, lines[n].index, lines[n].at, sum, lines[n].rays);
    }
  }
  /// Walks one line through all planes.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk_all(Group const& group, Sum const& sum,
                                            line_state<Group>& line) const {
    plane_range const outer = outer_planes(group, line.rays, line.launched);
    with_sampling(line.axis, [&](auto const& where) {
      for (std::int32_t b = outer.first / block_planes * block_planes; b < outer.last;
           b += block_planes) {
        walk(group, sum, line.rays, outer.clipped(b, b + block_planes), where);
        group.each([&](int lane) { sum.end_block(line.rays.sum, 0, lane); });
      }
    });
  }
  /// Calls f with where the voxels of planes of that axis lie.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void with_sampling(std::int32_t axis, F const& f) const {
    if (axis < 2) {
      f(sampling<true>(*this, axis));
    } else {
      f(sampling<false>(*this, axis));
    }
  }

  /// Walks each ray on its own, through all planes at once.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk_alone(Group const& group, std::int64_t index,
                                              pixel_row const& at, Sum const& sum, bool joint,
                                              plane_range own) const {
    bool const leaves = !finishes(place);
    typename Group::template lane_array<bool> is_bad;
    group.each([&](int lane) {
      is_bad[lane] = false;
      if (!at.exists(*this, lane)) {
        return;
      }
      joseph_line<T> const line = at.line(*this, lane);
      plane_range const sampled = sampled_planes(line, g).outer;
      plane_range const planes =
          joint ? sampled.clipped(own) : samples_of(line.axis, line.across[1], sampled);
      T& pixel = projections[at.pixel(*this, lane)];
      typename Sum::template state<single_lane, 1> alone;
      sum.start(alone, 0, 0, leaves ? pixel : T(0));
      (joseph_integral<T, Sum, Weight>)(volume, g, held, planes, edge, sum, line, alone);
      is_bad[lane] = sum.flagged(alone, 0, 0);
      T const total =
          is_bad[lane] ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan) : sum.value(alone, 0, 0);
      // A ray without length, whose step is NaN, has no planes.
      pixel = leaves           ? sum.carried(alone, 0, 0)
              : planes.empty() ? T(0)
                               : canonical(total * line.step);
    });
    if constexpr (Sum::keeps_flags) {
      if (leaves) {
        std::uint32_t const bad = group.mask(is_bad);
        group.once([&] { flags[index] |= bad; });
      }
    }
  }

  /// Leaves the sums for the next slab, or finishes the pixels.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void store(Group const& group, std::int64_t index,
                                         pixel_row const& at, Sum const& sum,
                                         ray_state<Group> const& s) const {
    std::uint32_t bad = 0;
    if constexpr (Sum::keeps_flags) {
      typename Group::template lane_array<bool> is_bad;
      group.each([&](int lane) { is_bad[lane] = sum.flagged(s.sum, 0, lane); });
      bad = group.mask(is_bad) | (takes_up(place) ? flags[index] : 0U);
      if (!finishes(place)) {
        group.once([&] { flags[index] = bad; });
      }
    }
    group.each([&](int lane) {
      if (!at.exists(*this, lane)) {
        return;
      }
      T& pixel = projections[at.pixel(*this, lane)];
      if (!finishes(place)) {
        pixel = sum.carried(s.sum, 0, lane);
        return;
      }
      T const total = ((bad >> lane) & 1U) != 0 ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan)
                                                : sum.value(s.sum, 0, lane);
      // A ray without length, whose step is NaN, has no planes.
      pixel = s.first[lane] < s.last[lane] ? canonical(total * s.step[lane]) : T(0);
    });
  }

  /// The places of the voxels about a point. `ZAcross`: the second coordinate across the driving
  /// axis is z, whose voxels are neighbours in memory.
  template <bool ZAcross>
  struct sampling {
    static constexpr bool z_across = ZAcross;
    T const* volume;
    std::uint32_t plane;  ///< values from a plane to the next
    std::uint32_t p;      ///< along the first coordinate
    std::uint32_t q;      ///< along the second
    std::int32_t p_extent;
    plane_range q_held;  ///< in memory
    std::int32_t q_extent;
    T lowest;
    T p_highest;
    T q_highest;

    KOKKOS_FUNCTION sampling(joseph_general_kernel const& k, int m) : volume(k.volume) {
      int const a = other_axis(m, 0);
      int const b = ZAcross ? 2 : other_axis(m, 1);
      std::uint32_t const y = std::uint32_t(k.held.last - k.held.first);
      std::uint32_t const x = std::uint32_t(k.g.extent[1]) * y;
      plane = m == 0 ? x : m == 1 ? y : 1U;
      p = a == 0 ? x : y;
      q = ZAcross ? 1U : y;
      p_extent = std::int32_t(k.g.extent[std::size_t(a)]);
      q_extent = std::int32_t(k.g.extent[std::size_t(b)]);
      q_held = ZAcross ? k.held : plane_range{0, q_extent};
      lowest = k.field.lowest;
      p_highest = k.field.highest[a];
      q_highest = k.field.highest[b];
    }
    template <class Words>
    KOKKOS_FORCEINLINE_FUNCTION Words offset(Words const& kp, Words const& kq,
                                             std::uint32_t start) const {
      if constexpr (ZAcross) {
        return kq + (kp * Words(p) + Words(start));
      } else {
        return kq * Words(q) + (kp * Words(p) + Words(start));
      }
    }
  };

  /// The rays of a part.
  template <class Part>
  struct part_rays {
    using value = typename Part::template per_lane<T>;
    value slope[2];
    value base[2];

    KOKKOS_FORCEINLINE_FUNCTION value at(int c, std::int32_t i) const {
      return fma(value(T(i)), slope[c], base[c]);
    }
  };

  /// Returns the planes of `within` whose samples are added, of a ray or of neighbours for which it
  /// stands.
  KOKKOS_FORCEINLINE_FUNCTION plane_range samples_of(std::int32_t axis, coordinate<T> z,
                                                     plane_range within) const {
    return axis == 2 ? within.clipped(samples.own) : samples.of(z, within);
  }
  /// Returns the coordinate along z of the ray that stands for its neighbours.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION coordinate<T> middle_ray(Group const& group,
                                                       ray_state<Group> const& s) const {
    typename Group::template lane_array<double> slope;
    typename Group::template lane_array<double> base;
    group.each([&](int lane) {
      double const least = Kokkos::Experimental::finite_min_v<double>;
      slope[lane] = lane == middle_lane ? double(s.slope[1][lane]) : least;
      base[lane] = lane == middle_lane ? double(s.base[1][lane]) : least;
    });
    return {T(group.highest(slope)), T(group.highest(base))};
  }
  /// Returns the planes of a launch in which some ray may meet a voxel.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION plane_range outer_planes(Group const& group,
                                                       ray_state<Group> const& s,
                                                       plane_range launched) const {
    return plane_range{group.lowest(s.first), group.highest(s.last)}.clipped(launched);
  }

  /// Walks planes of one block, in each of which some ray may meet a voxel.
  template <class Group, class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Group const& group, Sum const& sum, ray_state<Group>& s,
                                        plane_range block, Sampling const& where) const {
    plane_range const inner{group.highest(s.inner_first), group.lowest(s.inner_last)};
    plane_range free = inner.clipped(block);
    if (free.empty()) {
      free = {block.last, block.last};
    }
    group.template parts<T, 2>([&](auto const& part) {
      using part_type = std::decay_t<decltype(part)>;
      part_rays<part_type> const rays{{part.load(s.slope[0]), part.load(s.slope[1])},
                                      {part.load(s.base[0]), part.load(s.base[1])}};
      typename Sum::template running<part_type> running(sum, part, s.sum);
      edge_planes<Group>(part, s, rays, running, {block.first, free.first}, where);
      if constexpr (picks_at_once<Group> && std::decay_t<decltype(where)>::z_across) {
        inner_by_tables<Group>(part, s, rays, running, free, where);
      } else {
        inner_planes<Group>(part, rays, running, free, where);
      }
      edge_planes<Group>(part, s, rays, running, {free.last, block.last}, where);
      running.store(part, s.sum, block.last - block.first);
    });
  }

  /// Walks planes where every ray has four voxels about its point: no test in the loop.
  template <class Group, class Part, class Running, class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION void inner_planes(Part const& part, part_rays<Part> const& rays,
                                                Running& running, plane_range planes,
                                                Sampling const& where) const {
    using value = typename Part::template per_lane<T>;
    // A bias that the group's integer parts carry is taken off once.
    std::uint32_t start = std::uint32_t(planes.first) * where.plane -
                          Group::template index_bias<T> * (where.p + where.q);
    T const* const low_p = where.volume;
    T const* const high_p = where.volume + where.p;
    ISO_DEVICE_UNROLL
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      typename Part::index kp;
      typename Part::index kq;
      value dp;
      value dq;
      part.split(rays.at(0, i), kp, dp);
      part.split(rays.at(1, i), kq, dq);
      auto const k = where.offset(backend::bit_cast<std::uint32_t>(kp),
                                  backend::bit_cast<std::uint32_t>(kq), start);
      value const wp = weight_of<Weight>(dp);
      value const lower = blend(wp, gather(low_p, k), gather(high_p, k));
      value const upper = blend(wp, gather(low_p + where.q, k), gather(high_p + where.q, k));
      running.template add<false>(blend(weight_of<Weight>(dq), lower, upper));
      start += where.plane;
    }
  }

  /// Does what inner_planes does. Where the rays of each register meet two neighbouring columns of
  /// a plane, they pick their voxels out of tables that are loaded at once.
  template <class Group, class Part, class Running, class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION void inner_by_tables(Part const& part, ray_state<Group> const& s,
                                                   part_rays<Part> const& rays, Running& running,
                                                   plane_range planes,
                                                   Sampling const& where) const {
    using value = typename Part::template per_lane<T>;
    using index = typename Part::index;
    using tables_of = column_tables<T, Part, few_planes>;
    bool const fits = tables_of::fit(where);
    for (std::int32_t first = planes.first; first < planes.last; first += few_planes) {
      plane_range const few = planes.clipped(first, first + few_planes);
      tables_of const tables(part, s.slope, s.base, first, where);
      tables_of const ahead(part, s.slope, s.base, first + few_planes, where);
      for (std::int32_t i = few.first; i < few.last; ++i) {
        ahead.prefetch(where, i + few_planes);
        index kp;
        index kq;
        value dp;
        value dq;
        part.split(rays.at(0, i), kp, dp);
        part.split(rays.at(1, i), kq, dq);
        index const column = tables.column(kp, i);
        index const height = tables.height(kq, i);
        if (!fits || !tables_of::columns::hold(column, height)) {
          inner_planes<Group>(part, rays, running, {i, i + 1}, where);
          continue;
        }
        auto const plane = tables.load(where, i);
        value const wp = weight_of<Weight>(dp);
        value const lower = plane.blended(wp, column, height);
        value const upper = plane.blended(wp, column, height + index(1));
        running.template add<false>(blend(weight_of<Weight>(dq), lower, upper));
      }
    }
  }

  /// Walks planes where some ray has ended, or its point lies at the volume's border or beyond it.
  template <class Group, class Part, class Running, class Sampling>
  KOKKOS_FORCEINLINE_FUNCTION void edge_planes(Part const& part, ray_state<Group> const& s,
                                               part_rays<Part> const& rays, Running& running,
                                               plane_range planes, Sampling const& where) const {
    if constexpr (Group::has_windows) {
      edge_planes_apart<Group>(part, s, rays, running, planes, where);
    } else {
      add_edges(part, s, rays, running, planes, where, gathered_edges<Sampling>{where});
    }
  }

  /// Does so on a processor, out of tables as inner_by_tables does. A function of its own: it is
  /// called at both ends of a block, and its code is long.
  template <class Group, class Part, class Running, class Sampling>
  [[gnu::noinline]] KOKKOS_FUNCTION void edge_planes_apart(Part const& part,
                                                           ray_state<Group> const& s,
                                                           part_rays<Part> const& rays,
                                                           Running& running, plane_range planes,
                                                           Sampling const& where) const {
    gathered_edges<Sampling> const gathered{where};
    if constexpr (!picks_at_once<Group> || !Sampling::z_across) {
      add_edges(part, s, rays, running, planes, where, gathered);
    } else {
      using index = typename Part::index;
      using tables_of = column_tables<T, Part, few_planes>;
      bool const fits = tables_of::fit(where);
      for (std::int32_t first = planes.first; first < planes.last; first += few_planes) {
        plane_range const few = planes.clipped(first, first + few_planes);
        tables_of const tables(part, s.slope, s.base, first, where);
        add_edges(part, s, rays, running, few, where,
                  [&](neighbours<index> const& p, neighbours<index> const& q, std::int32_t i,
                      auto const& weight) {
                    // Lanes that ask for nothing take what there is.
                    auto const asked = [](neighbours<index> const& k, int n, index const& at) {
                      return select(k.exists(n), at, index(0));
                    };
                    index const c[2] = {asked(p, 0, tables.column(p.held[0], i)),
                                        asked(p, 1, tables.column(p.held[1], i))};
                    index const h[2] = {asked(q, 0, tables.height(q.held[0], i)),
                                        asked(q, 1, tables.height(q.held[1], i))};
                    if (!fits || !tables_of::columns::have(c[0], h[0]) ||
                        !tables_of::columns::have(c[1], h[1])) {
                      return gathered(p, q, i, weight);
                    }
                    auto const plane = tables.load(where, i);
                    return blend_edge(p, q, weight,
                                      [&](int a, int b) { return plane.at(c[a], h[b]); });
                  });
      }
    }
  }

  /// Two neighbours along a coordinate of every lane, and the nearest that the volume has.
  template <class Index>
  struct neighbours {
    Index number[2];
    Index held[2];

    KOKKOS_FORCEINLINE_FUNCTION neighbours(Index const& k, plane_range const& all)
        : number{k, k + Index(1)},
          held{clamp(number[0], Index(all.first), Index(all.last - 1)),
               clamp(number[1], Index(all.first), Index(all.last - 1))} {}
    KOKKOS_FORCEINLINE_FUNCTION auto exists(int n) const { return held[n] == number[n]; }
  };
  /// Two voxels along q, each blended of two along p.
  template <class Value>
  struct blended_pair {
    Value lower;
    Value upper;
  };
  /// Blends voxel(a, b), a along p and b along q, which is 0 where there is none.
  template <class Index, class Value, class Voxel>
  KOKKOS_FORCEINLINE_FUNCTION static blended_pair<Value> blend_edge(neighbours<Index> const& p,
                                                                    neighbours<Index> const& q,
                                                                    Value const& weight,
                                                                    Voxel const& voxel) {
    auto const at = [&](int a, int b) {
      return select(p.exists(a) & q.exists(b), voxel(a, b), Value(T(0)));
    };
    return {blend(weight, at(0, 0), at(1, 0)), blend(weight, at(0, 1), at(1, 1))};
  }

  /// Blends voxels of which each lane loads its own.
  template <class Sampling>
  struct gathered_edges {
    Sampling const& where;
    template <class Index, class Value>
    KOKKOS_FORCEINLINE_FUNCTION blended_pair<Value> operator()(neighbours<Index> const& p,
                                                               neighbours<Index> const& q,
                                                               std::int32_t i,
                                                               Value const& weight) const {
      std::uint32_t const start = std::uint32_t(i) * where.plane;
      return blend_edge(p, q, weight, [&](int a, int b) {
        auto const k = where.offset(backend::bit_cast<std::uint32_t>(p.held[a]),
                                    backend::bit_cast<std::uint32_t>(q.held[b]), start);
        return gather(where.volume, k);
      });
    }
  };

  /// Adds samples of planes at the volume's border: `find` blends the voxels about a point along p.
  template <class Part, class State, class Running, class Sampling, class Find>
  KOKKOS_FORCEINLINE_FUNCTION void add_edges(Part const& part, State const& s,
                                             part_rays<Part> const& rays, Running& running,
                                             plane_range planes, Sampling const& where,
                                             Find const& find) const {
    using value = typename Part::template per_lane<T>;
    using index = typename Part::index;
    index const first = part.load(s.first);
    index const last = part.load(s.last);
    // Where no voxel is near.
    auto const kept = [&](value const& z, T lowest, T highest, std::int32_t extent) {
      return select(z < value(lowest), value(T(-2)),
                    select(value(highest) < z, value(T(extent)), z));
    };
    for (std::int32_t i = planes.first; i < planes.last; ++i) {
      auto const counts = (first <= index(i)) & (index(i) < last);
      index kp;
      index kq;
      value dp;
      value dq;
      part.split_signed(kept(select(counts, rays.at(0, i), value(T(-2))), where.lowest,
                             where.p_highest, where.p_extent),
                        kp, dp);
      part.split_signed(kept(select(counts, rays.at(1, i), value(T(-2))), where.lowest,
                             where.q_highest, where.q_extent),
                        kq, dq);
      neighbours<index> const p(kp, {0, where.p_extent});
      neighbours<index> const q(kq, where.q_held);
      blended_pair<value> const found = find(p, q, i, weight_of<Weight>(dp));
      running.template add<false>(blend(weight_of<Weight>(dq), found.lower, found.upper));
    }
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
