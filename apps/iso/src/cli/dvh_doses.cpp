// SPDX-License-Identifier: BSD-3-Clause
#include "dvh_doses.hpp"

#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <utility>

namespace iso::cli {
namespace {

files::rt_dose read_dose(std::string const& path, double slice_thickness) {
  auto dose = files::read_rt_dose(path, files::dose_units::gray, slice_thickness);
  refuse_differences(path, dose);
  return dose;
}

files::host_volume read_plain_volume(std::string const& path) {
  auto dose = files::read_volume(path, files::finite_values::required, files::subfolders::left_out,
                                 asked_of_user());
  if (!dose.unit.empty() && dose.unit != "Gy") {
    throw file_error(
        fmt::format("'{}' holds values in {} (a dose in Gy is needed); convert it to Gy", path,
                    files::shortened(dose.unit, 40)));
  }
  if (dose.unit.empty()) {
    spdlog::warn("'{}' does not say its unit (its numbers are taken for Gy); check that they are",
                 path);
  }
  return dose;
}

/// Throws iso::file_error unless a dose is that of one beam, which its plan is told to have.
void check_beam(std::string const& path, files::rt_dose const& dose) {
  if (dose.summation != "BEAM") {
    throw file_error(
        fmt::format("'{}' is a dose of a {} (the doses of single beams are added); leave it out, "
                    "or give it without --add-doses",
                    path, files::shortened(dose.summation, 16)));
  }
  if (dose.plans.size() != 1 || dose.beams.size() != 1) {
    throw file_error(
        fmt::format("'{}' refers to {} plans and {} beams (one of each says what is added); export "
                    "it with both, or give it without --add-doses",
                    path, dose.plans.size(), dose.beams.size()));
  }
}

/// Throws iso::file_error where two doses are not of two beams of one plan on one grid.
void check_pair(std::string const& one, files::rt_dose const& a, std::string const& other,
                files::rt_dose const& b) {
  files::check_same_frame(one, a.identity.frame_of_reference, other, b.identity.frame_of_reference);
  auto const refuse_pair = [&](std::string const& what, char const* why) {
    throw file_error(
        fmt::format("'{}' and '{}' {} ({}); give them without --add-doses", one, other, what, why));
  };
  if (a.plans != b.plans) {
    refuse_pair(fmt::format("belong to the plans {} and {}", a.plans[0], b.plans[0]),
                "the beams of one plan are added");
  }
  if (a.beams == b.beams) {
    refuse_pair(fmt::format("are both of beam {}", a.beams[0]), "each beam is added once");
  }
  if (a.type != b.type) {
    refuse_pair(fmt::format("are of the types {} and {}", files::shortened(a.type, 16),
                            files::shortened(b.type, 16)),
                "doses of one type are added");
  }
  if (a.volume.extent != b.volume.extent || a.volume.spacing != b.volume.spacing ||
      a.volume.origin != b.volume.origin) {
    refuse_pair("have two grids", "doses of one grid are added");
  }
}

}  // namespace

std::vector<dvh_dose> read_dvh_doses(std::vector<std::string> const& paths,
                                     double slice_thickness) {
  std::vector<dvh_dose> doses;
  for (auto const& path : paths) {
    if (!files::is_dicom_path(path)) {
      doses.push_back({path, {path}, std::nullopt, read_plain_volume(path)});
      continue;
    }
    auto dose = read_dose(path, slice_thickness);
    if (dose.type != "PHYSICAL" || dose.summation != "PLAN") {
      spdlog::warn(
          "'{}' is a dose of type {} of a {} (figures are of that alone); give the physical "
          "dose of a plan for those of a treatment",
          path, files::shortened(dose.type, 16), files::shortened(dose.summation, 16));
    }
    doses.push_back({path, {path}, dose.identity.frame_of_reference, std::move(dose.volume)});
  }
  return doses;
}

dvh_dose read_added_doses(std::vector<std::string> const& paths, double slice_thickness) {
  if (paths.size() < 2) {
    throw file_error(fmt::format(
        "'{}' is one dose (two or more can be added); name the doses of all beams", paths.at(0)));
  }
  std::vector<files::rt_dose> read;  // without values
  dvh_dose sum;
  std::vector<double> values;
  for (auto const& path : paths) {
    if (!files::is_dicom_path(path)) {
      throw file_error(
          fmt::format("'{}' is no RT Dose (it does not say of which plan and beam it is); give it "
                      "without --add-doses",
                      path));
    }
    auto dose = read_dose(path, slice_thickness);
    check_beam(path, dose);
    for (std::size_t n = 0; n < read.size(); ++n) {
      check_pair(paths[n], read[n], path, dose);
    }
    values.resize(dose.volume.values.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
      values[n] += double(dose.volume.values[n]);
    }
    sum.name += (sum.name.empty() ? "" : " + ") + path;
    dose.volume.values.clear();
    read.push_back(std::move(dose));
  }
  sum.files = paths;
  sum.frame = read[0].identity.frame_of_reference;
  sum.volume = std::move(read[0].volume);
  sum.volume.values.assign(values.begin(), values.end());
  if (read[0].type != "PHYSICAL") {
    spdlog::warn(
        "'{}' is a dose of type {} (figures are of that alone); give physical doses for those "
        "of a treatment",
        sum.name, files::shortened(read[0].type, 16));
  }
  return sum;
}

}  // namespace iso::cli
