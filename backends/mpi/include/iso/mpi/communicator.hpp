// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/mpi/communicator.hpp
//! Carries between ranks by MPI. Part of iso::mpi, which is there where MPI was found.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/error.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace iso::mpi {

/// The error of a call of MPI that failed, or of one that carried wrongly.
class mpi_error : public error {
 public:
  using error::error;
};

/// MPI for as long as this object lives, where the program does not start it itself: initialised at
/// the level of threads that is wanted. Where it was initialised before, this neither initialises
/// nor finalises.
class scope {
 public:
  /// \throws iso::mpi::mpi_error  MPI cannot be started, or was finalised before
  scope(int& argc, char**& argv);
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope();

 private:
  bool started_ = false;
};

/// What a communicator may be told.
struct communicator_options {
  std::int64_t chunk_bytes = std::int64_t(1) << 28;  ///< at most so many at a time; MPI counts to
                                                     ///< 2^31 - 1
  bool link_gpus = true;  ///< whether arrays go from GPU to GPU where something carries them there;
                          ///< else by way of the host's memory
};

/// A communicator of the processes of an MPI communicator. It works on a duplicate of its own, so
/// that no message is mistaken for one of the program's.
class communicator final : public backend::communicator {
 public:
  /// All ranks of `of` make one together. Words that are known are added, compared and sent.
  /// \throws iso::invalid_argument  MPI is not initialised or was finalised, its level of threads
  ///                                is below MPI_THREAD_FUNNELED, a null or an inter-communicator,
  ///                                chunks below 8 bytes or above 2^31 - 1
  /// \throws iso::mpi::mpi_error    a call of MPI failed; known words came out wrong
  explicit communicator(MPI_Comm of, communicator_options const& options = {});
  ~communicator() override;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  /// Names what carries between GPUs too, once it does.
  [[nodiscard]] std::string name() const override { return name_; }
  void sum(std::span<std::uint32_t> words) override;
  void sum(std::span<std::uint64_t> words) override;
  void maximum(std::span<std::uint32_t> words) override;
  void maximum(std::span<std::uint64_t> words) override;
  void exchange(std::span<backend::parcel const> out, std::span<backend::parcel const> in) override;
  void begin_exchange(std::span<backend::parcel const> out,
                      std::span<backend::parcel const> in) override;
  void end_exchanges() override;
  void broadcast(std::span<std::byte> bytes, int from) override;
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override;
  void barrier() override;
  bool meet(double seconds) override;
  /// NCCL, where the build has it; else MPI, where it says that it reads the memory of GPUs. What
  /// is returned has added and sent words that are known. Null also where two ranks have one GPU.
  /// \throws iso::mpi::mpi_error  a call of MPI failed
  [[nodiscard]] backend::device_link* link_devices(int device) override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  template <class Word>
  void reduce(std::span<Word> words, MPI_Datatype type, MPI_Op operation, char const* function);

  MPI_Comm ranks_ = MPI_COMM_NULL;
  MPI_Comm meeting_ = MPI_COMM_NULL;  ///< of meet(), which others need not call when this one does
  int rank_ = 0;
  int size_ = 1;
  std::int64_t chunk_;
  bool link_gpus_;
  std::string name_ = "MPI, host memory";
  std::vector<MPI_Request> begun_;                            ///< of exchanges
  int linked_device_ = -1;                                    ///< of the last link
  std::vector<std::unique_ptr<backend::device_link>> links_;  ///< carriers may have any of them
};

}  // namespace iso::mpi
