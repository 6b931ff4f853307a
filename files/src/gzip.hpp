// SPDX-License-Identifier: BSD-3-Clause
//! Compresses files in pieces, between which a job is asked.
#pragma once

#include <iso/core/job.hpp>

#include <cstdint>
#include <filesystem>

namespace iso::files::detail {

/// Returns how many bytes a compressed file holds; reads all of it.
/// \throws iso::file_error  it is truncated or damaged
std::uint64_t inflated_size(std::filesystem::path const& path, job const& asked);

/// Writes what `from` holds, compressed, to `to`; messages name `path`.
/// \throws iso::file_error
void compress(std::filesystem::path const& path, std::filesystem::path const& from,
              std::filesystem::path const& to, job const& asked);

}  // namespace iso::files::detail
