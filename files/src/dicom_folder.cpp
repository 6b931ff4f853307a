// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_slices.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

// In the name of the folder: the file may be named after a patient.
slice slice_of(DcmItem& set, fs::path const& file, fs::path const& folder) {
  slice s;
  s.identity = identity_of(set, file);
  s.columns = count_of(set, DCM_Columns, folder).value_or(0);
  s.rows = count_of(set, DCM_Rows, folder).value_or(0);
  s.pixel = decimals_of(set, DCM_PixelSpacing, folder);
  s.position = decimals_of(set, DCM_ImagePositionPatient, folder);
  s.orientation = decimals_of(set, DCM_ImageOrientationPatient, folder);
  s.thickness = decimal_of(set, DCM_SliceThickness, folder).value_or(0);
  s.tilt = decimal_of(set, DCM_GantryDetectorTilt, folder).value_or(0);
  s.frames = integer_of(set, DCM_NumberOfFrames, folder).value_or(1);
  s.samples = count_of(set, DCM_SamplesPerPixel, folder).value_or(1);
  s.is_grey = is_grey(set);
  auto const slope = decimal_of(set, DCM_RescaleSlope, folder);
  auto const intercept = decimal_of(set, DCM_RescaleIntercept, folder);
  s.is_rescaled = slope && intercept;
  s.slope = slope.value_or(1);
  s.intercept = intercept.value_or(0);
  s.bits = bits_of(set, folder);
  s.patient = text_of(set, DCM_PatientID);
  s.unit = stated_code(text_of(set, DCM_RescaleType));
  s.is_localizer = text_of(set, DCM_ImageType).find("LOCALIZER") != std::string::npos;
  return s;
}

bool names_dicom(fs::path const& file) {
  auto const end = ending(file);
  return end == ".dcm" || end == ".ima" || end == ".dicom";
}

// "CT.1.2.840.7" and "IM00012" as well.
bool may_name_dicom(fs::path const& file) {
  auto const end = ending(file);
  return names_dicom(file) ||
         std::none_of(end.begin(), end.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Why a file that is no DICOM should be told of: a slice may have been it. Empty where it should
// not.
std::string reason_to_tell(fs::path const& file, std::string_view bytes) {
  if (file.filename().string().starts_with('.')) {
    return {};
  }
  if (::access(file.c_str(), R_OK) != 0) {
    return "closed to this user";
  }
  if (is_zip(bytes)) {
    return "zip archive";
  }
  if (bytes.size() < dicom_mark_end) {
    return !may_name_dicom(file) ? "" : bytes.empty() ? "empty" : "cut short";
  }
  bool const names_class = bytes.find("1.2.840.10008.") != std::string_view::npos;
  return names_class || names_dicom(file) ? "damaged or no DICOM" : "";
}

void add_object(fs::path const& folder, fs::path const& file, DcmDataset& set,
                folder_content& content) {
  auto const m = code_of(text_of(set, DCM_Modality));
  bool const is_ct = uid_of(text_of(set, DCM_SOPClassUID)) == ct_image_class;
  if (!is_ct && (m.empty() || m.starts_with("RT") || m == "REG" || m == "SR" || m == "PR")) {
    ++content.other_objects;
    return;
  }
  if (is_ct && m != "CT") {
    refuse(folder, fmt::format("holds a CT image of modality {} (its header is damaged or was "
                               "changed); fetch or write it again",
                               m.empty() ? "unknown" : m));
  }
  bool const is_slice = is_ct && integer_of(set, DCM_NumberOfFrames, folder).value_or(1) == 1;
  auto const series = uid_of(text_of(set, DCM_SeriesInstanceUID));
  if (!is_slice) {
    refuse(folder,
           fmt::format("holds {} of modality {}, series {} (only CT images of one frame each are "
                       "read); keep the CT series in a folder of its own",
                       is_ct ? "a file of several frames" : "an image", m, series));
  }
  if (series.empty()) {
    refuse(folder,
           "holds a CT image that names no series (its header is cut short); fetch or write it "
           "again");
  }
  content.slices.push_back(slice_of(set, file, folder));
}

void add_file(fs::path const& folder, fs::path const& file, folder_content& content) {
  auto const kind =
      with_header(file, [&](DcmDataset& set) { add_object(folder, file, set, content); });
  if (kind == file_kind::unsupported) {
    refuse(folder, fmt::format("holds a file that {}", unsupported_sentence));
  }
  if (kind != file_kind::other) {
    return;
  }
  auto const bytes = first_bytes(file);
  // An archive may begin with a slice as it is.
  if (!is_zip(bytes) && (is_marked(bytes) || bytes.find(ct_image_class) != std::string::npos)) {
    refuse(folder,
           "holds a DICOM file that is truncated or damaged (its header cannot be read); fetch "
           "or write it again");
  }
  if (auto const reason = reason_to_tell(file, bytes); !reason.empty()) {
    content.unread.push_back({file, reason});
  }
}

template <class Walk>
std::vector<fs::path> regular_files(fs::path const& folder, folder_content& content) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (Walk at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code unknown;
    if (at->is_regular_file(unknown)) {
      files.push_back(at->path());
    } else if (!at->is_directory(unknown) && may_name_dicom(at->path()) &&
               !at->path().filename().string().starts_with('.')) {
      content.unread.push_back(
          {at->path(), at->exists(unknown) ? "no regular file" : "a link to nothing"});
    }
  }
  if (failure) {
    refuse(folder, fmt::format("cannot be read ({}); check its permissions", failure.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of folders within that are not searched. What cannot be looked at there is no business of the
// series.
std::vector<unread_file> slices_within(fs::path const& folder) {
  std::vector<unread_file> found;
  std::error_code failure;
  auto const skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, skip, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at.depth() > 0 && first_bytes(at->path()).find(ct_image_class) != std::string::npos) {
      found.push_back({at->path(), "in a folder within", true});
    }
  }
  std::sort(found.begin(), found.end(),
            [](auto const& a, auto const& b) { return a.file < b.file; });
  return found;
}

// Adds those of the one series of `content`.
void add_slices_within(fs::path const& folder, folder_content& content) {
  auto const& series = content.slices.front().identity.series;
  for (auto& slice : slices_within(folder)) {
    bool is_of_series = false;
    with_header(slice.file, [&](DcmDataset& set) {
      is_of_series = uid_of(text_of(set, DCM_SeriesInstanceUID)) == series;
    });
    if (is_of_series) {
      content.unread.push_back(std::move(slice));
    }
  }
}

}  // namespace

folder_content read_folder(fs::path const& folder, subfolders search) {
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) {
    refuse(folder,
           "is not a folder (a CT series is one, with a file for each slice); name the folder of "
           "the slices");
  }
  folder_content content;
  for (auto const& file : search == subfolders::searched
                              ? regular_files<fs::recursive_directory_iterator>(folder, content)
                              : regular_files<fs::directory_iterator>(folder, content)) {
    add_file(folder, file, content);
  }
  bool const is_left_out = search == subfolders::left_out;
  if (content.slices.empty()) {
    auto const within = is_left_out ? slices_within(folder).size() : 0;
    refuse(folder, fmt::format("holds no CT image ({}); name the folder of the slices",
                               !content.unread.empty()
                                   ? fmt::format("what looks like DICOM in it is not read: {}",
                                                 count_reasons(content.unread))
                               : within > 0 ? fmt::format("{} in folders within it", within)
                               : content.other_objects > 0
                                   ? "only other DICOM objects"
                                   : "a CT series is a folder with a DICOM file for each slice"));
  }
  if (is_left_out) {
    add_slices_within(folder, content);
  }
  return content;
}

}  // namespace iso::files::detail
