// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/rank_files.hpp
//! Writes one file by all ranks that share a job.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/job.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/volume_file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

/// The bytes of files that each rank has read or written.
using bytes_of_ranks = std::vector<std::uint64_t>;

/// Throws, on every rank, unless all see the folder of a file whose planes each of them writes.
/// \throws iso::file_error
void check_folder_of_ranks(std::string const& path);

/// A volume's file that ranks have written.
struct written_planes {
  std::optional<files::atomic_file> file;  ///< on rank 0, which puts it in place
  bytes_of_ranks bytes;
};

/// Writes the file of a volume, each rank its own planes, whose values `volume` has.
/// \throws iso::file_error  on every rank; nothing is left
written_planes write_planes_of_ranks(std::string const& path, files::host_volume const& volume,
                                     slab const& planes, job const& asked);

}  // namespace iso::jobs
