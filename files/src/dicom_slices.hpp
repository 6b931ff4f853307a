// SPDX-License-Identifier: BSD-3-Clause
//! Holds the slices of a CT series: which files of a folder they are, and their pixels.
#pragma once

#include "dicom_header.hpp"

#include <iso/files/volume_file.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace iso::files::detail {

/// The bits of a pixel, and which of them count.
struct pixel_bits {
  int allocated = 0;
  int stored = 0;
  int high = 0;
  bool is_signed = false;
};

pixel_bits bits_of(DcmItem& set, std::filesystem::path const& path);
/// Returns whether pixels are the low bits of 8 or 16.
inline bool is_known(pixel_bits const& b) {
  return (b.allocated == 8 || b.allocated == 16) && b.stored >= 1 && b.stored <= b.allocated &&
         b.high == b.stored - 1;
}

/// What the header of a slice says.
struct slice {
  dicom_identity identity;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<double> pixel;        ///< mm along y, along x
  std::vector<double> position;     ///< mm, of the first pixel
  std::vector<double> orientation;  ///< of rows and of columns
  alignment how;                    ///< of columns, rows and slices, which ascend
  double thickness = 0;             ///< mm; 0 where it is not said
  double tilt = 0;                  ///< degrees
  std::int64_t frames = 1;
  int samples = 1;           ///< numbers a pixel
  bool is_grey = true;       ///< whether they stand for no colours
  bool is_rescaled = false;  ///< whether the header says by what
  double slope = 1;
  double intercept = 0;
  pixel_bits bits;
  std::string patient;  ///< number of the patient: compared, never told
  std::string unit;     ///< of rescaled values
  bool is_localizer = false;
};

/// The DICOM files of a folder.
struct folder_content {
  std::vector<slice> slices;
  std::int64_t other_objects = 0;
  std::vector<unread_file> unread;
};

/// Reads the headers of a folder's files. Throws iso::file_error, of the folder alone, where there
/// is no CT image; where an image is none of CT, or one of these cannot be read.
folder_content read_folder(std::filesystem::path const& folder, subfolders search);

/// Reads a slice's pixels, rescaled, rows one after the other. Throws iso::file_error, of the
/// folder and with the slice's place.
void read_pixels(std::filesystem::path const& folder, slice const& s, float* to);

}  // namespace iso::files::detail
