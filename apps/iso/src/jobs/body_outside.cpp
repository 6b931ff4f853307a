// SPDX-License-Identifier: BSD-3-Clause
#include "body_outside.hpp"
#include "outline.hpp"
#include "ray_box.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace iso::jobs {
namespace {

constexpr double no_reading = 0.05;    // of the largest: scatter and flat fields make as much
constexpr double deviations = 6;       // of noise, which makes no more
constexpr double far_above = 4;        // what long rays read for their length
constexpr double share_beside = 1e-3;  // of rays; fewer may be pixels that are wrong
constexpr double share_short = 1e-2;   // likewise, or metal near the volume's end
constexpr std::int64_t max_looked_at = 2'000'000;

/// Returns how far apart the things are that are looked at, so that they are not too many and lie
/// in all columns and rows of views that have so many of them.
std::int64_t stride(std::int64_t number, std::int64_t of_view) {
  std::int64_t step = number / max_looked_at + 1;
  while (std::gcd(step, of_view) != 1) {
    ++step;
  }
  return step;
}

/// Readings of a scan, those that count.
struct scan_readings {
  ct::geometry const& scan;
  given_readings values;
  std::span<float const> mask;

  [[nodiscard]] std::size_t at(std::int64_t view, std::int64_t u, std::int64_t v) const {
    return std::size_t((view * scan.num_u() + u) * scan.num_v() + v);
  }
  [[nodiscard]] bool counts(std::size_t i) const {
    return (mask.empty() || mask[i] != 0) && std::isfinite(values[i]);
  }
};

/// What is no reading: what noise, scatter and wrong pixels make where nothing is.
struct reading_level {
  double largest = 0;      ///< that a neighbour shares
  double noise = 0;        ///< the standard deviation of a pixel
  std::int64_t block = 1;  ///< pixels each way whose mean is looked at

  [[nodiscard]] double of(std::int64_t pixels) const {
    return no_reading * largest + deviations * noise / std::sqrt(double(pixels));
  }
};

reading_level level_of(scan_readings const& r) {
  // Neighbours along rows of v, or of u where there is one v.
  std::int64_t const next = r.scan.num_v() >= 3 ? 1 : r.scan.num_v();
  std::int64_t const length = r.scan.num_v() >= 3 ? r.scan.num_v() : r.scan.num_u();
  auto const size = std::int64_t(r.values.size());
  reading_level level;
  std::vector<float> bends;
  std::int64_t const step = stride(size, r.scan.num_u() * r.scan.num_v());
  for (std::int64_t i = 0; i < size; i += step) {
    if (!r.counts(std::size_t(i))) {
      continue;
    }
    double const here = double(r.values[std::size_t(i)]);
    std::int64_t const in_line = i / next % length;
    if (length < 3) {
      level.largest = std::max(level.largest, here);
    }
    if (in_line < 1 || in_line > length - 2 || !r.counts(std::size_t(i - next)) ||
        !r.counts(std::size_t(i + next))) {
      continue;
    }
    double const before = double(r.values[std::size_t(i - next)]);
    double const after = double(r.values[std::size_t(i + next)]);
    double const median =
        std::max(std::min(before, after), std::min(std::max(before, after), here));
    level.largest = std::max(level.largest, median);
    bends.push_back(float(std::abs(before - 2 * here + after)));
  }
  if (!bends.empty()) {
    auto const middle = bends.begin() + std::ptrdiff_t(bends.size() / 2);
    std::nth_element(bends.begin(), middle, bends.end());
    // Of normal numbers: the variance is six times a reading's, the median 0.6745 deviations.
    level.noise = double(*middle) / (0.6745 * std::sqrt(6.0));
  }
  std::int64_t const widest = std::min<std::int64_t>(8, r.scan.num_u() / 5);
  while (level.block < widest &&
         deviations * level.noise > 0.2 * level.largest * double(level.block)) {
    level.block *= 2;
  }
  return level;
}

/// The mean of a block's readings that count.
struct block_mean {
  double value = 0;
  std::int64_t pixels = 0;
};

/// Blocks of pixels of all views, by number.
struct reading_blocks {
  scan_readings readings;
  reading_level level;
  std::int64_t across = (readings.scan.num_u() + level.block - 1) / level.block;
  std::int64_t along = (readings.scan.num_v() + level.block - 1) / level.block;

  [[nodiscard]] std::int64_t size() const { return readings.scan.num_views() * across * along; }

  /// Calls f(view, u, v, reading's number) for the pixels of a block that count.
  template <class F>
  void for_each_pixel(std::int64_t block, F const& f) const {
    auto const& g = readings.scan;
    std::int64_t const view = block / (across * along);
    std::int64_t const u = block / along % across * level.block;
    std::int64_t const v = block % along * level.block;
    for (std::int64_t m = u; m < std::min(u + level.block, g.num_u()); ++m) {
      for (std::int64_t n = v; n < std::min(v + level.block, g.num_v()); ++n) {
        if (auto const i = readings.at(view, m, n); readings.counts(i)) {
          f(view, m, n, i);
        }
      }
    }
  }
  [[nodiscard]] block_mean mean(std::int64_t block) const {
    block_mean mean;
    for_each_pixel(block, [&](auto, auto, auto, std::size_t i) {
      mean.value += double(readings.values[i]);
      ++mean.pixels;
    });
    mean.value /= double(std::max<std::int64_t>(mean.pixels, 1));
    return mean;
  }
  [[nodiscard]] bool has_reading(block_mean const& mean) const {
    return mean.pixels > 0 && mean.value > level.of(mean.pixels);
  }
};

/// Returns where a ray comes nearest to the line along z through `middle`, from there.
vec3<double> nearest(ray_line const& ray, vec3<double> middle, double* at = nullptr) {
  vec3<double> const from = ray.from - middle;
  double const level = ray.along.x * ray.along.x + ray.along.y * ray.along.y;
  double const t = level > 0 ? -(from.x * ray.along.x + from.y * ray.along.y) / level : 0.0;
  if (at != nullptr) {
    *at = t;
  }
  return from + t * ray.along;
}

/// Returns how wide a block is where its ray is nearest.
double width_at(ct::geometry const& g, std::int64_t view, double t, std::int64_t block) {
  auto const& w = g.views()[std::size_t(view)];
  double const pixel = std::max(norm(w.u_step), norm(w.v_step));
  return double(block) * pixel * (g.kind() == ct::beam::cone ? std::abs(t) : 1.0);
}

/// The mean reading of pixels of a block, and what their rays cross of the volume: the longest.
struct read_ray {
  float length;   ///< mm within the voxels
  float blended;  ///< mm that a reading of voxels and pixels at the end may stand for besides
  float reading;
  float none;  ///< what is no reading
};

/// Returns the part of the rays with readings that the volume does not hold: those beside it, and
/// those that cross little of it for what they read, of a body that goes on behind its end.
double part_beside(reading_blocks const& blocks, grid const& volume) {
  auto const& g = blocks.readings.scan;
  double t = 0;
  nearest(ray_of(g, 0, 0.5 * double(g.num_u() - 1), 0.5 * double(g.num_v() - 1)),
          box_of(volume, 0).low, &t);
  double const voxel = std::min({volume.spacing.x, volume.spacing.y, volume.spacing.z});
  double const unit = std::max(1.0, width_at(g, 0, t, 1) / voxel);
  // Projectors blend over half a voxel beyond the outer ones, and pixels over half their width.
  std::array<ray_box, 4> const boxes = {box_of(volume, 0), box_of(volume, 0.1 * unit),
                                        box_of(volume, 0.3 * unit), box_of(volume, 0.5 * unit)};
  std::vector<read_ray> rays;
  float longest = 0;
  std::int64_t const step = stride(blocks.size(), blocks.across * blocks.along);
  for (std::int64_t block = 0; block < blocks.size(); block += step) {
    std::array<read_ray, 2> rays_of{};  // of the pixels whose rays miss the volume, and of the rest
    std::array<block_mean, 2> means;
    blocks.for_each_pixel(
        block, [&](std::int64_t view, std::int64_t u, std::int64_t v, std::size_t i) {
          auto const line = ray_of(g, std::size_t(view), double(u), double(v));
          std::array<double, 4> lengths{};
          for (std::size_t n = 0; n < boxes.size(); ++n) {
            auto const part = within(boxes[n], line);
            lengths[n] = std::max(part.last - part.first, 0.0) * norm(line.along);
          }
          std::size_t const meets = lengths[0] > 0 ? 1 : 0;
          auto& ray = rays_of[meets];
          double const more = (lengths[1] + lengths[2] + lengths[3] - 3 * lengths[0]) / 6;
          ray.length = std::max(ray.length, float(lengths[0]));
          ray.blended = std::max(ray.blended, float(more));
          means[meets].value += double(blocks.readings.values[i]);
          ++means[meets].pixels;
        });
    for (std::size_t n = 0; n < rays_of.size(); ++n) {
      auto& mean = means[n];
      mean.value /= double(std::max<std::int64_t>(mean.pixels, 1));
      if (blocks.has_reading(mean)) {
        rays_of[n].reading = float(mean.value);
        rays_of[n].none = float(blocks.level.of(mean.pixels));
        longest = std::max(longest, rays_of[n].length);
        rays.push_back(rays_of[n]);
      }
    }
  }
  std::vector<float> averages;
  for (auto const& ray : rays) {
    if (2 * ray.length > longest) {
      averages.push_back(ray.reading / ray.length);
    }
  }
  float average = 0;
  if (!averages.empty()) {
    // Of nearly all long rays; a few may go through metal.
    auto const most = averages.begin() + std::ptrdiff_t(averages.size() * 9 / 10);
    std::nth_element(averages.begin(), most, averages.end());
    average = *most;
  }
  std::int64_t beside = 0;
  std::int64_t too_short = 0;
  for (auto const& ray : rays) {
    bool const above =
        ray.reading > ray.none + average * (float(far_above) * ray.length + ray.blended);
    // Near the end it may be a dense layer of the body there, as metal is.
    bool const misses = ray.length == 0 && ray.blended == 0;
    beside += above && misses ? 1 : 0;
    too_short += above && !misses && 4 * ray.length < longest ? 1 : 0;
  }
  double const all = double(std::max<std::size_t>(rays.size(), 1));
  double const part_beside = double(beside) / all;
  double const part_short = double(too_short) / all;
  return (part_beside > share_beside ? part_beside : 0) +
         (part_short > share_short ? part_short : 0);
}

/// A body about the z axis that rows end within.
struct cut_body {
  double part = 0;               ///< of the rows that end within it
  std::array<double, 2> half{};  ///< mm from the axis to its end along x and y, at most
  double radius = 0;             ///< mm from the axis to where its readings seem to end
  double shadow =
      0;  ///< mm from the axis to the end of the volume's shadow, of these rows the mean
};

/// Returns where the ray of a block comes nearest to the axis.
vec3<double> beside_axis(reading_blocks const& blocks, std::int64_t view, std::int64_t row,
                         std::int64_t column) {
  double const half = 0.5 * double(blocks.level.block - 1);
  double const side = double(blocks.level.block);
  return nearest(ray_of(blocks.readings.scan, std::size_t(view), half + side * double(column),
                        half + side * double(row)),
                 {});
}

/// Returns what is left for a body by views of which no row has a reading at an end, or by that end
/// of them.
outline outline_of(reading_blocks const& blocks) {
  outline seen;
  std::int64_t const views = blocks.readings.scan.num_views();
  std::int64_t const step = blocks.size() / max_looked_at + 1;
  for (std::int64_t view = 0; view < views; ++view) {
    for (std::int64_t const outer : {std::int64_t(0), blocks.across - 1}) {
      std::int64_t const inwards = outer == 0 ? 1 : -1;
      vec3<double> farthest{};
      vec3<double> side{};
      double distance = -std::numeric_limits<double>::infinity();
      for (std::int64_t row = 0; row < blocks.along; row += step) {
        std::int64_t column = outer;
        while (column >= 0 && column < blocks.across &&
               !blocks.has_reading(
                   blocks.mean((view * blocks.across + column) * blocks.along + row))) {
          column += inwards;
        }
        if (column == outer) {
          distance = -std::numeric_limits<double>::infinity();
          break;
        }
        if (column >= 0 && column < blocks.across) {
          auto const end = beside_axis(blocks, view, row, outer);
          auto const n = beside_axis(blocks, view, row, column - inwards);
          double const away = (n.x * end.x + n.y * end.y) / std::hypot(end.x, end.y);
          if (away > distance) {
            distance = away;
            farthest = n;
            side = end;
          }
        }
      }
      if (std::isfinite(distance)) {
        seen.end_at(farthest, side);
      }
    }
  }
  return seen;
}

/// Looks at both ends of the rows of u; of a detector that reaches farther from the axis at one end
/// at that alone. Readings of an ellipse fall as the root of 1 - (r / radius)^2, which says how
/// large it is.
cut_body find_cut(reading_blocks const& blocks, grid const& volume) {
  auto const& g = blocks.readings.scan;
  cut_body found;
  if (blocks.across < 4) {
    return found;
  }
  auto const distance = [&](std::int64_t view, std::int64_t row, std::int64_t column) {
    auto const n = beside_axis(blocks, view, row, column);
    return std::hypot(n.x, n.y);
  };
  std::array<double, 2> reach{};
  for (std::int64_t view = 0; view < g.num_views(); ++view) {
    reach[0] += distance(view, blocks.along / 2, 0) / double(g.num_views());
    reach[1] += distance(view, blocks.along / 2, blocks.across - 1) / double(g.num_views());
  }
  double const farthest = std::max(reach[0], reach[1]);
  auto const b = box_of(volume, 0);
  std::int64_t const rows = g.num_views() * blocks.along;
  std::int64_t const step = stride(rows * blocks.across, blocks.along);
  std::int64_t looked_at = 0;
  std::int64_t cut = 0;
  double shadow = 0;
  std::array<double, 5> sums{};  // of 1, r^2, r^4, b^2, b^2 r^2
  for (std::int64_t n = 0; n < rows; n += step) {
    std::int64_t const view = n / blocks.along;
    std::int64_t const row = n % blocks.along;
    auto const mean_of = [&](std::int64_t column) {
      return blocks.mean((view * blocks.across + column) * blocks.along + row);
    };
    // The outer two: one may be a column of wrong pixels.
    auto const ends_within = [&](std::int64_t outer, std::int64_t next) {
      return blocks.has_reading(mean_of(outer)) && blocks.has_reading(mean_of(next));
    };
    ++looked_at;
    if (!(reach[0] > 0.9 * farthest && ends_within(0, 1)) &&
        !(reach[1] > 0.9 * farthest && ends_within(blocks.across - 1, blocks.across - 2))) {
      continue;
    }
    ++cut;
    auto const at_end =
        beside_axis(blocks, view, row, reach[0] > 0.9 * farthest ? 0 : blocks.across - 1);
    double const level = std::hypot(at_end.x, at_end.y);
    double const nx = level > 0 ? std::abs(at_end.x) / level : 1;
    double const ny = level > 0 ? std::abs(at_end.y) / level : 0;
    shadow += std::max(std::abs(b.low.x), std::abs(b.high.x)) * nx +
              std::max(std::abs(b.low.y), std::abs(b.high.y)) * ny;
    for (std::int64_t column = 0; column < blocks.across; ++column) {
      if (auto const mean = mean_of(column); blocks.has_reading(mean)) {
        double const r = distance(view, row, column);
        double const square = mean.value * mean.value;
        std::array<double, 5> const terms = {1, r * r, r * r * r * r, square, square * r * r};
        std::transform(sums.begin(), sums.end(), terms.begin(), sums.begin(), std::plus());
      }
    }
  }
  if (double(cut) <= share_short * double(looked_at)) {
    return found;
  }
  found.part = double(cut) / double(looked_at);
  found.shadow = shadow / double(cut);
  double const fall = sums[1] * sums[3] - sums[0] * sums[4];
  double const square = fall > 0 ? (sums[2] * sums[3] - sums[1] * sums[4]) / fall : 0;
  double const seems = fall > 0 ? std::sqrt(std::max(square, 0.0)) : 0;
  // Readings that do not fall so say nothing but that the body is wider than the field.
  bool const known = seems > farthest && seems < 8 * farthest;
  // A body with corners is seen whole from its sides.
  auto const bound = outline_of(blocks).reach();
  found.radius = std::min(known ? seems : farthest / 0.9, bound[2]);
  found.half = {std::min(found.radius, bound[0]), std::min(found.radius, bound[1])};
  return found;
}

/// Returns half the sides of a box about `middle` that rays with readings cross.
std::array<double, 3> half_crossed(reading_blocks const& blocks, vec3<double> middle,
                                   std::array<double, 2> const& of_cut) {
  auto const& g = blocks.readings.scan;
  std::array<double, 3> half = {of_cut[0], of_cut[1], 0};
  std::int64_t const step = stride(blocks.size(), blocks.across * blocks.along);
  auto const for_each_ray = [&](auto const& f) {
    for (std::int64_t block = 0; block < blocks.size(); block += step) {
      if (!blocks.has_reading(blocks.mean(block))) {
        continue;
      }
      blocks.for_each_pixel(block, [&](std::int64_t view, std::int64_t u, std::int64_t v, auto) {
        f(ray_of(g, std::size_t(view), double(u), double(v)), view);
      });
    }
  };
  for_each_ray([&](ray_line const& ray, std::int64_t view) {
    double t = 0;
    auto const n = nearest(ray, middle, &t);
    double const level = std::hypot(n.x, n.y);
    double const more = level > 0 ? 1 + 0.5 * width_at(g, view, t, 1) / level : 1;
    half[0] = std::max(half[0], std::abs(n.x) * more);
    half[1] = std::max(half[1], std::abs(n.y) * more);
  });
  ray_box const sides{{middle.x - half[0], middle.y - half[1], 0},
                      {middle.x + half[0], middle.y + half[1], 0}};
  for_each_ray([&](ray_line const& ray, std::int64_t view) {
    auto const part = within(sides, ray, {}, 2);
    if (part.first > part.last || !std::isfinite(part.last - part.first)) {
      return;
    }
    double t = 0;
    nearest(ray, middle, &t);
    double const more = 0.5 * width_at(g, view, t, 1);
    for (double const end : {part.first, part.last}) {
      double const z = std::abs(ray.from.z + end * ray.along.z - middle.z);
      half[2] = std::max(half[2], z + more);
    }
  });
  return half;
}

/// Returns a volume of so many voxels about the same middle.
grid resized(grid const& volume, std::array<std::int64_t, 3> const& voxels) {
  grid other = volume;
  for (int axis = 0; axis < 3; ++axis) {
    auto const i = std::size_t(axis);
    other.extent[i] = voxels[i];
    other.origin[axis] -= 0.5 * double(voxels[i] - volume.extent[i]) * volume.spacing[axis];
  }
  return other;
}

}  // namespace

body_outside find_body_outside(ct::geometry const& g, grid const& volume,
                               given_readings const& readings, std::span<float const> mask) {
  body_outside found;
  scan_readings const counted{g, readings, mask};
  auto const level = level_of(counted);
  if (!(level.largest > 0)) {
    return found;
  }
  reading_blocks const blocks{counted, level};
  auto const cut = find_cut(blocks, volume);
  found.cut = cut.part;
  found.part = part_beside(blocks, volume);
  found.beyond_field = cut.part > 0 && cut.shadow < 0.9 * cut.radius;
  if (!found.volume_too_small()) {
    return found;
  }
  auto const b = box_of(volume, 0);
  vec3<double> const middle = 0.5 * (b.low + b.high);
  std::array<double, 2> of_cut{};
  if (cut.part > 0) {
    of_cut = {cut.half[0] + std::abs(middle.x), cut.half[1] + std::abs(middle.y)};
  }
  auto half = half_crossed(blocks, middle, of_cut);
  // As wide as what rays cross, or wider where readings still ask for more.
  for (int times = 0; times < 8; ++times) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double const wanted = std::ceil(2 * half[axis] / volume.spacing[int(axis)]) + 1;
      found.voxels[axis] = std::max(volume.extent[axis], std::int64_t(wanted));
      half[axis] *= 1.15;
    }
    if (part_beside(blocks, resized(volume, found.voxels)) == 0) {
      break;
    }
  }
  return found;
}

}  // namespace iso::jobs
