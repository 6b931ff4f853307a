// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_slices.hpp"
#include "memory.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_series.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using namespace detail;

void check_one_series(fs::path const& folder, std::vector<slice> const& slices) {
  std::set<std::string> series;
  for (auto const& s : slices) {
    series.insert(s.identity.series);
  }
  if (series.size() > 1) {
    refuse(folder, fmt::format("holds {} CT series, {} and {}{} (one is read); put each series "
                               "into a folder of its own",
                               series.size(), *series.begin(), *std::next(series.begin()),
                               series.size() > 2 ? " among them" : ""));
  }
}

void check_slice(fs::path const& folder, slice& s) {
  if (s.is_localizer) {
    refuse(folder,
           "holds a localizer among its CT images (it is no slice); remove it from the folder");
  }
  s.how = align_planes(folder, s.orientation);
  s.how.sign[2] = 1;
  if (!(std::abs(s.tilt) <= 1e-3)) {
    refuse(folder, fmt::format("was scanned with the gantry tilted by {} degrees (its planes are "
                               "not perpendicular to z); resample it to axial planes",
                               s.tilt));
  }
  if (s.position.size() != 3 || s.pixel.size() != 2 || s.columns < 1 || s.rows < 1) {
    refuse(
        folder,
        fmt::format("holds a slice with {} coordinates of its position, {} pixel spacings, and "
                    "{} x {} pixels (three, two, and at least one each way are expected); export "
                    "it again",
                    s.position.size(), s.pixel.size(), s.columns, s.rows));
  }
  if (!is_known(s.bits)) {
    refuse(
        folder,
        fmt::format(
            "holds pixels of {} bits in {} (the low ones of 8 or 16 are expected); export it again",
            s.bits.stored, s.bits.allocated));
  }
  check_spacing(folder, s.pixel[0]);
  check_spacing(folder, s.pixel[1]);
  for (double const coordinate : s.position) {
    check_coordinate(folder, coordinate);
  }
  if (s.samples != 1) {
    refuse(folder, fmt::format("holds an image of {} numbers a pixel (one is expected, the CT "
                               "number; this may be a picture in colours); export it without them",
                               s.samples));
  }
  if (!s.is_grey) {
    refuse(folder,
           "holds an image in colours (its Photometric Interpretation is not MONOCHROME2); export "
           "it without them");
  }
  if (!s.is_rescaled) {
    refuse(folder,
           "holds a slice without Rescale Slope or Rescale Intercept (its numbers need not be in "
           "Hounsfield units); export it again");
  }
  if (s.slope == 0) {
    refuse(folder,
           fmt::format("is rescaled by slope {} and intercept {} (the first must not be 0); "
                       "export it again",
                       s.slope, s.intercept));
  }
  if (!s.unit.empty() && s.unit != "HU" && s.unit != "US") {
    refuse(folder,
           fmt::format("holds values in {} (Hounsfield units, HU, are expected); export it in HU",
                       s.unit == unknown_code ? "unknown units" : s.unit));
  }
}

void check_alike(fs::path const& folder, slice const& first, slice const& s) {
  if (s.patient != first.patient) {
    refuse(folder,
           "holds slices of one series that name two patients (their numbers differ); put each "
           "patient's into a folder of its own");
  }
  double const slack = 0.01;  // mm
  if (s.columns != first.columns || s.rows != first.rows ||
      std::abs(s.pixel[0] - first.pixel[0]) * double(s.rows) > slack ||
      std::abs(s.pixel[1] - first.pixel[1]) * double(s.columns) > slack) {
    refuse(folder, fmt::format("holds slices of {} x {} pixels of {} x {} mm and of {} x {} pixels "
                               "of {} x {} mm (all must be alike); resample them",
                               first.columns, first.rows, first.pixel[1], first.pixel[0], s.columns,
                               s.rows, s.pixel[1], s.pixel[0]));
  }
  if (s.how != first.how) {
    refuse(folder,
           "holds slices whose rows or columns run along different axes (all must be alike); put "
           "each stack of slices into a folder of its own");
  }
  auto const& [x, y, z] = s.how.world;
  if (std::abs(s.position[x] - first.position[x]) > slack ||
      std::abs(s.position[y] - first.position[y]) > slack) {
    refuse(folder, fmt::format("has slices that begin at ({}, {}) mm and at ({}, {}) mm along {} "
                               "and {} (the stack leans, as of a tilted gantry); resample it to "
                               "axial planes",
                               first.position[x], first.position[y], s.position[x], s.position[y],
                               "xyz"[x], "xyz"[y]));
  }
  if (s.identity.frame_of_reference != first.identity.frame_of_reference) {
    refuse(folder,
           "holds slices of several frames of reference (their positions cannot be compared); put "
           "each frame's into a folder of its own");
  }
}

// A slice that does not say it lies as the others do.
std::string position_of_all(fs::path const& folder, std::vector<slice> const& slices) {
  std::string all;
  for (auto const& s : slices) {
    auto const& own = s.identity.patient_position;
    if (!own.empty() && !all.empty() && own != all) {
      refuse(
          folder,
          fmt::format("holds slices of patients in positions {} and {} (one series has one); put "
                      "each into a folder of its own",
                      all, own));
    }
    all = own.empty() ? all : own;
  }
  return all;
}

/// Ascending along the axis that they follow, with their grid.
std::pair<std::vector<slice>, dicom_series> ordered(fs::path const& folder, subfolders search) {
  auto content = read_folder(folder, search);
  auto& slices = content.slices;
  check_one_series(folder, slices);
  for (auto& s : slices) {
    check_slice(folder, s);
  }
  auto const axis = slices.front().how.world[2];
  std::sort(slices.begin(), slices.end(),
            [&](slice const& a, slice const& b) { return a.position[axis] < b.position[axis]; });
  std::vector<double> heights;
  for (auto const& s : slices) {
    check_alike(folder, slices.front(), s);
    heights.push_back(s.position[axis]);
  }
  auto const& first = slices.front();
  if (slices.size() == 1 && !(first.thickness > 0)) {
    refuse(folder,
           "holds one slice without a thickness (its voxels have no height); export it with Slice "
           "Thickness, or more slices");
  }
  double const distance =
      slices.size() == 1 ? first.thickness : even_distance(folder, "slice", "xyz"[axis], heights);
  check_spacing(folder, distance);
  dicom_series series;
  series.identity = first.identity;
  series.identity.patient_position = position_of_all(folder, slices);
  place_along_world(first.how, {first.columns, first.rows, std::int64_t(slices.size())},
                    {first.pixel[1], first.pixel[0], distance},
                    {first.position[0], first.position[1], first.position[2]}, series.volume);
  series.volume.unit = "HU";
  series.volume.unread = std::move(content.unread);
  series.other_objects = content.other_objects;
  return {std::move(slices), std::move(series)};
}

}  // namespace

dicom_series read_dicom_series_grid(fs::path const& folder, subfolders search) {
  return ordered(folder, search).second;
}

dicom_series read_dicom_series(fs::path const& folder, subfolders search) {
  auto [slices, series] = ordered(folder, search);
  auto const& first = slices.front();
  std::array<std::int64_t, 3> const n{first.columns, first.rows, std::int64_t(slices.size())};
  auto const pixels = n[0] * n[1];
  with_memory(folder, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]),
              std::uint64_t(pixels * n[2]) * 8, [&, &slices = slices, &series = series] {
                std::vector<float> values(std::size_t(pixels * n[2]));
                for (std::size_t k = 0; k < slices.size(); ++k) {
                  read_pixels(folder, slices[k], values.data() + k * std::size_t(pixels));
                }
                series.volume.values = along_world<float>(values, n, first.how);
              });
  return std::move(series);
}

}  // namespace iso::files
