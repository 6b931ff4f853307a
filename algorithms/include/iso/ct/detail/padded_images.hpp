// SPDX-License-Identifier: BSD-3-Clause
//! Holds the images that filter and backprojection share, and copies into and out of them.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct::detail {

/// Views as the filter and backprojection read them: zeros about each, so that no pixel beyond the
/// detector's edge needs a test. A column of pixels begins where groups of lanes do. The border of
/// zeros before it is the one after the column before.
struct padded_images {
  std::int32_t num_u;
  std::int32_t num_v;

  static constexpr std::int32_t border = 32;

  KOKKOS_FUNCTION std::int32_t columns() const { return num_u + 2; }
  /// Counts the groups of lanes that hold pixels.
  KOKKOS_FUNCTION std::int32_t groups() const { return (num_v + 31) / 32; }
  /// Counts the pixels from one u to the next: room for an even number of groups.
  KOKKOS_FUNCTION std::int32_t pitch() const { return border + 64 * ((num_v + 63) / 64); }
  KOKKOS_FUNCTION std::int64_t image_size() const { return std::int64_t(columns()) * pitch(); }
  /// Counts pixels of `count` images, with a border after the last and what registers read beyond
  /// it.
  KOKKOS_FUNCTION std::int64_t size(std::int64_t count) const {
    return count * image_size() + 2 * border;
  }
  /// Returns pixel (u - 1, -1) of a view: backprojection counts from the border.
  KOKKOS_FUNCTION std::int64_t at(std::int64_t view, std::int32_t u) const {
    return view * image_size() + std::int64_t(u) * pitch() + border - 1;
  }
};

/// Rows of padded images, counted from the first of the border on.
struct padded_rows {
  std::int32_t first;
  std::int32_t count;
};

/// Copies images without padding, [view][u][v], into padded ones or out of them; what is not a
/// pixel stays.
template <class T, bool Pads>
struct padding_kernel {
  std::conditional_t<Pads, T, T const>* padded;
  std::conditional_t<Pads, T const, T>* images;
  padded_images shape;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const row = index / shape.num_v;
    auto const u = std::int32_t(row % shape.num_u);
    std::int64_t const at = shape.at(row / shape.num_u, u + 1) + 1 + index % shape.num_v;
    if constexpr (Pads) {
      padded[at] = images[index];
    } else {
      images[index] = padded[at];
    }
  }
};

}  // namespace iso::ct::detail
