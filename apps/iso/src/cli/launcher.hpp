// SPDX-License-Identifier: BSD-3-Clause
//! Reads what a launcher tells each of its processes: its number, and of how many.
#pragma once

#include <optional>
#include <string>

namespace iso::cli {

struct launched {
  std::string launcher = "none";
  int rank = 0;
  int ranks = 1;
  std::optional<int> local_rank;  ///< on its node; empty: the launcher does not tell
};

/// Reads it from the environment variables of mpirun (Open MPI, MPICH, Intel MPI, MVAPICH, Cray
/// PALS), srun and Flux, the first that tells a rank; a process alone where none does.
/// \throws iso::invalid_argument  a variable that is no such number, or a rank without its size
launched read_launcher();

/// Returns the number on its node alone of one of `ranks` processes, by whichever launcher's
/// variable tells it.
std::optional<int> read_local_rank(int ranks);

}  // namespace iso::cli
