// SPDX-License-Identifier: BSD-3-Clause
// Projects the Shepp-Logan head and reconstructs it on the processes that mpirun starts, each of
// which holds some planes of the volume and some rows of the detector. The result has the same bits
// for any number of them.
#include <iso/core/divide_planes.hpp>
#include <iso/core/error.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/mpi/communicator.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

namespace {

/// Adds the bits of a rank's voxels to one number, which does not depend on how planes are divided.
template <class Volume>
std::uint64_t sum_of_bits(iso::backend::communicator& ranks, Volume const& volume) {
  auto const voxels = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, volume.data);
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < voxels.size(); ++n) {
    sum += Kokkos::bit_cast<std::uint32_t>(voxels.data()[n]);
  }
  ranks.sum({&sum, 1});
  return sum;
}

int run(iso::backend::communicator& ranks) {
  using exec_space = Kokkos::DefaultExecutionSpace;
  exec_space const exec;
  auto const grid = iso::grid::centred({64, 64, 64}, {4, 4, 4});
  auto const scan = iso::ct::circular_cone({80, 64, 5, 5}, 1000, 1200,
                                           iso::ct::even_angles(96, 2 * std::numbers::pi));

  iso::ct::rank_plan const plan(scan, grid, iso::divide_planes(grid, ranks.size()));
  auto const head = iso::ct::make_volume_part<float>(exec, "head", plan, ranks.rank());
  auto const views = iso::ct::make_projections_part<float>(exec, "views", plan, ranks.rank());
  if (head.planes().count() > 0) {
    iso::ct::rasterise_ellipsoids(exec, iso::ct::shepp_logan(128), head);
  }
  iso::ct::ranked_pair<exec_space, float>(exec, ranks, plan).forward(0, head, views);

  auto const found = iso::ct::make_volume_part<float>(exec, "found", plan, ranks.rank());
  iso::ct::ranked_fdk<exec_space, float> reconstructor(exec, ranks, plan);
  reconstructor.apply(views, found);

  std::uint64_t const bits = sum_of_bits(ranks, found);
  if (ranks.rank() == 0) {
    std::printf("%016llx\n", static_cast<unsigned long long>(bits));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  iso::mpi::scope const mpi(argc, argv);
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  iso::mpi::communicator ranks(MPI_COMM_WORLD);
  try {
    return run(ranks);
  } catch (iso::error const& failure) {
    std::fprintf(stderr, "rank %d: %s\n", ranks.rank(), failure.what());
    ranks.abort(1);  // others may wait for this one
  }
}
