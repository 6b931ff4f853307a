// SPDX-License-Identifier: BSD-3-Clause
//! What the command line does where mpirun starts several processes.
#pragma once

#include "support.hpp"

#include <iso/core/grid.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/rank_files.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iso::cli {

/// Returns whether a launcher started several processes of a subcommand that they share.
bool shares_jobs(int argc, char const* const* argv);

/// Has all but rank 0 print nothing from now on.
void let_first_rank_speak();

/// Throws iso::invalid_argument where a launcher started several processes of a subcommand that one
/// alone would do: each would write the same files.
/// \param subcommand  its name, such as `project` or `matrix apply`
void check_processes(std::string const& subcommand);

/// Throws iso::invalid_argument on every rank, unless all were started by the same command line, of
/// the same revision.
void check_command_lines(int argc, char const* const* argv);

/// Returns the GPU of this rank where it computes on one; empty: as Kokkos chooses.
/// All ranks call it.
/// \throws iso::invalid_argument  two ranks on a GPU, without --share-gpus
std::optional<int> device_of_rank(common_options const& options);

/// Returns what reads a rank's planes of a volume that is no DICOM, counting their bytes in
/// `bytes_read`, which must outlive it. All ranks call it.
/// \param grid  of the file
/// \param what  what volumes of it are called
/// \throws iso::invalid_argument  on every rank: their headers, lengths or, of files that are read
///                                by planes, middle planes differ
std::function<std::vector<float>(slab const&)> reader_of_planes(std::string const& file,
                                                                files::host_volume const& grid,
                                                                std::string_view what,
                                                                std::uint64_t& bytes_read);

/// What each rank has of a job of projections.
inline constexpr std::string_view planes_and_rows =
    "its planes of the volume and its rows of the detector";

/// The bytes of each rank, in the order of ranks; empty, or all 0: not told.
struct bytes_by_rank {
  jobs::bytes_of_ranks read;
  jobs::bytes_of_ranks written;
  jobs::bytes_of_ranks needed;  ///< where it computes
};
/// Puts them into `document`, where ranks share a job.
void tell_bytes(json& document, bytes_by_rank const& bytes);

/// Says how many ranks share the job and what each has, and puts their number into `document`.
void tell_ranks(json& document, std::string_view has);

}  // namespace iso::cli
