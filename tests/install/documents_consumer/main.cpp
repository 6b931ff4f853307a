// SPDX-License-Identifier: BSD-3-Clause
// Reads a geometry and a plan, and is told where one is wrong.
#include <iso/core/error.hpp>
#include <iso/ct/circular_scan.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/plan_file.hpp>

#include <cstdio>
#include <string>

int main() {
  iso::files::prepare_text("geometry.json", R"({"type": "circular_cone",
      "detector": {"pixels": [64, 48], "pitch_mm": [2, 2]}, "source_axis_mm": 500,
      "source_detector_mm": 1000, "angles_deg": {"range": 360, "count": 90}})")
      .commit();
  auto const scan = iso::files::read_geometry("geometry.json").scan;
  auto const plan = iso::files::parse_plan(R"({"beams": [{"gantry_deg": 30,
          "isocentre_mm": [0, 0, 0], "field_mm": {"x": [-40, 40], "y": [-50, 50]}}]})",
                                           "plan");
  bool refused = false;
  try {
    iso::files::parse_geometry(R"({"type": "circular_cone"})", "bad");
  } catch (iso::file_error const& error) {
    refused = std::string(error.what()).find("'bad'") == 0;
  }
  bool const good = iso::ct::num_views(scan) == 90 && plan.beams.size() == 1 && refused;
  std::puts(good ? "read" : "not as written");
  return good ? 0 : 1;
}
