// SPDX-License-Identifier: BSD-3-Clause
#include "scan_options.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>

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
  std::vector<std::int64_t> extent;
  double water = 0;
  scan_options scan;
  jobs::reconstruct_request request;
};

// Everything that can be wrong before any work is done.
void check_outputs(reconstruct_options const& options) {
  if (options.output.empty() && options.png.empty() && options.common.json_file.empty()) {
    throw invalid_argument(
        "nothing to write (the result would be lost) give --output, --png or --json");
  }
  if (!options.output.empty() && !files::is_image_path(options.output)) {
    throw file_error(
        fmt::format("'{}': ending '{}' is not a format for volumes (.mha, .nrrd, .nii and .nii.gz "
                    "are)",
                    options.output, files::ending(options.output)));
  }
  check_written(options.output, options.png, options.common.json_file,
                {options.geometry, options.projections});
}

/// The readings that are reconstructed from; none where a phantom is.
std::optional<jobs::scan_request> read_inputs(reconstruct_options& options) {
  auto& request = options.request;
  std::optional<jobs::scan_request> scan;
  if (options.phantom.empty()) {
    scan = read_scan(options.scan, options.projections, options.geometry);
    request.geometry = scan->geometry;
  } else {
    request.geometry = files::read_geometry(options.geometry);
    request.phantom_width = options.width;
  }
  bool const parallel = request.geometry.kind == files::scan_kind::circular_parallel ||
                        (request.geometry.kind == files::scan_kind::vectors &&
                         request.geometry.rays == files::ray_kind::parallel);
  if (parallel != (options.method == "fbp")) {
    throw invalid_argument(fmt::format("--method {} (the geometry has {} rays) give --method {}",
                                       options.method, parallel ? "parallel" : "cone",
                                       parallel ? "fbp" : "fdk"));
  }
  if (!options.extent.empty()) {
    std::copy_n(options.extent.begin(), 3, request.extent.begin());
  }
  if (options.water > 0) {
    request.water_attenuation = options.water;
  }
  return scan;
}

// The middle slices across z, y and x, side by side. Across z, y grows downwards: of a patient,
// whose y runs to the back, the front is above.
files::gray_image picture(files::host_volume const& v) {
  auto const [nx, ny, nz] = v.extent;
  auto const at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return v.values[std::size_t((i * ny + j) * nz + k)];
  };
  float const least = *std::min_element(v.values.begin(), v.values.end());
  files::gray_image image{nx + nx + ny, std::max(ny, nz), {}};
  for (std::int64_t row = 0; row < image.height; ++row) {
    for (std::int64_t x = 0; x < nx; ++x) {
      image.values.push_back(row < ny ? at(x, row, nz / 2) : least);
    }
    for (std::int64_t x = 0; x < nx; ++x) {
      image.values.push_back(row < nz ? at(x, ny / 2, nz - 1 - row) : least);
    }
    for (std::int64_t y = 0; y < ny; ++y) {
      image.values.push_back(row < nz ? at(nx / 2, y, nz - 1 - row) : least);
    }
  }
  return image;
}

int run_reconstruct(reconstruct_options& options) {
  check_outputs(options);
  auto scan = read_inputs(options);
  auto& request = options.request;
  jobs::session const session(options.common.threads);
  request.backend = sole_backend(options.common.backend, "reconstruct");
  json corrections = json::object();
  if (scan) {
    auto corrected =
        correct_scan(std::move(*scan), request.backend, terminal_observer(), corrections);
    request.shape = corrected.shape;
    request.projections = std::move(corrected.projections);
    request.geometry = std::move(corrected.geometry);
  }
  auto const result = jobs::reconstruct(request, terminal_observer());
  if (result.blind_views > 0) {
    spdlog::warn(
        "{} of {} views see nothing of the volume (they add nothing to it) check the geometry, "
        "--extent and --spacing",
        result.blind_views, result.views);
  }
  auto const& v = result.volume;
  json document = {{"isocenter", ISO_VERSION},
                   {"operation", "reconstruct"},
                   {"method", options.method},
                   {"window", request.window},
                   {"cutoff", request.cutoff},
                   {"arc", result.arc},
                   {"detector", result.detector},
                   {"continuation", request.continuation},
                   {"backend", request.backend},
                   {"precision", request.precision},
                   {"extent", v.extent},
                   {"spacing", v.spacing},
                   {"hash", result.hash},
                   {"time_ms", result.time_ms},
                   {"blind_views", result.blind_views}};
  if (result.error) {
    document["error"] = {{"mean_absolute", (*result.error)[0]},
                         {"root_mean_square", (*result.error)[1]}};
  }
  document.update(corrections);
  std::vector<files::atomic_file> outputs;
  if (!options.output.empty()) {
    outputs.push_back(files::prepare_volume(options.output, v));
  }
  if (!options.png.empty()) {
    auto const image = picture(v);
    auto const window = files::full_window(image);
    outputs.push_back(files::prepare_png(options.png, image, window, files::png_depth::bits16));
    spdlog::info("'{}': middle slices across z, y and x, black is {:.6g}, white {:.6g}",
                 options.png, window.black, window.white);
    document["picture"] = {{"black", window.black}, {"white", window.white}};
  }
  if (options.common.json_file != "-") {
    fmt::print("{} x {} x {} voxels of {:.4g} mm by {} ({}{}{}) on {} in {:.4g} ms; hash {}\n",
               v.extent[0], v.extent[1], v.extent[2], v.spacing[0], options.method, request.window,
               result.arc == "short" ? ", short scan" : "",
               result.detector == "offset" ? ", offset detector" : "", request.backend,
               result.time_ms, result.hash);
    if (result.error) {
      fmt::print("difference from the phantom: mean absolute {:.4g}, root mean square {:.4g} /mm\n",
                 (*result.error)[0], (*result.error)[1]);
    }
  }
  write_json(options.common.json_file, document, std::move(outputs));
  return success;
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
                            ->check(CLI::IsMember({"shepp-logan"}))
                            ->excludes(stack)
                            ->needs(geometry);
  sub.add_option("--width", options.width, "side of the phantom's cube, mm")
      ->check(number_from(1e-3, 1e6))
      ->needs(phantom)
      ->capture_default_str();
}

void add_filter_options(CLI::App& sub, jobs::reconstruct_request& request) {
  sub.add_option("--window", request.window, "window of the ramp filter")
      ->check(CLI::IsMember(jobs::window_names()))
      ->capture_default_str();
  sub.add_option("--cutoff", request.cutoff, "of the detector's Nyquist frequency")
      ->check(number_from(1e-3, 1))
      ->capture_default_str();
  sub.add_option("--arc", request.arc,
                 "full: the whole circle; short: an arc of half a circle and the fan or more, by "
                 "Parker's weights; automatic: by the views' angles")
      ->check(CLI::IsMember(jobs::arc_names()))
      ->capture_default_str();
  sub.add_option("--detector", request.detector,
                 "offset: opposite views complete each other (half-fan); centred: they do not; "
                 "automatic: offset where the axis is seen beside the middle by more than a tenth "
                 "of the width")
      ->check(CLI::IsMember(jobs::detector_names()))
      ->capture_default_str();
  sub.add_option("--continuation", request.continuation,
                 "objects wider than the detector: columns beyond its edges over which readings "
                 "fall to zero")
      ->check(CLI::Range(0, 65536))
      ->capture_default_str();
  sub.add_option("--max-roll", request.max_roll,
                 "degrees by which the detector's rows may leave the plane of rotation; from 5 on "
                 "what changes along z is visibly wrong")
      ->check(number_from(0, 11.45))
      ->capture_default_str();
}

}  // namespace

command add_reconstruct(CLI::App& app) {
  auto const options = std::make_shared<reconstruct_options>();
  auto* const sub =
      app.add_subcommand("reconstruct", "A volume from projections by filtered backprojection");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_input_options(*sub, *options);
  add_scan_options(*sub, options->scan);
  sub->add_option("--method", options->method, "fdk: cone beams; fbp: parallel beams")
      ->check(CLI::IsMember({"fdk", "fbp"}))
      ->capture_default_str();
  add_filter_options(*sub, options->request);
  sub->add_option("--precision", options->request.precision,
                  "of all arithmetic; readings are taken as float and line integrals made of them "
                  "in float")
      ->check(CLI::IsMember({"float", "double"}))
      ->capture_default_str();
  sub->add_option("--extent", options->extent, "voxels along x, y, z (default: as many as pixels)")
      ->expected(3)
      ->check(CLI::Range(1, 65536));
  sub->add_option("--spacing", options->request.spacing,
                  "of voxels, mm (default: the pixels' distance at the z axis)")
      ->check(number_from(1e-6, 1e6));
  sub->add_option("--water", options->water,
                  "attenuation of water, 1/mm: the result is in Hounsfield units")
      ->check(number_from(1e-9, 1e3));
  sub->add_option("--output", options->output, "volume: .mha, .nrrd, .nii or .nii.gz");
  sub->add_option(
      "--png", options->png,
      "picture of the middle slices, 16 bits: across z with y downwards, across y and x with z "
      "upwards");
  return [options] {
    if (options->projections.empty() == options->phantom.empty()) {
      throw invalid_argument(
          "reconstruct: no projections give either --projections FILE or --phantom shepp-logan");
    }
    return run_reconstruct(*options);
  };
}

}  // namespace iso::cli
