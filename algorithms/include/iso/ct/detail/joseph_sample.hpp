// SPDX-License-Identifier: BSD-3-Clause
//! Takes one sample of Joseph between voxels, at the edges of a volume too.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_JOSEPH_SAMPLE_HPP
#define ISO_CT_DETAIL_JOSEPH_SAMPLE_HPP

#include <iso/core/interpolation.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Returns the value between four voxels of one plane at (p, q), anywhere: blended along p, then
/// along q; voxels outside count as zero. With boundary::truncate, points beyond the outermost
/// centres are zero.
template <class T, class Weight>
KOKKOS_FUNCTION T edge_sample(T const* plane, T p, std::int64_t p_stride, std::int64_t p_extent,
                              T q, std::int64_t q_stride, std::int64_t q_extent, boundary edge,
                              Weight const& weight) {
  T const margin = edge == boundary::zero ? T(1) : T(0);
  bool const within =
      edge == boundary::zero
          ? p > -margin && p < T(p_extent) && q > -margin && q < T(q_extent)
          : p >= margin && p <= T(p_extent - 1) && q >= margin && q <= T(q_extent - 1);
  if (!within) {
    return T(0);
  }
  T const p_floor = Kokkos::floor(p);
  T const q_floor = Kokkos::floor(q);
  auto const i = std::int64_t(p_floor);
  auto const j = std::int64_t(q_floor);
  auto const at = [&](std::int64_t a, std::int64_t b) {
    return a >= 0 && a < p_extent && b >= 0 && b < q_extent ? plane[a * p_stride + b * q_stride]
                                                            : T(0);
  };
  T const wp = weight(p - p_floor);
  T const wq = weight(q - q_floor);
  return blend(wq, blend(wp, at(i, j), at(i + 1, j)), blend(wp, at(i, j + 1), at(i + 1, j + 1)));
}

}  // namespace iso::ct::detail

#define ISO_SET_HEADER <iso/ct/detail/joseph_sample.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

}  // namespace iso::ct::detail::ISO_SET

#endif
