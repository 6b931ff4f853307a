// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/forward_project_impl.hpp>

#include <iso/detail/check_word.hpp>

#include <algorithm>
#include <cmath>

namespace iso::ct::detail {
namespace {

/// A lower bound, over all u of a detector row, of the larger of |x| and |y| of the rays'
/// direction.
double min_horizontal(index_view const& w, beam kind, double num_u) {
  ray_component const x0 = component(w, kind, 0, 0, 0);
  ray_component const y0 = component(w, kind, 1, 0, 0);
  if (kind == beam::parallel) {
    return std::max(std::abs(x0.direction), std::abs(y0.direction));
  }
  // Distance of the source from the detector's row in the plane of x and y, as a segment.
  double const ux = w.u_step.x;
  double const uy = w.u_step.y;
  double const along = -(x0.direction * ux + y0.direction * uy) / (ux * ux + uy * uy);
  double const u = std::clamp(along, 0.0, num_u - 1);
  return std::hypot(x0.direction + u * ux, y0.direction + u * uy) / std::sqrt(2.0);
}

double largest_z(index_view const& w, beam kind, double num_u, double num_v) {
  double most = 0;
  for (double const u : {0.0, num_u - 1}) {
    for (double const v : {0.0, num_v - 1}) {
      most = std::max(most, std::abs(component(w, kind, 2, u, v).direction));
    }
  }
  return most;
}

double largest_coordinate(index_view const& w, beam kind, double num_u, double num_v) {
  double most = 0;
  for (int a = 0; a < 3; ++a) {
    for (double const u : {0.0, num_u - 1}) {
      for (double const v : {0.0, num_v - 1}) {
        most = std::max(most, std::abs(component(w, kind, a, u, v).point));
      }
    }
  }
  return most;
}

}  // namespace

bool fast_path_applies(geometry const& g, iso::grid const& volume, std::int64_t value_bytes) {
  auto const& n = volume.extent;
  constexpr std::int64_t limit = std::int64_t(1) << 31;
  if (!g.v_parallel_to_z() || n[1] * n[2] * value_bytes >= 2 * limit || n[2] < 2 ||
      std::max({n[0], n[1], n[2]}) >= std::int64_t(1) << 22 ||
      g.num_views() * g.num_u() * ((g.num_v() + 31) / 32) >= limit || g.num_v() >= limit) {
    return false;
  }
  double const resolved = value_bytes == 4 ? 0x1p19 : 0x1p48;
  double const u = double(g.num_u());
  double const v = double(g.num_v());
  return std::all_of(g.views().begin(), g.views().end(), [&](view_vectors const& view) {
    index_view const w = to_index(view, volume, g.kind());
    return largest_z(w, g.kind(), u, v) < min_horizontal(w, g.kind(), u) * (1 - 1e-9) &&
           largest_coordinate(w, g.kind(), u, v) < resolved;
  });
}

bool lanes_go_along_u(geometry const& g, iso::grid const& volume) {
  // Lines so short leave most lanes idle, which costs more than voxels that lie apart: a detector
  // of one row, upright, takes 30 times as long by lanes along v (one core with AVX-512).
  constexpr std::int64_t min_line_of_lanes = 16;
  bool const short_u = g.num_u() < min_line_of_lanes;
  bool const short_v = g.num_v() < min_line_of_lanes;
  if (short_u != short_v) {
    return short_v;
  }
  // Of a step on the detector, the share that goes along z.
  double u = 0;
  double v = 0;
  for (view_vectors const& view : g.views()) {
    index_view const w = to_index(view, volume, g.kind());
    u += std::abs(w.u_step.z) / norm(w.u_step);
    v += std::abs(w.v_step.z) / norm(w.v_step);
  }
  return u > v;
}

bool is_thin(geometry const& g, iso::grid const& volume) {
  // By one core with AVX-512: windows serve 32 heights, and lanes that are neighbours along u take
  // few rows of pixels up to 17 times as fast. From 15 rows on tall volumes are faster by windows.
  constexpr std::int64_t few_rows = 8;
  constexpr std::int64_t lanes = 32;
  return g.num_v() < few_rows || (g.num_v() < lanes && volume.extent[2] < lanes);
}

bool lanes_may_walk(iso::grid const& volume, slab const& held) {
  auto const& n = volume.extent;
  return n[0] * n[1] * held.count() + held.first < std::int64_t(1) << 31 &&
         std::max({n[0], n[1], n[2]}) < std::int64_t(1) << 22;
}

void validate_options(forward_project_options const& options) {
  constexpr auto function = "iso::ct::forward_project";
  iso::detail::check_word(options.method, function, "method");
  iso::detail::check_word(options.sum, function, "sum");
  iso::detail::check_word(options.edge, function, "edge");
  iso::detail::check_word(options.within, function, "within");
  iso::detail::check_word(options.path, function, "path");
  ISO_VALIDATE(
      options.oversampling >= 1 && options.oversampling <= 64,
      "iso::ct::forward_project: oversampling {} (must lie in 1..64); use 1 for one ray per pixel",
      options.oversampling);
  ISO_VALIDATE(options.oversampling == 1 || !is_joseph(options.method),
               "iso::ct::forward_project: oversampling {} with a Joseph projector (only the exact "
               "methods oversample); leave it at 1",
               options.oversampling);
  ISO_VALIDATE(options.slab_planes >= 0 && options.slab_planes % block_planes == 0,
               "iso::ct::forward_project: slab_planes {} (must be a multiple of {}, or 0); leave "
               "it at 0 to have it chosen",
               options.slab_planes, block_planes);
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "iso::ct::forward_project: groups_per_launch {} (must not be negative); leave it at "
               "0 for one launch",
               options.shape.groups_per_launch);
  ISO_VALIDATE(!options.max_abs || (std::isfinite(*options.max_abs) && *options.max_abs >= 0),
               "iso::ct::forward_project: max_abs {} (must be finite and not negative); leave it "
               "empty to have it computed",
               options.max_abs.value_or(0));
}

void validate_planes(iso::grid const& volume, char const* function) {
  auto const& n = volume.extent;
  std::int64_t const most = std::int64_t(1) << 24;
  ISO_VALIDATE(
      n[0] < most && n[1] < most && n[2] < most,
      "{}: volume of [{}, {}, {}] voxels (each extent must stay below 2^24); project it in parts",
      function, n[0], n[1], n[2]);
  ISO_VALIDATE(
      n[0] > 0 && n[1] > 0 && n[2] > 0,
      "{}: volume of [{}, {}, {}] voxels (has none along an axis); give it at least one each way",
      function, n[0], n[1], n[2]);
}

}  // namespace iso::ct::detail

namespace iso::ct {
ISO_FOR_EACH_INSTANCE(ISO_FORWARD_PROJECT, )
}  // namespace iso::ct
