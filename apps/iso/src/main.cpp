// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.hpp"
#include "cli/wait_policy.hpp"

#if ISO_HAS_MPI
#include "cli/ranks.hpp"

#include <iso/jobs/ranks.hpp>
#include <iso/mpi/communicator.hpp>

#include <cstdio>

namespace {

int run_on_ranks(int argc, char** argv) {
  try {
    iso::mpi::scope const mpi(argc, argv);
    iso::mpi::communicator ranks(MPI_COMM_WORLD);
    iso::jobs::share_jobs(ranks);
    return iso::cli::run(argc, argv);
  } catch (iso::error const& failure) {  // of MPI: a run tells its own
    std::fprintf(stderr, "iso: error: %s\n", failure.what());
    return 4;
  }
}

}  // namespace
#endif

int main(int argc, char** argv) {
  iso::cli::wait_passively_where_busy(argv);
#if ISO_HAS_MPI
  if (iso::cli::shares_jobs(argc, argv)) {
    return run_on_ranks(argc, argv);
  }
#endif
  return iso::cli::run(argc, argv);
}
