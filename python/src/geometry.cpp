// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"

#include <iso/ct/circular_scan.hpp>
#include <iso/files/geometry_file.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

namespace iso::python {

namespace {

using three = std::array<double, 3>;

vec3<double> vector_of(double const* x) { return {x[0], x[1], x[2]}; }

void put(std::vector<double>& to, vec3<double> const& x) { to.insert(to.end(), {x.x, x.y, x.z}); }

scan shared(ct::geometry g) { return {std::make_shared<ct::geometry const>(std::move(g))}; }

grid make_grid(std::array<std::int64_t, 3> const& size, three const& spacing, three const& origin) {
  grid const g{{size[0], size[1], size[2]}, vector_of(spacing.data()), vector_of(origin.data())};
  validate(g, "Grid");
  return g;
}

grid make_centred_grid(std::array<std::int64_t, 3> const& size, three const& spacing) {
  grid const g = grid::centred({size[0], size[1], size[2]}, vector_of(spacing.data()));
  validate(g, "Grid.centred");
  return g;
}

three numbers_of(vec3<double> const& x) { return {x.x, x.y, x.z}; }

template <class T>
nb::tuple tuple_of(std::array<T, 3> const& x) {
  return nb::make_tuple(x[0], x[1], x[2]);
}

ct::beam beam_of(std::string const& word) {
  auto const found = from_word<ct::beam>(word);
  ISO_VALIDATE(found.has_value(), "Geometry: beam is '{}' (there are: {}); choose one of those",
               word, all_words<ct::beam>());
  return *found;
}

scan from_vectors(std::string const& beam, std::int64_t num_u, std::int64_t num_v,
                  nb::handle vectors) {
  std::vector<double> const x = doubles_of(vectors, {"Geometry.from_vectors", "vectors"}, 12);
  std::vector<ct::view_vectors> views(x.size() / 12);
  for (std::size_t i = 0; i < views.size(); ++i) {
    double const* const row = x.data() + 12 * i;
    views[i] = {vector_of(row), vector_of(row + 3), vector_of(row + 6), vector_of(row + 9)};
  }
  return shared({beam_of(beam), num_u, num_v, std::move(views)});
}

nb::object vectors_of(scan const& s) {
  std::vector<double> x;
  x.reserve(12 * s.geometry->views().size());
  for (auto const& view : s.geometry->views()) {
    put(x, view.source);
    put(x, view.detector_origin);
    put(x, view.u_step);
    put(x, view.v_step);
  }
  return numpy_of(std::move(x), {s.geometry->views().size(), 12});
}

ct::flat_detector detector_of(std::array<std::int64_t, 2> const& pixels,
                              std::array<double, 2> const& pitch,
                              std::array<double, 2> const& offset) {
  return {pixels[0], pixels[1], pitch[0], pitch[1], offset[0], offset[1]};
}

bool equal(scan const& a, scan const& b) {
  auto const same = [](vec3<double> const& p, vec3<double> const& q) {
    return p.x == q.x && p.y == q.y && p.z == q.z;
  };
  auto const& g = *a.geometry;
  auto const& h = *b.geometry;
  if (g.kind() != h.kind() || a.extents() != b.extents()) {
    return false;
  }
  for (std::size_t i = 0; i < g.views().size(); ++i) {
    auto const& v = g.views()[i];
    auto const& w = h.views()[i];
    if (!same(v.source, w.source) || !same(v.detector_origin, w.detector_origin) ||
        !same(v.u_step, w.u_step) || !same(v.v_step, w.v_step)) {
      return false;
    }
  }
  return true;
}

template <std::size_t N>
std::vector<std::array<double, N>> rows_of(nb::handle x, char const* function) {
  std::vector<double> const values = doubles_of(x, {function, "shifts"}, N);
  std::vector<std::array<double, N>> rows(values.size() / N);
  for (std::size_t i = 0; i < values.size(); ++i) {
    rows[i / N][i % N] = values[i];
  }
  return rows;
}

void bind_grid(nb::module_& m) {
  nb::class_<grid>(m, "Grid")
      .def_static("make", make_grid)
      .def_static("centred", make_centred_grid)
      .def_prop_ro("size", [](grid const& g) { return tuple_of(extents_of(g)); })
      .def_prop_ro("spacing", [](grid const& g) { return tuple_of(numbers_of(g.spacing)); })
      .def_prop_ro("origin", [](grid const& g) { return tuple_of(numbers_of(g.origin)); })
      .def("equals", [](grid const& a, grid const& b) { return a == b; });
}

void bind_scan(nb::class_<scan>& c) {
  c.def_static("from_vectors", from_vectors)
      .def_static(
          "circular_cone",
          [](std::array<std::int64_t, 2> const& pixels, std::array<double, 2> const& pitch,
             std::array<double, 2> const& offset, double axis, double detector, nb::handle angles) {
            return shared(
                ct::circular_cone(detector_of(pixels, pitch, offset), axis, detector,
                                  doubles_of(angles, {"Geometry.circular_cone", "angles"})));
          })
      .def_static("circular_parallel",
                  [](std::array<std::int64_t, 2> const& pixels, std::array<double, 2> const& pitch,
                     std::array<double, 2> const& offset, nb::handle angles) {
                    return shared(ct::circular_parallel(
                        detector_of(pixels, pitch, offset),
                        doubles_of(angles, {"Geometry.circular_parallel", "angles"})));
                  })
      .def_static("read",
                  [](std::string const& path) {
                    return shared(ct::make_geometry(files::read_geometry(path).scan));
                  })
      .def_static("parse", [](std::string const& text) {
        return shared(ct::make_geometry(files::parse_geometry(text, "Geometry.from_json").scan));
      });
}

void bind_changes(nb::class_<scan>& c) {
  c.def("helix",
        [](scan const& s, nb::handle angles, double pitch) {
          return shared(
              ct::helix(*s.geometry, doubles_of(angles, {"Geometry.helix", "angles"}), pitch));
        })
      .def("laminography",
           [](scan const& s, double tilt) { return shared(ct::laminography(*s.geometry, tilt)); })
      .def("turn_detector",
           [](scan const& s, double yaw, double pitch, double roll) {
             return shared(ct::turn_detector(*s.geometry, {yaw, pitch, roll}));
           })
      .def("shift_detector",
           [](scan const& s, nb::handle shifts) {
             return shared(
                 ct::shift_detector(*s.geometry, rows_of<2>(shifts, "Geometry.shift_detector")));
           })
      .def("shift_source",
           [](scan const& s, nb::handle shifts) {
             return shared(
                 ct::shift_source(*s.geometry, rows_of<3>(shifts, "Geometry.shift_source")));
           })
      .def("move_detector", [](scan const& s, double factor) {
        return shared(ct::move_detector(*s.geometry, factor));
      });
}

}  // namespace

void bind_geometry(nb::module_& m) {
  bind_grid(m);
  nb::class_<scan> c(m, "Geometry");
  bind_scan(c);
  bind_changes(c);
  c.def("subset", [](scan const& s, std::int64_t first,
                     std::int64_t count) { return shared(s.geometry->subset(first, count)); })
      .def("vectors", vectors_of)
      .def("equals", equal)
      .def("to_json", [](scan const& s) { return files::text_of_views(*s.geometry); })
      .def("detectors_within",
           [](scan const& s, grid const& g) {
             auto const found = ct::find_detectors_within(*s.geometry, g);
             return nb::make_tuple(found.views, found.factor);
           })
      .def_prop_ro("beam", [](scan const& s) { return std::string(to_word(s.geometry->kind())); })
      .def_prop_ro("extents", [](scan const& s) { return tuple_of(s.extents()); });
  m.def("even_angles", [](std::int64_t count, double range, double first) {
    std::vector<double> angles = ct::even_angles(count, range, first);
    std::size_t const n = angles.size();
    return numpy_of(std::move(angles), {n});
  });
}

}  // namespace iso::python
