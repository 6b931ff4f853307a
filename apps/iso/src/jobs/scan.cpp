// SPDX-License-Identifier: BSD-3-Clause
#include "scan.hpp"

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

/// Source and detector of every view moved by `distance` (mm) along u.
ct::geometry moved_along_u(ct::geometry const& g, double distance) {
  auto views = g.views();
  for (auto& w : views) {
    vec3<double> const shift = (distance / norm(w.u_step)) * w.u_step;
    w.source = w.source + shift;
    w.detector_origin = w.detector_origin + shift;
  }
  return {g.kind(), g.num_u(), g.num_v(), std::move(views)};
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
  fail_argument("method '{}' is not known (choose one of {})", name, list);
}

iso::summation summation_named(std::string_view name) {
  ISO_VALIDATE(name == "ordered" || name == "reproducible",
               "sum '{}' is not known (choose ordered or reproducible)", name);
  return name == "ordered" ? iso::summation::ordered : iso::summation::reproducible;
}

ct::geometry make_geometry(files::geometry_description const& g) {
  auto const& d = g.detector;
  ct::flat_detector const detector{d.pixels[0], d.pixels[1], d.pitch[0],
                                   d.pitch[1],  d.offset[0], d.offset[1]};
  if (g.kind == files::scan_kind::circular_cone) {
    auto const about_beam = ct::circular_cone(detector, g.source_axis, g.source_detector, g.angles);
    return g.axis_offset == 0 ? about_beam : moved_along_u(about_beam, -g.axis_offset);
  }
  if (g.kind == files::scan_kind::circular_parallel) {
    return ct::circular_parallel(detector, g.angles);
  }
  std::vector<ct::view_vectors> views;
  for (auto const& v : g.views) {
    views.push_back({vec(v.source), vec(v.detector_origin), vec(v.u_step), vec(v.v_step)});
  }
  return {g.rays == files::ray_kind::cone ? ct::beam::cone : ct::beam::parallel, d.pixels[0],
          d.pixels[1], std::move(views)};
}

grid make_grid(files::host_volume const& volume) {
  grid g;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    g.extent[axis] = volume.extent[axis];
  }
  g.spacing = vec(volume.spacing);
  g.origin = vec(volume.origin);
  return g;
}

}  // namespace iso::jobs
