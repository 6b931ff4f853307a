// SPDX-License-Identifier: BSD-3-Clause
//! Finds numbers that are not finite, numbers that no double is, and arrays that no float holds.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

/// The largest magnitude of doubles that become floats. One that is small beside others may round
/// to 0, as any number rounds; where the largest has no float, or not all of its digits, what the
/// file says is lost.
class float_range {
 public:
  void add(double number) {
    double const size = std::fabs(number);
    largest_ = size > largest_ ? size : largest_;
  }
  /// Adds those of an array that are finite.
  template <class Values>
  void add_all(Values const& numbers) {
    for (double const number : numbers) {
      add(std::isfinite(number) ? number : 0);
    }
  }
  [[nodiscard]] bool is_zero() const { return largest_ == 0; }
  [[nodiscard]] bool is_too_small() const { return largest_ != 0 && largest_ < FLT_MIN; }
  [[nodiscard]] bool is_too_large() const { return !std::isfinite(float(largest_)); }
  [[nodiscard]] bool is_kept() const { return !is_too_small() && !is_too_large(); }
  [[nodiscard]] std::string sentence() const {
    return fmt::format(
        "holds values up to {:.6g} (they become floats, which end at 3.4e+38 and "
        "lose digits below 1.2e-38); scale them, and write it again",
        largest_);
  }

 private:
  double largest_ = 0;
};

}  // namespace iso::files::detail
