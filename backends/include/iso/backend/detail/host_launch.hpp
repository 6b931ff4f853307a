// SPDX-License-Identifier: BSD-3-Clause
//! How a processor runs a kernel in the instruction set that host_vector_bytes names.
#pragma once

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/host_vectors.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace iso::backend::detail {

/// Is whether a kernel is compiled for each instruction set (ISO_KERNEL).
template <class Kernel>
concept compiled_for_sets = requires { typename Kernel::in_avx512; };

/// Runs a kernel whose type is hidden, so that Kokkos' loop is compiled once for all kernels, and
/// not in the target of any set.
struct host_body {
  void (*run)(void const* kernel, std::int64_t index);
  void const* kernel;

  void operator()(std::int64_t index) const { run(kernel, index); }
};

/// Holds a kernel's bytes for the form of it that this launch takes: forms have the same members.
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

}  // namespace iso::backend::detail
