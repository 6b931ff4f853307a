// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/detail/cuda_launch.hpp>

#include <cstdint>
#include <string>

namespace iso::backend::detail {

/// Counts the bytes that a block may share on GPUs of the architecture that is compiled for, the
/// smallest of its family. A launch on a GPU that has less throws what the CUDA runtime says.
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100) || \
    defined(KOKKOS_ARCH_AMPERE80)
inline constexpr int cuda_team_bytes = 163 * 1024;
#elif defined(KOKKOS_ARCH_TURING75)
inline constexpr int cuda_team_bytes = 64 * 1024;
#else
inline constexpr int cuda_team_bytes = 96 * 1024;
#endif

/// Calls kernel(team, index) for every index in [first, end), a block each, in the stream of
/// `exec`.
template <unsigned Threads, unsigned MinTeams, class Exec, class Kernel>
void launch_cuda_teams(std::string const& label, Exec const& exec, std::int64_t first,
                       std::int64_t end, Kernel const& kernel);

#if ISO_HAS_CUDA
/// A block and its shared memory.
template <unsigned Threads>
class cuda_team {
 public:
  static constexpr bool is_device = true;
  using group = cuda_lane_group<Threads>;

  class words_of_team {
   public:
    KOKKOS_FORCEINLINE_FUNCTION words_of_team() : base_(0) {
      KOKKOS_IF_ON_DEVICE((extern __shared__ uint4 iso_shared_memory[];
                           base_ = std::uint32_t(__cvta_generic_to_shared(iso_shared_memory));))
    }
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::uint32_t first() const { return base_; }
    KOKKOS_FORCEINLINE_FUNCTION void set(std::uint32_t place, std::uint32_t x) const {
      KOKKOS_IF_ON_DEVICE(
          (asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(x) : "memory");))
      KOKKOS_IF_ON_HOST((static_cast<void>(place); static_cast<void>(x);))
    }
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::uint32_t get(std::uint32_t place) const {
      KOKKOS_IF_ON_DEVICE(
          (std::uint32_t x;
           asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(place) : "memory"); return x;))
      KOKKOS_IF_ON_HOST((return place;))
    }
    template <int Offset>
    KOKKOS_FORCEINLINE_FUNCTION void add(std::uint32_t place, std::uint32_t x) const {
      KOKKOS_IF_ON_DEVICE((asm volatile("red.shared.add.u32 [%0+%2], %1;" ::"r"(place), "r"(x),
                                        "n"(Offset) : "memory");))
      KOKKOS_IF_ON_HOST((static_cast<void>(place); static_cast<void>(x);))
    }

   private:
    std::uint32_t base_;
  };

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static words_of_team words() { return {}; }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(int count, F const& f) const {
    KOKKOS_IF_ON_DEVICE((for (int n = int(threadIdx.x); n < count; n += int(Threads)) { f(n); }))
    KOKKOS_IF_ON_HOST((static_cast<void>(count); static_cast<void>(f);))
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void groups(F const& f) const {
    KOKKOS_IF_ON_DEVICE((f(cuda_lane_group<Threads>(int(threadIdx.x % 32)), int(threadIdx.x / 32),
                           int(Threads / 32));))
    KOKKOS_IF_ON_HOST((static_cast<void>(f);))
  }
  KOKKOS_FORCEINLINE_FUNCTION static void sync() { KOKKOS_IF_ON_DEVICE((__syncthreads();)) }
};

template <class Kernel, unsigned Threads, unsigned MinTeams>
__global__ void __launch_bounds__(Threads, MinTeams)
    cuda_teams(__grid_constant__ Kernel const kernel, std::int64_t first) {
  kernel(cuda_team<Threads>(), first + blockIdx.x);
}

template <unsigned Threads, unsigned MinTeams, class Exec, class Kernel>
void launch_cuda_teams(std::string const& label, Exec const& exec, std::int64_t first,
                       std::int64_t end, Kernel const& kernel) {
  constexpr int bytes = 4 * Kernel::team_words;
  static_assert(bytes <= cuda_team_bytes, "iso::backend: a block has not as much shared memory");
  static_assert(sizeof(Kernel) <= 4000,
                "iso::backend: a kernel's arguments take 4000 bytes at most");
  watched_launch const watched(label, Kokkos::Tools::Experimental::device_id(exec));
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(unsigned(end - first));
  launch.blockDim = dim3(Threads);
  launch.dynamicSmemBytes = bytes;
  launch.stream = exec.cuda_stream();
  ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
  ISO_CUDA_CHECK(cudaFuncSetAttribute(cuda_teams<Kernel, Threads, MinTeams>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  ISO_CUDA_CHECK(
      (cudaLaunchKernelEx(&launch, cuda_teams<Kernel, Threads, MinTeams>, kernel, first)));
}
#endif

}  // namespace iso::backend::detail
