// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"

#include "regular.hpp"

#include <iso/files/detail/refuse.hpp>

#include <dcmtk/oflog/oflog.h>
#include <fmt/core.h>

#include <limits>
#include <optional>

namespace iso::files {

namespace fs = std::filesystem;

bool const has_dicom = true;

namespace detail {

void silence_dcmtk(fs::path const& path) {
  OFLog::configure(OFLogger::OFF_LOG_LEVEL);
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

std::vector<double> numbers_of(DcmItem& set, DcmTagKey tag) {
  return decimal_numbers(text_of(set, tag));
}

double number_of(DcmItem& set, DcmTagKey tag, double otherwise) {
  auto const text = text_of(set, tag);
  if (text.empty()) {
    return otherwise;
  }
  auto const numbers = decimal_numbers(text);
  return numbers.size() == 1 ? numbers.front() : std::numeric_limits<double>::quiet_NaN();
}

int count_of(DcmItem& set, DcmTagKey tag) {
  Uint16 number = 0;
  return set.findAndGetUint16(tag, number).good() ? number : 0;
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
  // Long lists of numbers are written as of unknown kind, for want of room in the length.
  dcmEnableUnknownVRConversion.set(OFTrue);
  auto const read = file.loadFile(path.c_str());
  if (read.bad()) {
    refuse(path, fmt::format("is truncated or damaged ({}); fetch or write it again", read.text()));
  }
}

}  // namespace detail

using namespace detail;

dicom_identity read_dicom_identity(fs::path const& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) {
    return read_dicom_series_grid(path).identity;
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
  if (kind != file_kind::object) {
    refuse(path,
           "is no DICOM file, or a damaged one (its header cannot be read); fetch or write it "
           "again, or name another");
  }
  return *identity;
}

}  // namespace iso::files
