// SPDX-License-Identifier: BSD-3-Clause
//! Gives the readings of a job as numbers, however they are held.
#pragma once

#include <iso/core/wrap.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/files/stack_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace iso::jobs {

/// Returns integers of 16 bits where they lie, as the library takes them.
inline ct::stored_readings<Kokkos::HostSpace> stored_in(files::stored_stack const& stack) {
  auto const& n = stack.extent;
  return {wrap_projections<Kokkos::HostSpace>(stack.values.data(), n[0], n[1], n[2]).data,
          stack.scale, stack.offset};
}

/// The readings [views, u, v] of a scan: numbers, or integers of 16 bits, which it makes numbers
/// one by one. Both stay where they are.
class given_readings {
 public:
  given_readings(std::span<float const> numbers) : numbers_(numbers) {}
  given_readings(std::vector<float> const& numbers) : numbers_(numbers) {}
  given_readings(files::stored_stack const& stack)
      : integers_(stack.values), by_{{}, stack.scale, stack.offset} {}

  [[nodiscard]] std::size_t size() const { return std::max(numbers_.size(), integers_.size()); }
  [[nodiscard]] float operator[](std::size_t i) const {
    return integers_.empty() ? numbers_[i] : by_.number<float>(integers_[i]);
  }

 private:
  std::span<float const> numbers_{};
  std::span<std::uint16_t const> integers_{};
  ct::stored_readings<Kokkos::HostSpace> by_{};
};

}  // namespace iso::jobs
