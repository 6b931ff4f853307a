// SPDX-License-Identifier: BSD-3-Clause
// write_rt_objects FOLDER: RT Doses, RT Structure Sets and CT series of which every figure is
// known, for test_dvh_command.sh.
#include "dicom_support.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace iso::test;

/// (30 + x) Gy on 12 x 12 x 12 voxels of 2 mm about 0.
dicom_elements gradient(std::string const& instance) {
  auto e = dose_object("0\\2\\4\\6\\8\\10\\12\\14\\16\\18\\20\\22");
  e[0x00080018] = {"UI", instance};
  e[0x00200032] = {"DS", "-11\\-11\\-11"};
  e[0x00280008] = {"IS", "12"};
  e[0x00280010] = e[0x00280011] = us(12);
  e[0x00280030] = {"DS", "2\\2"};
  e[0x3004000e] = {"DS", "1"};
  std::string pixels;
  for (int voxel = 0; voxel < 12 * 12 * 12; ++voxel) {
    pixels += bytes_of_number(std::uint64_t(30 - 11 + 2 * (voxel % 12)), 2);
  }
  e[0x7fe00010] = {"OW", pixels};
  return e;
}

/// The part of the gradient that a beam of a plan has.
dicom_elements beam(int number, std::string const& scaling, std::string const& plan = "1.2.3.6") {
  auto e = gradient("1.2.3.50." + std::to_string(number));
  e[0x3004000a] = {"CS", "BEAM"};
  e[0x3004000e] = {"DS", scaling};
  dicom_elements const beams{{0x300c0006, {"IS", std::to_string(number)}}};
  dicom_elements const groups{{0x300c0004, {"SQ", item(beams)}}, {0x300c0022, {"IS", "1"}}};
  e[0x300c0002] = {"SQ", item({{0x00081150, {"UI", "1.2.840.10008.5.1.4.1.1.481.5"}},
                               {0x00081155, {"UI", plan}},
                               {0x300c0020, {"SQ", item(groups)}}})};
  return e;
}

/// A slice of water for the same voxels.
dicom_elements water(int slice, std::string const& frame_of_reference) {
  auto e = ct_slice(-11 + 2 * slice);
  e[0x00200032] = {"DS", "-11\\-11\\" + std::to_string(-11 + 2 * slice)};
  e[0x00200052] = {"UI", frame_of_reference};
  e[0x00280010] = e[0x00280011] = us(12);
  e[0x00280030] = {"DS", "2\\2"};
  std::string pixels;
  for (int pixel = 0; pixel < 12 * 12; ++pixel) {
    pixels += bytes_of_number(2000, 2);
  }
  e[0x7fe00010] = {"OW", pixels};
  return e;
}

/// A rectangle of y from -half to half, or with two corners exchanged.
std::string rectangle(double low, double high, double half, int z, bool crossing = false) {
  auto const point = [&](double x, double y) {
    return std::to_string(x) + "\\" + std::to_string(y) + "\\" + std::to_string(z);
  };
  auto const c = point(high, half);
  auto const d = point(low, half);
  return point(low, -half) + "\\" + point(high, -half) + "\\" + (crossing ? d : c) + "\\" +
         (crossing ? c : d);
}

/// Rectangles every 2 mm from z = -5 to 5: with half-slice caps 12 mm high.
structure_text box(std::string const& name, double low, double high, double half) {
  structure_text s{name, "CLOSED_PLANAR", rectangle(low, high, half, -5), {}};
  for (int z = -3; z <= 5; z += 2) {
    s.further.push_back(rectangle(low, high, half, z));
  }
  return s;
}

/// A circle of 30000 points, each of which goes up to six steps back or on: edges cross in tens of
/// thousands of places.
std::string rough_circle(int z) {
  constexpr int points = 30000;
  std::string text;
  for (int n = 0; n < points; ++n) {
    double const angle = 2 * 3.14159265358979323846 / points * (n + n * 7 % 11 * 1.2 - 6);
    double const radius = 9 + 1e-3 * (n * 5 % 7);
    text += (n > 0 ? "\\" : "") + std::to_string(radius * std::cos(angle)) + "\\" +
            std::to_string(radius * std::sin(angle)) + "\\" + std::to_string(z);
  }
  return text;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    return 2;
  }
  std::filesystem::path const folder = words[1];
  auto dose = gradient("1.2.3.5");
  put(folder / "dose.dcm", dicom_file(dose));
  auto plan = dose;
  plan[0x00080016] = {"UI", "1.2.840.10008.5.1.4.1.1.481.5"};
  plan[0x00080060] = {"CS", "RTPLAN"};
  put(folder / "rtplan.dcm", dicom_file(plan));
  dose[0x3004000e] = {"DS", "0.5"};
  put(folder / "half.dcm", dicom_file(dose));
  dose[0x30040002] = {"CS", "RELATIVE"};
  put(folder / "relative.dcm", dicom_file(dose));
  dose[0x30040002] = {"CS", "CGY"};
  put(folder / "cgy.dcm", dicom_file(dose));
  dose.erase(0x30040002);
  put(folder / "unitless.dcm", dicom_file(dose));
  auto elsewhere = gradient("1.2.3.8");
  elsewhere[0x00200052] = {"UI", "1.2.3.9"};
  put(folder / "elsewhere.dcm", dicom_file(elsewhere));
  put(folder / "beam1.dcm", dicom_file(beam(1, "0.25")));
  put(folder / "beam2.dcm", dicom_file(beam(2, "0.75")));
  put(folder / "again.dcm", dicom_file(beam(1, "0.5")));
  put(folder / "other_plan.dcm", dicom_file(beam(3, "0.5", "1.2.3.66")));
  auto shifted = beam(4, "0.5");
  shifted[0x00200032] = {"DS", "-11\\-11\\-9"};
  put(folder / "shifted.dcm", dicom_file(shifted));
  structure_text const empty{"Empty", "", "", {}};
  auto elsewhere_too = box("Elsewhere", -6, 6, 6);
  elsewhere_too.frame = "1.2.3.9";
  put(folder / "box_elsewhere.dcm",
      dicom_file(structure_set({box("Box", -6, 6, 6), elsewhere_too})));
  auto marked = box("Marked", -6, 6, 6);
  marked.further.insert(marked.further.end(), {"1\\1\\1", "0\\0\\3\\1\\1\\3\\2\\2\\3"});
  auto exclusive = box("Exclusive", -6, 6, 6);
  exclusive.kind = "CLOSEDPLANAR_XOR";
  for (int z = -5; z <= 5; z += 2) {
    exclusive.further.push_back(rectangle(-3, 3, 3, z));
  }
  auto interpolated = box("Interpolated", -6, 6, 6);
  interpolated.kind = "INTERPOLATED_PLANAR";
  put(folder / "drawn.dcm", dicom_file(structure_set({marked, exclusive, interpolated})));
  put(folder / "set.dcm",
      dicom_file(structure_set({box("Box", -6, 6, 6), box("a, \"b\"", -5.5, 5.5, 6), empty})));
  put(folder / "wrong.dcm",
      dicom_file(structure_set(
          {box("Twin", -6, 6, 6),
           box("Twin", -5, 5, 5),
           empty,
           {"Open", "OPEN_PLANAR", rectangle(-6, 6, 6, 1), {}},
           {"Crossing", "CLOSED_PLANAR", rectangle(-6, 6, 6, 1, true), {rectangle(-6, 6, 6, 3)}},
           {"Plane", "CLOSED_PLANAR", rectangle(-6, 6, 6, 1), {}},
           box("Aside", 6, 18, 6),
           box("Far", 106, 118, 6)})));
  // Feet first, which a plan's angles do not know; with an empty slice at its end.
  std::filesystem::create_directories(folder / "feet" / "more");
  for (int slice = 0; slice < 12; ++slice) {
    put(folder / "feet" / (slice < 6 ? "." : "more") / ("IM" + std::to_string(slice)),
        dicom_file(with(water(slice, "1.2.3.3"), 0x00185100, {"CS", "FFS"})));
  }
  put(folder / "feet" / "SECRET.dcm", "");
  auto second = box("Second", -6, 6, 6);
  second.frame = "1.2.3.9";
  put(folder / "frames.dcm", dicom_file(structure_set({box("First", -6, 6, 6), second})));
  auto thin = gradient("1.2.3.11");
  thin.erase(0x00280008);
  thin.erase(0x3004000c);
  thin[0x00200032] = {"DS", "-11\\-11\\1"};
  thin[0x7fe00010].value.resize(std::size_t(12 * 12 * 2));
  put(folder / "plane.dcm", dicom_file(thin));
  for (auto const& [name, frame] : {std::pair("ct", "1.2.3.3"), std::pair("other", "1.2.3.9")}) {
    std::filesystem::create_directory(folder / name);
    for (int slice = 0; slice < 12; ++slice) {
      put(folder / name / (std::to_string(slice) + ".dcm"), dicom_file(water(slice, frame)));
    }
  }
  put(folder / "open.dcm",
      dicom_file(structure_set({box("Box", -6, 6, 6),
                                empty,
                                {"Open", "OPEN_PLANAR", rectangle(-6, 6, 6, 1), {}},
                                {"Marker", "POINT", "0\\0\\1", {}}})));
  structure_text const between{"Between", "INTERPOLATED_PLANAR", rectangle(-6, 6, 6, 1), {}};
  put(folder / "between.dcm", dicom_file(structure_set({between})));
  auto comma = box("Comma", -6, 6, 6);
  comma.further.back().replace(2, 1, ",");  // -6,000000
  put(folder / "comma.dcm", dicom_file(structure_set({box("Box", -6, 6, 6), comma, between})));
  auto numberless = dicom_file(structure_set({box("Box", -6, 6, 6), box("Lost", -6, 6, 6)}));
  auto const number = numberless.find(std::string("\x22\0IS\2\0", 6) + "2 ");
  numberless.replace(number + 6, 1, " ");
  put(folder / "numberless.dcm", numberless);
  put(folder / "none.dcm", dicom_file(structure_set({empty})));
  structure_text rough{"Rough", "CLOSED_PLANAR", rough_circle(-9), {}};
  for (int z = -8; z <= 9; ++z) {
    rough.further.push_back(rough_circle(z));
  }
  put(folder / "rough.dcm", dicom_file(structure_set({rough})));
}
