// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"
#include "json_schema.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/json_fields.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/text.hpp>
#include <iso/model/limits.hpp>

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace iso::files {
namespace {

using nlohmann::json;

struct field_edges {
  std::array<double, 2> x{};
  std::array<double, 2> y{};
};

constexpr void describe(auto&& visit, describes<field_edges> auto& x) {
  auto const edges = [&](auto& both, std::string_view name) {
    visit(both, required{field{.name = name,
                               .says = "the lower and the upper edge of the field in the plane of "
                                       "the isocentre",
                               .unit = {"mm", ""},
                               .low = -max_distance,
                               .high = max_distance}});
  };
  edges(x.x, "x");
  edges(x.y, "y");
}

static_assert(all_described<field_edges>);

struct fluence_fields {
  double x_low = 0;
  double y_low = 0;
  std::array<double, 2> pixel{};
  std::vector<std::vector<double>> values;
};

constexpr void describe(auto&& visit, describes<fluence_fields> auto& x) {
  auto const length = [&](auto& value, std::string_view name, std::string_view says, double low) {
    visit(value,
          required{field{
              .name = name, .says = says, .unit = units::mm, .low = low, .high = max_distance}});
  };
  length(x.x_low, "x-low", "edge of the first column", -max_distance);
  length(x.y_low, "y-low", "edge of the first row", -max_distance);
  length(x.pixel, "pixel", "size of the pixels [along x, along y] in the plane of the isocentre",
         1e-6);
  visit(x.values, required{list_field{{.name = "values",
                                       .says = "x ascending, those of each x by ascending y; all "
                                               "lists of equal lengths",
                                       .low = 0,
                                       .high = 1e9},
                                      1,
                                      4096}});
}

static_assert(all_described<fluence_fields>);

struct beam_fields {
  std::string name;
  dose::beam beam;
  std::optional<field_edges> field_of_one;
  std::optional<fluence_fields> fluence;
};

void describe(auto&& visit, describes<beam_fields> auto& x) {
  visit(x.name, field{.name = "name", .says = "free text, for people"});
  describe(
      [&](auto& member, auto f) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, vec3<double>>) {
          f.low = -max_distance;
          f.high = max_distance;
          visit(member, required{f});
        } else {
          visit(member, f);
        }
      },
      x.beam);
  visit(x.field_of_one,
        field{.name = "field", .says = "a rectangular field of fluence 1", .unit = units::mm});
  visit(x.fluence, field{.name = "fluence", .says = "relative, in pixels"});
}

struct plan_fields {
  std::string comment;
  std::vector<beam_fields> beams;
  files::plan plan;
};

void describe(auto&& visit, describes<plan_fields> auto& x) {
  visit(x.comment, field{.name = "comment", .says = "free text, for people"});
  visit(x.beams,
        required{list_field{{.name = "beams", .says = "whose doses are added in this order"},
                            1,
                            1000,
                            "a beam with either field_mm or fluence"}});
  visit(x.plan.spectrum.name,
        field{.name = "spectrum",
              .says = "the photons: mohan_6mv, sheikh_bagheri_6mv, or a file that ends in .csv "
                      "(MeV, fluence, mu/rho and mu_en/rho of water in cm2/g), beside the plan"});
  visit(x.plan.kernel.name,
        field{.name = "kernel",
              .says = "the point kernel: 4mv, 6mv, 10mv, 15mv, 24mv, 6mv_quad, monte_carlo (tables "
                      "for the plan's spectrum, up to 6 MeV), or a file that ends in .csv, beside "
                      "the plan (lines of two angles in degrees and pairs of amplitude and rate; "
                      "of angle, radius in cm and fraction; or the same behind an energy in MeV)"});
  visit(x.plan.kernel_per_bin,
        field{.name = "kernel-per-bin",
              .says = "whether what the photons of each bin of the spectrum release is carried by "
                      "a kernel of that energy, instead of one kernel for all; wants the kernel "
                      "monte_carlo or a table of several energies"});
  visit(x.plan.options, field{.name = "options", .says = "of the calculation", .flat = true});
}

// Edges that are no field's are refused here, where the field has a name.
dose::fluence_map field_map(std::string const& name, field_edges const& edges,
                            std::string const& pointer) {
  auto const check = [&](std::array<double, 2> const& along, char const* letter) {
    if (!(along[1] - along[0] >= 1e-6)) {
      detail::refuse(name, fmt::format("field {}/field_mm/{} is [{},{}] (expected: the lower and "
                                       "the upper edge in mm, at least 1e-6 apart); correct it",
                                       pointer, letter, along[0], along[1]));
    }
  };
  check(edges.x, "x");
  check(edges.y, "y");
  return dose::fluence_map::rectangle(edges.x[0], edges.x[1], edges.y[0], edges.y[1]);
}

dose::fluence_map pixel_map(std::string const& name, fluence_fields const& fluence,
                            std::string const& pointer) {
  auto const& columns = fluence.values;
  dose::fluence_map f{fluence.x_low,
                      fluence.y_low,
                      fluence.pixel[0],
                      fluence.pixel[1],
                      std::int64_t(columns.size()),
                      std::int64_t(columns[0].size()),
                      {}};
  double most = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].size() != columns[0].size()) {
      detail::refuse(name, fmt::format("field {}/fluence/values/{} has {} values (the first list "
                                       "has {}); give all lists as many",
                                       pointer, i, columns[i].size(), f.rows));
    }
    for (double const value : columns[i]) {
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

plan_beam beam_of(std::string const& name, beam_fields const& given, std::string const& pointer) {
  if (given.field_of_one.has_value() == given.fluence.has_value()) {
    detail::refuse(
        name,
        fmt::format("field {} has {} (expected: either field_mm or fluence); write one of the two",
                    pointer,
                    given.fluence ? "both field_mm and fluence" : "neither field_mm nor fluence"));
  }
  plan_beam beam{given.name, given.beam};
  beam.beam.fluence = given.fluence ? pixel_map(name, *given.fluence, pointer)
                                    : field_map(name, *given.field_of_one, pointer);
  return beam;
}

}  // namespace

std::string plan_schema() {
  return detail::make_schema(
             plan_fields{}, "Isocenter treatment plan",
             "Photon beams of a linear accelerator and how their dose is calculated. Angles as IEC "
             "61217 defines them. World axes are those of the volume: x to the patient's left, y "
             "to the back, z to the head (head first supine). With gantry, couch and collimator at "
             "0 the source stands above the patient, at -y from the isocentre; the collimator's x "
             "is the world's x, its y the world's z.")
      .dump(2);
}

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
  auto const schema = json::parse(plan_schema());
  detail::write_integers(document, schema);
  detail::check_schema(name, schema, document);
  plan_fields given;
  get_fields(document, given);
  auto& plan = given.plan;
  for (auto const& beam : given.beams) {
    plan.beams.push_back(beam_of(name, beam, fmt::format("/beams/{}", plan.beams.size())));
  }
  auto const folder = std::filesystem::path(name).parent_path();
  plan.spectrum = read_table(plan.spectrum.name, folder);
  plan.kernel = read_table(plan.kernel.name, folder);
  return plan;
}

plan read_plan(std::filesystem::path const& path, job const& control) {
  return parse_plan(read_text(path, std::size_t(1) << 28, control), path.string());
}

}  // namespace iso::files
