// SPDX-License-Identifier: BSD-3-Clause
#include "launcher.hpp"

#include <iso/core/error.hpp>

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace iso::cli {
namespace {

/// The variables of one launcher; a null name: it has none.
struct variables {
  char const* launcher;
  char const* rank;
  char const* ranks;
  char const* local_rank;
};

// mpirun within a batch job of SLURM sets its own variables beside those of the batch step, so the
// MPI libraries come first. SLURM_NTASKS alone is of the job: the batch script's own process has it
// too, and rank 0, without being one of the tasks.
constexpr variables launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"PALS", "PALS_RANKID", "PALS_NRANKS", "PALS_LOCAL_RANKID"},
    {"SLURM", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID"},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"},
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
    throw invalid_argument(fmt::format(
        "environment variable {} is '{}' (a launcher sets it to a whole number from {} to {}) set "
        "it so, or unset it",
        name, value, least, most));
  }
  return number;
}

constexpr int most_ranks = 1 << 24;

}  // namespace

launched read_launcher() {
  for (auto const& [launcher, rank_name, ranks_name, local_name] : launchers) {
    auto const rank = number_in(rank_name, 0, most_ranks - 1);
    auto const ranks = number_in(ranks_name, 1, most_ranks);
    if (!rank || (!ranks && std::string_view(launcher) == "SLURM")) {
      continue;
    }
    if (!ranks || *rank >= *ranks) {
      throw invalid_argument(fmt::format(
          "environment variable {} is {}, {} is {} (a rank must be below their number) give --rank "
          "and --ranks",
          rank_name, *rank, ranks_name, ranks ? fmt::format("{}", *ranks) : "not set"));
    }
    return {launcher, *rank, *ranks, number_in(local_name, 0, most_ranks)};
  }
  return {};
}

std::optional<int> read_local_rank() {
  for (auto const& one : launchers) {
    if (auto const number = number_in(one.local_rank, 0, most_ranks)) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace iso::cli
