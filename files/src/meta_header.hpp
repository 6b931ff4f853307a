// SPDX-License-Identifier: BSD-3-Clause
//! Checks what ITK's reader of MetaImages wants of a header, and does not say or survive.
#pragma once

#include <filesystem>

namespace iso::files::detail {

/// Throws iso::file_error unless the header of a MetaImage has lines "name = value" short enough
/// for ITK's buffers, the fields that it wants, and a data file that is there.
void check_meta_header(std::filesystem::path const& path);

/// Throws iso::file_error where the voxels of a MetaImage, whose header was checked, are compressed
/// in one file and do not inflate to their end and checksum, which MetaIO does not look at.
void check_meta_voxels(std::filesystem::path const& path);

}  // namespace iso::files::detail
