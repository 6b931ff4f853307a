// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "file_info.hpp"
#include "support.hpp"

#include <iso/files/geometry_file.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/sweep_file.hpp>
#include <iso/jobs/info.hpp>

#include <fmt/core.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace iso::cli {
namespace {

enum class schema_kind { geometry, plan, sweep };

constexpr auto words(schema_kind) {
  return std::array{word{schema_kind::geometry, "geometry"}, word{schema_kind::plan, "plan"},
                    word{schema_kind::sweep, "sweep"}};
}

std::string schema_of(schema_kind kind) {
  switch (kind) {
    case schema_kind::geometry:
      return files::geometry_schema();
    case schema_kind::plan:
      return files::plan_schema();
    case schema_kind::sweep:
      break;
  }
  return files::sweep_schema();
}

struct info_options {
  common_options common;
  bool no_ceilings = false;
  std::string geometry;
  std::string file;
  std::optional<schema_kind> schema;
  folder_options folder;
};

int run_geometry(info_options const& options) {
  check_distinct({options.geometry, options.common.json_file});
  auto const g = ct::make_geometry(read_geometry(options.geometry).scan);
  if (options.common.json_file != "-") {
    fmt::print("{} views of {} x {} pixels, {} rays\n", g.num_views(), g.num_u(), g.num_v(),
               to_word(g.kind()));
  }
  auto const text = files::text_of_views(g);
  if (!options.common.json_file.empty()) {
    // Shifts and helices may carry a view further out than a file may say.
    static_cast<void>(files::parse_geometry(text, fmt::format("{}, as vectors", options.geometry)));
  }
  write_json(options.common.json_file, json::parse(text));
  return success;
}

int run_info(info_options const& options) {
  if (options.schema) {
    fmt::print("{}\n", schema_of(*options.schema));
    return success;
  }
  check_writable(options.common.json_file);
  if (!options.geometry.empty()) {
    return run_geometry(options);
  }
  if (!options.file.empty()) {
    return run_file_info(options.file, options.common.json_file, options.folder);
  }
  jobs::session const session(options.common.threads);
  auto const backends = jobs::choose_backends(options.common.backend);
  auto const machine = jobs::info(
      backends, options.no_ceilings ? jobs::ceilings_wanted::no : jobs::ceilings_wanted::yes,
      terminal_observer());
  if (options.common.json_file != "-") {
    print_machine(machine);
  }
  write_json(options.common.json_file, {{"isocenter", ISO_VERSION}, {"machine", to_json(machine)}});
  return success;
}

}  // namespace

command add_info(CLI::App& app) {
  auto const options = std::make_shared<info_options>();
  auto* const sub = app.add_subcommand(
      "info", "Backends of this build, devices, measured ceilings; or what a file holds");
  add_common(*sub, options->common, "all");
  add_threads(*sub, options->common);
  auto* const no_ceilings = sub->add_flag("--no-ceilings", options->no_ceilings,
                                          "leave out the measurements (about 1.5 s a backend)");
  auto* const geometry =
      sub->add_option("--geometry", options->geometry,
                      "a geometry file instead: its views, whose vectors --json writes as another "
                      "geometry file (docs/formats.md)");
  auto* const any =
      sub->add_option("file", options->file,
                      "a file instead: a volume, a stack, TIFF images, a matrix, a "
                      "vector, a geometry, a plan, a DICOM file or the folder of a CT series: "
                      "shape, spacing, range and unit, without a patient's name")
          ->excludes(geometry);
  add_folder_options(*sub, options->folder, any);
  auto* const schema =
      add_words(*sub, "--schema", options->schema,
                "print the JSON schema of such files instead, for editors (docs/formats.md)")
          ->excludes(geometry)
          ->excludes(any)
          ->excludes(sub->get_option("--json"));
  for (auto* const file : {geometry, any, schema}) {
    file->excludes(no_ceilings)
        ->excludes(sub->get_option("--backend"))
        ->excludes(sub->get_option("--threads"));
  }
  return [options] { return run_info(*options); };
}

}  // namespace iso::cli
