// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/session.hpp
//! Holds what the tool's jobs share. These headers name no Kokkos type: the command line compiles
//! without it.
#pragma once

#include <iso/ct/streaming.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iso::jobs {

/// Kokkos has room for no more.
inline constexpr int max_threads = 512;

/// \throws iso::invalid_argument  OpenMP may give fewer threads to a kernel
void check_threads(int wanted);

/// A session with Kokkos, started and ended for the tool: once in a program.
class session {
 public:
  /// \param threads  of OpenMP; 0: as many as it takes by itself, max_threads at most
  /// \param device   the GPU to compute on, as choose_device gives it; empty: as Kokkos chooses
  /// \throws iso::invalid_argument  the environment names a GPU that is not there, leaves a thread
  ///                                less stack than backend::enough_stack, or lets OpenMP grant
  ///                                fewer threads than there are
  /// \throws iso::out_of_memory     ulimit -v leaves no room for the stacks of the threads
  /// \throws iso::error             a build for GPUs finds none, with which Kokkos cannot start
  explicit session(int threads, std::optional<int> device = {});
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  ~session();
};

/// What a process knows of the GPUs before it starts on one.
struct devices_seen {
  int count = 0;                       ///< that it sees
  std::optional<std::string> visible;  ///< CUDA_VISIBLE_DEVICES, where it is set
  bool computed_on = false;            ///< by this build, by default
};

/// Returns the GPU of one of `ranks` processes: that of its number on the node; the only one that
/// it sees where the launcher has chosen by CUDA_VISIBLE_DEVICES.
/// \param shares  several may compute on one: they take turns
/// \throws iso::invalid_argument  more processes than GPUs, unless they share; a process that does
///                                not know its number on the node; a CUDA_VISIBLE_DEVICES that
///                                names none, in a build that computes on GPUs
std::optional<int> choose_device(std::optional<int> local_rank, int ranks, bool shares = false);

/// Does the same where the process sees these GPUs.
std::optional<int> choose_device(std::optional<int> local_rank, int ranks, devices_seen const& seen,
                                 bool shares = false);

/// Throws on every rank where two that share a job compute on one GPU of one machine. All ranks
/// call it.
/// \param device  as choose_device gives it
/// \throws iso::invalid_argument
void check_one_rank_a_device(std::optional<int> device);

/// Returns the GPUs that this process sees, none in a build without GPUs.
devices_seen see_devices();

/// Returns the backends of this build, Serial first.
std::vector<std::string> backend_names();

/// Takes as `choice` a backend's name or several with commas between; "all"; or "default", the last
/// of this build. Throws iso::invalid_argument for a name that this build does not have.
std::vector<std::string> choose_backends(std::string_view choice);

/// What a long job tells and asks its caller.
struct observer {
  std::function<void(double fraction, std::string const& what)> progress;
  std::function<bool()> cancelled;
  /// Is told how calls that are streamed will be divided and what each will carry, and the bytes of
  /// the machine's memory that the job takes in all, before memory is taken. Of several processes
  /// none is told.
  std::function<void(ct::streaming_report const&, std::int64_t host_bytes)> streams = {};

  /// Reports, and throws iso::cancelled where a stop is wanted.
  void step(double fraction, std::string const& what) const;
};

}  // namespace iso::jobs
