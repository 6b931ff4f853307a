// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "gamma_output.hpp"
#include "ranks.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/gamma.hpp>
#include <iso/jobs/rank_files.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace iso::cli {
namespace {

struct gamma_options {
  common_options common;
  std::string reference;
  std::string evaluated;
  std::vector<std::string> criteria = {"3%/3mm"};
  std::string normalisation = "global";
  std::string output;
  std::string status;
  std::string png;
  std::vector<double> at;
  std::string csv;
  bool same_frame = false;
  bool frames_differ = false;    ///< and are taken for one
  std::uint64_t bytes_read = 0;  ///< of the doses, where ranks read their planes
  jobs::gamma_request request;
};

void read_options(gamma_options& options) {
  auto& request = options.request;
  for (auto const& text : options.criteria) {
    request.criteria.push_back(
        as_option("--criterion", [&] { return gamma::criterion_named(text); }));
  }
  auto& chosen = request.options;
  if (auto const named = from_word<gamma::normalisation>(options.normalisation);
      named && *named != gamma::normalisation::given) {
    chosen.normalise = *named;
    return;
  }
  chosen.normalise = gamma::normalisation::given;
  if (!CLI::detail::lexical_cast(options.normalisation, chosen.given_dose)) {
    throw invalid_argument(fmt::format(
        "--normalisation '{}' (it is none); choose global, local, or a dose in the volumes' unit",
        options.normalisation));
  }
}

// Everything that can be wrong before any work is done.
void check_files(gamma_options const& options) {
  std::error_code unknown;
  if (std::filesystem::equivalent(options.reference, options.evaluated, unknown)) {
    throw file_error(
        fmt::format("'{}' is the reference and the evaluated dose (gamma of a dose and itself is "
                    "0); name two files",
                    options.evaluated));
  }
  for (auto const& volume : {options.output, options.status}) {
    if (!volume.empty() && !files::is_image_path(volume)) {
      throw file_error(
          fmt::format("'{}': ending '{}' is not a format for volumes (.mha, .nrrd, .nii and "
                      ".nii.gz are); name a file with one of these",
                      volume, files::ending(volume)));
    }
  }
  if (!options.csv.empty() && files::ending(options.csv) != ".csv") {
    throw file_error(fmt::format(
        "'{}': does not end in .csv (the histogram is a table); name it NAME.csv", options.csv));
  }
  check_writable(options.csv);
  check_writable(options.status);
  check_written(options.output, options.png, options.common.json_file,
                {options.csv, options.status, options.reference, options.evaluated});
}

/// Returns what an RT Dose states, with an empty volume, and nothing of other files. These ranks
/// read by planes, where no picture shows them.
std::optional<files::rt_dose> read_dose(gamma_options& options, std::string const& path,
                                        files::host_volume& volume,
                                        std::function<std::vector<float>(slab const&)>& read) {
  if (!files::is_dicom_path(path) && jobs::num_ranks() > 1 && options.png.empty()) {
    volume = files::read_volume_grid(path);
    bool const is_reference = &volume == &options.request.reference;
    read = reader_of_planes(path, volume, is_reference ? "reference doses" : "evaluated doses",
                            options.bytes_read);
    return {};
  }
  if (!files::is_dicom_path(path)) {
    volume = files::read_volume(path, files::finite_values::required, files::subfolders::left_out,
                                asked_of_user());
    return {};
  }
  // The thickness of a plane enters no gamma: its points lie in the middle.
  auto dose = files::read_rt_dose(path, files::dose_units::any, 1);
  if (!dose.states_thickness) {
    spdlog::info("'{}' is one plane and does not state its thickness: 1 mm is taken", path);
  }
  refuse_differences(path, dose);
  volume = std::exchange(dose.volume, {});
  return dose;
}

/// Returns where the voxels begin and end along an axis, mm.
std::pair<double, double> faces_of(files::host_volume const& v, std::size_t axis) {
  double const low = v.origin[axis] - 0.5 * v.spacing[axis];
  return {low, low + v.spacing[axis] * double(v.extent[axis])};
}

/// Throws iso::file_error where a dose difference in Gy means nothing in a dose.
void refuse_without_unit(std::string const& path, std::optional<files::rt_dose> const& dose,
                         std::string const& unit) {
  if ((dose && unit != "Gy") || unit == "relative") {
    auto const what = unit.empty()         ? std::string("does not say its dose's units")
                      : unit == "relative" ? std::string("holds a relative dose")
                                           : fmt::format("holds values in {}", unit);
    throw file_error(
        fmt::format("'{}' {} (a dose difference of Gy means nothing there); choose --normalisation "
                    "global or local",
                    path, what));
  }
}

/// Throws iso::file_error where doses have two units, and tells which are taken for one.
void compare_units(gamma_options const& options) {
  auto const& one = options.request.reference.unit;
  auto const& other = options.request.evaluated.unit;
  bool const relative = one == "relative" || other == "relative";
  auto const name_of = [](std::string const& unit) {
    return unit.empty() ? std::string("units that it does not say") : files::shortened(unit, 40);
  };
  bool const both_unknown = one == "unknown units" && one == other;
  if (both_unknown || (one != other && (relative || (!one.empty() && !other.empty())))) {
    throw file_error(
        fmt::format("'{}' holds values in {}, '{}' in {} (doses of one unit can be compared); "
                    "convert one of them",
                    options.reference, name_of(one), options.evaluated, name_of(other)));
  }
  if (one != other) {
    spdlog::warn(
        "'{}' does not say its unit (its numbers are taken for {}, as those of '{}'); check "
        "that they are",
        one.empty() ? options.reference : options.evaluated, name_of(one.empty() ? other : one),
        one.empty() ? options.evaluated : options.reference);
  }
  warn_of_unit(options.reference, one, "Gy", "the numbers are taken as they are");
}

/// Throws iso::file_error where no voxel of one dose lies in the other's.
void check_overlap(gamma_options const& options) {
  auto const& r = options.request.reference;
  auto const& e = options.request.evaluated;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto const [r0, r1] = faces_of(r, axis);
    auto const [e0, e1] = faces_of(e, axis);
    if (r0 >= e1 || e0 >= r1) {
      throw file_error(
          fmt::format("'{}' goes from {:.6g} to {:.6g} mm along {}, '{}' from {:.6g} to {:.6g} mm "
                      "(they do not overlap); check that both are in one frame of reference",
                      options.reference, r0, r1, "xyz"[axis], options.evaluated, e0, e1));
    }
  }
}

/// Says where the picture's slices are not those that --at asks for.
void tell_of_point(gamma_options const& options) {
  for (std::size_t axis = 0; axis < options.at.size(); ++axis) {
    auto const [low, high] = faces_of(options.request.reference, axis);
    double const at = options.at[axis];
    if (!(at >= low && at <= high)) {
      spdlog::warn(
          "--at: {:.6g} mm along {} lies outside of '{}', from {:.6g} to {:.6g} mm (its nearest "
          "slice is shown); choose a place between them",
          at, "xyz"[axis], options.reference, low, high);
    }
  }
}

void read_doses(gamma_options& options) {
  auto& request = options.request;
  auto const reference =
      read_dose(options, options.reference, request.reference, request.read_reference);
  auto const evaluated =
      read_dose(options, options.evaluated, request.evaluated, request.read_evaluated);
  if (reference && evaluated) {
    try {
      files::check_same_frame(options.reference, reference->identity.frame_of_reference,
                              options.evaluated, evaluated->identity.frame_of_reference);
    } catch (file_error const&) {
      if (!options.same_frame) {
        throw;
      }
      options.frames_differ = true;
      spdlog::warn(
          "'{}' has another frame of reference than '{}' (--same-frame takes both for one); "
          "check that they are",
          options.evaluated, options.reference);
    }
    if (reference->type != evaluated->type || reference->summation != evaluated->summation) {
      spdlog::warn(
          "'{}' is a dose of type {} of a {} ('{}' is one of type {} of a {}); compare doses of "
          "one kind",
          options.reference, files::shortened(reference->type, 16),
          files::shortened(reference->summation, 16), options.evaluated,
          files::shortened(evaluated->type, 16), files::shortened(evaluated->summation, 16));
    }
  }
  if (request.options.normalise == gamma::normalisation::given) {
    refuse_without_unit(options.reference, reference, request.reference.unit);
    refuse_without_unit(options.evaluated, evaluated, request.evaluated.unit);
  }
  compare_units(options);
  check_overlap(options);
  tell_of_point(options);
}

/// Says how many compared points lie where the evaluated dose has no voxels.
void tell_of_outside(gamma_options const& options, gamma::gamma_summary const& found) {
  if (found.outside == found.compared) {
    spdlog::warn(
        "all compared points lie outside of '{}' (gamma is to its nearest doses); "
        "check where the doses lie",
        options.evaluated);
  } else if (found.outside > 0) {
    spdlog::warn(
        "{:.3g} % of the compared points lie outside of '{}' (gamma is to its nearest "
        "doses); crop the reference, or evaluate a larger dose",
        100 * double(found.outside) / double(found.compared), options.evaluated);
  }
}

/// A file of a volume, and which volume it is.
using volume_output = std::pair<std::string, files::host_volume jobs::gamma_result::*>;

/// Returns the volumes that are written, and has ranks keep their planes of them where they can.
std::vector<volume_output> volumes_of(gamma_options& options) {
  std::vector<volume_output> volumes;
  if (!options.output.empty()) {
    volumes.emplace_back(options.output, &jobs::gamma_result::gamma);
  }
  if (!options.status.empty()) {
    volumes.emplace_back(options.status, &jobs::gamma_result::status);
  }
  options.request.keeps_planes =
      jobs::num_ranks() > 1 && options.png.empty() &&
      std::ranges::all_of(volumes, [](auto const& one) { return files::takes_planes(one.first); });
  for (auto const& [path, volume] : volumes) {
    if (options.request.keeps_planes) {
      jobs::check_folder_of_ranks(path);
    }
  }
  return volumes;
}

/// Prepares their files, of which rank 0 gets those that ranks have written together.
/// \param[out] written  bytes of each rank, where they have
std::vector<files::atomic_file> prepare_volumes(gamma_options const& options,
                                                std::vector<volume_output> const& volumes,
                                                jobs::gamma_result const& result,
                                                jobs::bytes_of_ranks& written) {
  std::vector<files::atomic_file> outputs;
  for (auto const& [path, volume] : volumes) {
    if (options.request.keeps_planes) {
      auto shared =
          jobs::write_planes_of_ranks(path, result.*volume, result.planes, asked_of_user());
      written.resize(shared.bytes.size());
      std::ranges::transform(written, shared.bytes, written.begin(), std::plus());
      if (shared.file) {
        outputs.push_back(std::move(*shared.file));
      }
    } else if (jobs::is_first_rank()) {
      outputs.push_back(files::prepare_volume(path, result.*volume, asked_of_user()));
    }
  }
  return outputs;
}

int run_gamma(gamma_options& options) {
  check_files(options);
  read_options(options);
  read_doses(options);
  auto& request = options.request;
  jobs::session const session(options.common.threads, device_of_rank(options.common));
  request.backend = sole_backend(options.common.backend, "gamma");
  auto const volumes = volumes_of(options);
  auto const result = jobs::compare_doses(request, terminal_observer());
  jobs::bytes_of_ranks written;
  auto const read = jobs::numbers_of_ranks(options.bytes_read);
  // Behind what all ranks tell: where rank 0 throws here, none waits for it.
  auto outputs = prepare_volumes(options, volumes, result, written);
  if (!jobs::is_first_rank()) {
    return success;  // which writes and says what there is
  }
  auto const& first = result.criteria.front();
  tell_of_outside(options, first);
  json document = gamma_document(request, result);
  document["assumed_same_frame"] = options.frames_differ;
  tell_bytes(document, {read, written, {}});
  if (!options.csv.empty()) {
    auto const told =
        options.frames_differ
            ? fmt::format("# --same-frame: '{}' and '{}' have two frames of reference\n",
                          options.reference, options.evaluated)
            : std::string();
    outputs.push_back(files::prepare_text(options.csv, told + gamma_histogram(request, result)));
  }
  if (!options.png.empty()) {
    std::array<double, 3> point = result.maximum_position;
    std::copy_n(options.at.begin(), options.at.size(), point.begin());
    outputs.push_back(files::prepare_png(
        options.png, gamma_picture(request, result, point, options.frames_differ)));
    document["picture"] = {{"point_mm", point}, {"outside_colour", gamma_outside_colour}};
  }
  if (request.criteria.size() > 1 && !(options.output.empty() && options.png.empty())) {
    spdlog::info("volume and picture are of {}, the first criterion",
                 to_string(request.criteria[0]));
  }
  if (options.common.json_file != "-") {
    print_gamma_table(request, result);
    fmt::print(
        "{} of {} points have at least {:.5g} of a largest dose of {:.5g}; on {} in {:.4g} s; hash "
        "{}\n",
        first.compared, first.compared + first.below_cut_off, result.cut_off_dose,
        result.reference_maximum, request.backend, result.seconds, result.hash);
    if (options.frames_differ) {
      fmt::print("frames of reference differ, and are taken for one (--same-frame)\n");
    }
  }
  tell_streaming(options.common, result.streamed, document);
  tell_repeats(options.common, result.repeats, document);
  tell_ranks(document, "its planes of both doses");
  write_json(options.common.json_file, document, std::move(outputs));
  return success;
}

void add_rules(CLI::App& sub, gamma_options& options) {
  sub.add_option("--criterion", options.criteria,
                 "dose difference and distance to agreement, as 3%/3mm; may be given several times")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  sub.add_option("--normalisation", options.normalisation,
                 "what the dose differences are per cent of: global (the largest reference dose), "
                 "local (the reference dose at the point), or a dose in the volumes' unit")
      ->transform(in_small_letters())
      ->capture_default_str();
  add_fields(sub, options.request.options, {"normalisation", "given-dose"});
  add_fields(sub, options.request.summary);
  sub.add_flag("--same-frame", options.same_frame,
               "take the frames of reference of two RT Doses for one, as those of a dose that was "
               "calculated anew for the same CT; every output but volumes says so");
}

}  // namespace

command add_gamma(CLI::App& app) {
  auto const options = std::make_shared<gamma_options>();
  auto* const sub = app.add_subcommand(
      "gamma", "Gamma index of an evaluated dose against a reference. Not a medical device");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_share_gpus(*sub, options->common);
  sub->add_option("reference", options->reference,
                  "dose at whose points gamma is computed (.mha, .mhd, .nrrd, .nhdr, .nii, "
                  ".nii.gz, or an RT Dose)")
      ->required();
  sub->add_option("evaluated", options->evaluated,
                  "dose that is searched, on any grid that overlaps; in the same unit")
      ->required();
  add_rules(*sub, *options);
  sub->add_option("--output,--out", options->output,
                  "gamma of the first criterion on the reference's grid, NaN below the cut-off: "
                  ".mha, .nrrd, .nii or .nii.gz");
  sub->add_option("--status", options->status,
                  "what became of each point of the reference, in the same formats: 0 compared, 1 "
                  "below the cut-off, 2 compared but outside of the evaluated dose");
  auto* const png = sub->add_option(
      "--png,--picture", options->png,
      "picture of slices: gamma of the first criterion in colours, points outside of the evaluated "
      "dose magenta, the rest of the reference grey");
  sub->add_option("--at", options->at,
                  "X Y Z: point of the slices, mm (default: the largest reference dose)")
      ->expected(3)
      ->check(number_from(-1e9, 1e9))
      ->needs(png);
  sub->add_option("--csv", options->csv,
                  "table (.csv) of the histograms, which scripts/gamma_plot.py draws");
  add_dose_memory(*sub, options->request.memory);
  add_repeats(*sub, options->request.repeats,
              "the search and what it prepares of the doses, with these where it computes");
  return [options] { return run_gamma(*options); };
}

}  // namespace iso::cli
