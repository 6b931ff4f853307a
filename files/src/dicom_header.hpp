// SPDX-License-Identifier: BSD-3-Clause
//! Reads headers of DICOM files by DCMTK: GDCM, as distributions build it, ends the program at many
//! damaged ones.
#pragma once

#include "dicom.hpp"

#include <iso/files/dicom_series.hpp>

#include <dcmtk/dcmdata/dctk.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace iso::files::detail {

/// Returns the text of an element, of several values all; empty where it is not there.
std::string text_of(DcmItem& set, DcmTagKey tag);
/// Returns whether pixels stand for no colours, or do not say what for.
bool is_grey(DcmItem& set);

/// Returns the numbers of a decimal string (DS), as many as there are: none where the element is
/// not there. These and those below throw iso::file_error, of `path`, where a value is no number,
/// with the attribute and the value; and where several are there for one.
std::vector<double> decimals_of(DcmItem& set, DcmTagKey tag, std::filesystem::path const& path);
/// Returns the number of a decimal string.
std::optional<double> decimal_of(DcmItem& set, DcmTagKey tag, std::filesystem::path const& path);
/// Returns the number of an integer string (IS).
std::optional<int> integer_of(DcmItem& set, DcmTagKey tag, std::filesystem::path const& path);
/// Returns the number of an element of 16 bits (US).
std::optional<int> count_of(DcmItem& set, DcmTagKey tag, std::filesystem::path const& path);

/// Calls `use` with each item of a sequence, where it is there.
template <class Use>
void for_each_item(DcmItem& set, DcmTagKey tag, Use&& use) {
  DcmSequenceOfItems* items = nullptr;
  if (set.findAndGetSequence(tag, items).bad() || items == nullptr) {
    return;
  }
  for (auto* at = items->nextInContainer(nullptr); at != nullptr; at = items->nextInContainer(at)) {
    use(static_cast<DcmItem&>(*at));
  }
}

dicom_identity identity_of(DcmItem& set, std::filesystem::path const& file);

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
