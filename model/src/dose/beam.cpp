// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/beam.hpp>

#include <iso/core/check.hpp>
#include <iso/detail/angles.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace iso::dose {
namespace {

struct turn {
  double sine;
  double cosine;
};

/// Returns sine and cosine. They are exactly 0, 1 or -1 where the angle is a multiple of a quarter
/// turn, but for its own rounding.
turn turn_of(double angle) {
  turn t{iso::detail::sine_of(angle), iso::detail::cosine_of(angle)};
  double const rounding = 1e-13;
  if (std::fabs(t.sine) < rounding) {
    t = {0, std::copysign(1.0, t.cosine)};
  } else if (std::fabs(t.cosine) < rounding) {
    t = {std::copysign(1.0, t.sine), 0};
  }
  return t;
}

/// Turns a vector of IEC's fixed system into the patient's coordinates, on a couch turned by
/// `couch`.
vec3<double> to_patient(vec3<double> v, turn couch) {
  vec3<double> const on_couch{couch.cosine * v.x + couch.sine * v.y,
                              couch.cosine * v.y - couch.sine * v.x, v.z};
  return {on_couch.x, -on_couch.z, on_couch.y};
}

void validate_fluence(fluence_map const& f) {
  ISO_VALIDATE(f.columns >= 1 && f.rows >= 1 && f.columns < (std::int64_t(1) << 24) &&
                   f.rows < (std::int64_t(1) << 24) &&
                   std::int64_t(f.values.size()) == f.columns * f.rows,
               "iso::dose::beam: fluence of {} x {} pixels with {} values (there must be a pixel, "
               "and as many values as pixels); give columns times rows values",
               f.columns, f.rows, std::int64_t(f.values.size()));
  ISO_VALIDATE(f.pixel_x > 0 && f.pixel_y > 0 && std::isfinite(f.x_low) && std::isfinite(f.y_low) &&
                   std::isfinite(f.x_high()) && std::isfinite(f.y_high()),
               "iso::dose::beam: a field from {} to {} and from {} to {} mm (its size must be "
               "positive); give lower edges below upper ones",
               f.x_low, f.x_high(), f.y_low, f.y_high());
  double sum = 0;
  for (double const value : f.values) {
    ISO_VALIDATE(value >= 0 && std::isfinite(value),
                 "iso::dose::beam: a fluence of {} (must be finite and not negative); give 0 where "
                 "nothing passes",
                 value);
    sum += value;
  }
  ISO_VALIDATE(sum > 0,
               "iso::dose::beam: the fluence is zero everywhere (nothing would be irradiated); "
               "give some of it above 0, or leave out the beam");
}

/// The half-space of the points x with dot(a, x) <= b.
struct half_space {
  vec3<double> a;
  double b;
};

/// The smallest box about the common part of several half-spaces. It is empty (low > high) where
/// they have none.
struct bounds {
  vec3<double> low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::infinity()};
  vec3<double> high = -1.0 * low;
};

/// Finds the box from the corners of the common part: the points where three planes meet and that
/// no other half-space cuts off.
bounds bounds_of(std::vector<half_space> const& sides, double size) {
  bounds out;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      vec3<double> const ij = cross(sides[i].a, sides[j].a);
      for (std::size_t k = j + 1; k < sides.size(); ++k) {
        double const volume = dot(ij, sides[k].a);
        if (std::fabs(volume) < 1e-9) {
          continue;
        }
        vec3<double> const p =
            (1 / volume) * (sides[i].b * cross(sides[j].a, sides[k].a) +
                            sides[j].b * cross(sides[k].a, sides[i].a) + sides[k].b * ij);
        bool const inside = std::all_of(sides.begin(), sides.end(), [&](half_space const& s) {
          return dot(s.a, p) <= s.b + 1e-9 * size;
        });
        for (int axis = 0; inside && axis < 3; ++axis) {
          out.low[axis] = std::min(out.low[axis], p[axis]);
          out.high[axis] = std::max(out.high[axis], p[axis]);
        }
      }
    }
  }
  return out;
}

}  // namespace

fluence_map fluence_map::rectangle(double x_low, double x_high, double y_low, double y_high) {
  return {x_low, y_low, x_high - x_low, y_high - y_low, 1, 1, {1.0}};
}

fluence_map::rectangle_edges fluence_map::open_edges() const {
  std::int64_t first_column = columns;
  std::int64_t last_column = 0;
  std::int64_t first_row = rows;
  std::int64_t last_row = 0;
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < rows; ++j) {
      if (values[std::size_t(i * rows + j)] > 0) {
        first_column = std::min(first_column, i);
        last_column = i + 1;
        first_row = std::min(first_row, j);
        last_row = std::max(last_row, j + 1);
      }
    }
  }
  if (last_column == 0) {
    return {x_low, x_high(), y_low, y_high()};
  }
  return {x_low + pixel_x * double(first_column), x_low + pixel_x * double(last_column),
          y_low + pixel_y * double(first_row), y_low + pixel_y * double(last_row)};
}

beam_frame::point beam_frame::of(vec3<double> const& p) const {
  vec3<double> const v = p - source;
  double const depth = dot(v, along);
  double const scale = source_distance / depth;
  return {depth, dot(v, x) * scale, dot(v, y) * scale};
}

beam_frame frame_of(beam const& b) {
  ISO_VALIDATE(b.source_distance > 0 && std::isfinite(b.source_distance) &&
                   is_finite(b.isocentre) && std::isfinite(b.gantry) && std::isfinite(b.couch) &&
                   std::isfinite(b.collimator) && std::isfinite(b.weight) && b.weight >= 0,
               "iso::dose::beam: source at {} mm, isocentre ({}, {}, {}) mm, gantry {}, couch {}, "
               "collimator {} rad, weight {} (must be finite, the distance positive, the weight "
               "not negative); check these numbers",
               b.source_distance, b.isocentre.x, b.isocentre.y, b.isocentre.z, b.gantry, b.couch,
               b.collimator, b.weight);
  validate_fluence(b.fluence);
  turn const g = turn_of(b.gantry);
  turn const c = turn_of(b.collimator);
  turn const couch = turn_of(b.couch);
  // The gantry's axes in IEC's fixed system. Its z axis points from the isocentre to the source.
  vec3<double> const gx{g.cosine, 0, -g.sine};
  vec3<double> const gy{0, 1, 0};
  vec3<double> const gz{g.sine, 0, g.cosine};
  beam_frame f;
  f.x = to_patient(c.cosine * gx + c.sine * gy, couch);
  f.y = to_patient(c.cosine * gy + -c.sine * gx, couch);
  f.along = to_patient(-1.0 * gz, couch);
  f.source_distance = b.source_distance;
  f.source = b.isocentre + -b.source_distance * f.along;
  return f;
}

iso::grid region_around(beam const& b, iso::grid const& patient, double margin) {
  beam_frame const f = frame_of(b);
  validate(patient, "iso::dose::region_around");
  ISO_VALIDATE(
      margin >= 0 && std::isfinite(margin),
      "iso::dose::region_around: a margin of {} mm (must not be negative); give 0 for none",
      margin);
  vec3<double> low;
  vec3<double> high;
  bool source_inside = true;
  std::vector<half_space> box;
  for (int axis = 0; axis < 3; ++axis) {
    auto const a = std::size_t(axis);
    low[axis] = patient.origin[axis] - 0.5 * patient.spacing[axis];
    high[axis] = low[axis] + patient.spacing[axis] * double(patient.extent[a]);
    source_inside = source_inside && f.source[axis] > low[axis] && f.source[axis] < high[axis];
    vec3<double> normal;
    normal[axis] = 1;
    box.push_back({normal, high[axis]});
    box.push_back({-1.0 * normal, -low[axis]});
  }
  ISO_VALIDATE(
      !source_inside,
      "iso::dose::region_around: the source lies within the patient, at ({}, {}, {}) mm (a beam "
      "must come from outside); check isocentre and source distance, or crop the volume",
      f.source.x, f.source.y, f.source.z);
  double const size = norm(high - low) + b.source_distance;
  box.push_back({-1.0 * f.along, -dot(f.along, f.source)});
  auto const field = b.fluence.open_edges();
  auto const clipped = [&](auto side) {
    auto sides = box;
    side(sides, f.x, field.x_low, field.x_high);
    side(sides, f.y, field.y_low, field.y_high);
    return bounds_of(sides, size);
  };
  // The box holds the rays of the field, which diverge, and a prism of the field with its margin.
  double const far = b.source_distance;
  bounds const rays = clipped([&](auto& sides, vec3<double> axis, double first, double last) {
    vec3<double> const upper = far * axis - last * f.along;
    vec3<double> const lower = first * f.along - far * axis;
    sides.push_back({(1 / norm(upper)) * upper, dot(upper, f.source) / norm(upper)});
    sides.push_back({(1 / norm(lower)) * lower, dot(lower, f.source) / norm(lower)});
  });
  ISO_VALIDATE(rays.low.x <= rays.high.x,
               "iso::dose::region_around: the beam misses the patient (no ray of the field meets "
               "its volume); check the isocentre, at [{}, {}, {}] mm",
               b.isocentre.x, b.isocentre.y, b.isocentre.z);
  bounds const wide = clipped([&](auto& sides, vec3<double> axis, double first, double last) {
    double const at = dot(axis, b.isocentre);
    sides.push_back({axis, at + last + margin});
    sides.push_back({-1.0 * axis, -(at + first - margin)});
  });
  iso::grid out = patient;
  for (int axis = 0; axis < 3; ++axis) {
    auto const a = std::size_t(axis);
    auto const index = [&](double x) { return (x - patient.origin[axis]) / patient.spacing[axis]; };
    // The voxels whose centre lies within. The tolerance keeps a voxel that rounding would lose.
    double const first = std::ceil(index(std::min(rays.low[axis], wide.low[axis])) - 1e-6);
    double const last = std::floor(index(std::max(rays.high[axis], wide.high[axis])) + 1e-6);
    auto const most = double(patient.extent[a] - 1);
    auto const from = std::int64_t(std::clamp(first, 0.0, most));
    auto const to = std::int64_t(std::clamp(last, double(from), most));
    out.extent[a] = to - from + 1;
    out.origin[axis] = patient.origin[axis] + patient.spacing[axis] * double(from);
  }
  return out;
}

}  // namespace iso::dose
