// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/reorder.hpp
//! Converts between axis orders, here and nowhere else: files and Python have x fastest, the
//! library has z fastest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

namespace iso::files {

/// An axis of an array: its length, and how far apart neighbours on it lie in the source.
struct axis_walk {
  std::int64_t extent = 0;
  std::int64_t stride = 0;  ///< elements; negative where the axis is turned round
};

/// Returns `source` with its axes in another order: result (i, j, k), k fastest, is source[offset +
/// i axes[0].stride + j axes[1].stride + k axes[2].stride]. Reverses, permutes and flips exactly.
template <class To, class From>
std::vector<To> reorder(std::span<From const> source, std::int64_t offset,
                        std::array<axis_walk, 3> const& axes) {
  auto const [n0, n1, n2] = std::array{axes[0].extent, axes[1].extent, axes[2].extent};
  std::vector<To> result(std::size_t(n0 * n1 * n2));
  std::int64_t const tile = 16;  // both the read and the written lines of a tile stay in cache
  for (std::int64_t j = 0; j < n1; ++j) {
    for (std::int64_t first = 0; first < n0; first += tile) {
      for (std::int64_t begin = 0; begin < n2; begin += tile) {
        for (std::int64_t i = first; i < std::min(first + tile, n0); ++i) {
          std::int64_t const row = offset + i * axes[0].stride + j * axes[1].stride;
          for (std::int64_t k = begin; k < std::min(begin + tile, n2); ++k) {
            result[std::size_t((i * n1 + j) * n2 + k)] =
                To(source[std::size_t(row + k * axes[2].stride)]);
          }
        }
      }
    }
  }
  return result;
}

/// Does the same for any contiguous range, such as a std::vector.
template <class To, std::ranges::contiguous_range Source>
std::vector<To> reorder(Source const& source, std::int64_t offset,
                        std::array<axis_walk, 3> const& axes) {
  using value = std::ranges::range_value_t<Source>;
  return reorder<To, value>(std::span<value const>(source), offset, axes);
}

/// Returns the walk that turns an array of `extent`, first axis fastest, into one with the last
/// axis fastest; with the extents reversed, the walk back.
inline std::array<axis_walk, 3> last_axis_fastest(std::array<std::int64_t, 3> const& extent) {
  return {axis_walk{extent[0], 1}, axis_walk{extent[1], extent[0]},
          axis_walk{extent[2], extent[0] * extent[1]}};
}

}  // namespace iso::files
