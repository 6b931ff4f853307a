// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/bits.hpp
//! Compares results bit by bit: a hash for the quick answer, the first difference for the long one.
#pragma once

#include <iso/core/detail/fnv1a.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace iso::cases {

template <class T>
using word_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
word_of<T> raw_bits(T x) {
  return std::bit_cast<word_of<T>>(x);
}

/// Hashes the values' bits by FNV-1a, 64 bits, lowest byte first: one NaN pattern is not another.
/// \param hash  of the values before them
template <class T>
std::uint64_t hash_bits(std::span<T const> values,
                        std::uint64_t hash = iso::detail::fnv1a_of_nothing) {
  for (T const value : values) {
    auto bits = raw_bits(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(bits & 0xff));
      bits = word_of<T>(bits >> 8);
    }
  }
  return hash;
}

/// Returns the hash as sixteen hexadecimal digits.
std::string hash_text(std::uint64_t hash);

/// Counts the numbers of T from a to b; -0 and +0 are one apart, NaN patterns lie beyond infinity.
template <class T>
std::uint64_t ulp_distance(T a, T b) {
  auto const place = [](T x) {
    std::int64_t const bits = sizeof(T) == 4 ? std::int64_t(std::bit_cast<std::int32_t>(float(x)))
                                             : std::bit_cast<std::int64_t>(double(x));
    std::int64_t const lowest = sizeof(T) == 4 ? std::int64_t(-2147483648LL) : INT64_MIN;
    return bits < 0 ? -1 - (bits - lowest) : bits;
  };
  std::int64_t const p = place(a);
  std::int64_t const q = place(b);
  return p > q ? std::uint64_t(p) - std::uint64_t(q) : std::uint64_t(q) - std::uint64_t(p);
}

struct difference {
  std::int64_t index = 0;  ///< of the first element that differs
  std::string expected;  ///< its value in the reference run, as a hexadecimal and a decimal number
  std::string found;
  std::uint64_t ulps = 0;  ///< between the two
  std::int64_t count = 0;  ///< elements that differ
};

std::string number_text(double value);

/// Returns a number as number_text writes it; of a NaN its bits.
template <class T>
std::string value_text(T value) {
  return value == value ? number_text(double(value)) : "nan, bits " + hash_text(raw_bits(value));
}

/// Returns nothing where all bits are the same. Spans of different lengths differ at the shorter
/// one's end.
template <class T>
std::optional<difference> first_difference(std::span<T const> expected, std::span<T const> found) {
  std::optional<difference> result;
  std::size_t const common = expected.size() < found.size() ? expected.size() : found.size();
  for (std::size_t i = 0; i < common; ++i) {
    if (raw_bits(expected[i]) != raw_bits(found[i])) {
      if (!result) {
        result = difference{std::int64_t(i), value_text(expected[i]), value_text(found[i]),
                            ulp_distance(expected[i], found[i]), 0};
      }
      ++result->count;
    }
  }
  if (!result && expected.size() != found.size()) {
    result = difference{std::int64_t(common), "end", "end", 0, 1};
  }
  return result;
}

}  // namespace iso::cases
