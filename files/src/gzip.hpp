// SPDX-License-Identifier: BSD-3-Clause
//! Finds the length of compressed files in pieces, between which a job is asked.
#pragma once

#include <iso/core/job.hpp>

#include <cstdint>
#include <filesystem>

namespace iso::files::detail {

/// Returns how many bytes a compressed file holds; reads all of it.
/// \throws iso::file_error  it is truncated or damaged
std::uint64_t inflated_size(std::filesystem::path const& path, job const& asked);

}  // namespace iso::files::detail
