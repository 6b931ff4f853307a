// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/device_facts.hpp
//! Describes what a backend runs on, and what it was built from.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/concepts.hpp>

#include <cstdint>
#include <string>

namespace iso::backend {

/// The facts about a backend and its machine. A fact that the system does not tell is 0 or an empty
/// text. Rates are the vendor's, or derived from clocks and widths; iso::ceilings::measure measures
/// what the machine reaches.
struct device_facts {
  std::string backend;    ///< as in the registry: serial, openmp, threads, cuda
  std::string processor;  ///< model of the CPU or GPU

  std::int64_t memory_bytes = 0;  ///< of the memory that kernels use, as far as this process may
  std::int64_t memory_free_bytes = 0;  ///< when asked; on the host, what it could take
  std::int64_t l1_bytes = 0;           ///< of one core or multiprocessor
  std::int64_t l2_bytes = 0;           ///< of one core on the host, of the whole GPU
  std::int64_t l3_bytes = 0;           ///< as one core sees it

  std::int32_t cores = 0;    ///< cores that are online, or multiprocessors
  std::int32_t threads = 0;  ///< that a kernel may run at once on this execution space instance
  std::int32_t vector_bytes = 0;  ///< of the host's lane group; 0 on a GPU
  std::string vector_isa;         ///< instruction set of that; compute capability on a GPU
  double clock_hz = 0;            ///< highest of a GPU, the present one of a CPU

  double peak_bandwidth = 0;  ///< bytes per second, from memory clock and bus width
  double peak_fp32 = 0;       ///< operations per second, from cores and clock; an fma is two
  double peak_fp64 = 0;

  std::string driver;    ///< of the GPU
  std::string runtime;   ///< of the GPU, or OpenMP's version
  std::string compiler;  ///< that built this library
  std::string kokkos_version;
  std::string git_revision;  ///< of the source when it was built; "-dirty": files differed
};

/// Returns facts about what `exec` runs on. Enqueues nothing. Names no host.
///
/// Determinism: not_guaranteed, free memory and clocks change.
/// \throws iso::error  a device call failed
template <execution_space Exec>
device_facts facts(Exec const& exec);

#define ISO_DECLARE_FACTS(Exec) \
  template <>                   \
  device_facts facts(Exec const& exec);
ISO_FOR_EACH_BACKEND(ISO_DECLARE_FACTS)
#undef ISO_DECLARE_FACTS

/// Returns the revision of the source when it was built; "-dirty": files differed. Empty where git
/// did not tell.
///
/// Determinism: not_guaranteed, builds differ in it.
std::string source_revision();

/// Returns the number of GPUs that this build can use; 0 where it is for none, or the driver finds
/// none. May be called before Kokkos is initialised, which aborts where a build for GPUs finds
/// none.
///
/// Determinism: not_guaranteed, devices come and go.
int count_devices();

/// Returns what names a GPU of those that the process counts wherever processes are that see it:
/// its UUID, 32 hexadecimal digits. Empty in a build without GPUs. May be called before Kokkos is
/// initialised.
///
/// Determinism: not_guaranteed, machines have other GPUs.
/// \param number  below count_devices()
/// \throws iso::error  as the driver refuses a number
std::string device_uuid(int number);

/// Returns the number of threads that Kokkos starts on the host by default. May be called before
/// Kokkos is initialised.
///
/// Determinism: not_guaranteed, the environment of the process has a say.
int count_threads();

/// Returns how many of `wanted` threads OpenMP is certain to give. They are fewer where
/// OMP_THREAD_LIMIT or OMP_DYNAMIC is set, and Kokkos then waits for the others for ever. Without
/// OpenMP, returns `wanted`.
///
/// Determinism: not_guaranteed, the environment of the process has a say.
int count_granted_threads(int wanted);

/// The stack, in bytes, that is enough for a thread in every kernel of this library. The kernel of
/// double volumes along z takes most.
inline constexpr std::int64_t enough_stack = 256 << 10;

/// Returns the smallest stack in bytes among those of the calling thread and, once Kokkos is
/// initialised, of its threads on the host. A thread that needs more ends the program.
///
/// Determinism: not_guaranteed, the environment of the process has a say.
std::int64_t min_stack();

}  // namespace iso::backend
