// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/text.hpp>

#include <dcmtk/dcmdata/dcspchrs.h>
#include <dcmtk/dcmrt/drtstrct.h>
#include <dcmtk/ofstd/ofchrenc.h>
#include <fmt/core.h>

#include <array>
#include <map>
#include <memory>
#include <utility>

namespace iso::files {

namespace fs = std::filesystem;
using namespace detail;

namespace {

// Makes a text UTF-8; what cannot be converted stays as it is.
void convert(DcmElement& text, std::string const& letters) {
  DcmSpecificCharacterSet converter;
  if (converter.selectCharacterSet(letters.c_str()).good() &&
      text.convertCharacterSet(converter).good()) {
    return;
  }
  // Japanese letters behind escape sequences have names in DCMTK that the C library does not know.
  if (letters.find("ISO 2022 IR 87") != std::string::npos ||
      letters.find("ISO 2022 IR 159") != std::string::npos) {
    OFCharacterEncoding encoding;
    OFString raw;
    OFString converted;
    if (encoding.selectEncoding("ISO-2022-JP-2", "UTF-8").good() &&
        text.getOFStringArray(raw).good() && encoding.convertString(raw, converted).good()) {
      static_cast<void>(text.putOFStringArray(converted));
    }
  }
}

// Makes names of structures UTF-8, from the letters that the file says.
void convert_names(DcmDataset& set) {
  DcmSequenceOfItems* structures = nullptr;
  if (set.findAndGetSequence(DCM_StructureSetROISequence, structures).bad()) {
    return;
  }
  for (unsigned long i = 0; i < structures->card(); ++i) {
    DcmItem& item = *structures->getItem(i);
    DcmElement* name = nullptr;
    auto const own = text_of(item, DCM_SpecificCharacterSet);
    auto const letters = own.empty() ? text_of(set, DCM_SpecificCharacterSet) : own;
    if (!letters.empty() && letters != "ISO_IR 192" &&
        item.findAndGetElement(DCM_ROIName, name).good()) {
      convert(*name, letters);
    }
  }
}

// The kind of a contour. INTERPOLATED_PLANAR is longer than a code may be.
std::string kind_of(std::string const& text) {
  return trimmed(text) == "INTERPOLATED_PLANAR" ? trimmed(text) : stated_code(text);
}

}  // namespace

rt_structure_set read_rt_structure_set(fs::path const& path) {
  DcmFileFormat file;
  load_object(path, file, rt_structure_set_class, "RT Structure Set");
  convert_names(*file.getDataset());
  auto const set = std::make_unique<DRTStructureSetIOD>();
  auto const read = set->read(*file.getDataset());
  if (read.bad()) {
    refuse(path,
           fmt::format("cannot be read as RT Structure Set ({}); export it again", read.text()));
  }
  rt_structure_set result{read_dicom_identity(path), {}};
  std::map<int, std::size_t> at;
  auto& structures = set->getStructureSetROISequence();
  for (std::size_t i = 0; i < structures.getNumberOfItems(); ++i) {
    auto& item = structures.getItem(i);
    rt_structure s;
    Sint32 number = 0;
    if (item.getROINumber(number).bad() || !at.emplace(number, i).second) {
      refuse(path,
             "has structures without a number of their own (contours cannot be told apart); export "
             "it again");
    }
    s.number = number;
    s.name = printable(one_line(text_of([&](auto& t) { return item.getROIName(t); })));
    s.frame_of_reference =
        uid_of(text_of([&](auto& t) { return item.getReferencedFrameOfReferenceUID(t); }));
    result.structures.push_back(std::move(s));
  }
  auto const place = [&](Sint32 number) {
    auto const found = at.find(number);
    if (found == at.end()) {
      refuse(path, fmt::format("has contours of a structure {} that it does not name (it may be "
                               "cut short); export it again",
                               number));
    }
    return &result.structures[found->second];
  };
  auto& contours = set->getROIContourSequence();
  for (std::size_t i = 0; i < contours.getNumberOfItems(); ++i) {
    auto& item = contours.getItem(i);
    Sint32 number = 0;
    static_cast<void>(item.getReferencedROINumber(number));
    auto& s = *place(number);
    std::array<Sint32, 3> colour{};
    if (item.getROIDisplayColor(colour[0], 0).good() &&
        item.getROIDisplayColor(colour[1], 1).good() &&
        item.getROIDisplayColor(colour[2], 2).good()) {
      s.colour = {int(colour[0]), int(colour[1]), int(colour[2])};
    }
    auto& list = item.getContourSequence();
    for (std::size_t c = 0; c < list.getNumberOfItems(); ++c) {
      auto& contour = list.getItem(c);
      auto const kind =
          kind_of(text_of([&](auto& t) { return contour.getContourGeometricType(t); }));
      // Contours of either kind count even-odd in their plane.
      if (kind != "CLOSED_PLANAR" && kind != "CLOSEDPLANAR_XOR") {
        s.other_geometry = kind.empty() ? "no" : kind;
        continue;
      }
      OFVector<Float64> numbers;
      if (contour.getContourData(numbers).bad() || numbers.empty() || numbers.size() % 3 != 0) {
        refuse(
            path,
            fmt::format(
                "has a contour of '{}' of {} numbers (three a point are expected); export it again",
                shortened(s.name, 64), numbers.size()));
      }
      Sint32 told = 0;
      if (contour.getNumberOfContourPoints(told).good() &&
          std::size_t(told) != numbers.size() / 3) {
        refuse(path, fmt::format("has a contour of '{}' of {} points where {} are told (it was "
                                 "cut); export it again",
                                 shortened(s.name, 64), numbers.size() / 3, told));
      }
      auto& points = s.contours.emplace_back();
      for (std::size_t p = 0; p < numbers.size(); p += 3) {
        points.push_back({numbers[p], numbers[p + 1], numbers[p + 2]});
      }
    }
  }
  auto& observations = set->getRTROIObservationsSequence();
  for (std::size_t i = 0; i < observations.getNumberOfItems(); ++i) {
    auto& item = observations.getItem(i);
    Sint32 number = 0;
    static_cast<void>(item.getReferencedROINumber(number));
    if (auto const found = at.find(number); found != at.end()) {
      result.structures[found->second].type =
          code_of(text_of([&](auto& t) { return item.getRTROIInterpretedType(t); }));
    }
  }
  return result;
}

}  // namespace iso::files
