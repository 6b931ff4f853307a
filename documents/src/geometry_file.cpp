// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_schema.hpp"
#include "json_document.hpp"
#include "json_schema.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/text.hpp>
#include <iso/files/xtekct_file.hpp>
#include <iso/model/describe.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace iso::files {
namespace {

using nlohmann::json;

// The schema of one kind of scan alone, every choice between alternatives already made where the
// document makes it, so that a message can be about the field that is wrong and not about the
// alternatives.
json schema_for(json const& document, std::string const& kind) {
  json schema = json::parse(geometry_schema());
  json chosen = schema["definitions"][kind];
  auto const angles = document.find("angles_deg");
  if (chosen["properties"].contains("angles_deg") && angles != document.end() &&
      angles->is_structured()) {
    chosen["properties"]["angles_deg"] = {
        {"$ref", angles->is_array() ? "#/definitions/angle_list" : "#/definitions/angle_range"}};
  }
  chosen["definitions"] = schema["definitions"];
  return chosen;
}

void validate(std::string const& name, json const& document) {
  json const whole = json::parse(geometry_schema());
  auto const& kinds = whole.at("definitions").at("type");
  if (!document.is_object()) {
    detail::refuse(
        name, "field / is not an object (expected: a JSON object with a field 'type'); write one");
  }
  if (!document.contains("type")) {
    detail::refuse(name, fmt::format("field /type is missing (expected: {}); add it",
                                     detail::description(kinds)));
  }
  auto const& allowed = kinds.at("enum");
  if (std::find(allowed.begin(), allowed.end(), document.at("type")) == allowed.end()) {
    detail::refuse(
        name, fmt::format("field /type is {} (expected: {}); write one of these",
                          shortened(document.at("type").dump(), 60), detail::description(kinds)));
  }
  json const schema = schema_for(document, document.at("type"));
  detail::check_schema(name, schema, document);
}

std::vector<double> read_angles(json const& node) {
  std::vector<double> angles;
  if (node.is_array()) {
    for (double const degrees : node.get<std::vector<double>>()) {
      angles.push_back(units::degrees.to_library(degrees));
    }
    return angles;
  }
  auto const count = node.at("count").get<std::int64_t>();
  double const first = node.value("first", 0.0);
  double const range = node.at("range").get<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    angles.push_back(units::degrees.to_library(first + range * double(i) / double(count)));
  }
  return angles;
}

// A shift of each view, where the document has them.
template <std::size_t N>
std::vector<std::array<double, N>> read_shifts(std::string const& name, json const& document,
                                               std::string const& field, std::size_t views) {
  json::json_pointer const place(field);
  if (!document.contains(place)) {
    return {};
  }
  auto const& list = document.at(place);
  if (list.size() != views) {
    detail::refuse(
        name, fmt::format(
                  "field {} has {} shifts (expected: one for each of the {} views); write as many",
                  field, list.size(), views));
  }
  return list.get<std::vector<std::array<double, N>>>();
}

// As the library's geometry asks: their cross product vanishes.
bool are_parallel(vec3<double> const& u, vec3<double> const& v) {
  return u.y * v.z == u.z * v.y && u.z * v.x == u.x * v.z && u.x * v.y == u.y * v.x;
}

vec3<double> vector_of(json const& node) {
  auto const v = node.get<std::array<double, 3>>();
  return {v[0], v[1], v[2]};
}

ct::view_vectors read_view(std::string const& name, json const& node, ct::beam rays,
                           std::size_t index) {
  char const* const wanted = rays == ct::beam::cone ? "source_mm" : "direction";
  char const* const other = rays == ct::beam::cone ? "direction" : "source_mm";
  if (!node.contains(wanted)) {
    detail::refuse(name, fmt::format("field /views/{}/{} is missing (expected: a point or vector "
                                     "[x, y, z], because /rays is '{}'); add it",
                                     index, wanted, rays == ct::beam::cone ? "cone" : "parallel"));
  }
  if (node.contains(other)) {
    detail::refuse(
        name,
        fmt::format(
            "field /views/{}/{} does not go with /rays '{}' (expected: {} alone); leave it out",
            index, other, rays == ct::beam::cone ? "cone" : "parallel", wanted));
  }
  // Products of shorter ones could vanish.
  for (char const* const field : {"direction", "u_step_mm", "v_step_mm"}) {
    if (node.contains(field)) {
      auto const v = node.at(field).get<std::array<double, 3>>();
      if (std::hypot(v[0], v[1], v[2]) < 1e-6) {
        detail::refuse(
            name,
            fmt::format(
                "field /views/{}/{} is {} (expected: a vector at least 1e-6 long); correct it",
                index, field, node.at(field).dump()));
      }
    }
  }
  ct::view_vectors const view{vector_of(node.at(wanted)), vector_of(node.at("detector_origin_mm")),
                              vector_of(node.at("u_step_mm")), vector_of(node.at("v_step_mm"))};
  if (are_parallel(view.u_step, view.v_step)) {
    detail::refuse(
        name, fmt::format("field /views/{}/v_step_mm is {} (expected: not parallel to u_step_mm, "
                          "{}: they must span the detector); correct one of the two",
                          index, node.at("v_step_mm").dump(), node.at("u_step_mm").dump()));
  }
  return view;
}

ct::scan scan_of(std::string const& name, json const& document) {
  auto const& detector = document.at("detector");
  auto const pixels = detector.at("pixels").get<std::array<std::int64_t, 2>>();
  std::string const kind = document.at("type");
  if (kind == "vectors") {
    auto const rays = document.at("rays") == "cone" ? ct::beam::cone : ct::beam::parallel;
    std::vector<ct::view_vectors> views;
    for (auto const& view : document.at("views")) {
      views.push_back(read_view(name, view, rays, views.size()));
    }
    try {
      return ct::geometry(rays, pixels[0], pixels[1], std::move(views));
    } catch (invalid_argument const& wrong) {
      std::string const said = wrong.what();
      detail::refuse(name, said.substr(said.find(": ") + 2));
    }
  }
  auto const pitch = detector.at("pitch_mm").get<std::array<double, 2>>();
  auto const offset = detector.value("offset_mm", std::array<double, 2>{});
  auto const turn = detector.value("turn_deg", json::object());
  ct::circular_scan scan;
  scan.rays = kind == "circular_cone" ? ct::beam::cone : ct::beam::parallel;
  scan.detector = {pixels[0], pixels[1], pitch[0], pitch[1], offset[0], offset[1]};
  scan.angles = read_angles(document.at("angles_deg"));
  scan.turn = {units::degrees.to_library(turn.value("yaw", 0.0)),
               units::degrees.to_library(turn.value("pitch", 0.0)),
               units::degrees.to_library(turn.value("roll", 0.0))};
  scan.detector_shifts = read_shifts<2>(name, document, "/detector/shifts_mm", scan.angles.size());
  scan.axis_tilt = units::degrees.to_library(document.value("axis_tilt_deg", 0.0));
  scan.helix_pitch = document.value("helix_pitch_mm", 0.0);
  if (scan.rays == ct::beam::cone) {
    scan.source_axis = document.at("source_axis_mm");
    scan.source_detector = document.at("source_detector_mm");
    scan.axis_offset = document.value("axis_offset_mm", 0.0);
    scan.source_shifts = read_shifts<3>(name, document, "/source_shifts_mm", scan.angles.size());
  }
  return scan;
}

// The same as JSON, so that both kinds of file meet the same limits and leave the same text.
geometry_file geometry_of(xtekct const& scan, std::string const& name) {
  std::vector<double> angles(std::size_t(scan.projections));
  for (std::size_t i = 0; i < angles.size(); ++i) {
    angles[i] = scan.first_angle + double(i) * scan.angular_step;
  }
  json const document = {
      {"type", "circular_cone"},
      {"detector",
       {{"pixels", scan.pixels}, {"pitch_mm", scan.pitch}, {"offset_mm", scan.detector_offset}}},
      {"source_axis_mm", scan.source_object},
      {"source_detector_mm", scan.source_detector},
      {"axis_offset_mm", scan.axis_offset},
      {"angles_deg", angles}};
  return parse_geometry(document.dump(), name);
}

}  // namespace

std::string_view geometry_schema() { return detail::geometry_schema_text; }

geometry_file parse_geometry(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  detail::write_integers(document,
                         {"/detector/pixels/0", "/detector/pixels/1", "/angles_deg/count"});
  validate(name, document);
  return {scan_of(name, document), document.dump()};
}

geometry_file read_geometry(std::filesystem::path const& path, job const& control) {
  if (ending(path) == ".xtekct") {
    return geometry_of(read_xtekct(path), path.string());
  }
  return parse_geometry(read_text(path, std::size_t(1) << 28, control), path.string());
}

}  // namespace iso::files
