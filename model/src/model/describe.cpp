// SPDX-License-Identifier: BSD-3-Clause
#include <iso/model/describe.hpp>

#include <charconv>
#include <cmath>

namespace iso {
namespace {

/// Returns `x` rounded to so many significant decimal digits.
double rounded_to(double x, int digits) {
  char text[40];
  auto const end = std::to_chars(text, text + sizeof(text), x, std::chars_format::general, digits);
  double rounded = x;
  std::from_chars(text, end.ptr, rounded);
  return rounded;
}

}  // namespace

double written_in(unit const& u, double x) {
  double const guess = x / u.to_library(1);
  if (!std::isfinite(guess) || u.to_library(x) == x) {
    return std::isfinite(guess) ? x : guess;
  }
  for (int digits = 1; digits <= 17; ++digits) {
    double const rounded = rounded_to(guess, digits);
    if (u.to_library(rounded) == x) {
      return rounded;
    }
  }
  // Rounding took the quotient beside the number that was written.
  double above = guess;
  double below = guess;
  for (int step = 0; step < 4; ++step) {
    above = std::nextafter(above, HUGE_VAL);
    below = std::nextafter(below, -HUGE_VAL);
    for (double const near : {above, below}) {
      if (u.to_library(near) == x) {
        return near;
      }
    }
  }
  return guess;
}

std::string key_of(field const& f) {
  if (!f.key.empty()) {
    return std::string(f.key);
  }
  std::string key(f.name);
  for (char& c : key) {
    c = c == '-' ? '_' : c;
  }
  return key.append(f.unit.suffix);
}

}  // namespace iso
