// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/ray_sums_impl.hpp>

#include <algorithm>
#include <cmath>

namespace iso::ct {
namespace detail {

void join_planes(std::vector<slab>& added, std::vector<slab> const& planes, char const* function) {
  for (slab const& one : planes) {
    for (slab const& other : added) {
      ISO_VALIDATE(
          one.last <= other.first || other.last <= one.first,
          "{}: planes {} to {} (samples of {} to {} were added before); give each plane to one "
          "slab",
          function, one.first, one.last - 1, other.first, other.last - 1);
    }
  }
  added.insert(added.end(), planes.begin(), planes.end());
  std::sort(added.begin(), added.end(),
            [](slab const& a, slab const& b) { return a.first < b.first; });
  std::vector<slab> joined;
  for (slab const& one : added) {
    if (!joined.empty() && joined.back().last == one.first) {
      joined.back().last = one.last;
    } else {
      joined.push_back(one);
    }
  }
  added = joined;
}

void validate_complete(std::vector<slab> const& added, iso::grid const& whole,
                       char const* function) {
  std::int64_t missing = 0;
  for (slab const& one : added) {
    if (one.first != missing) {
      break;
    }
    missing = one.last;
  }
  ISO_VALIDATE(
      missing == whole.extent[2],
      "{}: plane {} of {} was not added (a ray's sum needs all); add the slab that owns it",
      function, missing, whole.extent[2]);
}

void validate_sums(iso::grid const& whole, voxel_bounds const& bounds,
                   forward_project_options const& options) {
  validate(whole, "iso::ct::ray_sums");
  validate_planes(whole, "iso::ct::ray_sums");
  ISO_VALIDATE(
      std::isfinite(bounds.max_abs) && bounds.max_abs >= 0,
      "iso::ct::ray_sums: voxels of at most {} (must be finite and not negative); take the "
      "bounds from iso::ct::bounds_of",
      bounds.max_abs);
  auto checked = options;
  checked.sum = summation::reproducible;
  checked.max_abs = {};
  validate_options(checked);
}

void validate_own(slab const& held, slab const& own, iso::grid const& whole, projector method,
                  char const* function) {
  validate(own, whole, function);
  bool const blends = is_joseph(method);
  std::int64_t const last = std::min(own.last + (blends ? 1 : 0), whole.extent[2]);
  ISO_VALIDATE(held.first <= own.first && last <= held.last,
               "{}: {} of planes {} to {} from data of planes {} to {} ({}); give data of planes "
               "{} to {}",
               function, blends ? "samples" : "chords", own.first, own.last - 1, held.first,
               held.last - 1,
               blends ? "samples blend with the plane above" : "chords lie in those planes",
               own.first, last - 1);
}

bool same_scan(geometry const& a, geometry const& b) {
  auto const same = [](view_vectors const& x, view_vectors const& y) {
    return x.source == y.source && x.detector_origin == y.detector_origin && x.u_step == y.u_step &&
           x.v_step == y.v_step;
  };
  return a.kind() == b.kind() && a.num_u() == b.num_u() && a.num_v() == b.num_v() &&
         std::equal(a.views().begin(), a.views().end(), b.views().begin(), b.views().end(), same);
}

bool same_sums(forward_project_options const& a, forward_project_options const& b) {
  return a.method == b.method && a.edge == b.edge && a.within == b.within &&
         a.oversampling == b.oversampling;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_RAY_SUMS, )

}  // namespace iso::ct
