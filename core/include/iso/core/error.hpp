// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/error.hpp
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace iso {

/// The base of all exceptions that Isocenter throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The error of an argument that makes no sense. It is thrown before anything is enqueued.
class invalid_argument : public error {
 public:
  using error::error;
};

/// The error of a file that cannot be read or written, or that does not hold what its header says.
class file_error : public error {
 public:
  using error::error;
};

/// The exception that ends an operation after the caller's cancellation callback returned true.
class cancelled : public error {
 public:
  using error::error;
};

/// The error of an allocation that did not fit.
class out_of_memory : public error {
 public:
  out_of_memory(std::string const& what, std::uint64_t requested, std::uint64_t available)
      : error(what), requested_(requested), available_(available) {}
  /// Returns the bytes asked for.
  [[nodiscard]] std::uint64_t requested() const noexcept { return requested_; }
  /// Returns the bytes that were free when it failed; 0 where the memory space does not tell.
  [[nodiscard]] std::uint64_t available() const noexcept { return available_; }

 private:
  std::uint64_t requested_;
  std::uint64_t available_;
};

}  // namespace iso
