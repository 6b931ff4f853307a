// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/hounsfield.hpp>
#include <iso/jobs/demo.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

namespace iso::cli {
namespace {

namespace fs = std::filesystem;

/// Where scripts/get_example_data.sh puts it, below the repository.
constexpr char const* example_ct = ".deps/data/chest_ct.nii.gz";

struct demo_options {
  common_options common;
  std::string folder = "out/demo";
  std::string ct;
  jobs::demo_request request;
};

/// The example CT below the current folder, or below one that the program lies in; empty where
/// there is none.
fs::path find_example_ct() {
  std::error_code unknown;
  if (fs::exists(example_ct, unknown)) {
    return example_ct;
  }
  auto const program = fs::read_symlink("/proc/self/exe", unknown);
  for (auto folder = program.parent_path(); folder != folder.root_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / example_ct, unknown)) {
      return folder / example_ct;
    }
  }
  return {};
}

/// Throws where --json names a file that the demo writes itself.
void check_apart(fs::path const& json_file, fs::path const& folder) {
  std::error_code unknown;
  bool const within = fs::weakly_canonical(json_file, unknown).parent_path() ==
                      fs::weakly_canonical(folder / "demo.json", unknown).parent_path();
  if (within && (json_file.filename() == "demo.json" || json_file.extension() == ".png")) {
    throw file_error(
        fmt::format("'{}' is named twice (the demo writes it too); give --json another name",
                    json_file.string()));
  }
}

int run_demo(demo_options& options) {
  auto& request = options.request;
  request.backends = jobs::choose_backends(options.common.backend);
  fs::path const ct = options.ct.empty() ? find_example_ct() : fs::path(options.ct);
  if (!ct.empty()) {
    request.ct = files::read_volume(ct, files::finite_values::required, files::subfolders::left_out,
                                    asked_of_user());
    files::to_attenuation(request.ct->values, {files::water_at_100_kev, files::bone_at_100_kev});
    centre(*request.ct);
  }
  fs::path const folder = options.folder;
  check_apart(options.common.json_file, folder);
  output_folder const kept(folder, "--output");
  check_writable(folder / "demo.json");
  check_writable(options.common.json_file);
  request.folder = folder;
  jobs::session const session(options.common.threads);
  auto [report, outputs] = jobs::demo(request, terminal_observer());
  auto const document = to_json(report);
  if (options.common.json_file != "-") {
    if (!is_quiet()) {
      print_machine(report.machine);
      fmt::print(
          "\nShepp-Logan {0}^3, detector {0}^2, {1} views; error: sum of |difference| over sum of "
          "|exact|\n",
          request.size, request.views);
    }
    print_records(report);
    print_verdict(report);
    fmt::print("figures and demo.json in {}\n", folder.string());
  }
  outputs.push_back(prepare_json(folder / "demo.json", document));
  write_json(options.common.json_file, document, std::move(outputs));
  return report.bits_agree.value_or(true) ? success : bits_differ;
}

}  // namespace

command add_demo(CLI::App& app) {
  auto const options = std::make_shared<demo_options>();
  auto* const sub = app.add_subcommand(
      "demo",
      "Projections of the Shepp-Logan phantom by every method on every backend against the exact "
      "answer, and of a chest CT; reconstructions by FDK, and of few views by total variation; a "
      "dose and its dose-volume histograms; a dose matrix applied in half precision; "
      "a table, pictures, "
      "demo.json");
  add_common(*sub, options->common, "all");
  add_threads(*sub, options->common);
  sub->add_option("--output", options->folder,
                  "folder for pictures and demo.json, made where absent")
      ->capture_default_str();
  sub->add_option(
      "--ct", options->ct,
      fmt::format("a CT in Hounsfield units; by default {} below the current folder or below one "
                  "that the program lies in, where it exists",
                  example_ct));
  sub->add_option("--size", options->request.size, "voxels of the phantom along each side")
      ->check(whole_from(8, 1024))
      ->capture_default_str();
  sub->add_option("--views", options->request.views, "views of the scan")
      ->check(whole_from(1, 10000))
      ->capture_default_str();
  return [options] { return run_demo(*options); };
}

}  // namespace iso::cli
