// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "grid_options.hpp"
#include "hounsfield_options.hpp"
#include "iterative_options.hpp"
#include "ranks.hpp"
#include "reconstruct_picture.hpp"
#include "scan_options.hpp"
#include "scratch.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/project.hpp>
#include <iso/jobs/rank_files.hpp>
#include <iso/jobs/ranks.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace iso::cli {
namespace {

struct reconstruct_options {
  common_options common;
  std::string projections;
  std::string phantom;
  double width = 256;
  std::string geometry;
  std::string output;
  std::string png;
  std::string method = "fdk";
  grid_options grid;
  placement place;
  hounsfield_options table;
  scan_options scan;
  std::uint64_t bytes_read = 0;  ///< of the readings, where ranks read their parts
  jobs::reconstruct_request request;
  iterative_options iterative;
  std::vector<CLI::Option*> of_filter;      ///< that iterations have not
  std::vector<CLI::Option*> of_iterations;  ///< that a filter has not
};

constexpr char const* adjoint = "back-project";

bool is_filtered(std::string const& method) { return method == "fdk" || method == "fbp"; }

// Everything that can be wrong before any work is done.
void check(reconstruct_options const& options) {
  if (options.projections.empty() == options.phantom.empty()) {
    throw invalid_argument(
        fmt::format("{}: no projections, or two sources of them (one is needed); give either "
                    "--projections FILE or --phantom shepp-logan",
                    options.method == adjoint ? adjoint : "reconstruct"));
  }
  auto const& others = is_filtered(options.method) ? options.of_iterations : options.of_filter;
  for (auto const* const option : others) {
    if (option->count() > 0) {
      throw invalid_argument(fmt::format("{} (method {} has no such option); leave it out",
                                         option->get_name(), options.method));
    }
  }
  if (options.output.empty() && options.png.empty() && options.common.json_file.empty()) {
    throw invalid_argument(
        "nothing to write (the result would be lost); give --output, --png or --json");
  }
  check_volume_output(options.output, dicom_format::series);
  if (names_folder(options.output) && !(options.table.water > 0)) {
    throw invalid_argument(
        fmt::format("'{}' would be a CT series (its values are Hounsfield units); give --water",
                    options.output));
  }
  auto const& history = options.iterative.history;
  auto const& checkpoint = options.iterative.request.checkpoint;
  check_written(options.output, options.png, options.common.json_file, {history, checkpoint});
  // What is read may be read twice, as a mask that --like names too.
  for (auto const& input :
       {options.geometry, options.projections, options.grid.like, options.iterative.start,
        options.iterative.mask, options.iterative.reading_mask, options.scan.dead}) {
    check_distinct(
        {input, options.output, options.png, options.common.json_file, history, checkpoint});
  }
  check_iterative_outputs(options.iterative);
}

/// The readings that are reconstructed from; none where a phantom is, or ranks read them.
std::optional<jobs::scan_request> read_inputs(reconstruct_options& options) {
  auto& request = options.request;
  scan_header header;
  if (options.phantom.empty()) {
    header = read_scan_header(options.scan, options.projections, options.geometry);
  } else {
    header.geometry = read_geometry(options.geometry);
    request.phantom_width = options.width;
  }
  request.geometry = header.geometry;
  request.shape = header.shape;
  bool const parallel = ct::rays_of(request.geometry.scan) == ct::beam::parallel;
  if (is_filtered(options.method) && parallel != (options.method == "fbp")) {
    throw invalid_argument(fmt::format("--method {} (the geometry has {} rays); give --method {}",
                                       options.method, parallel ? "parallel" : "cone",
                                       parallel ? "fbp" : "fdk"));
  }
  options.place = place_grid(options.grid, request);
  bool const shared = jobs::num_ranks() > 1;
  bool const by_views =
      shared && (!options.phantom.empty() || is_read_by_views(options.scan, options.projections));
  if (!is_filtered(options.method) && options.method != adjoint) {
    read_iterative_inputs(options.iterative, options.place, by_views, request);
  }
  if (options.table.water > 0) {
    request.table = table_of(options.table);
  }
  if (!options.phantom.empty()) {
    return std::nullopt;
  }
  std::vector<float> const all;
  bool const masked = request.iterative && request.iterative->reading_mask;
  if (by_views) {
    request.read_views =
        read_by_views(options.projections, request.shape,
                      masked ? files::finite_values::not_required : files::finite_values::required,
                      options.bytes_read);
    return std::nullopt;
  }
  bool const passes = request.memory && !request.iterative && jobs::num_ranks() == 1;
  return read_scan(options.scan, options.projections, options.geometry, header,
                   masked ? request.iterative->reading_mask->values : all,
                   passes && request.precision == precision::f32);
}

/// Warns where blocks of views are so small that their volume's copies take longer than kernels.
void warn_of_blocks(jobs::reconstruct_request const& request) {
  if (!request.memory || !request.iterative) {
    return;
  }
  // A block has no more views than the scan.
  std::int64_t const enough =
      std::min<std::int64_t>(90, ct::make_geometry(request.geometry.scan).num_views());
  std::visit(
      [&](auto const& of) {
        if constexpr (requires { of.block_views; }) {
          if (of.block_views > 0 && of.block_views < enough) {
            spdlog::warn(
                "blocks of {} views with --memory (the volume passes by once a block, and below {} "
                "views kernels are too short to hide it); give --block {} or more for speed",
                of.block_views, enough, enough);
          }
        }
      },
      request.iterative->options);
}

/// Warns where the scan saw more than the volume, or the detector, holds.
void warn_of_body(jobs::reconstruct_result const& result,
                  jobs::reconstruct_request const& request) {
  auto const& n = result.voxels_wanted;
  if (result.part_outside > 0) {
    spdlog::warn(
        "{:.1f} % of the rays with readings pass the volume by, or cross next to nothing of it "
        "(what was scanned is larger, and "
        "iterations put all of it into the voxels there are); give --extent {} {} {} or more, and "
        "crop the result",
        100 * result.part_outside, n[0], n[1], n[2]);
  } else if (n[0] > 0) {
    spdlog::warn(
        "{:.1f} % of the detector's rows end within what was scanned (by their readings it is "
        "larger than the volume, and iterations put all of it into the voxels there are); give "
        "--extent {} {} {} or more, and crop the result",
        100 * result.part_cut, n[0], n[1], n[2]);
  }
  if (!request.iterative && result.part_cut > 0 && request.filter.scan.truncation_correction == 0) {
    spdlog::warn(
        "{:.1f} % of the detector's rows end within what was scanned (filtered backprojection "
        "takes it to end there too, and values are too large); give --truncation-correction",
        100 * result.part_cut);
  }
}

/// Warns of what the scan, the readings and the iterations leave to wish for.
void warn_of(jobs::reconstruct_result const& result, jobs::reconstruct_request const& request) {
  if (result.blind_views > 0) {
    spdlog::warn(
        "{} of {} views see nothing of the volume (they add nothing to it); check the geometry, "
        "--extent, --spacing and --isocentre",
        result.blind_views, result.views);
  }
  warn_of_views_within(result.views_within, result.views);
  warn_of_body(result, request);
  if (result.dark_readings > 0) {
    spdlog::warn(
        "{} readings are those of less than one photon (their differences from projections are no "
        "noise, and may keep --stop-noise from ending the run); leave them out by --reading-mask",
        result.dark_readings);
  }
  if (result.are_clipped_left_out) {
    spdlog::warn(
        "{} readings are those of one photon, as a count of nothing that was put to one is (they "
        "add nothing to the noise, but their differences from projections may keep --stop-noise "
        "from ending the run); leave them out by --reading-mask",
        result.clipped_readings);
  } else if (result.clipped_readings > 0) {
    spdlog::warn(
        "{} readings equal the largest, {:g} (where a count of nothing was replaced they are no "
        "counts, and --stop-noise takes each of them for one); leave them out by --reading-mask",
        result.clipped_readings, result.largest_reading);
  }
  // Total variation alone has a box.
  if (result.box && !result.rule_met && request.iterative->rules.gap != 0) {
    spdlog::warn(
        "the gap is {:.2e} after {} iterations, above --stop-gap {:g} (the value may be that part "
        "above the least); give more --iterations{}",
        result.history.back().gap, result.history.size(), request.iterative->rules.gap,
        request.precision == precision::f32 ? ", or --precision double where it falls no further"
                                            : "");
  }
}

json document_of(reconstruct_options const& options, jobs::reconstruct_result const& result) {
  auto const& request = options.request;
  auto const& v = result.volume;
  bool const is_adjoint = request.adjoint_of.has_value();
  json document = {
      {"isocenter", ISO_VERSION},
      {"operation", is_adjoint ? adjoint : "reconstruct"},
      {"method", request.adjoint_of ? std::string(to_word(*request.adjoint_of)) : options.method},
      {"backend", request.backend},
      {"precision", to_word(request.precision)},
      {"extent", v.extent},
      {"spacing", v.spacing},
      {"origin", v.origin},
      {"voxels", v.extent[0] * v.extent[1] * v.extent[2]},
      {"views", result.views},
      {"isocentre_mm", options.place.isocentre},
      {"unit", v.unit},
      {"hash", result.hash},
      {"time_ms", result.time_ms},
      {"blind_views", result.blind_views},
      {"views_within", result.views_within},
      {"part_outside", result.part_outside},
      {"part_cut", result.part_cut}};
  if (result.voxels_wanted[0] > 0) {
    document["extent_wanted"] = result.voxels_wanted;
  }
  if (request.iterative) {
    auto const method = request.iterative->method;
    auto const taken = [&](field const& f) { return ct::takes_field(method, f.name); };
    std::visit([&](auto const& of) { put_fields(document, of, taken); },
               request.iterative->options);
    document["projector"] = jobs::name_of(request.iterative->projector());
    document["iterations"] = result.history.size();
    document["resumed_iterations"] = result.resumed;
    document["relative_residual"] = result.history.back().relative_residual;
    document["residual_of"] =
        ct::tells_residual_before(method) ? "the volume before the last iteration" : "the result";
    if (request.iterative->stop_noise) {
      document["noise"] = result.noise;
    }
    if (result.final_residual) {
      document["final_residual"] = (*result.final_residual)[0];
      document["final_relative_residual"] = (*result.final_residual)[1];
    }
    if (result.box) {
      document["gap"] = result.history.back().gap;
      document["box"] = *result.box;
    }
  } else if (!is_adjoint) {
    auto filter = request.filter;
    filter.scan.arc = result.arc;
    filter.scan.detector = result.detector;
    put_fields(document, filter);
  }
  if (result.error) {
    document["error"] = {{"mean_absolute", (*result.error)[0]},
                         {"root_mean_square", (*result.error)[1]}};
  }
  return document;
}

/// Returns what was done, as the line that is printed has it.
std::string how_of(jobs::reconstruct_request const& request,
                   jobs::reconstruct_result const& result) {
  auto how = std::string(to_word(request.filter.window)) +
             (result.arc == ct::scan_arc::short_scan ? ", short scan" : "") +
             (result.detector == ct::detector_placement::displaced ? ", displaced detector" : "");
  if (request.adjoint_of) {
    how = to_word(*request.adjoint_of);
  } else if (request.iterative) {
    auto const& last = result.history.back();
    how =
        fmt::format("{} iterations, residual {:.3e}{}", last.number, last.relative_residual,
                    ct::tells_residual_before(request.iterative->method) ? " before the last" : "");
    if (result.final_residual) {
      how += fmt::format(", {:.3e} of the result", (*result.final_residual)[1]);
    }
    if (result.box) {
      how += fmt::format(", gap {:.2e} on [{:.4g}, {:.4g}] /mm", last.gap, (*result.box)[0],
                         (*result.box)[1]);
    }
    if (result.resumed > 0) {
      how += fmt::format(", {} of them before", result.resumed);
    }
  }
  return how;
}

void print_result(reconstruct_options const& options, jobs::reconstruct_result const& result) {
  auto const& v = result.volume;
  auto const& s = v.spacing;
  bool const cubes = s[0] == s[1] && s[1] == s[2];
  fmt::print("{} x {} x {} voxels of {} mm by {} ({}) on {} in {}, in {}; hash {}\n", v.extent[0],
             v.extent[1], v.extent[2],
             cubes ? fmt::format("{:.4g}", s[0])
                   : fmt::format("{:.4g} x {:.4g} x {:.4g}", s[0], s[1], s[2]),
             options.method, how_of(options.request, result), options.request.backend,
             time_text(result.time_ms), v.unit == "HU" ? "Hounsfield units" : v.unit, result.hash);
  if (result.error) {
    fmt::print("difference from the phantom: mean absolute {:.4g}, root mean square {:.4g} /mm\n",
               (*result.error)[0], (*result.error)[1]);
  }
}

/// Prepares the files of the volume, its picture and the history of its iterations.
/// \param volume  the first, where ranks wrote it
std::vector<files::atomic_file> prepare_outputs(reconstruct_options const& options,
                                                jobs::reconstruct_result const& result,
                                                std::optional<files::atomic_file> volume,
                                                json& document) {
  auto const& v = result.volume;
  std::vector<files::atomic_file> outputs;
  if (volume) {
    outputs.push_back(std::move(*volume));
  } else if (!options.output.empty()) {
    if (names_folder(options.output)) {
      auto const& like = options.grid.like;
      outputs.push_back(files::prepare_dicom_series(
          options.output, v, belonging_to(like, options.grid.folder), asked_of_user()));
    } else {
      outputs.push_back(files::prepare_volume(options.output, v, asked_of_user()));
    }
  }
  if (!options.png.empty()) {
    auto const image = middle_slices(v);
    auto const window = window_of_slices(v);
    outputs.push_back(files::prepare_png(options.png, image, window, files::png_depth::bits16));
    spdlog::info("'{}': middle slices across z, y and x, black is {:.6g}, white {:.6g}",
                 options.png, window.black, window.white);
    document["picture"] = {{"black", window.black}, {"white", window.white}};
  }
  if (!options.iterative.history.empty()) {
    outputs.push_back(prepare_history(options.iterative.history, result.history));
  }
  return outputs;
}

int run_reconstruct(reconstruct_options& options) {
  check(options);
  if (auto const method = from_word<ct::iterative_method>(options.method)) {
    choose_method(options.iterative, *method);
  }
  auto scan = read_inputs(options);
  auto& request = options.request;
  jobs::session const session(options.common.threads, device_of_rank(options.common));
  request.backend =
      sole_backend(options.common.backend, request.adjoint_of ? adjoint : "reconstruct");
  json corrections = json::object();
  if (scan) {
    if (request.iterative && request.iterative->reading_mask) {
      scan->mask = request.iterative->reading_mask->values;
    }
    scan->batch_bytes = std::min(scan->batch_bytes, request.memory.value_or(scan->batch_bytes));
    auto corrected =
        correct_scan(std::move(*scan), request.backend, terminal_observer(), corrections);
    request.shape = corrected.shape;
    request.projections = std::move(corrected.projections);
    request.stored = std::move(corrected.stored);
    request.geometry = std::move(corrected.geometry);
  }
  warn_of_blocks(request);
  // A picture shows slices across all planes.
  request.keeps_planes = jobs::num_ranks() > 1 && options.png.empty() &&
                         (options.output.empty() || files::takes_planes(options.output));
  bool const shares = request.keeps_planes && !options.output.empty();
  if (shares) {
    jobs::check_folder_of_ranks(options.output);
  }
  auto result = jobs::reconstruct(request, terminal_observer());
  move_to(options.place, result.volume);
  auto written = shares ? jobs::write_planes_of_ranks(options.output, result.volume, result.planes,
                                                      asked_of_user())
                        : jobs::written_planes();
  auto const read = jobs::numbers_of_ranks(options.bytes_read + options.iterative.bytes_read);
  auto const needed = jobs::numbers_of_ranks(std::uint64_t(result.bytes_needed));
  if (!jobs::is_first_rank()) {
    return success;  // which says what there is, and puts files in place
  }
  warn_of(result, request);
  json document = document_of(options, result);
  document.update(corrections);
  auto outputs = prepare_outputs(options, result, std::move(written.file), document);
  if (options.common.json_file != "-") {
    print_result(options, result);
  }
  tell_streaming(options.common, result.streaming, document);
  tell_scratch(options.common, document);
  tell_repeats(options.common, result.repeats, document);
  tell_ranks(document, planes_and_rows);
  tell_bytes(document, {read, written.bytes, needed});
  write_json(options.common.json_file, document, std::move(outputs));
  return success;
}

void add_output_options(CLI::App& sub, reconstruct_options& options) {
  add_words(sub, "--precision", options.request.precision,
            "of all arithmetic; readings are taken as float and line integrals made of them in "
            "float");
  add_grid_options(sub, options.grid);
  sub.add_option(
      "--output", options.output,
      "volume: .mha, .nrrd, .nii or .nii.gz; or a folder, which ends in /, for a DICOM CT series, "
      "with the patient, study and frame of reference of --like where that is DICOM");
  sub.add_option(
      "--png", options.png,
      "picture of the middle slices, 16 bits: across z with y downwards, across y and x with z "
      "upwards; all but the darkest and the brightest half per cent of the voxels that lie in the "
      "scanned cylinder are within the window, which is printed");
}

void add_input_options(CLI::App& sub, reconstruct_options& options) {
  auto* const stack = sub.add_option(
      "--projections", options.projections,
      "stack of line integrals (.h5) as iso project writes it, or a detector's images: a folder or "
      "a name with a * for the number, in quotes (TIFF, raw)");
  auto* const geometry =
      sub.add_option("--geometry", options.geometry,
                     "geometry file (.json, .xtekct; docs/formats.md); default: the stack's own");
  auto* const phantom = sub.add_option("--phantom", options.phantom,
                                       "shepp-logan, its exact line integrals instead of a stack")
                            ->transform(one_of({"shepp-logan"}))
                            ->excludes(stack)
                            ->needs(geometry);
  sub.add_option("--width", options.width, "side of the phantom's cube, mm")
      ->check(number_from(1e-3, 1e6))
      ->needs(phantom)
      ->capture_default_str();
}

}  // namespace

command add_reconstruct(CLI::App& app) {
  auto const options = std::make_shared<reconstruct_options>();
  auto* const sub = app.add_subcommand(
      "reconstruct", "A volume from projections by filtered backprojection or iterations");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_share_gpus(*sub, options->common);
  add_input_options(*sub, *options);
  add_scan_options(*sub, options->scan);
  auto methods = texts_of<ct::iterative_method>();
  methods.insert(methods.begin(), {"fdk", "fbp"});
  sub->add_option("--method", options->method,
                  "fdk: cone beams; fbp: parallel beams; the others, by iterations, any scan")
      ->transform(one_of(methods))
      ->capture_default_str();
  options->of_filter = add_fields(*sub, options->request.filter);
  options->of_iterations = add_iterative_options(*sub, options->iterative);
  options->of_iterations.push_back(add_extend_rays(*sub, options->request.extend_rays));
  add_output_options(*sub, *options);
  add_memory(*sub, options->request.memory);
  add_scratch(*sub);
  add_hounsfield_options(*sub, options->table, nullptr);
  add_repeats(*sub, options->request.repeats,
              "filter and backprojection, or the iterations from their start, with readings, plan, "
              "what iterations prepare, and volume where it computes")
      ->excludes(sub->get_option("--checkpoint"));
  return [options] { return run_reconstruct(*options); };
}

command add_back_project(CLI::App& app) {
  auto const options = std::make_shared<reconstruct_options>();
  options->method = adjoint;
  auto* const sub = app.add_subcommand(
      adjoint, "The adjoint of a projection: what every voxel gets of its rays' readings, mm");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_share_gpus(*sub, options->common);
  add_input_options(*sub, *options);
  add_scan_options(*sub, options->scan);
  add_extend_rays(*sub, options->request.extend_rays);
  options->request.adjoint_of = ct::projector::joseph_linear;
  add_words(*sub, "--method", *options->request.adjoint_of,
            "of the projection, as iso project has it");
  sub->add_option("--oversampling", options->request.oversampling,
                  "exact methods: rays a pixel along u and along v")
      ->check(whole_from(1, 64))
      ->capture_default_str();
  add_output_options(*sub, *options);
  add_memory(*sub, options->request.memory);
  add_scratch(*sub);
  add_repeats(*sub, options->request.repeats,
              "the adjoint, with readings, geometry and volume where it computes");
  return [options] { return run_reconstruct(*options); };
}

}  // namespace iso::cli
