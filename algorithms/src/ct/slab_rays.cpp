// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/slab_rays.hpp>
#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace iso::ct {
namespace {

using corners = std::array<vec3<double>, 8>;

double largest_size(vec3<double> const& x) {
  return std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)});
}

/// Returns the corners, mm, of the box that samples and chords of a slab lie in. Samples blend
/// voxels up to one beyond the grid, and their coordinates are rounded to float by a few units of
/// the largest that they are made of.
corners corners_of(geometry const& scan, view_vectors const& view, iso::grid const& g,
                   slab const& own) {
  double far = double(std::max({g.extent[0], g.extent[1], g.extent[2]}));
  if (scan.kind() == beam::cone) {
    far = std::max(far, largest_size(g.to_index(view.source)));
  }
  for (int corner = 0; corner < 4; ++corner) {
    double const u = (corner & 1) != 0 ? double(scan.num_u()) : -1;
    double const v = (corner & 2) != 0 ? double(scan.num_v()) : -1;
    far = std::max(
        far, largest_size(g.to_index(view.detector_origin + u * view.u_step + v * view.v_step)));
  }
  double const margin = 0x1p-4 + 8 * double(std::numeric_limits<float>::epsilon()) * far;
  double const low[3] = {-1, -1, double(own.first - 1)};
  double const high[3] = {double(g.extent[0]), double(g.extent[1]), double(own.last)};
  corners all;
  for (std::size_t corner = 0; corner < all.size(); ++corner) {
    for (int a = 0; a < 3; ++a) {
      double const i = (corner >> a & 1) != 0 ? high[a] + margin : low[a] - margin;
      all[corner][a] = g.origin[a] + i * g.spacing[a];
    }
  }
  return all;
}

/// The places of a detector's axis between which points are seen.
struct seen_range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool known = true;  ///< no number was too large

  /// Takes in a place that is off by rounding: far more than its own.
  void add(linear_function const& f, linear_function const& depth, vec3<double> const& x) {
    auto const size = [&](linear_function const& of) {
      return std::abs(of.constant) + std::abs(of.of.x * x.x) + std::abs(of.of.y * x.y) +
             std::abs(of.of.z * x.z);
    };
    double const d = depth(x);
    double const place = f(x) / d;
    double const rounding = 0x1p-36 * (size(f) + std::abs(place) * size(depth)) / d;
    low = std::min(low, place - rounding);
    high = std::max(high, place + rounding);
    known = known && std::isfinite(place) && std::isfinite(rounding);
  }
  /// Returns the first of `count` pixels in the range, and the one after the last: the rays of a
  /// pixel reach half a pixel beyond its middle.
  [[nodiscard]] std::array<std::int64_t, 2> pixels(std::int64_t count) const {
    double const most = double(count);
    return {std::int64_t(std::clamp(std::ceil(low - 0.5), 0.0, most)),
            std::int64_t(std::clamp(std::floor(high + 0.5) + 1, 0.0, most))};
  }
};

pixel_window window_of(geometry const& scan, view_vectors const& view, iso::grid const& g,
                       slab const& own) {
  auto const see = projection_of(scan.kind(), view);
  auto const box = corners_of(scan, view, g, own);
  double nearest = std::numeric_limits<double>::infinity();
  double farthest = -nearest;
  for (auto const& x : box) {
    nearest = std::min(nearest, see.depth(x));
    farthest = std::max(farthest, see.depth(x));
  }
  constexpr double rounding = 1e-9;
  if (scan.kind() == beam::cone && (farthest < -rounding || nearest > 1 + rounding)) {
    return {};
  }
  pixel_window const all{0, scan.num_u(), 0, scan.num_v()};
  if (!(nearest > rounding)) {
    return all;
  }
  seen_range u;
  seen_range v;
  for (auto const& x : box) {
    u.add(see.u, see.depth, x);
    v.add(see.v, see.depth, x);
  }
  if (!u.known || !v.known) {
    return all;
  }
  auto const [first_u, last_u] = u.pixels(scan.num_u());
  auto const [first_v, last_v] = v.pixels(scan.num_v());
  pixel_window const window{first_u, last_u, first_v, last_v};
  return window.empty() ? pixel_window{} : window;
}

}  // namespace

std::vector<pixel_window> slab_rays(geometry const& scan, iso::grid const& whole, slab const& own) {
  validate(whole, "iso::ct::slab_rays");
  validate(own, whole, "iso::ct::slab_rays");
  std::vector<pixel_window> windows;
  for (auto const& view : scan.views()) {
    windows.push_back(window_of(scan, view, whole, own));
  }
  return windows;
}

}  // namespace iso::ct
