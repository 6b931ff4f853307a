// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/rows_seen.hpp>

#include <iso/ct/detail/rank_windows.hpp>
#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::ct::detail {
namespace {

/// Returns a bound on what a linear function is made of, at a voxel.
double size_at(linear_function const& f, iso::grid const& g, vec3<double> const& index) {
  return std::abs(f.constant + dot(f.of, g.origin)) + std::abs(f.of.x * g.spacing.x * index.x) +
         std::abs(f.of.y * g.spacing.y * index.y) + std::abs(f.of.z * g.spacing.z * index.z);
}

/// Returns the rows between which a view sees the middles of a slab's voxels, and some more: one at
/// least.
row_range rows_of_view(geometry const& scan, view_vectors const& view, iso::grid const& g,
                       slab const& own) {
  auto const see = projection_of(scan.kind(), view);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (int corner = 0; corner < 8; ++corner) {
    vec3<double> const i{(corner & 1) != 0 ? double(g.extent[0] - 1) : 0,
                         (corner & 2) != 0 ? double(g.extent[1] - 1) : 0,
                         double((corner & 4) != 0 ? own.last - 1 : own.first)};
    vec3<double> const x{g.origin.x + i.x * g.spacing.x, g.origin.y + i.y * g.spacing.y,
                         g.origin.z + i.z * g.spacing.z};
    double const depth = see.depth(x);
    double const v = see.v(x) / depth;
    // Kernels compute in float. A voxel blends two rows.
    double const off = 2 + 64 * double(std::numeric_limits<float>::epsilon()) *
                               (size_at(see.v, g, i) + std::abs(v) * size_at(see.depth, g, i)) /
                               depth;
    if (!(depth > 0) || !std::isfinite(v) || !std::isfinite(off)) {
      return {0, scan.num_v()};
    }
    low = std::min(low, v - off);
    high = std::max(high, v + off);
  }
  double const most = double(scan.num_v());
  // A voxel that is seen beside the detector reads its nearest row, with weight zero: what is not
  // finite there stays so.
  return {std::int64_t(std::clamp(std::floor(low), 0.0, most - 1)),
          std::int64_t(std::clamp(std::ceil(high) + 1, 1.0, most))};
}

}  // namespace

row_range rows_seen(geometry const& scan, iso::grid const& whole, slab const& planes,
                    std::int64_t first, std::int64_t count) {
  row_range all{scan.num_v(), 0};
  for (std::int64_t view = first; view < first + count; ++view) {
    row_range const some = rows_of_view(scan, scan.views()[std::size_t(view)], whole, planes);
    all = {std::min(all.first, some.first), std::max(all.last, some.last)};
  }
  return all;
}

row_range rows_of(std::span<pixel_window const> windows, row_range const& detector) {
  row_range all{detector.last, detector.first};
  for (pixel_window const& window : windows) {
    if (!window.empty()) {
      all = {std::min(all.first, window.first_v), std::max(all.last, window.last_v)};
    }
  }
  return all.count() > 0 ? all : row_range{detector.first, detector.first + 1};
}

row_range rows_met(geometry const& scan, iso::grid const& whole, slab const& planes,
                   std::int64_t first, std::int64_t count) {
  return rows_of(slab_rays(scan.subset(first, count), whole, planes), {0, scan.num_v()});
}

}  // namespace iso::ct::detail
