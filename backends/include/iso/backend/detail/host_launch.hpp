// SPDX-License-Identifier: BSD-3-Clause
//! How a processor runs a kernel in the instruction set that host_vector_bytes names.
#pragma once

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/host_vectors.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace iso::backend::detail {

/// True where a kernel is compiled for each instruction set (ISO_KERNEL).
template <class Kernel>
concept compiled_for_sets = requires { typename Kernel::in_avx512; };

/// A kernel whose type is hidden, so that Kokkos' loop is compiled once for all kernels, and not in
/// the target of any set.
struct host_body {
  void (*run)(void const* kernel, std::int64_t index);
  void const* kernel;

  void operator()(std::int64_t index) const { run(kernel, index); }
};

/// A kernel's bytes for the form of it that this launch takes: forms have the same members.
template <class Kernel>
class host_kernel {
 public:
  explicit host_kernel(Kernel const& kernel, int vector = host_vector_bytes())
      : run_(&run_kernel<Kernel>) {
    std::memcpy(bytes_, static_cast<void const*>(&kernel), sizeof kernel);
    if constexpr (compiled_for_sets<Kernel>) {
      static_assert(sizeof(typename Kernel::in_avx2) == sizeof kernel &&
                    sizeof(typename Kernel::in_avx512) == sizeof kernel);
      run_ = vector == 64   ? &avx512::run_kernel<typename Kernel::in_avx512>
             : vector == 32 ? &avx2::run_kernel<typename Kernel::in_avx2>
                            : run_;
    }
  }
  /// Returns what Kokkos runs, while this lives: launches on processors end before they return.
  [[nodiscard]] host_body body() const { return {run_, bytes_}; }
  void operator()(std::int64_t index) const { run_(bytes_, index); }

 private:
  void (*run_)(void const*, std::int64_t);
  alignas(Kernel) std::byte bytes_[sizeof(Kernel)];
};

/// The same in plain arrays, on any execution space of Kokkos.
template <class Kernel>
struct portable_body {
  Kernel kernel;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const { run_one(kernel, index); }
};

/// Runs body(index) for every index in [first, end): in even shares, or OnDemand `chunk` at a time.
template <bool OnDemand, class Exec, class Body>
void launch_range(std::string const& label, Exec const& exec, std::int64_t first, std::int64_t end,
                  Body const& body, std::int64_t chunk) {
  using schedule = Kokkos::Schedule<std::conditional_t<OnDemand, Kokkos::Dynamic, Kokkos::Static>>;
  Kokkos::RangePolicy<Exec, schedule, Kokkos::IndexType<std::int64_t>> range(exec, first, end);
  if constexpr (OnDemand) {
    range.set_chunk_size(chunk);
  }
  Kokkos::parallel_for(label, range, body);
}

/// Does the same where vector registers are chosen; chunk 0 asks for even shares. The library holds
/// it for each of its processor backends, so that a source of many kernels has no loop of Kokkos
/// for each of them.
template <class Exec>
void launch_host_groups(std::string const& label, Exec const& exec, std::int64_t first,
                        std::int64_t end, host_body const& body, std::int64_t chunk);

}  // namespace iso::backend::detail
