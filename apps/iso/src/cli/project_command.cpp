// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "hounsfield_options.hpp"
#include "ranks.hpp"
#include "scratch.hpp"
#include "simulated_scan.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/project.hpp>
#include <iso/jobs/rank_files.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace iso::cli {
namespace {

namespace fs = std::filesystem;

struct project_options {
  common_options common;
  std::string volume;
  folder_options folder;
  std::string phantom;
  std::string geometry;
  std::string output;
  std::string png;
  std::int64_t size = 128;
  double width = 256;
  std::int64_t view = 0;
  bool hounsfield = false;
  hounsfield_options table;
  bool centred = false;
  bool below_attenuation = false;  ///< some value of the volume is below -100
  std::uint64_t bytes_read = 0;    ///< of the volume's voxels, by this rank
  std::vector<double> isocentre;   ///< x, y, z in the volume's coordinates; empty: their zero
  simulated_scan_options scan;
  jobs::project_request request;
};

// Everything that can be wrong before any work is done.
void check_outputs(project_options const& options) {
  if (options.output.empty() && options.png.empty() && options.common.json_file.empty() &&
      options.scan.folder.empty()) {
    throw invalid_argument(
        "nothing to write (the result would be lost); give --output, --scan, --png or --json");
  }
  check_scan_folder(options.scan);
  fs::path const output = options.output;
  auto const end = files::ending(output);
  if (!options.output.empty() && !files::is_stack_path(output) && end != ".mha" && end != ".nrrd") {
    throw file_error(
        fmt::format("'{}': ending '{}' is not a format for projections (.h5, .hdf5, .mha and .nrrd "
                    "are); name a file with one of these",
                    options.output, end));
  }
  check_written(options.output, options.png, options.common.json_file,
                {options.geometry, options.volume});
}

/// Makes attenuation of values of the volume, and looks for those that are none.
void convert_to_attenuation(project_options& options, std::vector<float>& values) {
  if (options.hounsfield) {
    files::to_attenuation(values, table_of(options.table));
  } else if (std::any_of(values.begin(), values.end(), [](float x) { return x < -100; })) {
    options.below_attenuation = true;
  }
}

void warn_of_units(project_options const& options, std::string const& unit) {
  if (options.hounsfield) {
    warn_of_unit(options.volume, unit, "HU", "leave out --hounsfield");
  } else if (!unit.empty()) {
    warn_of_unit(options.volume, unit, "1/mm",
                 unit == "HU" ? "give --hounsfield" : "the numbers are taken as they are");
  } else if (options.below_attenuation) {
    spdlog::warn(
        "'{}' holds values below -100 (attenuation in 1/mm is expected); give --hounsfield if "
        "these are Hounsfield units",
        options.volume);
  }
}

/// Reads the volume, or its header where each rank reads its own planes later.
void read_volume(project_options& options) {
  auto& volume = options.request.volume;
  if (jobs::num_ranks() > 1 && !files::is_dicom_path(options.volume)) {
    volume = files::read_volume_grid(options.volume);
    auto const read = reader_of_planes(options.volume, volume, "volumes", options.bytes_read);
    options.request.read_planes = [&options, read](slab const& planes) {
      auto values = read(planes);
      convert_to_attenuation(options, values);
      return values;
    };
    return;
  }
  volume = files::read_volume(options.volume, files::finite_values::required, options.folder.search,
                              asked_of_user());
  warn_of_unread(options.volume, volume, options.folder);
  convert_to_attenuation(options, volume.values);
  warn_of_units(options, volume.unit);
}

/// Moves the volume so that the isocentre becomes the world's origin.
void place_on_isocentre(project_options& options) {
  auto& volume = options.request.volume;
  if (options.centred) {
    auto const middle = middle_of(volume);
    centre(volume);
    options.isocentre.assign(middle.begin(), middle.end());
    return;
  }
  options.isocentre.resize(3);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] -= options.isocentre[axis];
  }
}

void read_inputs(project_options& options) {
  auto& request = options.request;
  request.geometry = read_geometry(options.geometry);
  auto const views = ct::num_views(request.geometry.scan);
  if (options.view >= views) {
    throw invalid_argument(
        fmt::format("--view {} (the geometry has {} views, counted from 0); choose one of these",
                    options.view, views));
  }
  if (options.volume.empty()) {
    request.phantom_size = options.size;
    request.phantom_width = options.width;
    return;
  }
  read_volume(options);
  place_on_isocentre(options);
}

/// Returns the bytes that each rank has read of the volume, and warns of its units; nothing where
/// it was read as a whole.
jobs::bytes_of_ranks join_reading(project_options& options) {
  if (!options.request.read_planes) {
    return {};
  }
  auto const below = jobs::numbers_of_ranks(options.below_attenuation ? 1 : 0);
  options.below_attenuation = std::find(below.begin(), below.end(), 1U) != below.end();
  if (jobs::is_first_rank()) {
    warn_of_units(options, options.request.volume.unit);
  }
  return jobs::numbers_of_ranks(options.bytes_read);
}

void warn_not_finite(jobs::projection_result const& result) {
  if (result.not_finite > 0) {
    spdlog::warn("{} of {} pixels are not finite (the sums are too large); scale the volume down",
                 result.not_finite, result.extent[0] * result.extent[1] * result.extent[2]);
  }
}

/// Says so where rays pass the volume by.
void warn_of_blind_views(project_options const& options, jobs::projection_result const& result) {
  auto const views = result.extent[0];
  if (result.blind_views == 0) {
    return;
  }
  if (result.blind_views < views) {
    spdlog::warn(
        "no ray of {} of the {} views meets the volume (these views are zero); check the "
        "geometry{}",
        result.blind_views, views, options.volume.empty() ? "" : ", --isocentre and --centre");
    return;
  }
  if (options.volume.empty()) {
    spdlog::warn("no ray meets the phantom (all projections are zero); check the geometry");
    return;
  }
  std::string place;
  auto const& v = options.request.volume;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double const low = v.origin[axis] - 0.5 * v.spacing[axis];
    place += fmt::format("{}{} {:.6g} to {:.6g}", axis == 0 ? "" : ", ", "xyz"[axis], low,
                         low + double(v.extent[axis]) * v.spacing[axis]);
  }
  spdlog::warn(
      "no ray meets the volume (all projections are zero: it lies at {} mm from the isocentre); "
      "give --isocentre X Y Z, the point of the volume that the scanner turns about, or --centre, "
      "which takes its middle",
      place);
}

template <class T>
files::atomic_file prepare_projections(project_options const& options,
                                       jobs::projection_result const& result,
                                       std::vector<T> const& values) {
  if (files::is_stack_path(options.output)) {
    return files::prepare_readings<T>(options.output,
                                      {result.extent, {}, "1", options.request.geometry.text},
                                      values, asked_of_user());
  }
  return files::prepare_projection_image<T>(options.output, values, result.extent,
                                            ct::detector_pitch(options.request.geometry.scan),
                                            asked_of_user());
}

/// Has ranks write their own views, and rank 0 get no more than a picture shows. Counts of a
/// detector are made of all.
std::optional<jobs::shared_views> share_output(project_options& options) {
  auto& request = options.request;
  if (jobs::num_ranks() == 1 || !options.scan.folder.empty()) {
    return std::nullopt;
  }
  request.gathers = false;
  if (!options.png.empty()) {
    request.shown_view = options.view;
  }
  if (options.output.empty()) {
    return std::nullopt;
  }
  jobs::check_folder_of_ranks(options.output);
  return jobs::shared_views(options.output, request.geometry.text,
                            ct::detector_pitch(request.geometry.scan));
}

// One view, u to the right, v upwards.
template <class T>
files::gray_image picture(jobs::projection_result const& result, std::vector<T> const& values,
                          std::int64_t view) {
  auto const [views, nu, nv] = result.extent;
  files::gray_image image{nu, nv, {}};
  for (std::int64_t v = nv; v-- > 0;) {
    for (std::int64_t u = 0; u < nu; ++u) {
      image.values.push_back(float(values[std::size_t((view * nu + u) * nv + v)]));
    }
  }
  return image;
}

json document_of(project_options const& options, jobs::projection_result const& result) {
  auto const& request = options.request;
  json document = {{"isocenter", ISO_VERSION},          {"operation", "project"},
                   {"method", to_word(request.method)}, {"sum", to_word(request.sum)},
                   {"backend", request.backend},        {"precision", to_word(request.precision)},
                   {"extent", result.extent},           {"voxels", result.voxels},
                   {"views", result.extent[0]},         {"unit", "1"},
                   {"blind_views", result.blind_views}, {"views_within", result.views_within},
                   {"not_finite", result.not_finite},   {"hash", result.hash},
                   {"time_ms", result.time_ms}};
  if (!options.volume.empty()) {
    document["isocentre_mm"] = options.isocentre;
  }
  return document;
}

int run_project(project_options& options) {
  check_outputs(options);
  read_inputs(options);
  auto& request = options.request;
  jobs::session const session(options.common.threads, device_of_rank(options.common));
  request.backend = sole_backend(options.common.backend, "project");
  auto output = share_output(options);
  request.shared_output = output ? &*output : nullptr;
  auto const result = jobs::project(request, terminal_observer());
  auto const read = join_reading(options);
  auto const needed = jobs::numbers_of_ranks(std::uint64_t(result.bytes_needed));
  auto const written = output ? jobs::numbers_of_ranks(output->bytes()) : jobs::bytes_of_ranks();
  if (!jobs::is_first_rank()) {
    return success;  // which writes and says what there is
  }
  warn_of_blind_views(options, result);
  warn_not_finite(result);
  warn_of_views_within(result.views_within, result.extent[0]);
  json document = document_of(options, result);
  std::string const text =
      fmt::format("{} views of {} x {} pixels by {} on {} in {}; hash {}", result.extent[0],
                  result.extent[1], result.extent[2], to_word(request.method), request.backend,
                  time_text(result.time_ms), result.hash);
  std::optional<output_folder> kept;  // what is not put in place leaves it before it goes
  std::vector<files::atomic_file> outputs;
  if (output) {
    outputs.push_back(output->take().value());
    auto const& n = result.extent;
    std::size_t const each = request.precision == precision::f64 ? sizeof(double) : sizeof(float);
    outputs.back().check_written(std::size_t(n[0] * n[1] * n[2]) * each);
  } else if (!options.output.empty()) {
    outputs.push_back(
        std::visit([&](auto const& values) { return prepare_projections(options, result, values); },
                   result.values));
  }
  if (!options.scan.folder.empty()) {
    auto& scan = options.scan.request;
    scan.backend = request.backend;
    scan.extent = result.extent;
    std::visit([&](auto const& values) { scan.integrals.assign(values.begin(), values.end()); },
               result.values);
    auto const simulated = jobs::simulate_scan(scan, terminal_observer());
    kept.emplace(options.scan.folder, "--scan");
    auto images = prepare_scan(options.scan, simulated, request.geometry.text);
    std::move(images.begin(), images.end(), std::back_inserter(outputs));
  }
  if (!options.png.empty()) {
    bool const alone = request.shown_view.has_value();
    auto const image = std::visit(
        [&](auto const& values) { return picture(result, values, alone ? 0 : options.view); },
        alone ? result.shown : result.values);
    auto const window = files::full_window(image);
    outputs.push_back(files::prepare_png(options.png, image, window, files::png_depth::bits16));
    spdlog::info("'{}': view {}, black is {:.6g}, white {:.6g}", options.png, options.view,
                 window.black, window.white);
    document["preview"] = {
        {"view", options.view}, {"black", window.black}, {"white", window.white}};
  }
  if (options.common.json_file != "-") {
    fmt::print("{}\n", text);
  }
  tell_streaming(options.common, result.streaming, document);
  tell_scratch(options.common, document);
  tell_repeats(options.common, result.repeats, document);
  tell_ranks(document, planes_and_rows);
  tell_bytes(document, {read, written, needed});
  write_json(options.common.json_file, document, std::move(outputs));
  return success;
}

void add_input_options(CLI::App& sub, project_options& options) {
  auto* const volume = sub.add_option(
      "--volume", options.volume,
      "volume file (.mha, .mhd, .nrrd, .nhdr, .nii, .nii.gz), attenuation in 1/mm; or, "
      "with --hounsfield, the folder of a DICOM CT series");
  add_folder_options(sub, options.folder, volume);
  auto* const hounsfield =
      sub.add_flag("--hounsfield", options.hounsfield,
                   "the volume holds CT numbers: convert them to attenuation by the table of "
                   "docs/formats.md, of which iso reconstruct --water is the inverse")
          ->needs(volume);
  add_hounsfield_options(sub, options.table, hounsfield);
  auto* const isocentre =
      sub.add_option("--isocentre", options.isocentre,
                     "X Y Z: the point of the volume that the scanner turns about, in the volume's "
                     "coordinates, mm (default: 0 0 0)")
          ->expected(3)
          ->check(number_from(-1e9, 1e9))
          ->needs(volume);
  sub.add_flag("--centre", options.centred, "the volume's middle is that point")
      ->needs(volume)
      ->excludes(isocentre);
  auto* const phantom =
      sub.add_option("--phantom", options.phantom, "shepp-logan, instead of a volume")
          ->transform(one_of({"shepp-logan"}))
          ->excludes(volume);
  sub.add_option("--size", options.size, "voxels of the phantom along each side")
      ->check(whole_from(1, 8192))
      ->needs(phantom)
      ->capture_default_str();
  sub.add_option("--width", options.width, "side of the phantom's cube, mm")
      ->check(number_from(1e-3, 1e6))
      ->needs(phantom)
      ->capture_default_str();
  sub.add_option("--geometry", options.geometry, "geometry file (JSON, docs/formats.md)")
      ->required();
}

}  // namespace

command add_project(CLI::App& app) {
  auto const options = std::make_shared<project_options>();
  auto* const sub =
      app.add_subcommand("project", "Line integrals of a volume along every detector ray");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_share_gpus(*sub, options->common);
  add_input_options(*sub, *options);
  add_extend_rays(*sub, options->request.extend_rays);
  add_words(*sub, "--method", options->request.method, "how a line integral is taken");
  add_words(*sub, "--sum", options->request.sum, "order of a ray's sum");
  add_memory(*sub, options->request.memory);
  add_scratch(*sub);
  add_words(*sub, "--precision", options->request.precision, "of all arithmetic");
  sub->add_option("--oversampling", options->request.oversampling,
                  "exact methods: rays a pixel along u and along v")
      ->check(whole_from(1, 64))
      ->capture_default_str();
  sub->add_option("--output", options->output, "projections: .h5 (HDF5), .mha or .nrrd");
  add_simulated_scan_options(*sub, options->scan);
  sub->add_option("--png", options->png, "picture of one view, 16 bits, its window printed");
  sub->add_option("--view", options->view, "the view of the picture")
      ->check(whole_from(0, 999999))
      ->capture_default_str();
  add_repeats(*sub, options->request.repeats,
              "the projection, with volume, geometry and projections where it computes");
  return [options, sub] {
    if (options->volume.empty() == options->phantom.empty()) {
      throw invalid_argument(
          "project: no volume, or two (one is projected); give either --volume FILE or --phantom "
          "shepp-logan");
    }
    auto& request = options->request;
    choose_reproducible_sums(request.memory, sub->get_option("--sum")->count() > 0, request.sum);
    return run_project(*options);
  };
}

}  // namespace iso::cli
