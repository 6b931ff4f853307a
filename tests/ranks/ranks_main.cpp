// SPDX-License-Identifier: BSD-3-Clause
// The main() of tests on ranks: MPI and Kokkos live as long as doctest runs. With the argument
// `one-thread` it starts MPI for one thread, and tells what a communicator says; with `abort` the
// last rank fails while the others wait for it.
#define DOCTEST_CONFIG_IMPLEMENT
#include "ranks_support.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <memory>
#include <string_view>

namespace ranks_support {
namespace {

std::unique_ptr<iso::mpi::communicator> ranks;
std::string before_mpi;

/// Starts MPI as a program does that has one thread.
int run_with_one_thread(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::string const said =
      iso::test::refusal([] { iso::mpi::communicator const of(MPI_COMM_WORLD); });
  std::printf("%s\n", said.c_str());
  MPI_Finalize();
  return said.empty() ? 1 : 0;
}

/// Returns to nobody where the last rank ends all.
int run_with_failure() {
  if (ranks->rank() + 1 == ranks->size()) {
    std::printf("the last rank fails\n");
    std::fflush(stdout);
    ranks->abort(3);
  }
  ranks->barrier();
  std::printf("the others went on\n");
  return 0;
}

}  // namespace

iso::backend::communicator& all_ranks() { return *ranks; }
std::string const& said_before_mpi() { return before_mpi; }

}  // namespace ranks_support

int main(int argc, char** argv) {
  using namespace ranks_support;
  if (argc > 1 && std::string_view(argv[1]) == "one-thread") {
    return run_with_one_thread(argc, argv);
  }
  before_mpi = iso::test::refusal([] { iso::mpi::communicator const of(MPI_COMM_WORLD); });
  iso::mpi::scope const mpi(argc, argv);
  ranks = std::make_unique<iso::mpi::communicator>(MPI_COMM_WORLD);
  if (argc > 1 && std::string_view(argv[1]) == "abort") {
    return run_with_failure();
  }
  int result = 0;
  {
    doctest::Context context(argc, argv);
    context.setOption("minimal", ranks->rank() > 0);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    result = context.run();
  }
  ranks.reset();
  return result;
}
