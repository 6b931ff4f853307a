// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/back_project_impl.hpp>

#include <iso/detail/check_word.hpp>

namespace iso::ct::detail {

bool gathers(geometry const& g, iso::grid const& volume, std::int64_t value_bytes,
             back_project_options const& options) {
  // A block's rays must be counted by 31 bits, and places on the detector by a float.
  std::int64_t const rays = std::int64_t(1) << 31;
  return options.method == projector::joseph_linear && options.path == ct::joseph_path::automatic &&
         g.num_v() < std::int64_t(1) << 22 && g.num_u() < rays / block_views / g.num_v() &&
         fast_path_applies(g, volume, value_bytes);
}

bool steps_at_once(std::int64_t views, back_project_options const& options) {
  return views <= block_views && options.oversampling == 1;
}

void validate_options(back_project_options const& options, geometry const& g, std::int64_t count) {
  constexpr auto function = "iso::ct::back_project";
  iso::detail::check_word(options.method, function, "method");
  iso::detail::check_word(options.edge, function, "edge");
  iso::detail::check_word(options.within, function, "within");
  iso::detail::check_word(options.path, function, "path");
  ISO_VALIDATE(
      options.oversampling >= 1 && options.oversampling <= 64,
      "iso::ct::back_project: oversampling {} (must lie in 1..64); use 1 for one ray per pixel",
      options.oversampling);
  ISO_VALIDATE(options.oversampling == 1 || !is_joseph(options.method),
               "iso::ct::back_project: oversampling {} with a Joseph projector (only the exact "
               "methods oversample); leave it at 1",
               options.oversampling);
  std::int64_t const max_detector_pixels = (std::int64_t(1) << 31) - 64;
  ISO_VALIDATE(g.num_v() < max_detector_pixels && g.num_u() < max_detector_pixels / g.num_v(),
               "iso::ct::back_project: a detector of {} x {} pixels (must be below 2^31); bin or "
               "crop the detector",
               g.num_u(), g.num_v());
  ISO_VALIDATE(
      options.words >= 0 && options.words <= 3,
      "iso::ct::back_project: words {} (must lie in 0..3); leave it at 0 to have it chosen",
      options.words);
  ISO_VALIDATE(!options.max_abs || (std::isfinite(*options.max_abs) && *options.max_abs >= 0),
               "iso::ct::back_project: max_abs {} (must be finite and not negative); leave it "
               "empty to have it computed",
               options.max_abs.value_or(0));
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::ct::back_project: groups_per_launch {} (must not be negative); leave it at 0 "
               "for one launch",
               options.shape.groups_per_launch);
  ISO_VALIDATE(options.first_view >= 0 && options.first_view % block_views == 0,
               "iso::ct::back_project: first_view {} (must be a multiple of {}: sums go by blocks "
               "of views); begin at the block that holds it",
               options.first_view, block_views);
  ISO_VALIDATE(count >= 1 && count <= g.num_views() && options.first_view <= g.num_views() - count,
               "iso::ct::back_project: {} views of projections from view {} on (the geometry has "
               "{}); give no more views than the geometry has from there on",
               count, options.first_view, g.num_views());
}

}  // namespace iso::ct::detail

namespace iso::ct {
ISO_FOR_EACH_INSTANCE(ISO_BACK_PROJECT, )
}  // namespace iso::ct
