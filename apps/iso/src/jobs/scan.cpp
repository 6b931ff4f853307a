// SPDX-License-Identifier: BSD-3-Clause
#include "scan.hpp"

#include <iso/jobs/info.hpp>
#include <iso/jobs/project.hpp>

#include <array>

namespace iso::jobs {
namespace {

struct named_projector {
  std::string_view name;
  ct::projector method;
};
constexpr std::array<named_projector, 5> projectors = {{
    {"joseph", ct::projector::joseph_linear},
    {"joseph-spline", ct::projector::joseph_spline},
    {"amanatides-woo", ct::projector::amanatides_woo},
    {"branchless", ct::projector::branchless},
    {"siddon", ct::projector::siddon},
}};

vec3<double> vec(std::array<double, 3> const& v) { return {v[0], v[1], v[2]}; }

std::array<double, 3> numbers(vec3<double> const& v) { return {v.x, v.y, v.z}; }

/// A circle of views, the axis beside the middle of the beam where the file says so.
ct::geometry make_circle(files::geometry_description const& g) {
  auto const& d = g.detector;
  ct::flat_detector const detector{d.pixels[0], d.pixels[1], d.pitch[0],
                                   d.pitch[1],  d.offset[0], d.offset[1]};
  if (g.kind == files::scan_kind::circular_parallel) {
    return ct::circular_parallel(detector, g.angles);
  }
  auto const about_beam = ct::circular_cone(detector, g.source_axis, g.source_detector, g.angles);
  if (g.axis_offset == 0) {
    return about_beam;
  }
  return ct::shift_source(ct::shift_detector(about_beam, {g.angles.size(), {-g.axis_offset, 0}}),
                          {g.angles.size(), {-g.axis_offset, 0, 0}});
}

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (auto const& known : projectors) {
    names.emplace_back(known.name);
  }
  return names;
}

ct::projector projector_named(std::string_view name) {
  std::string list;
  for (auto const& known : projectors) {
    if (known.name == name) {
      return known.method;
    }
    list += (list.empty() ? "" : ", ") + std::string(known.name);
  }
  fail_argument("method '{}' is not known (it is none of those there are); choose one of {}", name,
                list);
}

iso::summation summation_named(std::string_view name) {
  ISO_VALIDATE(name == "ordered" || name == "reproducible",
               "sum '{}' is not known (there are two); choose ordered or reproducible", name);
  return name == "ordered" ? iso::summation::ordered : iso::summation::reproducible;
}

ct::geometry make_geometry(files::geometry_description const& g) {
  auto const& d = g.detector;
  if (g.kind != files::scan_kind::vectors) {
    // Shifts are along the detector's axes as offsets are, before it is turned.
    auto scan = ct::laminography(make_circle(g), g.axis_tilt);
    if (!d.shifts.empty()) {
      scan = ct::shift_detector(scan, d.shifts);
    }
    if (!g.source_shifts.empty()) {
      scan = ct::shift_source(scan, g.source_shifts);
    }
    if (auto const [yaw, pitch, roll] = d.turn; yaw != 0 || pitch != 0 || roll != 0) {
      scan = ct::turn_detector(scan, {yaw, pitch, roll});
    }
    return ct::helix(scan, g.angles, g.helix_pitch);
  }
  std::vector<ct::view_vectors> views;
  for (auto const& v : g.views) {
    views.push_back({vec(v.source), vec(v.detector_origin), vec(v.u_step), vec(v.v_step)});
  }
  return {g.rays == files::ray_kind::cone ? ct::beam::cone : ct::beam::parallel, d.pixels[0],
          d.pixels[1], std::move(views)};
}

ct::geometry behind_volume(ct::geometry g, grid const& volume, bool extend_rays,
                           std::int64_t& views_within) {
  auto const found = ct::find_detectors_within(g, volume);
  views_within = found.views;
  if (!extend_rays || found.views == 0) {
    return g;
  }
  views_within = 0;
  // A little farther: rounding shall not leave a corner outside.
  return ct::move_detector(g, 1.001 * found.factor);
}

files::geometry_description as_vectors(files::geometry_description const& g) {
  auto const scan = make_geometry(g);
  files::geometry_description result;
  result.kind = files::scan_kind::vectors;
  result.rays = g.rays;
  result.detector.pixels = g.detector.pixels;
  for (auto const& w : scan.views()) {
    result.views.push_back(
        {numbers(w.source), numbers(w.detector_origin), numbers(w.u_step), numbers(w.v_step)});
  }
  return result;
}

}  // namespace iso::jobs
