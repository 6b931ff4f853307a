// SPDX-License-Identifier: BSD-3-Clause
// Numbers as other programs write them into DICOM: read whole, or refused by attribute and value.
#include "dicom_support.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>

namespace iso::test {
namespace {

namespace fs = std::filesystem;

/// The sentence of the refusal of such an RT Dose; empty where it is read.
std::string said_of_dose(std::uint32_t tag, dicom_element const& value) {
  scratch_folder const scratch;
  put(scratch / "dose.dcm", dicom_file(with(dose_object(), tag, value)));
  auto const sentence = refusal([&] { files::read_rt_dose(scratch / "dose.dcm"); });
  CHECK(sentence.find("SECRET") == std::string::npos);
  return sentence;
}

std::string said_of_slice(std::uint32_t tag, dicom_element const& value) {
  scratch_folder const scratch;
  auto const folder = series_folder(scratch, {with(ct_slice(3), tag, value)});
  auto const sentence = refusal([&] { files::read_dicom_series(folder); });
  CHECK(sentence.find("SECRET") == std::string::npos);
  return sentence;
}

std::string said_of_contour(std::string const& points) {
  scratch_folder const scratch;
  put(scratch / "set.dcm", dicom_file(structure_set({{"cord", "CLOSED_PLANAR", points, {}}})));
  auto const set = files::read_rt_structure_set(scratch / "set.dcm");
  return refusal([&] { files::find_structure(scratch / "set.dcm", set, "cord"); });
}

constexpr std::uint32_t position = 0x00200032;
constexpr std::uint32_t spacing = 0x00280030;
constexpr std::uint32_t frames = 0x00280008;
constexpr std::uint32_t rows = 0x00280010;
constexpr std::uint32_t scaling = 0x3004000e;

}  // namespace

TEST_CASE("a decimal string that is no number is refused by attribute and value" *
          doctest::skip(!files::has_dicom)) {
  CHECK(names(said_of_dose(spacing, {"DS", "2,5\\2,5"}), {"holds '2,5' as PixelSpacing"}));
  CHECK(names(said_of_dose(scaling, {"DS", "1,5"}), {"holds '1,5' as DoseGridScaling"}));
  CHECK(names(said_of_dose(position, {"DS", "-7,25\\3,5\\-40"}),
              {"holds '-7,25' as ImagePositionPatient (a number with a decimal point is"}));
  CHECK(names(said_of_dose(0x3004000c, {"DS", "0\\3 mm"}), {"'3 ?\?' as GridFrameOffsetVector"}));
  for (char const* const odd :
       {"10.x", "1 2", "inf", "nan", "1e999", "0x1", "+-1", "-", "+", ".", "1d3", "1\\", secret}) {
    CAPTURE(odd);
    CHECK(names(said_of_dose(scaling, {"DS", odd}), {"' as DoseGridScaling"}));
    CHECK(names(said_of_slice(0x00281053, {"DS", odd}), {"' as RescaleSlope"}));
  }
  CHECK(names(said_of_dose(spacing, {"DS", "2.5\\\\2.5"}), {"holds '' as PixelSpacing"}));
  CHECK(names(said_of_slice(position, {"DS", "-7\\8,5\\3"}), {"'8,5' as ImagePositionPatient"}));
  CHECK(names(said_of_contour("0\\0\\9\\10,5\\0\\9\\4\\5\\9"), {"holds '10,5' as ContourData"}));
  CHECK(names(said_of_contour("0\\0\\9\\10.x\\0\\9\\4\\5\\9"), {"holds '10.?' as ContourData"}));
}

TEST_CASE("what stands around a number, and its length, do not matter" *
          doctest::skip(!files::has_dicom)) {
  std::string const zeros("0.25\0\0", 6);
  for (std::string const& text :
       {std::string("+0.25"), zeros, std::string(" .25"), std::string("2.5E-1"),
        std::string("0.2500000000000000000000000"), std::string("+2.5e-01 ")}) {
    CAPTURE(text);
    scratch_folder const scratch;
    put(scratch / "a.dcm", dicom_file(dose_object()));
    put(scratch / "b.dcm", dicom_file(with(dose_object(), scaling, {"DS", text})));
    CHECK(files::read_rt_dose(scratch / "a.dcm").volume.values ==
          files::read_rt_dose(scratch / "b.dcm").volume.values);
  }
  CHECK(said_of_dose(frames, {"IS", "+2"}).empty());
  CHECK(said_of_dose(frames, {"IS", std::string("2\0", 2)}).empty());
  CHECK(said_of_dose(frames, {"IS", " 000000000000002"}).empty());
}

TEST_CASE("whole numbers are read whole, and one is not taken of several" *
          doctest::skip(!files::has_dicom)) {
  for (char const* const odd : {"2.0", "2x", "2 2", "+-2", "99999999999", "2e0"}) {
    CAPTURE(odd);
    CHECK(names(said_of_dose(frames, {"IS", odd}), {"' as NumberOfFrames (a whole number is"}));
  }
  CHECK(names(said_of_dose(frames, {"IS", "2\\2"}), {"holds 2 values of NumberOfFrames"}));
  CHECK(names(said_of_dose(scaling, {"DS", "0.25\\1"}), {"holds 2 values of DoseGridScaling"}));
  CHECK(
      names(said_of_slice(0x00281052, {"DS", "0\\-1000"}), {"holds 2 values of RescaleIntercept"}));
  CHECK(names(said_of_dose(rows, {"US", std::string("\3\0\3\0", 4)}),
              {"holds 2 numbers of kind US as Rows"}));
  CHECK(names(said_of_dose(rows, {"UL", std::string("\3\0\0\0", 4)}),
              {"holds 1 numbers of kind UL as Rows"}));
  CHECK(names(said_of_dose(spacing, {"FD", std::string(16, '\1')}),
              {"holds PixelSpacing of kind FD"}));
  // Of a structure.
  scratch_folder const scratch;
  auto const file = scratch / "set.dcm";
  auto const said_of_set = [&](std::string const& bytes, std::string const& from,
                               std::string const& to) {
    auto changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    put(file, changed);
    return refusal([&] { files::read_rt_structure_set(file); });
  };
  auto const whole = dicom_file(structure_set({{"cord"}}));
  CHECK(said_of_set(whole, std::string("\x22\0IS\2\0", 6) + "1 ",
                    std::string("\x22\0IS\2\0", 6) + "1x")
            .empty());
  CHECK(names(files::read_rt_structure_set(file).structures.at(0).refusal,
              {"a structure 'cord' that holds '1?' as ROINumber"}));
  CHECK(said_of_set(whole, std::string("\x46\0IS\2\0", 6) + "3 ",
                    std::string("\x46\0IS\2\0", 6) + "3,")
            .empty());
  CHECK(names(files::read_rt_structure_set(file).structures.at(0).refusal,
              {"a structure 'cord' that holds '3,' as NumberOfContourPoints"}));
  // A colour is no measure: a set with one that is none is read without it.
  CHECK(said_of_set(whole, "255\\0\\7", "255\\,\\7").empty());
  CHECK_FALSE(files::read_rt_structure_set(file).structures.at(0).colour);
}

TEST_CASE("too many numbers are not said to be missing" * doctest::skip(!files::has_dicom)) {
  CHECK(names(said_of_dose(spacing, {"DS", "2\\2\\2"}),
              {"3 coordinates of its position, 3 pixel spacings, and 2 x 3 pixels in 2 frames"}));
  CHECK(names(said_of_slice(spacing, {"DS", "2\\2\\2"}),
              {"3 coordinates of its position, 3 pixel spacings, and 2 x 3 pixels"}));
  CHECK(
      names(said_of_slice(0x00200037, {"DS", "1\\0\\0"}), {"has 3 numbers of Image Orientation"}));
}

TEST_CASE("a scale that leaves no float of the values is refused" *
          doctest::skip(!files::has_dicom)) {
  for (char const* const scale : {"1e37", "1e-300", "1e-41", "1e306"}) {
    CAPTURE(scale);
    CHECK(names(said_of_dose(scaling, {"DS", scale}), {"holds values up to", "floats"}));
  }
  CHECK(said_of_dose(scaling, {"DS", "1e-36"}).empty());
  CHECK(said_of_dose(scaling, {"DS", "1e34"}).empty());
  auto const said = [](char const* slope, char const* intercept) {
    scratch_folder const scratch;
    auto slice = with(ct_slice(3), 0x00281053, {"DS", slope});
    return refusal([&] {
      files::read_dicom_series(
          series_folder(scratch, {with(slice, 0x00281052, {"DS", intercept})}));
    });
  };
  CHECK(names(said("1e36", "-1000"), {"a slice at z = 3 mm", "beyond those of a float"}));
  CHECK(names(said("1e-300", "0"), {"beyond those of a float"}));
  CHECK(names(said("1", "1e300"), {"beyond those of a float"}));
  CHECK(said("1e-300", "-1000").empty());
}

TEST_CASE("what is wrong with a structure refuses that one when it is used" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const file = scratch / "set.dcm";
  std::string const good = "0\\0\\9\\4\\0\\9\\4\\5\\9";
  auto bytes = dicom_file(structure_set({{"cord", "CLOSED_PLANAR", good, {"0\\0\\9\\10,5\\0\\9"}},
                                         {"heart"},
                                         {"lung", "CLOSED_PLANAR", "1\\2\\3\\4"},
                                         {"ptv"},
                                         {"bowel", "", ""}}));
  // The last two share a number.
  std::string const number("\x22\0IS\2\0", 6);
  auto const last = bytes.find(number + "5 ");
  REQUIRE(last != std::string::npos);
  bytes[last + number.size()] = '4';
  auto const observed = bytes.find("5 ", bytes.find(std::string("\x84\0IS\2\0", 6) + "5 "));
  REQUIRE(observed != std::string::npos);
  bytes[observed] = '4';
  put(file, bytes);
  auto const set = files::read_rt_structure_set(file);
  CHECK(files::find_structure(file, set, "heart").contours.size() == 1);
  auto const refused = [&](char const* name) {
    auto const sentence = refusal([&] { files::find_structure(file, set, name); });
    CHECK(sentence.find("SECRET") == std::string::npos);
    CHECK(sentence.find("'" + file.string() + "': has a structure '" + name + "' that ") == 0);
    return sentence;
  };
  CHECK(names(refused("cord"), {"that holds '10,5' as ContourData (a number with"}));
  CHECK(names(refused("lung"), {"that has a contour of 4 numbers (three a point"}));
  CHECK(names(refused("ptv"), {"that has the number 4, as 'bowel' has (their contours"}));
  CHECK(names(refused("bowel"), {"that has the number 4, as 'ptv' has (their contours"}));
  // Nothing of it is left that somebody might take for the whole.
  CHECK(set.structures.at(0).contours.empty());
}

TEST_CASE("contours of a structure that the set does not name are refused, and the others read" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const file = scratch / "set.dcm";
  auto bytes = dicom_file(structure_set({{"heart"}, {"lung"}}));
  auto const reference = bytes.find(std::string("\x84\0IS\2\0", 6) + "2 ");
  REQUIRE(reference != std::string::npos);
  bytes[reference + 6] = '7';
  put(file, bytes);
  auto const set = files::read_rt_structure_set(file);
  CHECK(files::find_structure(file, set, "heart").contours.size() == 1);
  REQUIRE(set.structures.size() == 3);
  CHECK(set.structures[2].number == 7);
  CHECK(names(refusal([&] { files::find_structure(file, set, "number 7"); }),
              {"has contours of a structure 7 that it does not name"}));
  // Of one that has some already: whose they are is not known.
  bytes[reference + 6] = '1';
  put(file, bytes);
  auto const twice = files::read_rt_structure_set(file);
  CHECK(names(refusal([&] { files::find_structure(file, twice, "heart"); }),
              {"has two lists of contours"}));
  CHECK(names(refusal([&] { files::find_structure(file, twice, "lung"); }), {"without contours"}));
}

TEST_CASE("numbers of structures that are none or absent refuse these structures alone" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const file = scratch / "set.dcm";
  auto const whole = dicom_file(structure_set({{"heart"}, {"lung"}}));
  std::string const own("\x22\0IS\2\0", 6);       // ROI Number
  std::string const of_other("\x84\0IS\2\0", 6);  // Referenced ROI Number
  auto const first_reference = whole.find(of_other + "2 ");
  auto const with = [&](std::size_t at, std::string const& number) {
    auto bytes = whole;
    bytes.replace(at + 6, number.size(), number);
    put(file, bytes);
    return files::read_rt_structure_set(file);
  };
  for (std::string const number : {"2,", "  "}) {
    CAPTURE(number);
    auto const set = with(whole.find(own + "2 "), number);
    CHECK(files::find_structure(file, set, "heart").contours.size() == 1);
    CHECK(names(refusal([&] { files::find_structure(file, set, "lung"); }),
                {"has a structure 'lung' that ",
                 number == "  " ? "has no number (its contours" : "holds '2,' as ROINumber"}));
    // Its contours and its type are nobody's.
    REQUIRE(set.structures.size() == 3);
    CHECK(set.structures[2].name == "number 2");
    CHECK_FALSE(set.structures[2].refusal.empty());
    // Those of contours.
    auto const other = with(first_reference, number);
    CHECK(files::find_structure(file, other, "heart").contours.size() == 1);
    REQUIRE(other.structures.size() == 3);
    CHECK(other.structures[1].contours.empty());
    CHECK(names(other.structures[2].refusal, {"a structure whose number it does not tell"}));
    // Those of observations, which say a type.
    auto const third = with(whole.find(of_other + "2 ", first_reference + 1), number);
    CHECK(files::find_structure(file, third, "lung").contours.size() == 1);
    CHECK(third.structures[0].type == "PTV");
    CHECK(third.structures[1].type.empty());
  }
}

TEST_CASE("a big-endian RT Dose has the values of its little-endian twin, or is refused" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto dose = dose_object();
  for (int const bits : {16, 32}) {
    CAPTURE(bits);
    if (bits == 32) {
      std::string pixels;
      for (std::size_t i = 0; i < 12; ++i) {
        pixels += bytes_of_number(0x01020304U * (i + 1), 4);
      }
      dose[0x7fe00010].value = pixels;
      dose[0x00280100] = dose[0x00280101] = us(32);
      dose[0x00280102] = us(31);
    }
    put(scratch / "little.dcm", dicom_file(dose));
    put(scratch / "big.dcm", big_endian_file(dose, bits));
    auto const values = files::read_rt_dose(scratch / "little.dcm").volume.values;
    if (bits == 16) {
      CHECK(files::read_rt_dose(scratch / "big.dcm").volume.values == values);
    } else {
      // pydicom writes all four bytes the other way round, DCMTK those of each half.
      CHECK(names(refusal([&] { files::read_rt_dose(scratch / "big.dcm"); }),
                  {"big-endian pixels of 32 bits", "little endian"}));
    }
  }
}

}  // namespace iso::test
