// SPDX-License-Identifier: BSD-3-Clause
// Structures of a real plan as voxel fractions.
#include <iso/dvh/structure.hpp>
#include <iso/files/dicom_rt.hpp>

#include "not_run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace files = iso::files;

TEST_CASE("a real plan's structures have the volumes that another program finds") {
  char const* const from = std::getenv("ISO_TEST_PLAN");
  if (from == nullptr || !std::filesystem::exists(from) || !files::has_dicom) {
    iso::test::not_run(
        "a real plan's structures (the plan or DCMTK is not there); run "
        "scripts/get_example_data.sh, or install libdcmtk-dev");
    return;
  }
  std::filesystem::path const plan = from;
  auto const dose = files::read_rt_dose_grid(plan / "rtdose.dcm").volume;
  auto const& [nx, ny, nz] = dose.extent;
  auto const& [sx, sy, sz] = dose.spacing;
  auto const& [ox, oy, oz] = dose.origin;
  iso::grid const grid{{nx, ny, nz}, {sx, sy, sz}, {ox, oy, oz}};
  auto const set = files::read_rt_structure_set(plan / "rtss.dcm");
  iso::dvh::structure_options options;
  options.beyond = iso::dvh::off_grid::cut;
  // cm3, of dicompyler-core 0.5.6 with pydicom 2.4 on the same dose grid. It counts pixels of
  // 0.019 cm3 whose centres lie inside, and a slice has its contour's area throughout.
  std::vector<std::pair<std::string, double>> const volumes{
      {"BODY", 14882.1},    {"Borders", 1.2},        {"Breast", 400.3875},
      {"Heart", 440.23125}, {"Lt Lung", 2004.525},   {"Nodes", 0.65625},
      {"Scar", 0.4875},     {"Tumor Bed", 13.06875}, {"Tumor Bed Block", 63.3375}};
  for (auto const& [name, volume] : volumes) {
    CAPTURE(name);
    iso::dvh::structure_report report;
    auto const structure =
        files::make_structure(files::find_structure(plan / "rtss.dcm", set, name));
    iso::dvh::voxel_fractions(structure, grid, options, &report);
    CHECK(std::abs(report.volume / 1000 - volume) <= 0.005 * volume + 0.2);
  }
}

TEST_CASE("a structure that was refused when it was read is refused again") {
  files::rt_structure bad;
  bad.name = "cord";
  bad.refusal = "'set.dcm': has a structure 'cord' that is bad";
  CHECK_THROWS_WITH_AS(files::make_structure(bad), bad.refusal.c_str(), iso::file_error);
}
