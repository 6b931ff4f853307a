// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/grid.hpp>

#include <cmath>
#include <limits>

namespace iso {

grid grid::centred(array<std::int64_t, 3> const& extent, vec3<double> spacing) {
  auto const first = [](std::int64_t n, double step) { return -0.5 * double(n - 1) * step; };
  return {extent,
          spacing,
          {first(extent[0], spacing.x), first(extent[1], spacing.y), first(extent[2], spacing.z)}};
}

void validate(grid const& g, char const* function) {
  auto const& n = g.extent;
  ISO_VALIDATE(n[0] >= 1 && n[1] >= 1 && n[2] >= 1,
               "{}: grid of [{}, {}, {}] voxels (every extent must be at least 1); check that the "
               "volume was read",
               function, n[0], n[1], n[2]);
  auto const most = std::numeric_limits<std::int64_t>::max();
  ISO_VALIDATE(
      n[0] <= most / n[1] && n[0] * n[1] <= most / n[2],
      "{}: grid of [{}, {}, {}] voxels (their number does not fit 63 bits); check the extents",
      function, n[0], n[1], n[2]);
  auto const good = [](double step) { return step >= shortest_length && step <= longest_length; };
  ISO_VALIDATE(good(g.spacing.x) && good(g.spacing.y) && good(g.spacing.z),
               "{}: grid spacing [{}, {}, {}] mm (must lie between 1e-150 and 1e150); check that "
               "the spacing is in mm",
               function, g.spacing.x, g.spacing.y, g.spacing.z);
  auto const near = [](double x) { return std::abs(x) <= longest_length; };
  ISO_VALIDATE(near(g.origin.x) && near(g.origin.y) && near(g.origin.z),
               "{}: grid origin [{}, {}, {}] mm (must be finite, at most 1e150 either way); check "
               "that the origin is in mm",
               function, g.origin.x, g.origin.y, g.origin.z);
}

void validate(slab const& planes, grid const& g, char const* function) {
  ISO_VALIDATE(
      planes.first >= 0 && planes.first < planes.last && planes.last <= g.extent[2],
      "{}: {} planes along z from plane {} on (the grid has {}); choose one of them or more",
      function, planes.count(), planes.first, g.extent[2]);
}

}  // namespace iso
