// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/cuda_lane_group.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#if ISO_HAS_CUDA
#include <iso/backend/cuda_check.hpp>
#endif

namespace iso::backend::detail {

/// kernel(group, index) for every index in [first, end), a warp each, in the stream of `exec`.
template <unsigned Threads, unsigned MinBlocks, class Exec, class Kernel>
void launch_cuda_groups(std::string const& label, Exec const& exec, std::int64_t first,
                        std::int64_t end, Kernel const& kernel);

#if ISO_HAS_CUDA
template <class Kernel, unsigned Threads, unsigned MinBlocks>
__global__ void __launch_bounds__(Threads, MinBlocks)
    cuda_groups(__grid_constant__ Kernel const kernel, std::int64_t first, std::int64_t end) {
  std::int64_t const group = first + (blockIdx.x * (Threads / 32) + threadIdx.x / 32);
  if (group < end) {
    kernel(cuda_lane_group(int(threadIdx.x % 32)), group);
  }
}

/// Kokkos' policies loop over their range within the kernel, which costs registers: a group a warp
/// needs no loop. Kokkos' tools hear of it as of a parallel_for.
template <unsigned Threads, unsigned MinBlocks, class Exec, class Kernel>
void launch_cuda_groups(std::string const& label, Exec const& exec, std::int64_t first,
                        std::int64_t end, Kernel const& kernel) {
  static_assert(sizeof(Kernel) <= 4000,
                "iso::backend: a kernel's arguments take 4000 bytes at most");
  bool const watched = Kokkos::Tools::profileLibraryLoaded();
  std::uint64_t id = 0;
  if (watched) {
    Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  }
  constexpr std::int64_t per_block = Threads / 32;
  auto const blocks = unsigned((end - first + per_block - 1) / per_block);
  ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
  cuda_groups<Kernel, Threads, std::max(MinBlocks, 1U)>
      <<<blocks, Threads, 0, exec.cuda_stream()>>>(kernel, first, end);
  ISO_CUDA_CHECK(cudaGetLastError());
  if (watched) {
    Kokkos::Tools::endParallelFor(id);
  }
}
#endif

}  // namespace iso::backend::detail
