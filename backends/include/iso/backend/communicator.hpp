// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/communicator.hpp
//! Describes what several processes, the ranks of one job, do together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iso::backend {

/// Bytes that go to another rank, or come from it.
struct parcel {
  int rank = 0;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

/// What carries arrays between the GPUs of a job, of which each rank has its own. Calls are those
/// of communicator, of arrays in the memory of that GPU. They enqueue on `queue`, a CUDA stream:
/// the result is there for what is enqueued behind them.
///
/// All ranks make the same calls in the same order. A rank that fails leaves the others' GPUs
/// waiting: it ends the job (communicator::abort).
/// Determinism: backend_to_backend, as communicator.
class device_link {
 public:
  device_link() = default;
  device_link(device_link const&) = delete;
  device_link& operator=(device_link const&) = delete;
  virtual ~device_link() = default;

  /// Returns what carries, in a word or two: for logs.
  [[nodiscard]] virtual std::string_view name() const = 0;
  virtual void sum(std::span<std::uint32_t> words, void* queue) = 0;
  virtual void sum(std::span<std::uint64_t> words, void* queue) = 0;
  virtual void maximum(std::span<std::uint32_t> words, void* queue) = 0;
  virtual void maximum(std::span<std::uint64_t> words, void* queue) = 0;
  virtual void exchange(std::span<parcel const> out, std::span<parcel const> in, void* queue) = 0;
};

/// The ranks that share a job, and what they do together: arrays lie in host memory. Sums are of
/// integers, and so exact in any order. All that computes on ranks sees this alone; iso::mpi is one
/// that carries by MPI, and one_rank has nobody to carry to.
///
/// All ranks call the same functions in the same order, with counts that agree; the result is there
/// when a call returns. A call must come from the thread that made the communicator. A rank that
/// fails between two calls leaves the others waiting: it calls abort().
/// Determinism: backend_to_backend, whatever the number of ranks.
class communicator {
 public:
  communicator() = default;
  // Neither copies nor moves: what works on ranks refers to it.
  communicator(communicator const&) = delete;
  communicator& operator=(communicator const&) = delete;
  virtual ~communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;  ///< of this process, from 0 on
  [[nodiscard]] virtual int size() const = 0;  ///< the number of ranks
  /// Returns what carries, in a word or two: for logs.
  [[nodiscard]] virtual std::string name() const = 0;

  /// Overwrites words by their sums over the ranks, modulo 2^32 or 2^64.
  virtual void sum(std::span<std::uint32_t> words) = 0;
  virtual void sum(std::span<std::uint64_t> words) = 0;
  /// Overwrites words by the largest of all ranks.
  virtual void maximum(std::span<std::uint32_t> words) = 0;
  virtual void maximum(std::span<std::uint64_t> words) = 0;
  /// Sends and receives at once. Parcels between two ranks arrive in their order, and both sides
  /// name the same bytes. A parcel without bytes is none.
  virtual void exchange(std::span<parcel const> out, std::span<parcel const> in) = 0;
  /// Begins an exchange, whose memory must stay as it is until end_exchanges() returns. Waits for
  /// no other rank. Messages may go meanwhile; here they go when it ends. Between both a rank
  /// exchanges and gathers nothing else, but may call with all others sum, maximum, broadcast and
  /// barrier.
  virtual void begin_exchange(std::span<parcel const> out, std::span<parcel const> in);
  /// Returns when what this rank began is sent, and is there.
  virtual void end_exchanges();
  /// Overwrites the bytes of all ranks by those of rank `from`.
  virtual void broadcast(std::span<std::byte> bytes, int from) = 0;
  /// Puts the bytes of all ranks, as many of each, into `all` of rank `to`, in the order of ranks.
  /// \param[out] all  on other ranks empty
  virtual void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) = 0;
  /// Returns when all ranks have called it.
  virtual void barrier() = 0;
  /// Returns whether all ranks call it within so many seconds: what a rank asks that has failed,
  /// whatever the others do. Where they do not, nothing is left but abort().
  virtual bool meet(double seconds) = 0;
  /// Returns what carries between the ranks' GPUs, where all ranks compute on one of their own and
  /// something carries between them; else null. It lives as long as the communicator. All ranks
  /// call it.
  /// \param device  of this rank, as the device's library numbers it; -1: a processor
  [[nodiscard]] virtual device_link* link_devices(int device) = 0;
  /// Ends the processes of all ranks at once, with this exit code. It says nothing: who calls it
  /// has said why.
  [[noreturn]] virtual void abort(int exit_code) = 0;

 private:
  std::vector<std::array<std::vector<parcel>, 2>> begun_;  ///< what goes, and what comes
};

/// A communicator of one process, which has nobody to speak to.
class one_rank final : public communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string name() const override { return "one rank"; }
  void sum(std::span<std::uint32_t>) override {}
  void sum(std::span<std::uint64_t>) override {}
  void maximum(std::span<std::uint32_t>) override {}
  void maximum(std::span<std::uint64_t>) override {}
  /// Copies what the rank sends to itself.
  void exchange(std::span<parcel const> out, std::span<parcel const> in) override;
  void broadcast(std::span<std::byte>, int from) override;
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override;
  void barrier() override {}
  bool meet(double /*seconds*/) override { return true; }
  [[nodiscard]] device_link* link_devices(int /*device*/) override { return nullptr; }
  [[noreturn]] void abort(int exit_code) override;
};

namespace detail {

/// Checks the arguments of a communicator's functions, before anything is sent.
/// \throws iso::invalid_argument  naming `function`: a rank that is none, a negative number of
///                                bytes, bytes without memory
void validate_parcels(std::span<parcel const> parcels, int size, char const* function);
/// \throws iso::invalid_argument  naming `function`: a rank that is none
void validate_rank(int rank, int size, char const* function);

}  // namespace detail

/// Returns whether `sum`, `maximum` and `exchange` give what they must, for known words: what a
/// communicator asks itself when it is made. Every rank gets the same answer.
/// Determinism: backend_to_backend.
bool carries_well(communicator& ranks);

}  // namespace iso::backend
