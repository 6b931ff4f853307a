// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_info.hpp"
#include "support.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace iso::cli {
namespace {

std::string or_none(std::string const& text) { return text.empty() ? "none" : text; }

std::string grid_text(files::host_volume const& v, bool states_thickness = true) {
  auto const& n = v.extent;
  auto const& s = v.spacing;
  auto const& o = v.origin;
  return fmt::format(
      "{} x {} x {} voxels of {:.6g} x {:.6g}{} mm, the first at ({:.6g}, {:.6g}, {:.6g}) mm", n[0],
      n[1], n[2], s[0], s[1],
      states_thickness ? fmt::format(" x {:.6g}", s[2]) : " x (thickness not stated)", o[0], o[1],
      o[2]);
}

void add_grid(json& document, files::host_volume const& v) {
  document["extent"] = v.extent;
  document["spacing_mm"] = v.spacing;
  document["origin_mm"] = v.origin;
  document["unit"] = v.unit;
}

std::string series_text(std::string const& path, folder_options const& folder, json& document) {
  auto const series = files::read_dicom_series_grid(path, folder.search);
  warn_of_unread(path, series.volume, folder);
  document["kind"] = "CT series";
  add_grid(document, series.volume);
  document["other_objects"] = series.other_objects;
  document["unread_files"] = series.volume.unread.size();
  return fmt::format("CT series of {} slice{}: {}; {} other DICOM file{} in the folder\n",
                     series.volume.extent[2], series.volume.extent[2] == 1 ? "" : "s",
                     grid_text(series.volume), series.other_objects,
                     series.other_objects == 1 ? "" : "s");
}

std::string dose_text(std::string const& path, json& document) {
  auto const dose = files::read_rt_dose(path, files::dose_units::any, 1);
  auto const& values = dose.volume.values;
  float const most = *std::max_element(values.begin(), values.end());
  document["kind"] = "RT Dose";
  add_grid(document, dose.volume);
  if (!dose.states_thickness) {
    document["spacing_mm"][2] = nullptr;
  }
  document.update({{"dose_type", dose.type},
                   {"summation", dose.summation},
                   {"maximum", most},
                   {"plans", dose.plans},
                   {"structure_sets", dose.structure_sets}});
  auto const& unit = dose.volume.unit;
  auto text =
      fmt::format("RT Dose ({}, {}): {}; at most {:.6g}{}\n", or_none(dose.type),
                  or_none(dose.summation), grid_text(dose.volume, dose.states_thickness), most,
                  unit.empty() ? ", of units that the file does not say" : " " + unit);
  for (auto const& plan : dose.plans) {
    text += fmt::format("of plan             {}\n", or_none(plan));
  }
  for (auto const& set : dose.structure_sets) {
    text += fmt::format("of structure set    {}\n", or_none(set));
  }
  return text;
}

/// Of x, y and z the least and the largest coordinate, mm.
std::array<std::array<double, 2>, 3> extent_of(std::vector<dvh::contour> const& contours) {
  std::array<std::array<double, 2>, 3> extent;
  extent.fill({std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  for (auto const& contour : contours) {
    for (auto const& point : contour.points) {
      std::size_t axis = 0;
      for (double const x : {point.x, point.y, point.z}) {
        extent[axis] = {std::min(extent[axis][0], x), std::max(extent[axis][1], x)};
        ++axis;
      }
    }
  }
  return extent;
}

std::string structures_text(std::string const& path, json& document) {
  auto const set = files::read_rt_structure_set(path);
  document["kind"] = "RT Structure Set";
  auto& list = document["structures"] = json::array();
  auto text = fmt::format("RT Structure Set of {} structure{}\n", set.structures.size(),
                          set.structures.size() == 1 ? "" : "s") +
              fmt::format("{:>6}  {:<24}  {:<10}  {:>8}  {:>18}  {:>18}  {:>18}\n", "number",
                          "name", "type", "contours", "x, mm", "y, mm", "z, mm");
  for (auto const& s : set.structures) {
    auto const extent = extent_of(s.contours);
    bool const is_empty = s.contours.empty();
    auto const along = [&](std::size_t axis) {
      return is_empty ? "" : fmt::format("{:.5g} to {:.5g}", extent[axis][0], extent[axis][1]);
    };
    text += fmt::format(
        "{:>6}  {:<24}  {:<10}  {:>8}  {:>18}  {:>18}  {:>18}{}\n", s.number,
        files::shortened(s.name, 64), s.type, s.contours.size(), along(0), along(1), along(2),
        !s.refusal.empty() ? "; its contours cannot be used"
        : s.other_geometry.empty()
            ? ""
            : fmt::format("  with {} contours, which bound no volume", s.other_geometry));
    json entry = {{"number", s.number},
                  {"name", s.name},
                  {"type", s.type},
                  {"contours", s.contours.size()},
                  {"colour", s.colour ? json(*s.colour) : json(nullptr)}};
    entry["x_mm"] = is_empty ? json(nullptr) : json(extent[0]);
    entry["y_mm"] = is_empty ? json(nullptr) : json(extent[1]);
    entry["z_mm"] = is_empty ? json(nullptr) : json(extent[2]);
    entry["other_geometry"] = s.other_geometry;
    entry["refusal"] = s.refusal;
    if (!s.refusal.empty()) {
      spdlog::warn("{}", s.refusal);
    }
    list.push_back(std::move(entry));
  }
  return text;
}

}  // namespace

int run_dicom_info(std::string const& path, std::string const& json_file,
                   folder_options const& folder) {
  check_distinct({path, json_file});
  auto const identity = files::read_dicom_identity(path, folder.search);
  json document = json::object();
  std::string text;
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    text = series_text(path, folder, document);
  } else if (identity.modality == "RTDOSE") {
    text = dose_text(path, document);
  } else if (identity.modality == "RTSTRUCT") {
    text = structures_text(path, document);
  } else {
    document["kind"] = "other";
    text = fmt::format("DICOM file of modality {}{}\n", or_none(identity.modality),
                       identity.modality == "CT" ? ": a slice, of the series that its folder holds"
                                                 : ", of which no more is read");
  }
  text += fmt::format(
      "modality            {}\nstudy               {}\nseries              {}\n"
      "frame of reference  {}\npatient position    {}\n",
      or_none(identity.modality), or_none(identity.study), or_none(identity.series),
      or_none(identity.frame_of_reference), or_none(identity.patient_position));
  document.update({{"modality", identity.modality},
                   {"study", identity.study},
                   {"series", identity.series},
                   {"frame_of_reference", identity.frame_of_reference},
                   {"patient_position", identity.patient_position}});
  if (json_file != "-") {
    fmt::print("{}", text);
  }
  write_json(json_file, {{"isocenter", ISO_VERSION}, {"dicom", std::move(document)}});
  return success;
}

}  // namespace iso::cli
