// SPDX-License-Identifier: BSD-3-Clause
//! Random numbers by counting: a number is a hash of where it is used, so that no state exists and
//! every backend and launch shape draws the same.
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstdint>

namespace iso::synthetic::detail {

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64 bits.
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A key for the `index`-th member of what `key` names.
KOKKOS_INLINE_FUNCTION std::uint64_t key_of(std::uint64_t key, std::uint64_t index) {
  return mix(key + (index + 1) * 0x9e3779b97f4a7c15ULL);
}

/// In [0, 1), a multiple of 2^-53.
KOKKOS_INLINE_FUNCTION double unit_number(std::uint64_t key) { return double(key >> 11) * 0x1p-53; }

/// A random order of [0, count): a Feistel network of four rounds over the next power of four,
/// walked until it lands inside. It comes back to where it began at the latest, so it ends.
class random_order {
 public:
  random_order() = default;
  random_order(std::uint64_t key, std::int64_t count) : key_(key), count_(std::uint64_t(count)) {
    while ((std::uint64_t(1) << (2 * half_)) < count_) {
      ++half_;
    }
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t operator()(std::int64_t index) const {
    auto x = std::uint64_t(index);
    do {
      x = scrambled(x);
    } while (x >= count_);
    return std::int64_t(x);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t scrambled(std::uint64_t x) const {
    std::uint64_t const mask = (std::uint64_t(1) << half_) - 1;
    std::uint64_t left = x >> half_;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::uint64_t const next = left ^ (key_of(key_ + round, right) & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t key_ = 0;
  std::uint64_t count_ = 1;
  int half_ = 1;
};

}  // namespace iso::synthetic::detail
