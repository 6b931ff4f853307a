// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/parity/parity.hpp
//! Runs a case on every backend and compares the bits with those of Serial.
#pragma once

#include "compare.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace iso::test {

class parity {
 public:
  /// `run(exec)` gives the case's results as a host vector. Prints a line with a hash of Serial's,
  /// and one for every backend and width of vector registers that has other bits.
  template <class Run>
  void compare(std::string const& name, Run const& run) {
    auto const expected = run(Kokkos::Serial());
    std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash(expected)));
    backend::for_each([&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      check(name + " on " + std::string(tag.name), expected, run(exec));
    });
    int const widest = backend::host_vector_bytes();
    if (widest > 32) {
      backend::set_host_vector_bytes(32);
      check(name + " in registers of 32 bytes", expected, run(Kokkos::Serial()));
      backend::set_host_vector_bytes(widest);
    }
  }
  [[nodiscard]] int differences() const { return differences_; }

 private:
  template <class T>
  void check(std::string const& what, std::vector<T> const& expected, std::vector<T> const& found) {
    std::string const where = difference(expected, found);
    if (!where.empty()) {
      std::printf("DIFFERS: %s: %s\n", what.c_str(), where.c_str());
      ++differences_;
    }
  }
  /// FNV-1a.
  template <class T>
  static std::uint64_t hash(std::vector<T> const& values) {
    std::uint64_t h = 0xcbf29ce484222325U;
    auto const* const bytes = reinterpret_cast<unsigned char const*>(values.data());
    for (std::size_t n = 0; n < values.size() * sizeof(T); ++n) {
      h = (h ^ bytes[n]) * 0x100000001b3U;
    }
    return h;
  }

  int differences_ = 0;
};

/// The same numbers from every compiler: `count` in [low, high), whose bits are all random.
template <class T>
std::vector<T> even_numbers(std::size_t count, std::uint32_t seed, double low = 0,
                            double high = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& x : values) {
    x = T(low + (high - low) * 0x1p-53 * double(random() >> 11U));
  }
  return values;
}

/// A dense View of `Space` with `values`.
template <class Exec, class T>
auto moved_to(Exec const& exec, std::vector<T> const& values) {
  using array = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space>;
  array const there("there", values.size());
  Kokkos::deep_copy(
      exec, there,
      Kokkos::View<T const*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
          values.data(), values.size()));
  exec.fence();
  return there;
}

/// `count` values from `data` on, on the host, once `exec` has come to its end.
template <class Exec, class T>
std::vector<T> moved_back(Exec const& exec, T const* data, std::size_t count) {
  using array = Kokkos::View<T const*, Kokkos::LayoutRight, typename Exec::memory_space,
                             Kokkos::MemoryUnmanaged>;
  exec.fence();
  std::vector<T> here(count);
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(here.data(),
                                                                                        count),
      array(data, count));
  return here;
}

void compare_dose(parity& all);
void compare_products(parity& all);

}  // namespace iso::test
