// SPDX-License-Identifier: BSD-3-Clause
#include "../../apps/iso/src/cli/launcher.hpp"
#include "../../apps/iso/src/cli/wait_policy.hpp"

#include <iso/core/error.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using variables = std::vector<std::pair<std::string, std::string>>;

/// What a process reads whose launcher has set these alone.
iso::cli::launched read_with(variables const& set) {
  for (char const* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                 "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}) {
    unsetenv(name);
  }
  for (auto const& [name, value] : set) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  auto const remove = [&] {
    for (auto const& [name, value] : set) {
      unsetenv(name.c_str());
    }
  };
  try {
    auto const found = iso::cli::read_launcher();
    remove();
    return found;
  } catch (...) {
    remove();
    throw;
  }
}

void check(variables const& set, iso::cli::launched const& wanted) {
  auto const found = read_with(set);
  CHECK(found.launcher == wanted.launcher);
  CHECK(found.rank == wanted.rank);
  CHECK(found.ranks == wanted.ranks);
  CHECK(found.local_rank == wanted.local_rank);
}

}  // namespace

TEST_CASE("each launcher's variables tell rank, number of ranks, and number on the node") {
  check({}, {"none", 0, 1, {}});
  check({{"OMPI_COMM_WORLD_RANK", "5"},
         {"OMPI_COMM_WORLD_SIZE", "8"},
         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
        {"Open MPI", 5, 8, 1});
  check({{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "1"}}, {"MPICH", 5, 8, 1});
  check({{"PALS_RANKID", "5"}, {"PALS_NRANKS", "8"}, {"PALS_LOCAL_RANKID", "1"}},
        {"PALS", 5, 8, 1});
  check({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"}},
        {"SLURM", 5, 8, 1});
  check({{"FLUX_TASK_RANK", "5"}, {"FLUX_JOB_SIZE", "8"}, {"FLUX_TASK_LOCAL_ID", "1"}},
        {"Flux", 5, 8, 1});
}

TEST_CASE("srun by PMI-2 or PMIx: the number on the node is SLURM's") {
  variables const slurm = {
      {"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"}};
  auto pmi2 = slurm;
  pmi2.insert(pmi2.end(), {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}});
  check(pmi2, {"MPICH", 5, 8, 1});
  auto pmix = slurm;
  pmix.emplace_back("PMIX_RANK", "5");
  check(pmix, {"SLURM", 5, 8, 1});
}

TEST_CASE("what SLURM tells the batch script, or the daemon of an mpirun, is not the process'") {
  check({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "0"}}, {"none", 0, 1, {}});
  check({{"PMI_RANK", "5"},
         {"PMI_SIZE", "8"},
         {"SLURM_PROCID", "1"},
         {"SLURM_STEP_NUM_TASKS", "2"},
         {"SLURM_LOCALID", "0"}},
        {"MPICH", 5, 8, {}});
}

TEST_CASE("numbers that no launcher sets are refused") {
  CHECK_THROWS_AS(read_with({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), iso::invalid_argument);
  CHECK_THROWS_AS(read_with({{"PMI_RANK", "2"}}), iso::invalid_argument);
  CHECK_THROWS_AS(read_with({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}), iso::invalid_argument);
}

TEST_CASE("a machine is overloaded where threads and what runs besides exceed its cores") {
  CHECK(!iso::cli::is_overloaded(0, 2, 2));
  CHECK(iso::cli::is_overloaded(1, 2, 2));
  CHECK(!iso::cli::is_overloaded(1, 1, 2));
  // A few of many threads may wait for a core.
  CHECK(!iso::cli::is_overloaded(16, 128, 128));
  CHECK(iso::cli::is_overloaded(17, 128, 128));
  CHECK(iso::cli::is_overloaded(0, 256, 128));
}
