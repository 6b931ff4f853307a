// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/convolution_impl.hpp>

#include <iso/core/check.hpp>
#include <iso/detail/check_word.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

namespace iso::dose {
namespace detail {
namespace {

/// Whether what cone `m` absorbs is fit for a plan.
bool is_fit(exponential_cones const& cones, std::size_t m) {
  bool good = true;
  for (std::size_t c = 0; c < std::size_t(cones.num_terms); ++c) {
    double const rate = cones.terms[m].rate[c];
    good = good && std::isfinite(cones.terms[m].energy[c]) && rate > 0 && std::isfinite(rate);
  }
  return good;
}
bool is_fit(tabulated_cones const& cones, std::size_t m) {
  return cones.within[m].size() == cones.radii.size() && std::isfinite(cones.within[m].back());
}

void validate_cones(cone_set const& cones) {
  auto const* const sums = std::get_if<exponential_cones>(&cones.absorbed);
  auto const* const table = std::get_if<tabulated_cones>(&cones.absorbed);
  std::size_t const count = sums != nullptr ? sums->terms.size() : table->within.size();
  ISO_VALIDATE(!cones.cones.empty() && cones.azimuths > 0 && count == cones.cones.size(),
               "iso::dose::convolution_plan: {} cones of {} azimuths, and what {} cones absorb "
               "(none may be missing); make them by iso::dose::make_cones",
               std::int64_t(cones.cones.size()), cones.azimuths, std::int64_t(count));
  ISO_VALIDATE(sums == nullptr || sums->num_terms == 2 || sums->num_terms == max_kernel_terms,
               "iso::dose::convolution_plan: cones of {} terms (must be 2 or 4); make them by "
               "iso::dose::make_cones",
               sums->num_terms);
  ISO_VALIDATE(table == nullptr || !table->radii.empty(),
               "iso::dose::convolution_plan: a table of cones without radii (none may be missing); "
               "make it by iso::dose::make_cones");
  auto const terms = std::size_t(sums != nullptr ? sums->num_terms : 1);
  for (std::size_t m = 0; m < count; ++m) {
    transport_cone const& cone = cones.cones[m];
    bool good = std::fabs(cone.cosine) <= 1 && cone.tilt.least <= cone.tilt.most;
    for (std::size_t c = 0; c < terms; ++c) {
      for (double const x : cone.tilt.coefficients[c]) {
        good = good && std::isfinite(x);
      }
    }
    good = good && (sums != nullptr ? is_fit(*sums, m) : is_fit(*table, m));
    ISO_VALIDATE(
        good,
        "iso::dose::convolution_plan: a cone of cosine {} whose energies, rates, tilt or table are "
        "unfit (missing, not finite or not positive); make it by iso::dose::make_cones",
        cone.cosine);
  }
}

}  // namespace

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
  iso::detail::check_word(options.engine, "iso::dose::convolution_plan", "engine");
  iso::detail::check_word(options.walk, "iso::dose::convolution_plan", "walk");
  iso::detail::check_word(options.traversal, "iso::dose::convolution_plan", "traversal");
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
  validate_cones(cones);
}

plan_kernel kernel_of(cone_set const& cones) {
  auto const* const sums = std::get_if<exponential_cones>(&cones.absorbed);
  if (sums == nullptr) {
    return tabulated();
  }
  return sums->num_terms == 2 ? plan_kernel(exponentials<2>()) : plan_kernel(exponentials<4>());
}

std::int64_t state_size_of(lattice_tables const& tables) {
  std::int64_t most = 0;
  for (auto const& line : tables.lines) {
    lattice_path const& l = line.path;
    std::int64_t const lanes = (l.lanes + 31) / 32 * 32 + (l.max_lane_shift - l.min_lane_shift);
    std::int64_t const rows = l.rows + (l.max_row_shift - l.min_row_shift);
    most = std::max(most, lanes * rows);
  }
  return most;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_CONVOLVE, )

}  // namespace iso::dose
