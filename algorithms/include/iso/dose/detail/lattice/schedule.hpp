// SPDX-License-Identifier: BSD-3-Clause
//! Divides the lattice's lines among the groups of launches: items, or bundles that follow each
//! other through slabs.
#pragma once

#include <iso/dose/detail/lattice.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace iso::dose::detail {

/// Wraps the shifts of lanes round, and cuts lines into items of `rows` rows: those of `together`
/// lines take turns, so that groups that run at the same time read the same planes.
std::vector<lattice_item> make_items(lattice_tables& tables, int rows, std::size_t together);

/// The lines that are under way at the same time, in bundles.
struct lattice_schedule {
  std::int32_t bundles;
  std::int32_t bundle;

  lattice_schedule(std::int32_t lines, std::int32_t threads, std::int32_t max_bundle) {
    bundle = std::clamp((lines + threads - 1) / threads, 1, max_bundle);
    bundles = std::min(threads, (lines + bundle - 1) / bundle);
  }
  [[nodiscard]] std::int32_t lines() const { return bundles * bundle; }
};

inline std::int32_t max_lines_at_once(std::vector<lattice_class> const& classes,
                                      std::int32_t threads, std::int32_t max_bundle) {
  std::int32_t most = 0;
  for (lattice_class const& c : classes) {
    if (c.first < c.last) {
      most = std::max(most, lattice_schedule(c.last - c.first, threads, max_bundle).lines());
    }
  }
  return most;
}

}  // namespace iso::dose::detail
