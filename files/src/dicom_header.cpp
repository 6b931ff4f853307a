// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"

#include "regular.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <dcmtk/oflog/oflog.h>
#include <fmt/core.h>

#include <optional>
#include <string_view>

namespace iso::files {

namespace fs = std::filesystem;

bool const has_dicom = true;

namespace detail {

void silence_dcmtk(fs::path const& path) {
  OFLog::configure(OFLogger::OFF_LOG_LEVEL);
  // Systems that do not know an element's kind write it as of unknown kind (UN), and others long
  // lists of numbers, for want of room in the length.
  dcmEnableUnknownVRConversion.set(OFTrue);
  if (!dcmDataDict.isDictionaryLoaded()) {
    refuse(path,
           "cannot be read or written (DCMTK's dictionary is not loaded); set DCMDICTPATH to its "
           "file dicom.dic");
  }
}

std::string text_of(DcmItem& set, DcmTagKey tag) {
  OFString text;
  return set.findAndGetOFStringArray(tag, text).good() ? trimmed({text.c_str(), text.length()})
                                                       : std::string();
}

bool is_grey(DcmItem& set) {
  auto const photometric = text_of(set, DCM_PhotometricInterpretation);
  return photometric.empty() || photometric.starts_with("MONOCHROME");
}

namespace {

std::string name_of(DcmTagKey tag) { return DcmTag(tag).getTagName(); }

// What of a value can be told: it may hold anything.
std::string shown(std::string_view value) {
  auto text = trimmed(value);
  for (char& c : text) {
    c = std::string_view("0123456789+-.,eE ").find(c) == std::string_view::npos ? '?' : c;
  }
  return shortened(text, 24);
}

DcmElement* element_of(DcmItem& set, DcmTagKey tag) {
  DcmElement* element = nullptr;
  return set.findAndGetElement(tag, element).good() && element != nullptr &&
                 element->getLength() > 0
             ? element
             : nullptr;
}

// As it is in the file, without a copy: contours have long lists of numbers.
std::string_view raw_text(DcmItem& set, DcmTagKey tag, fs::path const& path) {
  auto* const element = element_of(set, tag);
  char* text = nullptr;
  Uint32 length = 0;
  if (element != nullptr && element->getString(text, length).bad()) {
    refuse(path, fmt::format("holds {} of kind {} (text is expected); export it again",
                             name_of(tag), DcmVR(element->getVR()).getVRName()));
  }
  return text == nullptr ? std::string_view() : std::string_view(text, length);
}

template <class Read>
auto values_of(DcmItem& set, DcmTagKey tag, fs::path const& path, char const* what, Read&& read) {
  std::vector<typename decltype(read({}))::value_type> numbers;
  auto text = raw_text(set, tag, path);
  for (bool more = !trim(text).empty(); more;) {
    auto const word = text.substr(0, text.find('\\'));
    auto const number = read(word);
    if (!number) {
      refuse(path, fmt::format("holds '{}' as {} ({} is expected); export it again", shown(word),
                               name_of(tag), what));
    }
    numbers.push_back(*number);
    more = word.size() < text.size();
    text.remove_prefix(word.size() + (more ? 1 : 0));
  }
  return numbers;
}

template <class T>
std::optional<T> only(std::vector<T> const& numbers, DcmTagKey tag, fs::path const& path) {
  if (numbers.size() > 1) {
    refuse(path, fmt::format("holds {} values of {} (one is expected); export it again",
                             numbers.size(), name_of(tag)));
  }
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

}  // namespace

std::vector<double> decimals_of(DcmItem& set, DcmTagKey tag, fs::path const& path) {
  return values_of(set, tag, path, "a number with a decimal point", decimal_number);
}

std::optional<double> decimal_of(DcmItem& set, DcmTagKey tag, fs::path const& path) {
  return only(decimals_of(set, tag, path), tag, path);
}

std::optional<int> integer_of(DcmItem& set, DcmTagKey tag, fs::path const& path) {
  return only(values_of(set, tag, path, "a whole number", integer_number), tag, path);
}

std::optional<int> count_of(DcmItem& set, DcmTagKey tag, fs::path const& path) {
  auto* const element = element_of(set, tag);
  if (element == nullptr) {
    return {};
  }
  Uint16 number = 0;
  if (element->getVM() != 1 || element->getUint16(number, 0).bad()) {
    refuse(path, fmt::format("holds {} numbers of kind {} as {} (one of kind US is expected); "
                             "export it again",
                             element->getVM(), DcmVR(element->getVR()).getVRName(), name_of(tag)));
  }
  return number;
}

namespace {

// A structure set names its frame in a sequence.
std::string frame_of(DcmItem& set) {
  auto const own = uid_of(text_of(set, DCM_FrameOfReferenceUID));
  DcmItem* first = nullptr;
  if (own.empty() &&
      set.findAndGetSequenceItem(DCM_ReferencedFrameOfReferenceSequence, first).good()) {
    return uid_of(text_of(*first, DCM_FrameOfReferenceUID));
  }
  return own;
}

}  // namespace

dicom_identity identity_of(DcmItem& set, fs::path const& file) {
  return {code_of(text_of(set, DCM_Modality)),
          uid_of(text_of(set, DCM_SOPClassUID)),
          uid_of(text_of(set, DCM_SOPInstanceUID)),
          uid_of(text_of(set, DCM_SeriesInstanceUID)),
          uid_of(text_of(set, DCM_StudyInstanceUID)),
          frame_of(set),
          stated_code(text_of(set, DCM_PatientPosition)),
          file};
}

void load_object(fs::path const& path, DcmFileFormat& file, char const* sop_class,
                 char const* what) {
  auto const identity = read_dicom_identity(path);
  if (identity.sop_class != sop_class) {
    std::error_code unknown;
    if (fs::is_directory(path, unknown)) {
      refuse(path,
             fmt::format(
                 "is the folder of a CT series, no {} (each of these is one file); name the file",
                 what));
    }
    refuse(path, fmt::format("is no {} (its modality is {}); {}", what,
                             identity.modality.empty() ? "not said" : identity.modality,
                             identity.modality == "CT" ? "name the folder of the CT series"
                                                       : "name another file"));
  }
  auto const read = file.loadFile(path.c_str());
  if (read.bad()) {
    refuse(path, fmt::format("is truncated or damaged ({}); fetch or write it again", read.text()));
  }
}

}  // namespace detail

using namespace detail;

dicom_identity read_dicom_identity(fs::path const& path, subfolders search) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) {
    return read_dicom_series_grid(path, search).identity;
  }
  check_regular(path);
  std::optional<dicom_identity> identity;
  auto const kind = with_header(path, [&](DcmDataset& set) { identity = identity_of(set, path); });
  if (kind == file_kind::directory) {
    refuse(path,
           "is a DICOMDIR (a list of files, which holds no image, dose or structures); name one of "
           "its files, or the folder of a series");
  }
  if (kind == file_kind::unsupported) {
    refuse(path, unsupported_sentence);
  }
  if (kind != file_kind::object && is_zip(first_bytes(path))) {
    refuse(path, zip_sentence);
  }
  if (kind != file_kind::object) {
    refuse(path,
           "is no DICOM file, or a damaged one (its header cannot be read); fetch or write it "
           "again, or name another");
  }
  return *identity;
}

}  // namespace iso::files
