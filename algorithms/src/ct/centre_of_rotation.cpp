// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/view_projection.hpp>
#include <iso/detail/job_parts.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace iso::ct {
namespace {

vec3<double> unit(vec3<double> const& a) { return (1 / norm(a)) * a; }

/// Every step from source to source, the last one back to the first, is as long as the others.
bool evenly_round(std::vector<view_vectors> const& views) {
  auto const n = views.size();
  if (n < 3) {
    return false;
  }
  std::vector<double> steps(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    steps[i] = norm(unit(views[(i + 1) % n].source) - unit(views[i].source));
    sum += steps[i];
  }
  double const mean = sum / double(n);
  return mean > 0 && std::all_of(steps.begin(), steps.end(),
                                 [&](double step) { return std::abs(step - mean) <= 0.01 * mean; });
}

/// Whether the axis goes round without sliding along itself: sources and detectors stay at their
/// height, within half a pixel.
bool stays_level(std::vector<view_vectors> const& views, beam kind) {
  auto const& first = views.front();
  vec3<double> normal{0, 0, 0};  // twice the area that the sources go round
  for (std::size_t i = 1; i < views.size(); ++i) {
    normal = normal + cross(views[i - 1].source - first.source, views[i].source - first.source);
  }
  if (norm(normal) == 0) {
    return true;  // of two views any axis across them will do
  }
  double const least = 0.5 * norm(first.v_step);
  vec3<double> const axis = unit(normal);
  return std::all_of(views.begin(), views.end(), [&](view_vectors const& w) {
    return std::abs(dot(axis, w.detector_origin - first.detector_origin)) <= least &&
           (kind == beam::parallel || std::abs(dot(axis, w.source - first.source)) <= least);
  });
}

/// The mismatch of an image with its own mirror image.
class mirror {
 public:
  mirror(double const* image, std::int64_t num_u, std::int64_t num_v, job const& control)
      : image_(image),
        num_u_(num_u),
        num_v_(num_v),
        asked_(iso::detail::asked_only(control)),
        columns_(std::max<std::int64_t>(1, (std::int64_t(1) << 22) / num_v)) {}

  /// About c = twice / 2.
  [[nodiscard]] double at_half(std::int64_t twice) const {
    sums total;
    for (std::int64_t a = std::max<std::int64_t>(0, twice - (num_u_ - 1)); 2 * a < twice; ++a) {
      for (std::int64_t v = 0; v < num_v_; ++v) {
        total.add(image_[a * num_v_ + v], image_[(twice - a) * num_v_ + v]);
      }
      ask();
    }
    return total.mismatch();
  }
  /// About any c; t = 1/2, 3/2, ... below `count`.
  [[nodiscard]] double at(double c, std::int64_t count) const {
    sums total;
    for (std::int64_t j = 0; j < count; ++j) {
      place const left(c - (double(j) + 0.5));
      place const right(c + (double(j) + 0.5));
      for (std::int64_t v = 0; v < num_v_; ++v) {
        total.add(value(left, v), value(right, v));
      }
      ask();
    }
    return total.mismatch();
  }

 private:
  /// Asks the job after some millions of pixels.
  void ask() const {
    if (++done_ % columns_ == 0) {
      asked_.step(0);
    }
  }
  struct sums {
    double differences = 0;
    double values = 0;
    double squares = 0;
    double count = 0;

    void add(double a, double b) {
      differences += (a - b) * (a - b);
      values += a + b;
      squares += a * a + b * b;
      count += 2;
    }
    [[nodiscard]] double mismatch() const {
      double const spread = squares - values * values / count;
      return spread > 1e-12 * squares ? differences / spread
                                      : std::numeric_limits<double>::infinity();
    }
  };
  /// Four neighbours with the weights of Keys' cubic convolution.
  struct place {
    std::int64_t first;
    double weight[4];

    explicit place(double u) : first(std::int64_t(std::floor(u)) - 1) {
      double const s = u - std::floor(u);
      weight[0] = ((-0.5 * s + 1) * s - 0.5) * s;
      weight[1] = (1.5 * s - 2.5) * s * s + 1;
      weight[2] = ((-1.5 * s + 2) * s + 0.5) * s;
      weight[3] = (0.5 * s - 0.5) * s * s;
    }
  };
  [[nodiscard]] double value(place const& p, std::int64_t v) const {
    double sum = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      auto const u = std::clamp<std::int64_t>(p.first + i, 0, num_u_ - 1);
      sum += p.weight[i] * image_[u * num_v_ + v];
    }
    return sum;
  }

  double const* image_;
  std::int64_t num_u_;
  std::int64_t num_v_;
  job asked_;
  std::int64_t columns_;           ///< between questions
  mutable std::int64_t done_ = 0;  ///< columns
};

}  // namespace

double axis_pixel(geometry const& g) {
  auto const& w = g.views().front();
  view_projection const seen = projection_of(g.kind(), w);
  double const along = dot(cross(w.u_step, w.v_step), w.source);
  ISO_VALIDATE(along != 0,
               "iso::ct::axis_pixel: the ray through the isocentre runs along the detector of view "
               "0 (it meets no pixel); check the detector's steps");
  return seen.u({}) / seen.depth({});
}

std::vector<double> mirror_weights(geometry const& g) {
  auto const& views = g.views();
  ISO_VALIDATE(
      stays_level(views, g.kind()),
      "iso::ct::mirror_weights: sources or detectors move along the axis, as on a helix (the mean "
      "of such views is not symmetric about it); give the axis' pixel instead of estimating it");
  if (evenly_round(views)) {
    return std::vector<double>(views.size(), 1.0);
  }
  ISO_VALIDATE(
      g.kind() == beam::parallel,
      "iso::ct::mirror_weights: the views are not evenly spaced over a full circle (only then is "
      "their mean symmetric about the axis); give the axis' pixel instead of estimating it");
  std::vector<double> weights(views.size(), 0.0);
  bool found = false;
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (weights[i] == 0 && weights[j] == 0 &&
          norm(unit(views[i].source) + unit(views[j].source)) <= 1e-3) {
        weights[i] = weights[j] = 1;
        found = true;
      }
    }
  }
  ISO_VALIDATE(found,
               "iso::ct::mirror_weights: no view is half a turn from another (such pairs show "
               "where the axis is); give the axis' pixel instead of estimating it");
  return weights;
}

double centre_of_rotation(projection_view<double const, Kokkos::HostSpace> const& mean,
                          centre_options const& options, job const& control) {
  auto const num_u = std::int64_t(mean.data.extent(1));
  auto const num_v = std::int64_t(mean.data.extent(2));
  ISO_VALIDATE(mean.data.extent(0) == 1 && num_u >= 16 && num_v >= 1,
               "iso::ct::centre_of_rotation: mean of [{}, {}, {}] (one image of at least 16 pixels "
               "along u is needed); take the mean over the views",
               mean.data.extent(0), num_u, num_v);
  validate_contiguous(mean.data, "mean", "iso::ct::centre_of_rotation");
  double const* const image = mean.data.data();
  for (std::int64_t i = 0; i < num_u * num_v; ++i) {
    ISO_VALIDATE(std::isfinite(image[i]),
                 "iso::ct::centre_of_rotation: the mean at u {}, v {} is {} (every value must be "
                 "finite); replace dead pixels before the mean is taken",
                 i / num_v, i % num_v, image[i]);
  }
  double const reach = options.reach == 0 ? 0.25 * double(num_u) : options.reach;
  double const last = double(num_u - 1);
  ISO_VALIDATE(
      options.guess >= 0 && options.guess <= last && reach > 0 && reach <= last,
      "iso::ct::centre_of_rotation: guess {} with a reach of {} pixels (both must lie on a "
      "detector of {} pixels); guess the middle, with a reach of 0 for a quarter of the width",
      options.guess, reach, num_u);
  mirror const both(image, num_u, num_v, control);
  // At least an eighth of the detector has a mirror image.
  std::int64_t const least = std::max<std::int64_t>(4, num_u / 8);
  auto const low = std::max(std::int64_t(std::ceil(2 * (options.guess - reach))), least);
  auto const high =
      std::min(std::int64_t(std::floor(2 * (options.guess + reach))), 2 * (num_u - 1) - least);
  double best = std::numeric_limits<double>::infinity();
  std::int64_t twice = -1;
  for (std::int64_t k = low; k <= high; ++k) {
    double const mismatch = both.at_half(k);
    if (mismatch < best) {
      best = mismatch;
      twice = k;
    }
  }
  ISO_VALIDATE(twice >= 0,
               "iso::ct::centre_of_rotation: the mean of the views is the same everywhere, or the "
               "axis is sought where nothing overlaps (no centre can be seen); give the axis' "
               "pixel instead of estimating it");
  // The same pixels for every c between the neighbours.
  double a = 0.5 * double(twice - 1);
  double b = 0.5 * double(twice + 1);
  auto const count = std::max<std::int64_t>(1, std::int64_t(std::min(a, last - b)) - 1);
  double const golden = 0x1.3c6ef372fe95p-1;  // (sqrt 5 - 1) / 2
  double x = b - golden * (b - a);
  double y = a + golden * (b - a);
  double at_x = both.at(x, count);
  double at_y = both.at(y, count);
  for (int step = 0; step < 32; ++step) {
    if (at_x <= at_y) {
      b = y;
      y = x;
      at_y = at_x;
      x = b - golden * (b - a);
      at_x = both.at(x, count);
    } else {
      a = x;
      x = y;
      at_x = at_y;
      y = a + golden * (b - a);
      at_y = both.at(y, count);
    }
  }
  return 0.5 * (a + b);
}

}  // namespace iso::ct
