// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/slab_rays.hpp
//! Finds which pixels' rays may meet a slab of a volume.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/macros.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>
#include <vector>

namespace iso::ct {

/// The pixels [first_u, last_u) x [first_v, last_v) of a view.
struct pixel_window {
  std::int64_t first_u = 0;
  std::int64_t last_u = 0;
  std::int64_t first_v = 0;
  std::int64_t last_v = 0;

  [[nodiscard]] ISO_FUNCTION bool empty() const { return first_u >= last_u || first_v >= last_v; }
  [[nodiscard]] ISO_FUNCTION bool holds(std::int64_t u, std::int64_t v) const {
    return u >= first_u && u < last_u && v >= first_v && v < last_v;
  }

  friend bool operator==(pixel_window const&, pixel_window const&) = default;
};

/// Rows [first, last) of a detector: pixels along v, in all views.
struct row_range {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] ISO_FUNCTION std::int64_t count() const { return last - first; }

  friend bool operator==(row_range const&, row_range const&) = default;
};

/// Returns, for each view of a scan, the pixels whose rays may have a sample or a chord in some
/// planes of a grid, by any projector, edge, region and oversampling, in float or double. Of the
/// planes that a slab owns and `ray_sums::halo_needed` more each way, the others' words in ray_sums
/// are zero. A window may be larger than needed: it is the rectangle about the images of the
/// corners of the planes' box, one voxel wider each way. Where a cone's source lies within that
/// box, or beside it as the detector's plane goes, all pixels are returned; where the box lies
/// behind the source or the detector, none. Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  an invalid grid, or planes that it has not
std::vector<pixel_window> slab_rays(geometry const& scan, iso::grid const& whole,
                                    slab const& planes);

}  // namespace iso::ct
