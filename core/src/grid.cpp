// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/grid.hpp>

#include <cmath>
#include <limits>

namespace iso {

grid grid::centred(Kokkos::Array<std::int64_t, 3> const& extent, vec3<double> spacing) {
  auto const first = [](std::int64_t n, double step) { return -0.5 * double(n - 1) * step; };
  return {extent,
          spacing,
          {first(extent[0], spacing.x), first(extent[1], spacing.y), first(extent[2], spacing.z)}};
}

void validate(grid const& g, char const* function) {
  auto const& n = g.extent;
  ISO_VALIDATE(
      n[0] >= 1 && n[1] >= 1 && n[2] >= 1,
      "{}: grid of [{}, {}, {}] voxels (every extent must be at least 1) was the volume read?",
      function, n[0], n[1], n[2]);
  auto const most = std::numeric_limits<std::int64_t>::max();
  ISO_VALIDATE(
      n[0] <= most / n[1] && n[0] * n[1] <= most / n[2],
      "{}: grid of [{}, {}, {}] voxels (their number does not fit 63 bits) check the extents",
      function, n[0], n[1], n[2]);
  auto const good = [](double step) { return std::isfinite(step) && step > 0; };
  ISO_VALIDATE(good(g.spacing.x) && good(g.spacing.y) && good(g.spacing.z),
               "{}: grid spacing [{}, {}, {}] mm (must be finite and positive) check the header",
               function, g.spacing.x, g.spacing.y, g.spacing.z);
  ISO_VALIDATE(std::isfinite(g.origin.x) && std::isfinite(g.origin.y) && std::isfinite(g.origin.z),
               "{}: grid origin [{}, {}, {}] mm (must be finite) check the header", function,
               g.origin.x, g.origin.y, g.origin.z);
}

}  // namespace iso
