// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/dicom_rt.hpp
//! Reads and writes DICOM RT Dose, and reads RT Structure Sets: docs/formats.md. In a build without
//! DCMTK functions that read or write throw iso::file_error that says so. No message says a
//! patient's name or number.
#pragma once

#include <iso/dvh/contours.hpp>
#include <iso/files/dicom_series.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace iso::files {

/// The use of a dose in other units than Gy.
enum class dose_units {
  gray,  ///< it is refused
  any,   ///< its units are told in the volume's unit
};

/// The contents of an RT Dose.
struct rt_dose {
  dicom_identity identity;
  /// The dose. Its unit is "Gy" or "relative", or another word that the file has, "unknown units"
  /// where that is no word, or none where the file says none.
  host_volume volume;
  std::string type;                         ///< "PHYSICAL", "EFFECTIVE", "ERROR"
  std::string summation;                    ///< "PLAN", "FRACTION", "BEAM", ...
  std::vector<std::string> plans;           ///< UIDs of the RT Plans that it refers to
  std::vector<int> beams;                   ///< numbers of their beams that it is of, as it says
  std::vector<std::string> structure_sets;  ///< UIDs
  /// False of one frame that does not say how thick it is.
  bool states_thickness = true;
};

/// Reads an RT Dose. Frames are put in the order of their positions, z ascending; offsets relative
/// to the first frame and absolute ones are told apart as PS3.3 C.8.8.3.2 says. Distances of frames
/// are as those of slices in read_dicom_series.
/// \param[in] slice_thickness  of one frame that does not state it, mm; 0: such a file is refused
/// \throws iso::file_error     no such file, no RT Dose, other units than Gy unless `units` is any;
///                             frames that are missing, doubled or unevenly spaced, planes that
///                             are not axial; pixels of other than 16 or 32 bits, compressed
///                             ones, fewer or more than the header says; one frame
///                             without a thickness
/// \throws iso::out_of_memory  more than this machine has
rt_dose read_rt_dose(std::filesystem::path const& path, dose_units units = dose_units::gray,
                     double slice_thickness = 0);

/// Reads the same without values.
rt_dose read_rt_dose_grid(std::filesystem::path const& path, dose_units units = dose_units::gray,
                          double slice_thickness = 0);

/// The objects that a written dose belongs to.
struct rt_dose_options {
  /// A DICOM file or the folder of a CT series: patient, study and frame of reference. Empty: no
  /// patient, new study and frame.
  std::filesystem::path like{};
  /// An RT Plan to refer to. Empty: `like` where it is one; else an UID that no file has, because
  /// PS3.3 C.8.8.3 wants a reference from the dose of a plan.
  std::filesystem::path plan{};
};

/// Prepares a dose in Gy as RT Dose, physical, of a plan: 32 bits, multiples of the largest value
/// over 2^32 - 1, offsets relative to the first frame. UIDs are made of the content, as in
/// prepare_dicom_series.
/// \throws iso::file_error  a volume that is not in Gy, without voxels, with more than 65535 along
///                          x or y, more than 4 GiB or more frames than their offsets have room
///                          for; values that are negative or not finite; `like` and `plan` of two
///                          frames of reference; `plan` that is none; what cannot be written
[[nodiscard]] atomic_file prepare_rt_dose(std::filesystem::path const& path,
                                          host_volume const& dose,
                                          rt_dose_options const& options = {});

/// A structure: the contours of one organ or target, in the patient's coordinates.
struct rt_structure : dvh::structure {
  int number = 0;                              ///< ROI Number; 0 where there is none, too
  std::optional<std::array<int, 3>> colour{};  ///< red, green, blue, 0 to 255
  std::string type{};                          ///< "PTV", "ORGAN", "EXTERNAL"; may be empty
  std::string frame_of_reference{};            ///< UID; those of one set may differ
  std::string other_geometry{};  ///< "POINT", ...: a contour of another kind, which is not read
  /// Why what is drawn cannot be used, a sentence that names file and structure; then it has no
  /// contours. Empty where it can.
  std::string refusal{};
};

/// The contents of an RT Structure Set.
struct rt_structure_set {
  dicom_identity identity;
  std::vector<rt_structure> structures;  ///< in the order of their numbers in the file
};

/// Reads an RT Structure Set. What is wrong with one structure stands in its `refusal`: contours
/// whose numbers are no points or that may bound something and are not read, no number of its own,
/// or that of another structure. The others can be used. Contours of a structure that the set does
/// not name are one of their own, with a `refusal`.
/// \throws iso::file_error  no such file, no RT Structure Set
rt_structure_set read_rt_structure_set(std::filesystem::path const& path);

/// Returns the structure of that name in the set read from `path`. Its own frame of reference is to
/// be compared with a volume's, by check_same_frame.
/// \throws iso::file_error  no structure or several of that name; one with a `refusal`, without
///                          contours, or with some that bound no volume
rt_structure const& find_structure(std::filesystem::path const& path, rt_structure_set const& set,
                                   std::string const& name);

/// Returns the contours of a structure that can be used.
/// \throws iso::file_error  one with a `refusal`
dvh::structure make_structure(rt_structure const& from);

}  // namespace iso::files
