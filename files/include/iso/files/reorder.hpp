// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/reorder.hpp
//! Converts between axis orders, here and nowhere else: files and Python have x fastest, the
//! library has z fastest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ranges>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

namespace iso::files {

/// An axis of two arrays: its length, and how far apart neighbours on it lie in each.
struct axis_copy {
  std::int64_t extent = 0;
  std::int64_t from = 0;  ///< elements; negative where the axis is turned round
  std::int64_t to = 0;    ///< likewise
};

namespace detail {

/// Calls `f(first, last)` for parts of [0, count), each by a thread of its own where there are
/// several processors and `elements` are worth it.
template <class F>
void in_threads(std::int64_t count, std::int64_t elements, F const& f) {
  constexpr std::int64_t max_threads = 16;  // more do not copy faster
  constexpr std::int64_t least = 1 << 18;   // elements a thread: some tenths of a millisecond
  std::int64_t const parts = std::clamp<std::int64_t>(
      std::min<std::int64_t>(std::thread::hardware_concurrency(), elements / least), 1,
      std::min(max_threads, std::max<std::int64_t>(count, 1)));
  std::vector<std::thread> threads;
  auto const first_of = [&](std::int64_t part) { return count * part / parts; };
  std::int64_t begun = 1;
  for (; begun < parts; ++begun) {
    try {
      threads.emplace_back(f, first_of(begun), first_of(begun + 1));
    } catch (std::system_error const&) {
      break;  // a limit of threads or memory: the rest is done here
    }
  }
  f(first_of(0), first_of(1));
  if (begun < parts) {
    f(first_of(begun), count);
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace detail

/// Copies an array of three axes in another order: element (i, j, k) of `to` is that of `from`,
/// each counted from where the pointer is. Reverses, permutes and flips exactly, by several
/// threads.
template <class From, class To>
void copy_axes(From const* from, To* to, std::array<axis_copy, 3> const& axes) {
  auto const nearest = [&](auto const& stride) {
    return std::size_t(std::ranges::min_element(axes, {}, stride) - axes.begin());
  };
  // The axes on which neighbours lie nearest in one array: lines of both stay in the cache.
  auto const read = nearest([](axis_copy const& a) { return std::abs(a.from); });
  auto write = nearest([](axis_copy const& a) { return std::abs(a.to); });
  write = write == read ? (read + 1) % 3 : write;
  auto const& inner = axes[write];
  auto const& outer = axes[read];
  auto const& rest = axes[3 - read - write];
  constexpr std::int64_t tile = 16;
  std::int64_t const tiles = (outer.extent + tile - 1) / tile;
  detail::in_threads(rest.extent * tiles, rest.extent * outer.extent * inner.extent,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t t = begin; t < end; ++t) {
                         std::int64_t const r = t / tiles;
                         std::int64_t const first = t % tiles * tile;
                         std::int64_t const last = std::min(first + tile, outer.extent);
                         for (std::int64_t k = 0; k < inner.extent; k += tile) {
                           for (std::int64_t i = first; i < last; ++i) {
                             From const* const source = from + r * rest.from + i * outer.from;
                             To* const result = to + r * rest.to + i * outer.to;
                             for (std::int64_t n = k; n < std::min(k + tile, inner.extent); ++n) {
                               result[n * inner.to] = To(source[n * inner.from]);
                             }
                           }
                         }
                       }
                     });
}

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
  copy_axes(source.data() + offset, result.data(),
            {axis_copy{n0, axes[0].stride, n1 * n2}, axis_copy{n1, axes[1].stride, n2},
             axis_copy{n2, axes[2].stride, 1}});
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
