// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"
#include "json_schema.hpp"

#include <iso/ct/describe_scan.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/text.hpp>
#include <iso/files/xtekct_file.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::files {
namespace {

using nlohmann::json;

ct::beam rays_of(scan_type type) {
  return type == scan_type::circular_parallel ? ct::beam::parallel : ct::beam::cone;
}

// A range of angles in degrees, in place of a list.
struct angle_range {
  double first = 0;
  double range = 0;
  int count = 0;
};

constexpr void describe(auto&& visit, describes<angle_range> auto& x) {
  auto const angle = [](std::string_view name, std::string_view says) {
    return field{
        .name = name, .says = says, .unit = {"deg", ""}, .low = -max_degrees, .high = max_degrees};
  };
  visit(x.count, required{field{
                     .name = "count", .says = "number of views", .low = 1, .high = ct::max_views}});
  visit(x.range, required{angle("range", "over which views are spread; its end is left out")});
  visit(x.first, angle("first", "of the first view"));
}

static_assert(all_described<angle_range>);

struct bare_detector {
  std::int64_t num_u = 0;
  std::int64_t num_v = 0;
};

constexpr void describe(auto&& visit, describes<bare_detector> auto& x) {
  ct::detail::describe_pixels(visit, x.num_u, x.num_v);
}

struct view_fields {
  std::optional<vec3<double>> source;     // of a cone
  std::optional<vec3<double>> direction;  // of parallel rays
  vec3<double> detector_origin;
  vec3<double> u_step;
  vec3<double> v_step;
};

constexpr void describe(auto&& visit, describes<view_fields> auto& x) {
  auto const point = [](std::string_view name, std::string_view says, unit const& u) {
    return field{.name = name, .says = says, .unit = u, .low = -max_distance, .high = max_distance};
  };
  visit(x.source, point("source", "the source [x, y, z] of a cone", units::mm));
  visit(x.direction, point("direction", "of parallel rays [x, y, z]", units::none));
  visit(x.detector_origin, required{point("detector-origin", "centre of pixel (0, 0)", units::mm)});
  visit(x.u_step, required{point("u-step", "from a pixel to its neighbour along u", units::mm)});
  visit(x.v_step, required{point("v-step", "from a pixel to its neighbour along v", units::mm)});
}

struct vectors_file {
  ct::beam rays = ct::beam::cone;
  bare_detector detector;
  std::vector<view_fields> views;
};

constexpr void describe(auto&& visit, describes<vectors_file> auto& x) {
  visit(x.rays,
        required{field{.name = "rays", .says = "of the views, from a point source or parallel"}});
  visit(x.detector, required{field{.name = "detector", .says = "whose pixels the views place"}});
  visit(x.views, required{list_field{{.name = "views", .says = "one by one"},
                                     1,
                                     ct::max_views,
                                     "one view, with source_mm (cone) or direction (parallel)"}});
}

static_assert(all_described<vectors_file>);

// The schema of one kind of scan alone.
json schema_of(scan_type type) {
  json schema;
  if (type == scan_type::vectors) {
    schema = detail::schema_maker::schema_of(vectors_file{}, field{});
  } else {
    ct::circular_scan scan;
    scan.rays = rays_of(type);
    schema = detail::schema_maker::schema_of(scan, field{});
    json range = detail::schema_maker::schema_of(angle_range{}, field{});
    range["description"] = detail::sentence(range, "views spread evenly, in degrees", {}, json());
    auto& angles = schema["properties"]["angles_deg"];
    angles = {{"description", fmt::format("{}, or {}", detail::description_of(angles),
                                          detail::description_of(range))},
              {"anyOf", {angles, range}}};
  }
  schema["title"] = to_word(type);
  schema["required"].push_back("type");
  schema["properties"]["type"] = {{"const", to_word(type)}};
  schema["properties"]["comment"] = {{"type", "string"}, {"description", "free text, for people"}};
  return schema;
}

// Every choice between alternatives is made where the document makes it, so that a message can be
// about the field that is wrong and not about the alternatives.
json schema_for(json const& document, scan_type type) {
  json schema = schema_of(type);
  auto const angles = document.find("angles_deg");
  if (angles != document.end() && angles->is_structured() && type != scan_type::vectors) {
    auto& said = schema["properties"]["angles_deg"];
    said = json(said["anyOf"][angles->is_array() ? 0 : 1]);
  }
  return schema;
}

scan_type type_of(std::string const& name, json const& document) {
  if (!document.is_object()) {
    detail::refuse(
        name, "field / is not an object (expected: a JSON object with a field 'type'); write one");
  }
  auto const expected = "one of " + all_words<scan_type>();
  if (!document.contains("type")) {
    detail::refuse(name, fmt::format("field /type is missing (expected: {}); add it", expected));
  }
  auto const& type = document.at("type");
  auto const found =
      type.is_string() ? from_word<scan_type>(type.get<std::string>()) : std::nullopt;
  if (!found || to_word(*found) != type.get<std::string>()) {
    detail::refuse(name, fmt::format("field /type is {} (expected: {}); write one of these",
                                     shortened(type.dump(), 60), expected));
  }
  return *found;
}

// A list of the angles, in place of a range.
json listed_angles(json const& node) {
  angle_range given;
  get_fields(node, given);
  json angles = json::array();
  for (int i = 0; i < given.count; ++i) {
    angles.push_back(given.first + given.range * double(i) / double(given.count));
  }
  return angles;
}

void check_shifts(std::string const& name, char const* field, std::size_t shifts,
                  std::size_t views) {
  if (shifts != 0 && shifts != views) {
    detail::refuse(
        name, fmt::format(
                  "field {} has {} shifts (expected: one for each of the {} views); write as many",
                  field, shifts, views));
  }
}

// Steps that are exactly parallel are refused by the name of their field. ct::geometry refuses
// those whose angle has a sine below 1e-4 too, by the number of their view.
bool are_parallel(vec3<double> const& u, vec3<double> const& v) {
  return u.y * v.z == u.z * v.y && u.z * v.x == u.x * v.z && u.x * v.y == u.y * v.x;
}

ct::view_vectors read_view(std::string const& name, view_fields const& given, json const& node,
                           ct::beam rays, std::size_t index) {
  bool const cone = rays == ct::beam::cone;
  char const* const wanted = cone ? "source_mm" : "direction";
  char const* const other = cone ? "direction" : "source_mm";
  auto const& source = cone ? given.source : given.direction;
  if (!source) {
    detail::refuse(name, fmt::format("field /views/{}/{} is missing (expected: a point or vector "
                                     "[x, y, z], because /rays is '{}'); add it",
                                     index, wanted, to_word(rays)));
  }
  if (cone ? given.direction : given.source) {
    detail::refuse(
        name,
        fmt::format(
            "field /views/{}/{} does not go with /rays '{}' (expected: {} alone); leave it out",
            index, other, to_word(rays), wanted));
  }
  // Products of shorter ones could vanish.
  auto const check_length = [&](vec3<double> const& v, char const* field) {
    if (std::hypot(v.x, v.y, v.z) < 1e-6) {
      detail::refuse(
          name, fmt::format(
                    "field /views/{}/{} is {} (expected: a vector at least 1e-6 long); correct it",
                    index, field, node.at(field).dump()));
    }
  };
  if (!cone) {
    check_length(*source, "direction");
  }
  check_length(given.u_step, "u_step_mm");
  check_length(given.v_step, "v_step_mm");
  if (are_parallel(given.u_step, given.v_step)) {
    detail::refuse(
        name, fmt::format("field /views/{}/v_step_mm is {} (expected: not parallel to u_step_mm, "
                          "{}: they must span the detector); correct one of the two",
                          index, node.at("v_step_mm").dump(), node.at("u_step_mm").dump()));
  }
  return {*source, given.detector_origin, given.u_step, given.v_step};
}

ct::scan read_views(std::string const& name, json const& document) {
  vectors_file file;
  get_fields(document, file);
  std::vector<ct::view_vectors> views;
  for (auto const& view : file.views) {
    auto const i = views.size();
    views.push_back(read_view(name, view, document.at("views")[i], file.rays, i));
  }
  try {
    return ct::geometry(file.rays, file.detector.num_u, file.detector.num_v, std::move(views));
  } catch (invalid_argument const& wrong) {
    std::string const said = wrong.what();
    detail::refuse(name, said.substr(said.find(": ") + 2));
  }
}

ct::scan read_circle(std::string const& name, json document, scan_type type) {
  auto& angles = document.at("angles_deg");
  if (angles.is_object()) {
    angles = listed_angles(angles);
  }
  ct::circular_scan scan;
  scan.rays = rays_of(type);
  get_fields(document, scan);
  check_shifts(name, "/detector/shifts_mm", scan.detector_shifts.size(), scan.angles.size());
  check_shifts(name, "/source_shifts_mm", scan.source_shifts.size(), scan.angles.size());
  return scan;
}

// The same as JSON, so that both kinds of file meet the same limits and leave the same text.
geometry_file geometry_of(xtekct const& from, std::string const& name) {
  ct::circular_scan scan;
  scan.detector = {from.pixels[0], from.pixels[1],          from.pitch[0],
                   from.pitch[1],  from.detector_offset[0], from.detector_offset[1]};
  scan.source_axis = from.source_object;
  scan.source_detector = from.source_detector;
  scan.axis_offset = from.axis_offset;
  for (std::int64_t i = 0; i < from.projections; ++i) {
    scan.angles.push_back(
        units::degrees.to_library(from.first_angle + double(i) * from.angular_step));
  }
  json document = {{"type", to_word(scan_type::circular_cone)}};
  put_fields(document, scan);
  return parse_geometry(document.dump(), name);
}

}  // namespace

std::string text_of_views(ct::geometry const& g) {
  bool const cone = g.kind() == ct::beam::cone;
  vectors_file file{g.kind(), {g.num_u(), g.num_v()}, {}};
  for (auto const& view : g.views()) {
    file.views.push_back(
        {view.source, view.source, view.detector_origin, view.u_step, view.v_step});
  }
  nlohmann::ordered_json document = {{"type", to_word(scan_type::vectors)}};
  put_fields(document, file,
             [&](field const& f) { return f.name != (cone ? "direction" : "source"); });
  return document.dump();
}

std::string geometry_schema() {
  json all = json::array();
  for (auto const& kind : words(scan_type())) {
    all.push_back(schema_of(kind.value));
  }
  return json{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "Isocenter scan geometry"},
              {"description",
               "Where source and detector of a scan stand. World axes: a circular scan turns about "
               "z; at angle 0 the source stands on +x, detector u runs along +y and v along +z; "
               "angles turn from x to y."},
              {"type", "object"},
              {"required", {"type"}},
              {"oneOf", all}}
      .dump(2);
}

geometry_file parse_geometry(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  auto const type = type_of(name, document);
  auto const schema = schema_for(document, type);
  detail::write_integers(document, schema);
  detail::check_schema(name, schema, document);
  return {
      type == scan_type::vectors ? read_views(name, document) : read_circle(name, document, type),
      document.dump()};
}

geometry_file read_geometry(std::filesystem::path const& path, job const& control) {
  if (ending(path) == ".xtekct") {
    return geometry_of(read_xtekct(path), path.string());
  }
  return parse_geometry(read_text(path, std::size_t(1) << 28, control), path.string());
}

}  // namespace iso::files
