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
  // Of MPI: a run tells its own.
  auto const tell = [](iso::error const& failure) {
    std::fprintf(stderr, "iso: error: %s\n", failure.what());
    return 4;
  };
  try {
    iso::mpi::scope const mpi(argc, argv);
    try {
      iso::mpi::communicator ranks(MPI_COMM_WORLD);
      iso::jobs::share_jobs(ranks);
      return iso::cli::run(argc, argv);
    } catch (iso::error const& failure) {
      MPI_Abort(MPI_COMM_WORLD, tell(failure));  // MPI's own end would wait for the others
      throw;
    }
  } catch (iso::error const& failure) {
    return tell(failure);
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
