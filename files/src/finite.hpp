// SPDX-License-Identifier: BSD-3-Clause
//! Finds numbers that are not finite, and numbers that no double is.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace iso::files::detail {

/// The place where an array has a NaN or an infinity, and which it is.
template <class T>
struct not_finite {
  std::array<std::int64_t, 3> place;
  T value;
};

/// Finds the first non-finite number of `values`, an array of `extent` with the last axis fastest.
template <class Values>
auto first_not_finite(Values const& values, std::array<std::int64_t, 3> const& n) {
  using result = not_finite<typename Values::value_type>;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      auto const at = std::int64_t(i);
      return std::optional<result>({{at / (n[1] * n[2]), at / n[2] % n[1], at % n[2]}, values[i]});
    }
  }
  return std::optional<result>();
}

/// Returns whether a double has the same value; of a long double that is not finite, whether it
/// stays so.
template <class T>
bool is_double(T number) {
  auto const near = static_cast<double>(number);
  if constexpr (std::is_integral_v<T>) {
    __extension__ using wide = __int128;
    return static_cast<wide>(near) == static_cast<wide>(number);
  } else {
    return static_cast<T>(near) == number || !std::isfinite(number);
  }
}

}  // namespace iso::files::detail
