// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/error.hpp
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace iso {

/// Is the base of everything Isocenter throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reports an argument that no later step could make sense of, before anything is enqueued.
class invalid_argument : public error {
 public:
  using error::error;
};

/// Reports a file that cannot be read, or does not hold what its header says.
class file_error : public error {
 public:
  using error::error;
};

/// Says that the caller's cancellation callback said yes.
class cancelled : public error {
 public:
  using error::error;
};

/// Reports an allocation that did not fit.
class out_of_memory : public error {
 public:
  out_of_memory(std::string const& what, std::uint64_t requested, std::uint64_t available)
      : error(what), requested_(requested), available_(available) {}
  /// Returns the bytes asked for.
  [[nodiscard]] std::uint64_t requested() const noexcept { return requested_; }
  /// Returns the bytes that were free when it failed; 0 where the memory space cannot say.
  [[nodiscard]] std::uint64_t available() const noexcept { return available_; }

 private:
  std::uint64_t requested_;
  std::uint64_t available_;
};

}  // namespace iso
