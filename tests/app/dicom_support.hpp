// SPDX-License-Identifier: BSD-3-Clause
//! DICOM files written by hand, element by element.
#pragma once

#include "file_support.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace iso::test {

/// Elements by tag, (group << 16) | element: their kind and value. A sequence (SQ) has the bytes of
/// its items.
struct dicom_element {
  std::string kind;
  std::string value;
};
using dicom_elements = std::map<std::uint32_t, dicom_element>;

inline std::string bytes_of_number(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text.push_back(char(number >> (8 * i)));
  }
  return text;
}

/// As a file or an item has them: explicit kinds, little endian.
inline std::string encoded(dicom_elements const& elements) {
  std::string bytes;
  for (auto const& [tag, e] : elements) {
    auto value = e.value;
    if (value.size() % 2 != 0) {
      value.push_back(e.kind == "UI" || e.kind == "OW" ? '\0' : ' ');
    }
    bytes += bytes_of_number(tag >> 16U, 2) + bytes_of_number(tag & 0xffffU, 2) + e.kind;
    bool const is_long = e.kind == "OW" || e.kind == "SQ" || e.kind == "UN" || e.kind == "OB";
    bytes += is_long ? std::string(2, '\0') + bytes_of_number(value.size(), 4)
                     : bytes_of_number(value.size(), 2);
    bytes += value;
  }
  return bytes;
}

inline std::string item(dicom_elements const& elements) {
  auto const bytes = encoded(elements);
  return bytes_of_number(0xe000fffe, 4) + bytes_of_number(bytes.size(), 4) + bytes;
}

/// What a file begins with.
inline std::string dicom_meta(std::string const& sop_class, std::string const& instance,
                              std::string const& transfer_syntax = "1.2.840.10008.1.2.1") {
  dicom_elements meta{{0x00020001, {"OB", std::string("\0\1", 2)}},
                      {0x00020002, {"UI", sop_class}},
                      {0x00020003, {"UI", instance}},
                      {0x00020010, {"UI", transfer_syntax}},
                      {0x00020012, {"UI", "2.25.1"}}};
  meta[0x00020000] = {"UL", bytes_of_number(encoded(meta).size(), 4)};
  std::string bytes(128, '\0');
  bytes += "DICM";
  return bytes + encoded(meta);
}

inline std::string dicom_file(dicom_elements const& elements) {
  return dicom_meta(elements.at(0x00080016).value, elements.at(0x00080018).value) +
         encoded(elements);
}

/// As dicom_file, in the order of bytes of "big endian": numbers of 16 bits, and pixels of `bits`.
/// It knows no sequences.
inline std::string big_endian_file(dicom_elements elements, int bits) {
  elements.erase(0x300c0002);
  std::string bytes;
  auto const turned = [](std::string value, std::size_t size) {
    for (std::size_t at = 0; at + size <= value.size(); at += size) {
      std::reverse(value.begin() + std::ptrdiff_t(at), value.begin() + std::ptrdiff_t(at + size));
    }
    return value;
  };
  for (auto const& [tag, e] : elements) {
    auto const little = encoded({{tag, e}});
    std::size_t const head = e.kind == "OW" ? 12 : 8;
    bytes += turned(little.substr(0, 4), 2) + little.substr(4, head == 12 ? 4 : 2) +
             turned(little.substr(head == 12 ? 8 : 6, head == 12 ? 4 : 2), head == 12 ? 4 : 2);
    auto const value = little.substr(head);
    bytes += e.kind == "OW"                     ? turned(value, std::size_t(bits / 8))
             : e.kind == "US" || e.kind == "AT" ? turned(value, 2)
                                                : value;
  }
  return dicom_meta(elements.at(0x00080016).value, elements.at(0x00080018).value,
                    "1.2.840.10008.1.2.2") +
         bytes;
}

inline dicom_element us(int number) { return {"US", bytes_of_number(std::uint64_t(number), 2)}; }

constexpr char const* secret = "SECRET^PATIENT";

inline dicom_elements with(dicom_elements elements, std::uint32_t tag, dicom_element const& value) {
  elements[tag] = value;
  return elements;
}

/// Slices in files whose names are in another order, and a patient's.
inline std::filesystem::path series_folder(scratch_folder const& scratch,
                                           std::vector<dicom_elements> const& slices) {
  static int count = 0;
  auto const folder = scratch / ("series" + std::to_string(++count));
  std::filesystem::create_directory(folder);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    put(folder / (std::string(secret) + std::to_string(i * 7 % 5) + ".dcm"), dicom_file(slices[i]));
  }
  return folder;
}

/// What every object here has: a patient whom no message may name.
inline dicom_elements dicom_object(std::string const& sop_class, std::string const& modality,
                                   std::string const& instance) {
  return {{0x00080016, {"UI", sop_class}}, {0x00080018, {"UI", instance}},
          {0x00080060, {"CS", modality}},  {0x00100010, {"PN", secret}},
          {0x00100020, {"LO", secret}},    {0x0020000d, {"UI", "1.2.3.1"}},
          {0x0020000e, {"UI", "1.2.3.2"}}, {0x00200052, {"UI", "1.2.3.3"}}};
}

inline dicom_elements dicom_image(dicom_elements elements, int columns, int rows, double z) {
  elements[0x00200032] = {"DS", "-7\\8\\" + std::to_string(z)};
  elements[0x00200037] = {"DS", "1\\0\\0\\0\\1\\0"};
  elements[0x00280002] = us(1);
  elements[0x00280004] = {"CS", "MONOCHROME2"};
  elements[0x00280010] = us(rows);
  elements[0x00280011] = us(columns);
  elements[0x00280030] = {"DS", "1.25\\0.5"};
  elements[0x00280100] = elements[0x00280101] = us(16);
  elements[0x00280102] = us(15);
  elements[0x00280103] = us(0);
  return elements;
}

/// A CT slice of 2 x 3 pixels, 0.5 x 1.25 mm, at height z: value 10 x + y + z of the volume, stored
/// as 2 (value + 1000).
inline dicom_elements ct_slice(double z) {
  auto e = dicom_image(dicom_object("1.2.840.10008.5.1.4.1.1.2", "CT",
                                    "1.2.3.4." + std::to_string(int(z * 10) + 1000)),
                       2, 3, z);
  e[0x00180050] = {"DS", "3"};
  e[0x00185100] = {"CS", "HFS"};
  e[0x00281052] = {"DS", "-1000"};
  e[0x00281053] = {"DS", "0.5"};
  std::string pixels;
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 2; ++x) {
      pixels += bytes_of_number(std::uint64_t(2 * (10 * x + y + z + 1000)), 2);
    }
  }
  e[0x7fe00010] = {"OW", pixels};
  return e;
}

/// An RT Dose of 2 x 3 x 2 voxels, 0.5 x 1.25 x 3 mm, from z = 9: value (100 x + 10 y + z) / 4 Gy.
inline dicom_elements dose_object(std::string const& offsets = "0\\3") {
  auto e = dicom_image(dicom_object("1.2.840.10008.5.1.4.1.1.481.2", "RTDOSE", "1.2.3.5"), 2, 3, 9);
  e[0x00280008] = {"IS", "2"};
  e[0x00280009] = {"AT", bytes_of_number(0x3004, 2) + bytes_of_number(0x000c, 2)};
  e[0x30040002] = {"CS", "GY"};
  e[0x30040004] = {"CS", "PHYSICAL"};
  e[0x3004000a] = {"CS", "PLAN"};
  e[0x3004000c] = {"DS", offsets};
  e[0x3004000e] = {"DS", "0.25"};
  e[0x300c0002] = {"SQ", item({{0x00081150, {"UI", "1.2.840.10008.5.1.4.1.1.481.5"}},
                               {0x00081155, {"UI", "1.2.3.6"}}})};
  std::string pixels;
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 2; ++x) {
        pixels += bytes_of_number(std::uint64_t(100 * x + 10 * y + z), 2);
      }
    }
  }
  e[0x7fe00010] = {"OW", pixels};
  return e;
}

/// A structure of a set: name, kind of its contours, points of one, and of further ones.
struct structure_text {
  std::string name;
  std::string kind = "CLOSED_PLANAR";
  std::string points = "0\\0\\9\\4\\0\\9\\4\\5\\9";
  std::vector<std::string> further = {};
  std::string frame = "1.2.3.3";
};

/// A structure set; an empty kind leaves the contours out.
inline dicom_elements structure_set(std::vector<structure_text> const& structures) {
  auto e = dicom_object("1.2.840.10008.5.1.4.1.1.481.3", "RTSTRUCT", "1.2.3.7");
  e.erase(0x00200052);
  e[0x30060010] = {"SQ", item({{0x00200052, {"UI", "1.2.3.3"}}})};
  std::string rois;
  std::string contours;
  std::string observations;
  for (std::size_t i = 0; i < structures.size(); ++i) {
    auto const& s = structures[i];
    dicom_element const number{"IS", std::to_string(i + 1)};
    rois += item({{0x30060022, number},
                  {0x30060024, {"UI", s.frame}},
                  {0x30060026, {"LO", s.name}},
                  {0x30060036, {"CS", "MANUAL"}}});
    dicom_elements contour{{0x3006002a, {"IS", "255\\0\\7"}}, {0x30060084, number}};
    if (!s.kind.empty()) {
      auto all = s.further;
      all.insert(all.begin(), s.points);
      std::string items;
      for (auto const& points : all) {
        auto const numbers = std::count(points.begin(), points.end(), '\\') + 1;
        items += item({{0x30060042, {"CS", s.kind}},
                       {0x30060046, {"IS", std::to_string(numbers / 3)}},
                       // The length of the others has 16 bits.
                       {0x30060050, {points.size() < 0xfffe ? "DS" : "UN", points}}});
      }
      contour[0x30060040] = {"SQ", items};
    }
    contours += item(contour);
    observations += item({{0x30060082, number}, {0x30060084, number}, {0x300600a4, {"CS", "PTV"}}});
  }
  e[0x30060002] = {"SH", "CT_1"};
  e[0x30060020] = {"SQ", rois};
  e[0x30060039] = {"SQ", contours};
  e[0x30060080] = {"SQ", observations};
  return e;
}

}  // namespace iso::test
