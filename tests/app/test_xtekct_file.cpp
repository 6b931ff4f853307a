// SPDX-License-Identifier: BSD-3-Clause
// Nikon's scan settings: what they mean, and a sentence for each key that is wrong.
#include "file_support.hpp"

#include <iso/files/geometry_file.hpp>
#include <iso/files/xtekct_file.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numbers>

namespace files = iso::files;
using namespace iso::test;

namespace {

using keys = std::map<std::string, std::string>;

keys const good = {{"SrcToObject", "76.75"},
                   {"SrcToDetector", "1127.464"},
                   {"DetectorPixelsX", "1500"},
                   {"DetectorPixelsY", "2000"},
                   {"DetectorPixelSizeX", "0.2"},
                   {"DetectorPixelSizeY", "0.25"},
                   {"DetectorOffsetX", "0.5"},
                   {"DetectorOffsetY", "-1"},
                   {"Projections", "720"},
                   {"InitialAngle", "3.5"},
                   {"AngularStep", "0.5"},
                   {"WhiteLevel", "60000.0"},
                   {"CentreOfRotationTop", "0.0"},
                   {"CentreOfRotationBottom", "0.0"},
                   {"Units", "mm"},
                   {"Name", "a = b"}};

std::string text(keys const& all) {
  std::string lines = "[XTekCT]\r\n";
  for (auto const& [key, value] : all) {
    lines.append(key).append("=").append(value).append("\r\n");
  }
  return lines + "[Xrays]\r\nXraykV=160\r\nProjections=3\r\n";
}

}  // namespace

TEST_CASE("every key in its place, lines of either kind, other sections left alone") {
  scratch_folder const folder;
  put(folder / "a.xtekct", text(good));
  auto const scan = files::read_xtekct(folder / "a.xtekct");
  CHECK(scan.source_object == 76.75);
  CHECK(scan.source_detector == 1127.464);
  CHECK(scan.pixels == std::array<std::int64_t, 2>{1500, 2000});
  CHECK(scan.pitch == std::array<double, 2>{0.2, 0.25});
  CHECK(scan.detector_offset == std::array<double, 2>{0.5, -1});
  CHECK(scan.axis_offset == 0);
  CHECK(scan.projections == 720);
  CHECK(scan.first_angle == 3.5);
  CHECK(scan.angular_step == 0.5);
  CHECK(scan.white_level.value_or(0) == 60000);
  // What need not be there.
  auto few = good;
  for (char const* const key :
       {"DetectorOffsetX", "DetectorOffsetY", "InitialAngle", "AngularStep", "WhiteLevel",
        "CentreOfRotationTop", "CentreOfRotationBottom", "Units"}) {
    few.erase(key);
  }
  put(folder / "a.xtekct", text(few));
  auto const least = files::read_xtekct(folder / "a.xtekct");
  CHECK(least.detector_offset == std::array<double, 2>{0, 0});
  CHECK(least.angular_step == 0.5);
  CHECK(!least.white_level);
}

TEST_CASE("as a geometry: the circle, and an axis aside of the beam's middle") {
  scratch_folder const folder;
  put(folder / "a.xtekct", text(good));
  auto const circle_of = [](files::geometry_file const& file) {
    return std::get<iso::ct::circular_scan>(file.scan);
  };
  auto const file = files::read_geometry(folder / "a.xtekct");
  auto const g = circle_of(file);
  CHECK(g.rays == iso::ct::beam::cone);
  CHECK(g.detector.num_u == 1500);
  CHECK(g.detector.num_v == 2000);
  CHECK(g.detector.pitch_u == 0.2);
  CHECK(g.detector.pitch_v == 0.25);
  CHECK(g.detector.offset_u == 0.5);
  CHECK(g.detector.offset_v == -1);
  CHECK(g.source_axis == 76.75);
  CHECK(g.source_detector == 1127.464);
  REQUIRE(g.angles.size() == 720);
  CHECK(g.angles[3] == doctest::Approx((3.5 + 3 * 0.5) * std::numbers::pi / 180));
  // Its text reads as the same geometry.
  CHECK(circle_of(files::parse_geometry(file.text, "text")).angles == g.angles);

  auto aside = good;
  aside["CentreOfRotationTop"] = aside["CentreOfRotationBottom"] = "0.25";
  put(folder / "a.xtekct", text(aside));
  CHECK(circle_of(files::read_geometry(folder / "a.xtekct")).axis_offset == 0.25);
  // Half of a pixel at the axis is 0.007 mm: an axis that leans by less stands in the middle.
  aside["CentreOfRotationTop"] = "0.247";
  aside["CentreOfRotationBottom"] = "0.251";
  put(folder / "a.xtekct", text(aside));
  CHECK(circle_of(files::read_geometry(folder / "a.xtekct")).axis_offset == doctest::Approx(0.249));
  CHECK(g.axis_offset == 0);
}

TEST_CASE("a sentence for each key that is missing or malformed") {
  scratch_folder const folder;
  auto const refused = [&](keys const& all) {
    put(folder / "a.xtekct", text(all));
    return refusal([&] { static_cast<void>(files::read_xtekct(folder / "a.xtekct")); });
  };
  for (char const* const key :
       {"SrcToObject", "SrcToDetector", "DetectorPixelsX", "DetectorPixelsY", "DetectorPixelSizeX",
        "DetectorPixelSizeY", "Projections"}) {
    CAPTURE(key);
    auto without = good;
    without.erase(key);
    CHECK(names(refused(without), {"a.xtekct", "key " + std::string(key) + " is missing"}));
    for (std::string const wrong : {"many", "0", "-1", "nan", "inf", "1e300", "12 mm", "0x10"}) {
      CAPTURE(wrong);
      auto changed = good;
      changed[key] = wrong;
      CHECK(names(refused(changed), {"key " + std::string(key) + " is '" + wrong + "' (expected"}));
    }
  }
  for (char const* const key : {"DetectorPixelsX", "DetectorPixelsY", "Projections"}) {
    auto changed = good;
    changed[key] = "10.5";
    CHECK(names(refused(changed), {"key " + std::string(key), "a whole number"}));
  }
  for (char const* const key :
       {"DetectorOffsetX", "InitialAngle", "AngularStep", "WhiteLevel", "CentreOfRotationTop"}) {
    auto changed = good;
    changed[key] = "none";
    CHECK(names(refused(changed), {"key " + std::string(key) + " is 'none'"}));
  }
  auto changed = good;
  changed["Units"] = "inch";
  CHECK(names(refused(changed), {"key Units is 'inch'"}));
  changed = good;
  changed["SrcToDetector"] = "70";
  CHECK(names(refused(changed), {"SrcToDetector is 70", "more than SrcToObject"}));
  changed = good;
  changed["CentreOfRotationTop"] = "0.3";
  CHECK(names(refused(changed), {"CentreOfRotationTop", "0.3 and 0", "tilted"}));
  put(folder / "a.xtekct", text(good) + "[XTekCT]\nProjections=720\n");
  CHECK(names(refusal([&] { static_cast<void>(files::read_xtekct(folder / "a.xtekct")); }),
              {"key Projections stands there twice (which one counts is not known); remove one"}));
  put(folder / "a.xtekct", "[Xrays]\nXraykV=160\n");
  CHECK(names(refusal([&] { static_cast<void>(files::read_xtekct(folder / "a.xtekct")); }),
              {"no section [XTekCT]"}));
}
