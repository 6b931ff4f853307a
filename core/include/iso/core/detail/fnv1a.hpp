// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace iso::detail {

/// The hash of nothing by FNV-1a, 64 bits.
inline constexpr std::uint64_t fnv1a_of_nothing = 0xcbf29ce484222325ULL;

/// Returns the hash of what `hash` is of and one more byte.
constexpr std::uint64_t fnv1a(std::uint64_t hash, unsigned char byte) {
  return (hash ^ byte) * 0x100000001b3ULL;
}

}  // namespace iso::detail
