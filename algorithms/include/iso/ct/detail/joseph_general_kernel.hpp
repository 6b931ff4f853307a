// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/detail/joseph_sample.hpp>
#include <iso/ct/detail/ray_sum.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Joseph projection for any geometry and any driving axis, the loop of Graetz 2020, algorithm 1: a
/// lane a ray. Where joseph_fast_kernel applies too, the bits are the same.
template <class T, class Sum, class Weight>
struct joseph_general_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  T const* volume;
  T* projections;
  ray_sum_scale<T> const* scale;  ///< reproducible sums only
  grid g;
  boundary edge;
  beam kind;
  std::int64_t num_u;
  std::int64_t num_v;

  KOKKOS_FUNCTION std::int64_t tiles_along_v() const { return (num_v + 31) / 32; }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const path = index / tiles_along_v();
    std::int64_t const first_v = (index - path * tiles_along_v()) * 32;
    group.each([&](int lane) {
      std::int64_t const v = first_v + lane;
      if (v < num_v) {
        index_view const w = to_index(views(path / num_u), g, kind);
        auto const line = make_line<T>(w, kind, g, double(path % num_u), double(v));
        projections[path * num_v + v] = integrate(line);
      }
    });
  }

 private:
  KOKKOS_FUNCTION T integrate(joseph_line<T> const& line) const {
    int const m = line.axis;
    int const a = other_axis(m, 0);
    int const b = other_axis(m, 1);
    std::int64_t const strides[3] = {g.extent[1] * g.extent[2], g.extent[2], 1};
    plane_range planes =
        planes_about(line.across[0], T(-1), T(g.extent[std::size_t(a)]), line.planes);
    planes = planes_about(line.across[1], T(-1), T(g.extent[std::size_t(b)]), planes);
    if (planes.empty()) {
      return T(0);  // of a ray without length, too, whose step is NaN
    }
    Sum const sum(scale);
    typename Sum::template state<single_lane, 1> s;
    single_lane::part const lane{0};
    sum.start(s, 0, 0, T(0));
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
    T const total = sum.flagged(s, 0, 0) ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan)
                                         : sum.value(s, 0, 0);
    return canonical(total * line.step);
  }
};

}  // namespace iso::ct::detail
