// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/slab_phantom.hpp>

#include <iso/core/check.hpp>

#include "csv.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cmath>

namespace iso::dose {

std::vector<slab> slab_phantom() {
  std::vector<slab> slabs;
  for (auto const& row : detail::read_csv(detail::table_text("slab_phantom"), "slab_phantom.csv")) {
    slabs.push_back({10 * row.numbers[1], row.numbers[4]});
  }
  return slabs;
}

iso::grid slab_phantom_grid(double voxel) {
  double const count = std::nearbyint(slab_phantom_width / voxel);
  ISO_VALIDATE(voxel > 0 && count >= 1 && count <= 1e6 &&
                   std::fabs(count * voxel - slab_phantom_width) < 1e-6 * voxel,
               "iso::dose::slab_phantom_grid: voxels of {} mm (a whole number of them must make up "
               "{} mm); choose 1, 2 or 4 mm",
               voxel, slab_phantom_width);
  auto const n = std::int64_t(count);
  double const side = slab_phantom_width / count;
  iso::grid g = grid::centred({n, n, n}, {side, side, side});
  g.origin.y = side / 2;
  return g;
}

double mean_density(std::vector<slab> const& slabs, double near, double far) {
  double top = 0;
  double sum = 0;
  for (slab const& s : slabs) {
    double const bottom = top + s.thickness;
    sum += std::max(std::min(bottom, far) - std::max(top, near), 0.0) * s.density;
    top = bottom;
  }
  return sum / (far - near);
}

}  // namespace iso::dose
