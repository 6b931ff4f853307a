// SPDX-License-Identifier: BSD-3-Clause
//! What the command line does where mpirun starts several processes.
#pragma once

#include "support.hpp"

#include <optional>
#include <string>
#include <string_view>

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

/// What each rank has of a job of projections.
inline constexpr std::string_view planes_and_rows =
    "its planes of the volume and its rows of the detector";

/// Says how many ranks share the job and what each has, and puts their number into `document`.
void tell_ranks(json& document, std::string_view has);

}  // namespace iso::cli
