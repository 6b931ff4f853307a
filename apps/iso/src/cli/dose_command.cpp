// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "dose_output.hpp"
#include "ranks.hpp"
#include "structure_options.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/dose.hpp>
#include <iso/jobs/dvh.hpp>
#include <iso/jobs/rank_files.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace iso::cli {
namespace {

struct dose_options {
  common_options common;
  std::string plan;
  std::string density;
  std::string ct;
  folder_options folder;
  std::string density_table = "schneider_2000";
  std::string phantom;
  double voxel = 2;
  std::string output;
  std::string png;
  std::string curves;
  std::vector<double> isodoses = {20, 50, 80, 95};
  structure_options structures;
  files::rt_dose_options rt;
  ray::traversal traversal = ray::traversal::fastest;
  jobs::dose_request request;
};

// Everything that can be wrong before any work is done.
void check_outputs(dose_options const& options) {
  if (options.output.empty() && options.png.empty() && options.curves.empty() &&
      options.common.json_file.empty()) {
    throw invalid_argument(
        "nothing to write (the result would be lost); give --output, --png, --curves or --json");
  }
  check_volume_output(options.output, dicom_format::dose);
  if (!options.rt.like.empty() && files::ending(options.output) != ".dcm") {
    throw invalid_argument(
        "--like without an --output that ends in .dcm (only an RT Dose belongs to a patient's "
        "study); leave --like out");
  }
  if (!options.curves.empty() && files::ending(options.curves) != ".csv") {
    throw file_error(fmt::format(
        "'{}': does not end in .csv (the curves are a table); name it NAME.csv", options.curves));
  }
  check_writable(options.curves);
  check_written(options.output, options.png, options.common.json_file,
                {options.curves, options.plan, options.density, options.ct, options.structures.file,
                 options.rt.like.string(),
                 files::ending(options.density_table) == ".csv" ? options.density_table : ""});
}

void read_inputs(dose_options& options) {
  auto& request = options.request;
  request.plan = read_plan(options.plan);
  request.plan.options.lines.traversal = options.traversal;
  auto const& kernel = request.plan.kernel.name;
  // Monte Carlo kernels are mixed for the spectrum, whatever it is.
  bool const fits = kernel.starts_with("6mv") || kernel == "monte_carlo";
  if (!request.plan.spectrum.csv && !request.plan.kernel.csv && !fits) {
    spdlog::warn(
        "spectrum {} with kernel {} (they are of different energies); choose a kernel of the "
        "spectrum's energy",
        request.plan.spectrum.name, kernel);
  }
  request.keep_density = !options.png.empty() || !options.curves.empty();
  if (!options.phantom.empty()) {
    request.phantom_voxel = options.voxel;
    return;
  }
  request.hounsfield = !options.ct.empty();
  if (request.hounsfield) {
    request.density_table = files::read_table(options.density_table, {});
    request.volume = files::read_volume(options.ct, files::finite_values::required,
                                        options.folder.search, asked_of_user());
    warn_of_unread(options.ct, request.volume, options.folder);
    warn_of_unit(options.ct, request.volume.unit, "HU", "the numbers are taken as they are");
  } else {
    // What is not finite is counted with the rest.
    request.volume = files::read_volume(options.density, files::finite_values::not_required,
                                        files::subfolders::left_out, asked_of_user());
    warn_of_unit(options.density, request.volume.unit, "g/cm3",
                 "the numbers are taken as they are");
  }
}

/// Throws iso::file_error where gantry angles would be of another side of the patient.
void check_position(std::string const& path, std::string const& position) {
  if (!position.empty() && position != "HFS") {
    throw file_error(fmt::format(
        "'{}' shows a patient in {} (gantry angles are those of HFS, head first supine, alone); "
        "convert it to a volume in the patient's axes",
        path, position == "unknown" ? "an unknown position" : "position " + position));
  }
}

// Before any work: whose dose it is, and the structures of that patient.
structure_choice read_belongings(dose_options& options) {
  std::string volume = options.ct + options.density;  // one of them
  auto& like = options.rt.like;
  bool const is_rt_dose = files::ending(options.output) == ".dcm";
  std::optional<std::string> frame;
  if (files::is_dicom_path(volume)) {
    auto const identity = files::read_dicom_identity(volume, options.folder.search);
    check_position(volume, identity.patient_position);
    if (is_rt_dose || !options.structures.file.empty()) {
      frame = identity.frame_of_reference;
    }
  }
  if (!like.empty()) {
    auto const of_like = files::read_dicom_identity(like, options.folder.search).frame_of_reference;
    if (frame) {
      files::check_same_frame(volume, *frame, like, of_like);
    } else {
      volume = like.string();
      frame = of_like;
    }
  } else if (is_rt_dose && frame) {
    like = belonging_to(volume, options.folder);
  }
  if (options.structures.file.empty()) {
    return {};
  }
  auto const set = files::read_rt_structure_set(options.structures.file);
  auto choice = chosen_structures(options.structures, set);
  check_frame(options.structures, choice, volume + options.phantom, frame);
  tell_left_out(options.structures, set);
  return choice;
}

/// Returns how the next outline looks: in the structure's own colour, dashed where an earlier one
/// has it. Where it has none, or one that is dark on dark, as the lines of curves do.
files::line_style style_of(files::rt_structure const& structure,
                           std::vector<outlined_structure> const& earlier) {
  constexpr int dark = 64;
  if (!structure.colour ||
      *std::max_element(structure.colour->begin(), structure.colour->end()) < dark) {
    return files::style_of(earlier.size());
  }
  auto const& c = *structure.colour;
  files::line_style style{{c[0] / 255.0, c[1] / 255.0, c[2] / 255.0}};
  style.is_dashed = std::any_of(earlier.begin(), earlier.end(),
                                [&](auto const& other) { return other.style.c == style.c; });
  return style;
}

std::vector<outlined_structure> outlined(structure_options const& options,
                                         structure_choice& structures,
                                         files::host_volume const& patient,
                                         picture_slices const& slices) {
  std::vector<files::host_volume> grids;
  for (auto const& s : slices) {
    grids.push_back(grid_of(s, patient));
  }
  std::vector<outlined_structure> all;
  use_structures(options, structures, [&](files::rt_structure const& s) {
    auto shares = jobs::structure_shares(s, patient, grids, asked_of_user());
    if (std::all_of(shares.begin(), shares.end(), [](auto const& of_slice) {
          return *std::max_element(of_slice.begin(), of_slice.end()) < outline_share;
        })) {
      spdlog::info("'{}' does not lie in the slices of the picture", files::shortened(s.name, 64));
    }
    all.push_back({s.name, style_of(s, all), std::move(shares)});
  });
  tell_refused(structures.refused, "outlined");
  return all;
}

json beams_of(files::plan const& plan, jobs::dose_result const& result) {
  json list = json::array();
  for (std::size_t i = 0; i < plan.beams.size(); ++i) {
    auto const& r = result.beams[i];
    json beam = {{"name", plan.beams[i].name}};
    put_fields(beam, plan.beams[i].beam);
    beam["source_mm"] = r.source;
    beam["region"] = {{"first_voxel", r.region_first}, {"extent", r.region_extent}};
    beam["seconds"] = r.seconds;
    list.push_back(std::move(beam));
  }
  return list;
}

/// For how many photons the dose is.
std::string weights_of(files::plan const& plan) {
  auto const [least, most] = std::minmax_element(
      plan.beams.begin(), plan.beams.end(),
      [](auto const& a, auto const& b) { return a.beam.weight < b.beam.weight; });
  double const low = least->beam.weight;
  double const high = most->beam.weight;
  return low == high ? fmt::format("{:.6g} photon{}/cm2", high, high == 1 ? "" : "s")
                     : fmt::format("{:.6g} to {:.6g} photons/cm2", low, high);
}

json document_of(jobs::dose_request const& request, jobs::dose_result const& result) {
  auto const& plan = request.plan;
  json document = {{"isocenter", ISO_VERSION},
                   {"operation", "dose"},
                   {"backend", request.backend},
                   {"precision", to_word(request.precision)},
                   {"spectrum", plan.spectrum.name},
                   {"kernel", plan.kernel.name},
                   {"kernel_per_bin", plan.kernel_per_bin},
                   {"kernels", result.kernels}};
  put_fields(document, plan.options);
  document["directions"]["count"] = result.directions;
  document.update({{"extent", result.dose.extent},
                   {"spacing_mm", result.dose.spacing},
                   {"unit", result.dose.unit},
                   {"weight_unit", "photons/cm2"},
                   {"maximum",
                    {{"dose_gy", result.maximum},
                     {"voxel", result.maximum_at},
                     {"position_mm", result.maximum_position}}},
                   {"beams", beams_of(plan, result)},
                   {"hash", result.hash},
                   {"seconds", result.seconds}});
  return document;
}

int run_dose(dose_options& options) {
  check_outputs(options);
  read_inputs(options);
  auto& request = options.request;
  auto structures = read_belongings(options);
  auto const& isocentre = request.plan.beams.front().beam.isocentre;
  std::array<double, 3> const point = {isocentre.x, isocentre.y, isocentre.z};
  picture_slices slices{};
  std::vector<outlined_structure> outlines;
  if (!options.png.empty()) {
    auto const patient = jobs::dose_grid(request);
    slices = slices_through(patient, point);
    outlines = outlined(options.structures, structures, patient, slices);
  }
  jobs::session const session(options.common.threads, device_of_rank(options.common));
  request.backend = sole_backend(options.common.backend, "dose");
  // Curves and a picture are across all planes.
  request.keeps_planes = jobs::num_ranks() > 1 && options.curves.empty() && options.png.empty() &&
                         (options.output.empty() || files::takes_planes(options.output));
  bool const shares = request.keeps_planes && !options.output.empty();
  if (shares) {
    jobs::check_folder_of_ranks(options.output);
  }
  auto const result = jobs::calculate_dose(request, terminal_observer());
  auto written = shares ? jobs::write_planes_of_ranks(options.output, result.dose, result.planes,
                                                      asked_of_user())
                        : jobs::written_planes();
  if (!jobs::is_first_rank()) {
    return success;  // which writes and says what there is
  }
  json document = document_of(request, result);
  std::vector<files::atomic_file> outputs;
  if (shares) {
    outputs.push_back(std::move(*written.file));
    tell_bytes(document, {{}, written.bytes, {}});
  } else if (!options.output.empty()) {
    outputs.push_back(files::ending(options.output) == ".dcm"
                          ? files::prepare_rt_dose(options.output, result.dose, options.rt)
                          : files::prepare_volume(options.output, result.dose, asked_of_user()));
  }
  if (!options.curves.empty()) {
    outputs.push_back(files::prepare_text(options.curves, dose_curves(request.plan, result)));
  }
  if (!options.png.empty()) {
    outputs.push_back(
        files::prepare_png(options.png, dose_picture(result, slices, options.isodoses, outlines)));
    spdlog::info(
        "'{}': slices through the first isocentre, across z, y and x; density in grey (white is {} "
        "g/cm3), dose in colours (red is {:.4g} Gy), isodoses at {} % of that",
        options.png, white_density, result.maximum, fmt::join(options.isodoses, ", "));
    json names = json::array();
    for (auto const& s : structures.taken) {
      names.push_back(s.name);
    }
    document["picture"] = {{"point_mm", point},
                           {"white_g_cm3", white_density},
                           {"red_gy", result.maximum},
                           {"isodoses_percent", options.isodoses},
                           {"structures", std::move(names)},
                           {"refused", json_of(structures.refused)}};
  }
  if (options.common.json_file != "-") {
    auto const& n = result.dose.extent;
    auto const& p = result.maximum_position;
    fmt::print(
        "{} x {} x {} voxels, {} beam{} of {} directions{} on {} in {:.4g} s: at most {:.5g} Gy "
        "for {} in air at the isocentre, at ({:.5g}, {:.5g}, {:.5g}) mm; hash {}\n",
        n[0], n[1], n[2], result.beams.size(), result.beams.size() == 1 ? "" : "s",
        result.directions,
        result.kernels == 1 ? "" : fmt::format(" for each of {} energies", result.kernels),
        request.backend, result.seconds, result.maximum, weights_of(request.plan), p[0], p[1], p[2],
        result.hash);
  }
  tell_repeats(options.common, result.repeats, document);
  tell_ranks(document, "its planes of the dose and its share of the directions");
  write_json(options.common.json_file, document, std::move(outputs));
  return structures.refused.empty() ? success : some_refused;
}

void add_input_options(CLI::App& sub, dose_options& options) {
  sub.add_option("--plan", options.plan, "plan of beams (JSON, docs/formats.md)")->required();
  auto* const density = sub.add_option(
      "--density", options.density,
      "volume file (.mha, .mhd, .nrrd, .nhdr, .nii, .nii.gz), mass density in g/cm3");
  auto* const ct =
      sub.add_option("--ct", options.ct,
                     "the same in Hounsfield units, or the folder of a DICOM CT series")
          ->excludes(density);
  add_folder_options(sub, options.folder, ct);
  sub.add_option("--density-table", options.density_table,
                 "density of CT numbers: schneider_2000, or a file that ends in .csv (lines of CT "
                 "number and g/cm3)")
      ->needs(ct)
      ->capture_default_str();
  auto* const phantom =
      sub.add_option(
             "--phantom", options.phantom,
             "slab: a cube of 256 mm in eleven layers of adipose, muscle, bone and lung, "
             "instead of a volume; its surface is y = 0, its depth +y, its middle x = z = 0")
          ->transform(one_of({"slab"}))
          ->excludes(density)
          ->excludes(ct);
  sub.add_option("--voxel", options.voxel, "side of the phantom's voxels, mm; must divide 256 mm")
      ->check(number_from(1e-3, 256))
      ->needs(phantom)
      ->capture_default_str();
}

}  // namespace

command add_dose(CLI::App& app) {
  auto const options = std::make_shared<dose_options>();
  auto* const sub = app.add_subcommand(
      "dose", "Dose of photon beams by collapsed-cone convolution. Not a medical device");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_share_gpus(*sub, options->common);
  add_input_options(*sub, *options);
  add_words(*sub, "--precision", options->request.precision,
            "of all arithmetic; volumes are read and written as float");
  sub->add_option("--output,--out", options->output,
                  "dose in Gy, for the photons/cm2 that the plan's weights say (1 where it has "
                  "none): .mha, .nrrd, .nii, .nii.gz or, as DICOM RT Dose, .dcm");
  sub->add_option("--like", options->rt.like,
                  "DICOM file or folder of a CT series whose patient, study and frame of reference "
                  "the RT Dose shall have (default: those of the volume where it is DICOM); an RT "
                  "Plan is referred to as the dose's");
  auto* const png = sub->add_option("--png", options->png,
                                    "picture of slices through the first isocentre: density in "
                                    "grey, dose in colours, isodoses, outlines of structures");
  sub->add_option("--isodose", options->isodoses,
                  "levels of the picture's isodoses, per cent of the maximum")
      ->check(number_from(1e-3, 100))
      ->needs(png)
      ->capture_default_str();
  add_structure_options(*sub, options->structures)
      ->needs(png)
      ->description("RT Structure Set (.dcm) whose structures the picture outlines");
  add_words(*sub, "--traversal", options->traversal,
            "how engine voxel_lines walks its lines; changes no bit");
  add_repeats(*sub, options->request.repeats,
              "TERMA and convolution of all beams, with what is made for each, and the density "
              "where it computes");
  sub->add_option("--curves", options->curves,
                  "table (.csv) of the dose along each beam's axis and across it; "
                  "scripts/dose_curves.py draws it");
  return [options] {
    if (options->density.empty() && options->ct.empty() && options->phantom.empty()) {
      throw invalid_argument(
          "dose: no volume (dose is calculated in one); give --density FILE, --ct FILE or "
          "--phantom slab");
    }
    return run_dose(*options);
  };
}

}  // namespace iso::cli
