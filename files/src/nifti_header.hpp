// SPDX-License-Identifier: BSD-3-Clause
//! Checks what the NIfTI library prints of a header, and what ITK does not survive.
#pragma once

#include <filesystem>

namespace iso::files::detail {

/// Throws iso::file_error unless the header of a NIfTI file (.nii, .nii.gz) has numbers of axes and
/// voxels that are possible, a type, and places that are numbers.
void check_nifti_header(std::filesystem::path const& path);

}  // namespace iso::files::detail
