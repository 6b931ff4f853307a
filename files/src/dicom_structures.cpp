// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/text.hpp>

#include <dcmtk/dcmdata/dcspchrs.h>
#include <dcmtk/ofstd/ofchrenc.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
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

// Red, green and blue. A set whose colours are none is as good as any.
std::optional<std::array<int, 3>> colour_of(DcmItem& item) {
  std::array<int, 3> colour{};
  auto const text = text_of(item, DCM_ROIDisplayColor);
  std::string_view rest = text;
  for (std::size_t i = 0; i < 3; ++i) {
    auto const word = rest.substr(0, rest.find('\\'));
    auto const number = integer_number(word);
    bool const is_last = word.size() == rest.size();
    if (!number || *number < 0 || *number > 255 || is_last != (i == 2)) {
      return {};
    }
    colour[i] = *number;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return colour;
}

// The kind of a contour. INTERPOLATED_PLANAR is longer than a code may be.
std::string kind_of(std::string const& text) {
  return trimmed(text) == "INTERPOLATED_PLANAR" ? trimmed(text) : stated_code(text);
}

// Begins what is said of one structure.
std::string refusal_of(fs::path const& path, rt_structure const& s, std::string_view what) {
  return fmt::format("'{}': has a structure '{}' that {}", path.string(), shortened(s.name, 64),
                     what);
}

// Says what is wrong with one structure, which a reader of its numbers says of the file.
void refuse_as(fs::path const& path, rt_structure& s, file_error const& failure) {
  // Readers of numbers begin with the file's name.
  std::string_view const sentence = failure.what();
  s.refusal = refusal_of(path, s, sentence.substr(path.string().size() + 4));
}

// A structure's number, or that which an item refers to; nothing where it is none.
std::optional<int> number_of(fs::path const& path, DcmItem& item, DcmTagKey tag) {
  try {
    return integer_of(item, tag, path);
  } catch (file_error const&) {
    return {};
  }
}

rt_structure structure_of(fs::path const& path, DcmItem& item) {
  rt_structure s;
  s.name = printable(one_line(text_of(item, DCM_ROIName)));
  s.frame_of_reference = uid_of(text_of(item, DCM_ReferencedFrameOfReferenceUID));
  try {
    auto const number = integer_of(item, DCM_ROINumber, path);
    if (!number) {
      refuse(path, "has no number (its contours cannot be told); export it again");
    }
    s.number = *number;
  } catch (file_error const& failure) {
    refuse_as(path, s, failure);
  }
  return s;
}

// PS3.3 C.8.8.6.3: all other kinds may bound something.
bool bounds_nothing(std::string_view kind) {
  return kind == "POINT" || kind == "OPEN_PLANAR" || kind == "OPEN_NONPLANAR";
}

void add_contour(fs::path const& path, DcmItem& contour, rt_structure& s) {
  // Contours of either kind count even-odd in their plane.
  auto const kind = kind_of(text_of(contour, DCM_ContourGeometricType));
  if (kind != "CLOSED_PLANAR" && kind != "CLOSEDPLANAR_XOR") {
    s.other_geometry = kind.empty() ? "no" : kind;
    if (!bounds_nothing(kind)) {
      refuse(path,
             fmt::format("has {} contours (CLOSED_PLANAR and CLOSEDPLANAR_XOR ones are read); "
                         "choose another structure",
                         kind.empty() ? "kindless" : kind));
    }
    return;
  }
  auto const numbers = decimals_of(contour, DCM_ContourData, path);
  if (numbers.empty() || numbers.size() % 3 != 0) {
    refuse(path, fmt::format("has a contour of {} numbers (three a point are expected); export it "
                             "again",
                             numbers.size()));
  }
  auto const points = numbers.size() / 3;
  auto const told = integer_of(contour, DCM_NumberOfContourPoints, path);
  if (told && std::int64_t(points) != *told) {
    refuse(path, fmt::format("has a contour of {} points where {} are told (it was cut); export it "
                             "again",
                             points, *told));
  }
  auto& to = s.contours.emplace_back().points;
  for (std::size_t p = 0; p < numbers.size(); p += 3) {
    to.push_back({numbers[p], numbers[p + 1], numbers[p + 2]});
  }
}

// What is wrong with one structure is said when it is used: others can be.
void add_contours(fs::path const& path, DcmItem& item, rt_structure& s) {
  if (!s.refusal.empty()) {
    return;
  }
  s.colour = colour_of(item);
  try {
    for_each_item(item, DCM_ContourSequence,
                  [&](DcmItem& contour) { add_contour(path, contour, s); });
  } catch (file_error const& failure) {
    refuse_as(path, s, failure);
    s.contours.clear();
  }
}

void refuse_number(fs::path const& path, rt_structure& s, rt_structure const& other) {
  s.refusal =
      refusal_of(path, s,
                 fmt::format("has the number {}, as '{}' has (their contours cannot be told "
                             "apart); export it again",
                             s.number, shortened(other.name, 64)));
}

}  // namespace

rt_structure_set read_rt_structure_set(fs::path const& path) {
  DcmFileFormat file;
  load_object(path, file, rt_structure_set_class, "RT Structure Set");
  auto& set = *file.getDataset();
  convert_names(set);
  rt_structure_set result{identity_of(set, path), {}};
  std::map<int, std::size_t> at;
  for_each_item(set, DCM_StructureSetROISequence, [&](DcmItem& item) {
    auto s = structure_of(path, item);
    if (s.refusal.empty()) {
      auto const [found, is_new] = at.emplace(s.number, result.structures.size());
      if (!is_new) {
        auto& other = result.structures[found->second];
        refuse_number(path, s, other);
        refuse_number(path, other, s);
      }
    }
    result.structures.push_back(std::move(s));
  });
  // Whose some contours are may not be known; all others are.
  auto const add_unnamed = [&](std::string const& name, std::string const& whose) {
    auto& s = result.structures.emplace_back();
    s.name = name;
    s.refusal = fmt::format("'{}': has contours of {} (it may be cut short); export it again",
                            path.string(), whose);
    return &s;
  };
  std::set<int> drawn;
  for_each_item(set, DCM_ROIContourSequence, [&](DcmItem& item) {
    auto const number = number_of(path, item, DCM_ReferencedROINumber);
    if (!number) {
      add_unnamed("no number", "a structure whose number it does not tell");
      return;
    }
    auto const [found, is_unnamed] = at.emplace(*number, result.structures.size());
    if (is_unnamed) {
      add_unnamed(fmt::format("number {}", *number),
                  fmt::format("a structure {} that it does not name", *number))
          ->number = *number;
    }
    auto& of = result.structures[found->second];
    bool const is_first = drawn.insert(*number).second;
    if (!is_first && of.refusal.empty()) {
      of.refusal = refusal_of(path, of,
                              "has two lists of contours (one may be another structure's); export "
                              "it again");
      of.contours.clear();
    } else if (of.refusal.empty()) {
      add_contours(path, item, of);
    }
  });
  // A type is no measure: what is observed of a number that is none is passed by.
  for_each_item(set, DCM_RTROIObservationsSequence, [&](DcmItem& item) {
    auto const number = number_of(path, item, DCM_ReferencedROINumber);
    auto const found = number ? at.find(*number) : at.end();
    if (found != at.end()) {
      result.structures[found->second].type = code_of(text_of(item, DCM_RTROIInterpretedType));
    }
  });
  return result;
}

}  // namespace iso::files
