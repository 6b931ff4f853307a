// SPDX-License-Identifier: BSD-3-Clause
#include "foreign_file.hpp"
#include "json_document.hpp"
#include "json_schema.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/geometry_schema.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/text.hpp>
#include <iso/files/xtekct_file.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

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

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

std::vector<double> read_angles(json const& node) {
  std::vector<double> angles;
  if (node.is_array()) {
    for (double const degrees : node.get<std::vector<double>>()) {
      angles.push_back(radians(degrees));
    }
    return angles;
  }
  auto const count = node.at("count").get<std::int64_t>();
  double const first = node.value("first", 0.0);
  double const range = node.at("range").get<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    angles.push_back(radians(first + range * double(i) / double(count)));
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
bool are_parallel(std::array<double, 3> const& u, std::array<double, 3> const& v) {
  return u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
}

view_description read_view(std::string const& name, json const& node, ray_kind rays,
                           std::size_t index) {
  char const* const wanted = rays == ray_kind::cone ? "source_mm" : "direction";
  char const* const other = rays == ray_kind::cone ? "direction" : "source_mm";
  if (!node.contains(wanted)) {
    detail::refuse(name, fmt::format("field /views/{}/{} is missing (expected: a point or vector "
                                     "[x, y, z], because /rays is '{}'); add it",
                                     index, wanted, rays == ray_kind::cone ? "cone" : "parallel"));
  }
  if (node.contains(other)) {
    detail::refuse(
        name,
        fmt::format(
            "field /views/{}/{} does not go with /rays '{}' (expected: {} alone); leave it out",
            index, other, rays == ray_kind::cone ? "cone" : "parallel", wanted));
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
  view_description view;
  view.source = node.at(wanted).get<std::array<double, 3>>();
  view.detector_origin = node.at("detector_origin_mm").get<std::array<double, 3>>();
  view.u_step = node.at("u_step_mm").get<std::array<double, 3>>();
  view.v_step = node.at("v_step_mm").get<std::array<double, 3>>();
  if (are_parallel(view.u_step, view.v_step)) {
    detail::refuse(
        name, fmt::format("field /views/{}/v_step_mm is {} (expected: not parallel to u_step_mm, "
                          "{}: they must span the detector); correct one of the two",
                          index, node.at("v_step_mm").dump(), node.at("u_step_mm").dump()));
  }
  return view;
}

geometry_description describe(std::string const& name, json const& document) {
  geometry_description result;
  auto const& detector = document.at("detector");
  result.detector.pixels = detector.at("pixels").get<std::array<std::int64_t, 2>>();
  std::string const kind = document.at("type");
  if (kind == "vectors") {
    result.kind = scan_kind::vectors;
    result.rays = document.at("rays") == "cone" ? ray_kind::cone : ray_kind::parallel;
    std::size_t index = 0;
    for (auto const& view : document.at("views")) {
      result.views.push_back(read_view(name, view, result.rays, index++));
    }
    return result;
  }
  result.detector.pitch = detector.at("pitch_mm").get<std::array<double, 2>>();
  result.detector.offset = detector.value("offset_mm", std::array<double, 2>{});
  result.angles = read_angles(document.at("angles_deg"));
  auto const turn = detector.value("turn_deg", json::object());
  result.detector.turn = {radians(turn.value("yaw", 0.0)), radians(turn.value("pitch", 0.0)),
                          radians(turn.value("roll", 0.0))};
  result.detector.shifts =
      read_shifts<2>(name, document, "/detector/shifts_mm", result.angles.size());
  result.axis_tilt = radians(document.value("axis_tilt_deg", 0.0));
  result.helix_pitch = document.value("helix_pitch_mm", 0.0);
  result.kind = kind == "circular_cone" ? scan_kind::circular_cone : scan_kind::circular_parallel;
  result.rays = kind == "circular_cone" ? ray_kind::cone : ray_kind::parallel;
  if (result.kind == scan_kind::circular_cone) {
    result.source_axis = document.at("source_axis_mm");
    result.source_detector = document.at("source_detector_mm");
    result.axis_offset = document.value("axis_offset_mm", 0.0);
    result.source_shifts =
        read_shifts<3>(name, document, "/source_shifts_mm", result.angles.size());
  }
  return result;
}

// The same as JSON, so that both kinds of file meet the same limits and leave the same text.
geometry_description geometry_of(xtekct const& scan, std::string const& name) {
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

geometry_description parse_geometry(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  detail::write_integers(document,
                         {"/detector/pixels/0", "/detector/pixels/1", "/angles_deg/count"});
  validate(name, document);
  auto result = describe(name, document);
  result.text = document.dump();
  return result;
}

geometry_description read_geometry(std::filesystem::path const& path, job const& control) {
  if (ending(path) == ".xtekct") {
    return geometry_of(read_xtekct(path), path.string());
  }
  detail::refuse_foreign(path, "a geometry");
  return parse_geometry(read_text(path, std::size_t(1) << 28, control), path.string());
}

}  // namespace iso::files
