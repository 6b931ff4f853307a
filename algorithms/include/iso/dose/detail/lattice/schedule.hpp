// SPDX-License-Identifier: BSD-3-Clause
//! Divides the lattice's lines among the groups of launches: items, or bundles that follow each
//! other through slabs.
#pragma once

#include <iso/dose/detail/lattice.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace iso::dose::detail {

/// The planes of a line in which some rows, or lanes, meet the box: for one number of the
/// first after the other, which grow. From plane to plane displacements go one way.
class met_planes {
 public:
  /// \param shifts  of the planes: displacements that are added to the numbers
  /// \param extent  of the box, along the numbers
  met_planes(std::vector<std::int32_t> shifts, std::int32_t extent)
      : shifts_(std::move(shifts)),
        planes_(std::int32_t(shifts_.size())),
        extent_(extent),
        upward_(shifts_.back() >= shifts_.front()),
        first_(planes_),
        last_(planes_) {}

  struct range {
    std::int32_t first;
    std::int32_t last;
  };
  /// Returns the planes in which any of `count` from `number` on lie in the box: none if `first` is
  /// not below `last`.
  range of(std::int32_t number, std::int32_t count) {
    while (first_ > 0 && number + by_growth(first_ - 1) + count > 0) {
      --first_;
    }
    while (last_ > 0 && number + by_growth(last_ - 1) >= extent_) {
      --last_;
    }
    return upward_ ? range{first_, last_} : range{planes_ - last_, planes_ - first_};
  }

 private:
  /// Returns the displacement of the n-th plane of growing ones.
  [[nodiscard]] std::int32_t by_growth(std::int32_t n) const {
    return shifts_[std::size_t(upward_ ? n : planes_ - 1 - n)];
  }

  std::vector<std::int32_t> shifts_;
  std::int32_t planes_;
  std::int32_t extent_;
  bool upward_;
  std::int32_t first_;  ///< by growing displacement
  std::int32_t last_;
};

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
