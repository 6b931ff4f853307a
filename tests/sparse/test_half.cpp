// SPDX-License-Identifier: BSD-3-Clause
// All 65536 patterns of both 16-bit formats, and roundings at and about every midpoint.
#include <iso/backend/registry.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/half.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

/// The number that a pattern stands for, by its definition.
template <int Exponent, int Fraction>
double value_of(unsigned bits) {
  int const bias = (1 << (Exponent - 1)) - 1;
  unsigned const fraction = bits & ((1U << Fraction) - 1);
  int const exponent = int(bits >> Fraction & ((1U << Exponent) - 1));
  double const sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == (1 << Exponent) - 1) {
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  double const whole = exponent != 0 ? double(1U << Fraction) : 0.0;
  return sign * std::ldexp(whole + fraction, (exponent != 0 ? exponent : 1) - bias - Fraction);
}

template <class T, int Exponent, int Fraction>
void check_all() {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    T x;
    x.bits = std::uint16_t(bits);
    double const expected = value_of<Exponent, Fraction>(bits);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(double(x)));
      REQUIRE(std::isnan(double(T(double(x)))));
      continue;
    }
    REQUIRE(double(x) == expected);
    REQUIRE(double(float(x)) == expected);
    REQUIRE(std::signbit(double(x)) == std::signbit(expected));
    REQUIRE(T(expected).bits == bits);
    REQUIRE(T(float(expected)).bits == bits);
  }
}

/// Between neighbours: below the middle, at it (to even) and above it.
template <class T, int Exponent, int Fraction>
void check_midpoints() {
  unsigned const last = ((1U << Exponent) - 1) << Fraction;  // infinity
  for (unsigned bits = 0; bits + 1 < last; ++bits) {
    double const a = value_of<Exponent, Fraction>(bits);
    double const b = value_of<Exponent, Fraction>(bits + 1);
    double const middle = a + (b - a) / 2;
    REQUIRE(T(middle).bits == (bits % 2 == 0 ? bits : bits + 1));
    REQUIRE(T(std::nextafter(middle, 0)).bits == bits);
    REQUIRE(T(std::nextafter(middle, 1e300)).bits == bits + 1);
    REQUIRE(T(-middle).bits == (0x8000U | (bits % 2 == 0 ? bits : bits + 1)));
  }
  double const top = value_of<Exponent, Fraction>(last - 1);
  double const step = top - value_of<Exponent, Fraction>(last - 2);
  CHECK(T(top + step / 2).bits == last);
  CHECK(T(std::nextafter(top + step / 2, 0)).bits == last - 1);
  CHECK(T(1e300).bits == last);
  CHECK(T(1e-320).bits == 0);
}

template <class Stored>
struct widener {
  Kokkos::View<double*, Kokkos::SharedSpace> out;
  KOKKOS_FUNCTION void operator()(int i) const {
    Stored x;
    x.bits = std::uint16_t(i);
    out(i) = iso::backend::widen<double>(x);
  }
};

}  // namespace

TEST_CASE("half: every pattern, and every midpoint") {
  check_all<iso::half, 5, 10>();
  check_midpoints<iso::half, 5, 10>();
}

TEST_CASE("bfloat16: every pattern, and every midpoint") {
  check_all<iso::bfloat16, 8, 7>();
  check_midpoints<iso::bfloat16, 8, 7>();
}

TEST_CASE_TEMPLATE("widening in a kernel is exact on every backend", T, iso::half, iso::bfloat16) {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    using exec = typename decltype(tag)::execution_space;
    widener<T> const w{Kokkos::View<double*, Kokkos::SharedSpace>("out", 0x10000)};
    Kokkos::parallel_for("widen", Kokkos::RangePolicy<exec>(exec(), 0, 0x10000), w);
    exec().fence();
    for (int i = 0; i < 0x10000; ++i) {
      T x;
      x.bits = std::uint16_t(i);
      double const seen = w.out(i);
      REQUIRE((seen == double(x) || (std::isnan(seen) && std::isnan(double(x)))));
    }
  });
}
