// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"
#include "json_schema.hpp"
#include "plan_schema.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/json_fields.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <array>

namespace iso::files {
namespace {

using nlohmann::json;

// Edges that are no field's are refused here, where the field has a name.
dose::fluence_map read_field(std::string const& name, json const& field,
                             std::string const& pointer) {
  auto const edges_along = [&](char const* letter) {
    auto const edges = field.at(letter).get<std::array<double, 2>>();
    if (!(edges[1] - edges[0] >= 1e-6)) {
      detail::refuse(name, fmt::format("field {}/field_mm/{} is {} (expected: the lower and the "
                                       "upper edge in mm, at least 1e-6 apart); correct it",
                                       pointer, letter, field.at(letter).dump()));
    }
    return edges;
  };
  auto const x = edges_along("x");
  auto const y = edges_along("y");
  return dose::fluence_map::rectangle(x[0], x[1], y[0], y[1]);
}

dose::fluence_map read_fluence(std::string const& name, json const& node,
                               std::string const& pointer) {
  auto const pixel = node.at("pixel_mm").get<std::array<double, 2>>();
  auto const& columns = node.at("values");
  dose::fluence_map f{
      node.at("x_low_mm").get<double>(), node.at("y_low_mm").get<double>(),  pixel[0], pixel[1],
      std::int64_t(columns.size()),      std::int64_t(columns.at(0).size()), {}};
  double most = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto const column = columns[i].get<std::vector<double>>();
    if (std::int64_t(column.size()) != f.rows) {
      detail::refuse(name, fmt::format("field {}/fluence/values/{} has {} values (the first list "
                                       "has {}); give all lists as many",
                                       pointer, i, column.size(), f.rows));
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

plan_beam read_beam(std::string const& name, json const& node, std::string const& pointer) {
  if (node.contains("field_mm") == node.contains("fluence")) {
    detail::refuse(
        name,
        fmt::format("field {} has {} (expected: either field_mm or fluence); write one of the two",
                    pointer,
                    node.contains("fluence") ? "both field_mm and fluence"
                                             : "neither field_mm nor fluence"));
  }
  plan_beam read;
  read.name = node.value("name", std::string());
  auto& beam = read.beam;
  get_fields(node, beam);
  beam.fluence = node.contains("field_mm") ? read_field(name, node.at("field_mm"), pointer)
                                           : read_fluence(name, node.at("fluence"), pointer);
  return read;
}

}  // namespace

std::string_view plan_schema() { return detail::plan_schema_text; }

table_source read_table(std::string const& name, std::filesystem::path const& folder) {
  if (ending(name) != ".csv") {
    return {name};
  }
  auto const path = folder / name;
  table_source table{path.string(), read_text(path, std::size_t(1) << 24)};
  if (table.csv->empty()) {
    detail::refuse(
        path, "is empty (a table of numbers is expected); write numbers, or name another file");
  }
  return table;
}

plan parse_plan(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  if (!document.is_object()) {
    detail::refuse(
        name, "field / is not an object (expected: a JSON object with a field 'beams'); write one");
  }
  detail::write_integers(document, {"/directions/cones", "/directions/azimuths"});
  detail::check_schema(name, json::parse(plan_schema()), document);
  files::plan plan;
  for (auto const& beam : document.at("beams")) {
    plan.beams.push_back(read_beam(name, beam, fmt::format("/beams/{}", plan.beams.size())));
  }
  auto const folder = std::filesystem::path(name).parent_path();
  plan.spectrum = read_table(document.value("spectrum", plan.spectrum.name), folder);
  plan.kernel = read_table(document.value("kernel", plan.kernel.name), folder);
  plan.kernel_per_bin = document.value("kernel_per_bin", plan.kernel_per_bin);
  get_fields(document, plan.options);
  return plan;
}

plan read_plan(std::filesystem::path const& path, job const& control) {
  return parse_plan(read_text(path, std::size_t(1) << 28, control), path.string());
}

}  // namespace iso::files
