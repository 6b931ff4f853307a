// SPDX-License-Identifier: BSD-3-Clause
#include "scan_options.hpp"

#include "described.hpp"

#include <iso/core/error.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/text.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/files/xtekct_file.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>

namespace iso::cli {
namespace {

namespace fs = std::filesystem;

double number(std::string const& option, std::string text, double low, double high) {
  auto const problem = number_from(low, high)(text);
  if (!problem.empty()) {
    throw invalid_argument(fmt::format("{}: {}", option, problem));
  }
  double value = 0;
  CLI::detail::lexical_cast(text, value);
  return value;
}

/// A line a pixel: u and v, counted from 0. What follows a # is a comment.
std::vector<std::array<std::int64_t, 2>> read_dead_pixels(fs::path const& path) {
  std::vector<std::array<std::int64_t, 2>> pixels;
  std::string const text = files::read_text(path, std::size_t(1) << 28, asked_of_user());
  std::int64_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    auto const end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    auto const plain = files::one_line(line.substr(0, line.find('#')));
    if (plain.empty()) {
      continue;
    }
    std::array<std::int64_t, 2> pixel{};
    char const* at = plain.data();
    char const* const last = plain.data() + plain.size();
    bool good = true;
    for (auto& coordinate : pixel) {
      while (at != last && (*at == ' ' || *at == ',')) {
        ++at;
      }
      auto const read = std::from_chars(at, last, coordinate);
      good = good && read.ec == std::errc();
      at = read.ptr;
    }
    if (!good || at != last) {
      files::detail::refuse(path, fmt::format("line {} is '{}' (expected: u and v of a dead pixel, "
                                              "counted from 0); write these two numbers",
                                              line_number, files::shortened(plain, 60)));
    }
    pixels.push_back(pixel);
  }
  return pixels;
}

std::optional<files::image_stack> read_field(std::string const& name,
                                             files::image_request request) {
  if (name.empty()) {
    return std::nullopt;
  }
  request.count = 0;
  return files::read_images(name, request);
}

void read_corrections(scan_options const& options, std::string const& geometry_file,
                      files::image_request const& images, jobs::scan_request& request) {
  request.flats = read_field(options.flats, images);
  request.darks = read_field(options.darks, images);
  if (!options.white.empty()) {
    request.white = number("--white", options.white, 1e-6, 1e12);
  } else if (!request.flats && files::ending(geometry_file) == ".xtekct") {
    request.white = files::read_xtekct(geometry_file).white_level;
  }
  if (request.white && request.flats) {
    throw invalid_argument(
        "--white with --flats (both say what an open beam reads); give one of them");
  }
  // By itself where there are flats: a pixel without response would spoil its whole row.
  request.find_dead = options.dead == "find" || (options.dead.empty() && request.flats);
  if (!options.dead.empty() && options.dead != "find" && options.dead != "none") {
    request.dead = read_dead_pixels(options.dead);
  }
}

}  // namespace

bool is_image_series(std::string const& name) {
  auto const end = files::ending(name);
  std::error_code unknown;
  return fs::is_directory(name, unknown) || (end != ".h5" && end != ".hdf5");
}

void add_scan_options(CLI::App& app, scan_options& options) {
  app.add_option("--flats", options.flats,
                 "images of the open beam: folder, series or file; several are averaged");
  app.add_option("--darks", options.darks, "images without beam, likewise (default: 0)");
  app.add_option(
      "--white", options.white,
      "reading of the open beam, instead of --flats (default: WhiteLevel of an .xtekct)");
  app.add_flag("--line-integrals", options.line_integrals,
               "the images hold line integrals already");
  app.add_option("--dead-pixels", options.dead,
                 "'find': by flats and darks (so with --flats), 'none', or a text file with u and "
                 "v of a pixel a line");
  add_words(app, "--raw-type", options.raw, "numbers of raw files, little-endian");
  app.add_option("--centre-of-rotation", options.centre,
                 "u at which the axis is seen, in pixels from the centre of the first one, or "
                 "'estimate' (default: as the geometry says)");
}

scan_header read_scan_header(scan_options const& options, std::string const& projections,
                             std::string const& geometry_file) {
  bool const corrections = !options.flats.empty() || !options.darks.empty() ||
                           !options.white.empty() || !options.dead.empty();
  if (!is_image_series(projections)) {
    if (corrections || options.line_integrals) {
      throw invalid_argument(
          fmt::format("'{}' with options for images (a stack holds line integrals already); leave "
                      "out --flats, --darks, --white, --dead-pixels and --line-integrals",
                      projections));
    }
    auto const stack =
        files::read_stack_header(projections, geometry_file.empty() ? files::stack_geometry::read
                                                                    : files::stack_geometry::leave);
    if (geometry_file.empty() && stack.geometry.empty()) {
      throw file_error(
          fmt::format("'{}': has no geometry (dataset /geometry with the JSON text of a geometry "
                      "file is missing); write it there, or give --geometry",
                      projections));
    }
    if (!stack.unit.empty() && stack.unit != "1") {
      spdlog::warn(
          "'{}': /projections is in '{}' (line integrals, which have no unit, are expected; the "
          "numbers are taken as they are); check the stack",
          projections, files::shortened(files::one_line(stack.unit), 40));
    }
    return {geometry_file.empty() ? files::parse_geometry(stack.geometry, projections)
                                  : read_geometry(geometry_file),
            stack.extent};
  }
  std::error_code unknown;
  if (files::is_image_path(projections) && !fs::is_directory(projections, unknown)) {
    throw file_error(
        fmt::format("'{}': projections are not read from {} (of stacks only .h5 and .hdf5 are); "
                    "write them as .h5, as iso project --output NAME.h5 does",
                    projections, files::ending(projections)));
  }
  if (geometry_file.empty()) {
    throw invalid_argument(
        fmt::format("'{}' without --geometry (images do not say where they were taken); give a "
                    "geometry file, .json or .xtekct",
                    projections));
  }
  if (options.line_integrals && corrections) {
    throw invalid_argument(
        "--line-integrals with --flats, --darks, --white or --dead-pixels (line integrals are not "
        "corrected again); leave one of them out");
  }
  scan_header header{read_geometry(geometry_file)};
  auto const pixels = ct::detector_pixels(header.geometry.scan);
  header.shape = {ct::num_views(header.geometry.scan), pixels[0], pixels[1]};
  return header;
}

jobs::scan_request read_scan(scan_options const& options, std::string const& projections,
                             std::string const& geometry_file, scan_header const& header,
                             std::vector<float> const& mask, bool keeps_stored) {
  jobs::scan_request request;
  request.geometry = header.geometry;
  if (!options.centre.empty()) {
    request.find_centre = options.centre == "estimate";
    if (!request.find_centre) {
      request.centre = number("--centre-of-rotation", options.centre, -1e6, 1e6);
    }
  }
  keeps_stored = keeps_stored && !request.find_centre;
  if (!is_image_series(projections)) {
    request.already_integrals = true;
    if (keeps_stored) {
      request.stored = files::read_stored_stack(projections, asked_of_user());
    }
    if (!request.stored) {
      auto stack = files::read_stack<float>(projections, files::stack_geometry::leave, mask,
                                            files::finite_values::required, asked_of_user());
      request.readings = {stack.extent, files::pixel_type::float32, std::move(stack.values)};
    }
    return request;
  }
  auto const& n = header.shape;
  files::image_request images{n[0], {n[1], n[2]}, options.raw};
  request.already_integrals = options.line_integrals;
  if (!options.line_integrals) {
    read_corrections(options, geometry_file, images, request);
  } else {
    // Counts must be finite all the same: dead pixels are replaced from their neighbours.
    images.mask = mask;
    if (keeps_stored) {
      request.stored = files::read_stored_images(projections, images);
    }
  }
  if (!request.stored) {
    request.readings = files::read_images(projections, images);
  }
  return request;
}

bool is_read_by_views(scan_options const& options, std::string const& projections) {
  return jobs::num_ranks() > 1 && options.centre.empty() && !is_image_series(projections);
}

jobs::views_reader read_by_views(std::string const& stack, std::array<std::int64_t, 3> const& shape,
                                 files::finite_values values, std::uint64_t& bytes_read) {
  constexpr std::int64_t most = std::int64_t(1) << 24;  // numbers that all ranks read to compare
  jobs::views_reader reader;
  reader.piece = files::views_of_piece(stack);
  std::int64_t const image = shape[1] * shape[2];
  std::string said =
      fmt::format("{} {} {}", fs::file_size(stack), fmt::join(shape, " "), reader.piece);
  if (reader.piece * image <= most) {
    std::vector<float> first(static_cast<std::size_t>(image));
    bytes_read += std::uint64_t(files::read_views<float>(
        stack, 0, first, files::finite_values::not_required, asked_of_user()));
    said.append(reinterpret_cast<char const*>(first.data()), first.size() * sizeof(float));
  }
  jobs::check_alike(jobs::number_of_text(said),
                    "processes with different readings (each reads its views of the file "
                    "itself); name files on a file system that all see");
  reader.read = [stack, values, &bytes_read](std::int64_t first, std::span<float> views) {
    bytes_read +=
        std::uint64_t(files::read_views<float>(stack, first, views, values, asked_of_user()));
  };
  return reader;
}

jobs::scan_result correct_scan(jobs::scan_request request, std::string const& backend,
                               jobs::observer const& watch, json& facts) {
  bool const corrected = !request.already_integrals;
  if (!corrected && !request.centre && !request.find_centre) {
    jobs::scan_result unchanged;
    unchanged.shape = request.stored ? request.stored->extent : request.readings.extent;
    unchanged.projections = std::move(request.readings.values);
    unchanged.stored = std::move(request.stored);
    unchanged.geometry = std::move(request.geometry);
    return unchanged;
  }
  request.backend = backend;
  auto result = jobs::line_integrals_of(std::move(request), watch);
  if (corrected) {
    facts["dead_pixels"] = result.dead_pixels;
    facts["opaque_readings"] = result.opaque;
    spdlog::info("{} dead pixels replaced in every view", result.dead_pixels);
    if (result.opaque > 0) {
      spdlog::warn(
          "{} of {} readings are too dark to tell a line integral (they count as {:.4g}); take "
          "more photons, or less absorption",
          result.opaque, result.projections.size(), 14 * std::log(2.0));
    }
  }
  if (result.centre) {
    facts["centre_of_rotation"] = *result.centre;
    spdlog::info("axis of rotation at u = {:.3f} pixels", *result.centre);
  }
  return result;
}

}  // namespace iso::cli
