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

/// Calls kernel(group, index) for every index in [first, end), a warp each, in the stream of
/// `exec`; where `early`, not after the launch before it but from when all blocks of that have
/// begun and let it.
template <unsigned Threads, unsigned MinBlocks, class Exec, class Kernel>
void launch_cuda_groups(std::string const& label, Exec const& exec, std::int64_t first,
                        std::int64_t end, Kernel const& kernel, bool early);

#if ISO_HAS_CUDA
template <class Kernel, unsigned Threads, unsigned MinBlocks>
__global__ void __launch_bounds__(Threads, MinBlocks)
    cuda_groups(__grid_constant__ Kernel const kernel, std::int64_t first, std::int64_t end) {
  std::int64_t const group = first + (blockIdx.x * (Threads / 32) + threadIdx.x / 32);
  if (group < end) {
    kernel(cuda_lane_group<Threads>(int(threadIdx.x % 32)), group);
  }
}

/// A launch of which Kokkos' tools are told.
class watched_launch {
 public:
  watched_launch(std::string const& label, std::uint32_t device)
      : watched_(Kokkos::Tools::profileLibraryLoaded()) {
    if (watched_) {
      Kokkos::Tools::beginParallelFor(label, device, &id_);
    }
  }
  ~watched_launch() {
    if (watched_) {
      Kokkos::Tools::endParallelFor(id_);
    }
  }
  watched_launch(watched_launch const&) = delete;
  watched_launch& operator=(watched_launch const&) = delete;

 private:
  bool watched_;
  std::uint64_t id_ = 0;
};

/// Kokkos' policies loop over their range within the kernel, which costs registers: a group a warp
/// needs no loop. Kokkos' tools hear of it as of a parallel_for.
template <unsigned Threads, unsigned MinBlocks, class Exec, class Kernel>
void launch_cuda_groups(std::string const& label, Exec const& exec, std::int64_t first,
                        std::int64_t end, Kernel const& kernel, [[maybe_unused]] bool early) {
  static_assert(sizeof(Kernel) <= 4000,
                "iso::backend: a kernel's arguments take 4000 bytes at most");
  watched_launch const watched(label, Kokkos::Tools::Experimental::device_id(exec));
  constexpr std::int64_t per_block = Threads / 32;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(unsigned((end - first + per_block - 1) / per_block));
  launch.blockDim = dim3(Threads);
  launch.stream = exec.cuda_stream();
#ifdef ISO_CUDA_LAUNCHES_EARLY
  cudaLaunchAttribute beside{};
  beside.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  beside.val.programmaticStreamSerializationAllowed = 1;
  launch.attrs = &beside;
  launch.numAttrs = early ? 1 : 0;
#endif
  ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
  // Its own status: another call's earlier error is not for us to report, nor to clear.
  ISO_CUDA_CHECK(
      (cudaLaunchKernelEx(&launch, cuda_groups<Kernel, Threads, MinBlocks>, kernel, first, end)));
}
#endif

}  // namespace iso::backend::detail
