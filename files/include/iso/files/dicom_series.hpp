// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/dicom_series.hpp
//! Reads and writes DICOM CT series, a folder each: docs/formats.md. No message says a patient's
//! name or number, nor the name of a file inside a folder, which may hold one. In a build without
//! DCMTK functions that read or write throw iso::file_error that says so.
#pragma once

#include <iso/core/job.hpp>
#include <iso/files/volume_file.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace iso::files {

/// Whether this build has DCMTK.
extern bool const has_dicom;

/// The kind of a DICOM file and what it belongs to; empty where the file does not say.
struct dicom_identity {
  std::string modality;            ///< "CT", "RTDOSE", "RTSTRUCT", "RTPLAN"
  std::string sop_class;           ///< UID
  std::string sop_instance;        ///< UID
  std::string series;              ///< UID
  std::string study;               ///< UID
  std::string frame_of_reference;  ///< UID: coordinates of one frame can be compared
  /// How the patient lay, "HFS" or another code, or "unknown" where the text is no code.
  /// Coordinates do not depend on it; gantry angles do.
  std::string patient_position;
  std::filesystem::path file;  ///< of a folder: its lowest slice
};

/// A CT series: one image, in Hounsfield units, on evenly spaced planes.
struct dicom_series {
  dicom_identity identity;
  host_volume volume;
  std::int64_t other_objects = 0;  ///< files of plans, structures and doses, which are left alone
};

/// Reads the CT series in `folder`, and in the folders within where these are searched. Slices are
/// put in the order of their positions, and their values rescaled. Coordinates are the patient's,
/// in whatever position: flips and permutations of the axes are undone, as by read_volume. Files
/// that are not DICOM, and RT objects, are passed over; what looks like DICOM and cannot be read is
/// listed in the volume's `unread`.
///
/// Neighbouring slices lie apart by the mean distance; each distance may differ from the median by
/// 1 % and 0.01 mm. A single slice is as thick as it says.
/// \throws iso::file_error     not a folder; no CT image, images of another modality, of more than
///                             one series, several frames in one file; a missing slice, two at one
///                             position, uneven distances; planes that are oblique, a tilted
///                             gantry; two patient positions; orientations, sizes or pixels that
///                             differ; values that are not in HU; damaged files, and CT images by
///                             their SOP class whose header says otherwise
/// \throws iso::out_of_memory  more than this machine has
dicom_series read_dicom_series(std::filesystem::path const& folder,
                               subfolders search = subfolders::left_out);

/// Reads the same without values.
/// \throws iso::file_error  as read_dicom_series, as far as headers tell
dicom_series read_dicom_series_grid(std::filesystem::path const& folder,
                                    subfolders search = subfolders::left_out);

/// Reads what a DICOM file is, or the CT series in a folder.
/// \throws iso::file_error  no DICOM; as read_dicom_series_grid
dicom_identity read_dicom_identity(std::filesystem::path const& path,
                                   subfolders search = subfolders::left_out);

/// Prepares a CT series in `folder`, a file for each slice: a commit puts all in place, or none
/// (atomic_file::folder). Values are rounded to whole HU.
///
/// Patient, study and frame of reference are those of `like`, a DICOM file or the folder of a
/// series; where `like` is empty there is no patient, and new study and frame. UIDs are made of
/// the content: the same volume, with the same `like`, gives the same files.
/// \throws iso::file_error  a volume that is not in HU, without voxels, with more than 65535 along
///                          an axis, or with values beyond -32768 to 32767; a folder that is not
///                          empty; `like` as read_dicom_identity; what cannot be written
/// \throws iso::cancelled   as job::step, which is asked for each slice
[[nodiscard]] atomic_file prepare_dicom_series(std::filesystem::path const& folder,
                                               host_volume const& volume,
                                               std::filesystem::path const& like = {},
                                               job const& control = {});

/// Returns true for a folder, a name that ends in .dcm, and a file of another name that is none of
/// an image and has the mark of DICOM (RD.1.2.3, IM0001, .ima).
bool is_dicom_path(std::filesystem::path const& path);

/// Does nothing where both frames of reference are one.
/// \throws iso::file_error  naming both files: the frames differ, or one of them is not known
void check_same_frame(std::filesystem::path const& a, std::string const& frame_a,
                      std::filesystem::path const& b, std::string const& frame_b);

}  // namespace iso::files
