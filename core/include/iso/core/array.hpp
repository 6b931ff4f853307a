// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/array.hpp
#pragma once

#include <iso/core/macros.hpp>

#include <concepts>
#include <cstddef>

namespace iso {

/// `N` values in a row, as std::array has them, for devices too.
template <class T, std::size_t N>
struct array {
  T values[N];

  [[nodiscard]] ISO_FUNCTION static constexpr std::size_t size() { return N; }
  template <std::integral I>
  ISO_FUNCTION constexpr T& operator[](I i) {
    return values[i];
  }
  template <std::integral I>
  ISO_FUNCTION constexpr T const& operator[](I i) const {
    return values[i];
  }
  ISO_FUNCTION constexpr T* begin() { return values; }
  ISO_FUNCTION constexpr T* end() { return values + N; }
  ISO_FUNCTION constexpr T const* begin() const { return values; }
  ISO_FUNCTION constexpr T const* end() const { return values + N; }

  friend ISO_FUNCTION constexpr bool operator==(array const& a, array const& b) {
    for (std::size_t i = 0; i < N; ++i) {
      if (!(a.values[i] == b.values[i])) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace iso
