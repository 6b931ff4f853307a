// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/view_blocks.hpp
//! Splits the views of a scan into blocks, as iterative methods take them.
#pragma once

#include <iso/ct/geometry.hpp>
#include <iso/ct/iterative_options.hpp>

#include <cstdint>
#include <vector>

namespace iso::ct {

/// The views of a scan in blocks: block b of n has views b, b + n, b + 2 n, ..., and is the
/// `place`-th to be taken. Views of a block lie side by side in `views`.
struct view_blocks {
  std::vector<std::int64_t> views;   ///< of the scan, block by block in the order they are taken
  std::vector<std::int64_t> begins;  ///< of each block in `views`, and their number
  [[nodiscard]] std::int64_t count() const { return std::int64_t(begins.size()) - 1; }
  [[nodiscard]] std::int64_t size(std::int64_t block) const {
    return begins[std::size_t(block + 1)] - begins[std::size_t(block)];
  }
  /// Returns the views of the largest block.
  [[nodiscard]] std::int64_t max_size() const {
    std::int64_t most = 0;
    for (std::int64_t b = 0; b < count(); ++b) {
      most = size(b) > most ? size(b) : most;
    }
    return most;
  }
};

/// Returns blocks of `size` views, the last ones of one less where that does not divide the views.
/// Determinism: backend_to_backend; integers, made on the host.
/// \throws iso::invalid_argument  a size outside 1 .. num_views, an unknown order
view_blocks split_views(std::int64_t num_views, std::int64_t size, block_order order);

namespace detail {

/// Returns a scan whose views lie in the order of blocks: block b has those from begins[b] on.
inline geometry in_order(geometry const& g, view_blocks const& blocks) {
  std::vector<view_vectors> views;
  for (std::int64_t const view : blocks.views) {
    views.push_back(g.views()[std::size_t(view)]);
  }
  return {g.kind(), g.num_u(), g.num_v(), views};
}

/// Returns the scans of blocks of a scan whose views lie in their order.
inline std::vector<geometry> scans_of(geometry const& g, view_blocks const& blocks) {
  std::vector<geometry> scans;
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    scans.push_back(g.subset(blocks.begins[std::size_t(b)], blocks.size(b)));
  }
  return scans;
}

}  // namespace detail
}  // namespace iso::ct
