// SPDX-License-Identifier: BSD-3-Clause
//! Checks what ITK's reader of MetaImages wants of a header, and does not say or survive.
#pragma once

#include "voxel_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace iso::files::detail {

/// Throws iso::file_error unless the header of a MetaImage has lines "name = value" short enough
/// for ITK's buffers, the fields that it wants, and a data file that is there.
void check_meta_header(std::filesystem::path const& path);

/// Returns where the voxels of a MetaImage lie, `bytes` of them, whose header was checked; nothing
/// where they lie in several files, or at a place that only ITK finds.
std::optional<voxel_layout> meta_layout(std::filesystem::path const& path, std::uint64_t bytes);

}  // namespace iso::files::detail
