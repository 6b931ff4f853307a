// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/convolution_impl.hpp>

#include <iso/core/check.hpp>

#include <algorithm>
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
  ISO_VALIDATE(
      fits,
      "iso::dose::convolve: {} of [{}, {}, {}] voxels (it must hold the voxels of the plan's "
      "region, of [{}, {}, {}]); make it on the grid that the region was taken from",
      name, g.extent[0], g.extent[1], g.extent[2], region.extent[0], region.extent[1],
      region.extent[2]);
  return (first[0] * g.extent[1] + first[1]) * g.extent[2] + first[2];
}

void validate_options(convolution_options const& options, cone_set const& cones,
                      iso::grid const& region, beam_frame const& frame) {
  validate(region, "iso::dose::convolution_plan");
  ISO_VALIDATE(is_finite(frame.source) && is_finite(frame.x) && is_finite(frame.y) &&
                   is_finite(frame.along) && frame.source_distance > 0 &&
                   std::isfinite(frame.source_distance),
               "iso::dose::convolution_plan: a beam's frame is not finite, or its source distance "
               "not positive (directions come from them); make it by iso::dose::frame_of");
  auto const known = [](auto value, auto last) { return int(value) >= 0 && value <= last; };
  ISO_VALIDATE(known(options.engine, dose_engine::non_voxel) &&
                   known(options.walk, lattice_walk::by_slabs) &&
                   known(options.traversal, ray::traversal::siddon),
               "iso::dose::convolution_plan: engine {}, walk {}, traversal {} (one is none of its "
               "enumeration); choose from iso/dose/convolution.hpp",
               int(options.engine), int(options.walk), int(options.traversal));
  ISO_VALIDATE(options.radial_step > 0 && std::isfinite(options.radial_step) &&
                   options.ray_spacing > 0 && std::isfinite(options.ray_spacing),
               "iso::dose::convolution_plan: radial step {} mm, ray spacing {} mm (must be "
               "positive); leave them at their defaults",
               options.radial_step, options.ray_spacing);
  // A float counts samples, and products of their numbers.
  vec3<double> const side{region.spacing.x * double(region.extent[0]),
                          region.spacing.y * double(region.extent[1]),
                          region.spacing.z * double(region.extent[2])};
  double const least = norm(side) / double(1 << 20);
  ISO_VALIDATE(options.radial_step >= least && options.ray_spacing >= least,
               "iso::dose::convolution_plan: radial step {} mm, ray spacing {} mm (at least {}, a "
               "2^20th of the region's diagonal); choose larger ones",
               options.radial_step, options.ray_spacing, least);
  double const most = std::max({side.x, side.y, side.z}) / 4;
  bool const rays = options.engine == dose_engine::non_voxel;
  bool const samples = rays || options.engine == dose_engine::voxel_samples;
  ISO_VALIDATE((!samples || options.radial_step <= most) && (!rays || options.ray_spacing <= most),
               "iso::dose::convolution_plan: radial step {} mm, ray spacing {} mm (at most {}, a "
               "quarter of the region's longest side); choose smaller ones, as a voxel's side",
               options.radial_step, options.ray_spacing, most);
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::dose::convolution_plan: groups_per_launch {} (must not be negative); leave it "
               "at 0 for one launch",
               options.shape.groups_per_launch);
  ISO_VALIDATE(!cones.cones.empty() && cones.azimuths > 0 && cones.num_terms >= 0 &&
                   cones.num_terms <= max_kernel_terms &&
                   (!cones.is_table() || !cones.radii.empty()),
               "iso::dose::convolution_plan: {} cones of {} azimuths with {} terms (none may be "
               "missing); make them by iso::dose::make_cones",
               std::int64_t(cones.cones.size()), cones.azimuths, cones.num_terms);
  for (transport_cone const& cone : cones.cones) {
    bool good = std::fabs(cone.cosine) <= 1 && cone.tilt.least <= cone.tilt.most;
    for (std::size_t c = 0; c < std::size_t(std::max(cones.num_terms, 1)); ++c) {
      good = good && (cones.is_table() || (std::isfinite(cone.energy[c]) && cone.rate[c] > 0 &&
                                           std::isfinite(cone.rate[c])));
      for (double const x : cone.tilt.coefficients[c]) {
        good = good && std::isfinite(x);
      }
    }
    good = good && (!cones.is_table() || (cone.absorbed.size() == cones.radii.size() &&
                                          std::isfinite(cone.absorbed.back())));
    ISO_VALIDATE(
        good,
        "iso::dose::convolution_plan: a cone of cosine {} whose energies, rates, tilt or table are "
        "unfit (missing, not finite or not positive); make it by iso::dose::make_cones",
        cone.cosine);
  }
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_CONVOLVE, )

}  // namespace iso::dose
