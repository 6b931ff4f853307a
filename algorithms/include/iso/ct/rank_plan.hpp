// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/rank_plan.hpp
//! Says which planes of a volume and which rows of a detector each rank of a job holds.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/slab_rays.hpp>
#include <iso/ct/view_blocks.hpp>

#include <cstdint>
#include <vector>

namespace iso::ct {

/// The division of a scan and a volume among ranks. Each voxel and each reading has one owner. A
/// rank owns planes along z, and the same rows of the detector in all views. Rows are divided so
/// that a rank's share of those that the volume is seen in is its share of the planes: in an
/// upright scan they are those in which its planes are seen, but for a few at either end.
///
/// A rank without a plane has no rows either. There may be ranks without rows that have planes.
/// Determinism: backend_to_backend; computed on the host, the same on every rank.
class rank_plan {
 public:
  /// \param planes  of each rank, as iso::divide_planes returns them
  /// \throws iso::invalid_argument  planes that do not cover the grid
  rank_plan(geometry scan, iso::grid const& whole, std::vector<slab> planes);

  [[nodiscard]] geometry const& scan() const { return scan_; }
  [[nodiscard]] iso::grid const& grid() const { return grid_; }
  [[nodiscard]] int size() const { return int(planes_.size()); }  ///< the number of ranks
  /// Returns what a rank owns.
  /// \throws iso::invalid_argument  no such rank
  [[nodiscard]] slab const& planes(int rank) const;
  [[nodiscard]] row_range const& rows(int rank) const;
  /// Returns the same plan with its views in the order of blocks: block b has those from begins[b]
  /// on.
  [[nodiscard]] rank_plan in_order(view_blocks const& blocks) const;
  /// Returns the number of ranks without a plane.
  [[nodiscard]] int idle() const;

 private:
  geometry scan_;
  iso::grid grid_;
  std::vector<slab> planes_;
  std::vector<row_range> rows_;
};

}  // namespace iso::ct
