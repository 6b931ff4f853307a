// SPDX-License-Identifier: BSD-3-Clause
//! Checks what the NIfTI library prints of a header, what ITK does not survive, and what it loses.
#pragma once

#include <iso/core/job.hpp>

#include <filesystem>
#include <span>

namespace iso::files::detail {

/// Throws iso::file_error unless the header of a NIfTI file (.nii, .nii.gz) has numbers of axes and
/// voxels that are possible, a type, and places that are numbers.
void check_nifti_header(std::filesystem::path const& path);

/// A name by which the NIfTI library reads the voxels of a file: beside NAME.nii it would read
/// those of that one for NAME.nii.gz, which gets a link in a folder of its own, as long as this
/// lives.
class nifti_name {
 public:
  /// \throws iso::file_error  no such folder can be made
  explicit nifti_name(std::filesystem::path const& path);
  ~nifti_name();
  nifti_name(nifti_name const&) = delete;
  nifti_name& operator=(nifti_name const&) = delete;

  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path folder_;  ///< of the link; empty where there is none
};

/// Throws iso::file_error where the slope of a NIfTI of floats leaves no float of the largest, or
/// not all of its digits: ITK rounds without a word.
/// \param values  what ITK made of its voxels
/// \param asked   while voxels are read again, which few files need
void check_nifti_scale(std::filesystem::path const& path, std::span<float const> values,
                       job const& asked);

}  // namespace iso::files::detail
