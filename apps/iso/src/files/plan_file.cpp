// SPDX-License-Identifier: BSD-3-Clause
#include "foreign_file.hpp"
#include "json_document.hpp"
#include "json_schema.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/plan_schema.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <cmath>
#include <numbers>

namespace iso::files {
namespace {

using nlohmann::json;

// Whole turns make no difference, to the last bit.
double radians_of(json const& beam, char const* field) {
  return std::remainder(beam.value(field, 0.0), 360) * std::numbers::pi / 180;
}

// Edges that are no field's are refused here, where the field has a name.
fluence_description read_field(std::string const& name, json const& field,
                               std::string const& pointer) {
  fluence_description f;
  f.extent = {1, 1};
  f.values = {1.0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    auto const* const letter = axis == 0 ? "x" : "y";
    auto const edges = field.at(letter).get<std::array<double, 2>>();
    if (!(edges[1] - edges[0] >= 1e-6)) {
      detail::refuse(name, fmt::format("field {}/field_mm/{} is {} (expected: the lower and the "
                                       "upper edge in mm, at least 1e-6 apart); correct it",
                                       pointer, letter, field.at(letter).dump()));
    }
    f.low[axis] = edges[0];
    f.pixel[axis] = edges[1] - edges[0];
  }
  return f;
}

fluence_description read_fluence(std::string const& name, json const& node,
                                 std::string const& pointer) {
  fluence_description f;
  f.low = {node.at("x_low_mm").get<double>(), node.at("y_low_mm").get<double>()};
  f.pixel = node.at("pixel_mm").get<std::array<double, 2>>();
  auto const& columns = node.at("values");
  f.extent = {std::int64_t(columns.size()), std::int64_t(columns.at(0).size())};
  double most = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto const column = columns[i].get<std::vector<double>>();
    if (std::int64_t(column.size()) != f.extent[1]) {
      detail::refuse(name, fmt::format("field {}/fluence/values/{} has {} values (the first list "
                                       "has {}); give all lists as many",
                                       pointer, i, column.size(), f.extent[1]));
    }
    for (double const value : column) {
      most = value > most ? value : most;
      f.values.push_back(value);
    }
  }
  if (!(most > 0)) {
    detail::refuse(name, fmt::format("field {}/fluence/values is zero everywhere (nothing would be "
                                     "irradiated); write some above 0, or leave out the beam",
                                     pointer));
  }
  return f;
}

beam_description read_beam(std::string const& name, json const& node, std::string const& pointer) {
  if (node.contains("field_mm") == node.contains("fluence")) {
    detail::refuse(
        name,
        fmt::format("field {} has {} (expected: either field_mm or fluence); write one of the two",
                    pointer,
                    node.contains("fluence") ? "both field_mm and fluence"
                                             : "neither field_mm nor fluence"));
  }
  beam_description beam;
  beam.name = node.value("name", std::string());
  beam.gantry = radians_of(node, "gantry_deg");
  beam.couch = radians_of(node, "couch_deg");
  beam.collimator = radians_of(node, "collimator_deg");
  beam.source_distance = node.value("source_distance_mm", beam.source_distance);
  beam.isocentre = node.at("isocentre_mm").get<std::array<double, 3>>();
  beam.fluence = node.contains("field_mm") ? read_field(name, node.at("field_mm"), pointer)
                                           : read_fluence(name, node.at("fluence"), pointer);
  beam.weight = node.value("weight", beam.weight);
  return beam;
}

}  // namespace

std::string_view plan_schema() { return detail::plan_schema_text; }

table_source read_table(std::string const& name, std::filesystem::path const& folder) {
  if (ending(name) != ".csv") {
    return {name, ""};
  }
  auto const path = folder / name;
  table_source table{path.string(), read_text(path, std::size_t(1) << 24)};
  if (table.csv.empty()) {
    detail::refuse(
        path, "is empty (a table of numbers is expected); write numbers, or name another file");
  }
  return table;
}

plan_description parse_plan(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  if (!document.is_object()) {
    detail::refuse(
        name, "field / is not an object (expected: a JSON object with a field 'beams'); write one");
  }
  detail::write_integers(document, {"/directions/cones", "/directions/azimuths"});
  detail::check_schema(name, json::parse(plan_schema()), document);
  plan_description plan;
  for (auto const& beam : document.at("beams")) {
    plan.beams.push_back(read_beam(name, beam, fmt::format("/beams/{}", plan.beams.size())));
  }
  auto const folder = std::filesystem::path(name).parent_path();
  plan.spectrum = read_table(document.value("spectrum", plan.spectrum.name), folder);
  plan.kernel = read_table(document.value("kernel", plan.kernel.name), folder);
  json const directions = document.value("directions", json::object());
  plan.cones = directions.value("cones", plan.cones);
  plan.azimuths = directions.value("azimuths", plan.azimuths);
  plan.placing = directions.value("placing", plan.placing);
  plan.engine = document.value("engine", plan.engine);
  plan.hardening_correction = document.value("hardening_correction", plan.hardening_correction);
  plan.kernel_per_bin = document.value("kernel_per_bin", plan.kernel_per_bin);
  plan.tilt = document.value("tilt", plan.tilt);
  plan.margin = document.value("margin_mm", plan.margin);
  plan.radial_step = document.value("radial_step_mm", plan.radial_step);
  plan.ray_spacing = document.value("ray_spacing_mm", plan.ray_spacing);
  return plan;
}

plan_description read_plan(std::filesystem::path const& path, job const& control) {
  detail::refuse_foreign(path, "a plan");
  return parse_plan(read_text(path, std::size_t(1) << 28, control), path.string());
}

}  // namespace iso::files
