// SPDX-License-Identifier: BSD-3-Clause
//! Reads headers of DICOM files by DCMTK: GDCM, as distributions build it, ends the program at many
//! damaged ones.
#pragma once

#include "dicom.hpp"

#include <iso/files/dicom_series.hpp>

#include <dcmtk/dcmdata/dctk.h>

#include <filesystem>
#include <string>
#include <vector>

namespace iso::files::detail {

/// Returns the text of an element, of several values all; empty where it is not there.
std::string text_of(DcmItem& set, DcmTagKey tag);
std::vector<double> numbers_of(DcmItem& set, DcmTagKey tag);
/// Returns the number of an element, `otherwise` where it is not there; NaN where the text is no
/// number.
double number_of(DcmItem& set, DcmTagKey tag, double otherwise);
int count_of(DcmItem& set, DcmTagKey tag);

dicom_identity identity_of(DcmItem& set, std::filesystem::path const& file);

/// Returns the text that get(OFString&) of a class of dcmrt gives; empty where it is not there.
template <class Get>
std::string text_of(Get&& get) {
  OFString text;
  return get(text).good() ? trimmed({text.c_str(), text.length()}) : std::string();
}

/// The kind that a file turned out to be.
enum class file_kind {
  object,
  directory,    ///< DICOMDIR, which lists objects and is none
  unsupported,  ///< in a transfer syntax that this DCMTK was built without
  other,        ///< no DICOM, or a damaged one
};

constexpr char const* unsupported_sentence =
    "is deflated, or in another transfer syntax that DCMTK, as this machine has it, does not read "
    "(its header cannot be read); export it uncompressed";

/// Reads a file. If it is an object, gives what it holds to `use`.
template <class Use>
file_kind with_header(std::filesystem::path const& file, Use&& use) {
  silence_dcmtk(file);
  DcmFileFormat format;
  auto const read = format.loadFile(file.c_str());
  if (read.bad()) {
    return read == EC_UnsupportedEncoding ? file_kind::unsupported : file_kind::other;
  }
  if (text_of(*format.getMetaInfo(), DCM_MediaStorageSOPClassUID) == dicomdir_class) {
    return file_kind::directory;
  }
  if (text_of(*format.getDataset(), DCM_SOPClassUID).empty()) {
    return file_kind::other;
  }
  use(*format.getDataset());
  return file_kind::object;
}

/// Loads a file; throws iso::file_error where it is no `what`, of class `sop_class`.
void load_object(std::filesystem::path const& path, DcmFileFormat& file, char const* sop_class,
                 char const* what);

}  // namespace iso::files::detail
