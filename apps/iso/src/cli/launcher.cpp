// SPDX-License-Identifier: BSD-3-Clause
#include "launcher.hpp"

#include <iso/core/error.hpp>
#include <iso/files/sweep_records.hpp>

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace iso::cli {
namespace {

using files::max_ranks;

/// The variables of one launcher.
struct launcher_variables {
  char const* launcher;
  char const* rank;
  char const* ranks;
};

// mpirun within a batch job of SLURM sets its own variables beside those of the batch step, so the
// MPI libraries come first. SLURM_NTASKS alone is of the job: the batch script's own process has it
// too, and rank 0, without being one of the tasks. PMIx tells a rank but no number of ranks; what
// starts by it (mpirun, srun, Flux) has variables of its own.
constexpr launcher_variables launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE"},
    {"PALS", "PALS_RANKID", "PALS_NRANKS"},
    {"SLURM", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
};

// A rank by one launcher's variables may go with a local rank by another's: srun --mpi=pmi2 sets
// PMI_RANK and SLURM_LOCALID.
constexpr char const* local_ranks[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
    "PALS_LOCAL_RANKID",          "FLUX_TASK_LOCAL_ID",
};

std::optional<int> number_in(char const* name, int least, int most) {
  char const* const value = std::getenv(name);
  if (value == nullptr) {
    return std::nullopt;
  }
  std::string_view const text = value;
  int number = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < least ||
      number > most) {
    throw invalid_argument(
        fmt::format("environment variable {} is '{}' (a launcher sets it to a whole number from {} "
                    "to {}); set it so, or unset it",
                    name, value, least, most));
  }
  return number;
}

}  // namespace

launched read_launcher() {
  for (auto const& [launcher, rank_name, ranks_name] : launchers) {
    auto const rank = number_in(rank_name, 0, max_ranks - 1);
    auto const ranks = number_in(ranks_name, 1, max_ranks);
    if (!rank || (!ranks && std::string_view(launcher) == "SLURM")) {
      continue;
    }
    if (!ranks || *rank >= *ranks) {
      throw invalid_argument(
          fmt::format("environment variable {} is {}, {} is {} (a rank must be below their "
                      "number); give --rank and --ranks",
                      rank_name, *rank, ranks_name, ranks ? fmt::format("{}", *ranks) : "not set"));
    }
    return {launcher, *rank, *ranks, read_local_rank(*ranks)};
  }
  return {};
}

std::optional<int> read_local_rank(int ranks) {
  for (auto const* const name : local_ranks) {
    if (auto const number = number_in(name, 0, max_ranks)) {
      return number;
    }
  }
  // An mpirun that starts its daemons by srun leaves these the number of the daemon.
  bool const of_task = number_in("SLURM_STEP_NUM_TASKS", 1, max_ranks) == ranks;
  return of_task ? number_in("SLURM_LOCALID", 0, max_ranks) : std::nullopt;
}

}  // namespace iso::cli
