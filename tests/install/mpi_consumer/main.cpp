// SPDX-License-Identifier: BSD-3-Clause
// One process of a job: it needs no mpirun.
#include <iso/mpi/communicator.hpp>

#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  iso::mpi::scope const mpi(argc, argv);
  iso::mpi::communicator ranks(MPI_COMM_WORLD);
  std::uint64_t word = 7;
  ranks.sum({&word, 1});
  std::printf("%d of %d ranks by %s\n", ranks.rank(), ranks.size(), ranks.name().data());
  return word == 7 ? 0 : 1;
}
