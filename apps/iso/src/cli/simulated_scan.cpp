// SPDX-License-Identifier: BSD-3-Clause
#include "simulated_scan.hpp"

#include <iso/core/error.hpp>
#include <iso/files/image_stack.hpp>

#include <fmt/core.h>

#include <filesystem>

namespace iso::cli {
namespace {

namespace fs = std::filesystem;

void prepare_series(std::vector<files::atomic_file>& outputs, fs::path const& folder,
                    char const* name, std::vector<float> const& images,
                    std::array<std::int64_t, 3> const& extent) {
  auto const size = std::size_t(extent[1] * extent[2]);
  for (std::size_t i = 0; i * size < images.size(); ++i) {
    asked_of_user().step(1);
    outputs.push_back(files::prepare_tiff(folder / fmt::format("{}_{:04}.tif", name, i),
                                          std::span<float const>(images).subspan(i * size, size),
                                          extent[1], extent[2], files::pixel_type::uint16));
  }
}

}  // namespace

void add_simulated_scan_options(CLI::App& app, simulated_scan_options& options) {
  auto& request = options.request;
  auto* const folder =
      app.add_option("--scan", options.folder,
                     "new folder for the files of a scan: 16-bit TIFF images with noise, gains and "
                     "dead pixels, flats, darks, geometry.json");
  app.add_option("--photons", request.photons, "counts of a pixel in the open beam")
      ->check(number_from(1, 1e8))
      ->needs(folder)
      ->capture_default_str();
  app.add_option("--gain-spread", request.gain_spread, "of the pixels about 1")
      ->check(number_from(0, 0.9))
      ->needs(folder)
      ->capture_default_str();
  app.add_option("--dead-share", request.dead_share, "of the pixels")
      ->check(number_from(0, 0.5))
      ->needs(folder)
      ->capture_default_str();
  app.add_option("--flat-images", request.flats, "images of the open beam")
      ->check(whole_from(1, 9999))
      ->needs(folder)
      ->capture_default_str();
  app.add_option("--dark-images", request.darks, "images without beam")
      ->check(whole_from(1, 9999))
      ->needs(folder)
      ->capture_default_str();
  app.add_option("--seed", request.seed, "of the random numbers")
      ->check(whole_number())
      ->needs(folder)
      ->capture_default_str();
}

void check_scan_folder(simulated_scan_options const& options) {
  if (options.folder.empty()) {
    return;
  }
  fs::path const folder = options.folder;
  std::error_code failure;
  if (!fs::exists(folder, failure)) {
    auto const parent = fs::absolute(folder, failure).parent_path();
    if (!fs::is_directory(parent, failure)) {
      throw file_error(fmt::format(
          "'{}': folder '{}' is not there (nothing can be written in it); make it first",
          options.folder, parent.string()));
    }
  } else if (!fs::is_directory(folder, failure) || !fs::is_empty(folder, failure)) {
    throw file_error(
        fmt::format("'{}': is not an empty folder (images of two scans would mix); name a new one",
                    options.folder));
  }
}

std::vector<files::atomic_file> prepare_scan(simulated_scan_options const& options,
                                             jobs::simulated_scan const& scan,
                                             std::string const& geometry) {
  fs::path const folder = options.folder;
  std::vector<files::atomic_file> outputs;
  auto const& extent = options.request.extent;
  prepare_series(outputs, folder, "projection", scan.readings, extent);
  prepare_series(outputs, folder, "flat", scan.flats, extent);
  prepare_series(outputs, folder, "dark", scan.darks, extent);
  outputs.push_back(files::prepare_text(folder / "geometry.json", geometry + "\n"));
  return outputs;
}

}  // namespace iso::cli
