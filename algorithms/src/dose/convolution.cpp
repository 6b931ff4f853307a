// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/convolution.hpp>

#include <iso/core/check.hpp>

#include <cmath>
#include <cstddef>

namespace iso::dose {
namespace detail {

std::int64_t offset_of(iso::grid const& region, iso::grid const& g, char const* name) {
  std::int64_t first[3];
  bool fits = true;
  for (int axis = 0; axis < 3; ++axis) {
    auto const a = std::size_t(axis);
    double const voxels = (region.origin[axis] - g.origin[axis]) / g.spacing[axis];
    double const whole = std::nearbyint(voxels);
    fits = fits && region.spacing[axis] == g.spacing[axis] && std::fabs(voxels - whole) < 1e-6 &&
           whole >= 0 && whole + double(region.extent[a]) <= double(g.extent[a]);
    first[axis] = fits ? std::int64_t(whole) : 0;
  }
  ISO_VALIDATE(fits,
               "convolve: {} of [{}, {}, {}] voxels (it must hold the voxels of the plan's region, "
               "of [{}, {}, {}])",
               name, g.extent[0], g.extent[1], g.extent[2], region.extent[0], region.extent[1],
               region.extent[2]);
  return (first[0] * g.extent[1] + first[1]) * g.extent[2] + first[2];
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_CONVOLVE, )

}  // namespace iso::dose
