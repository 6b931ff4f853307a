// SPDX-License-Identifier: BSD-3-Clause
//! Reproducible sums against exact rational arithmetic.
#include <iso/core/reproducible.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using rational = boost::multiprecision::cpp_rational;
using integer = boost::multiprecision::cpp_int;
template <class T>
using limits = std::numeric_limits<T>;

rational two_to(int k) {
  return k >= 0 ? rational(integer(1) << k) : rational(integer(1), integer(1) << -k);
}

rational magnitude(rational const& x) { return x < 0 ? rational(-x) : x; }

/// The nearest integer of x >= 0, ties to even.
integer nearest(rational const& x) {
  integer const numerator = boost::multiprecision::numerator(x);
  integer const denominator = boost::multiprecision::denominator(x);
  integer q = numerator / denominator;
  integer const twice = 2 * (numerator - q * denominator);
  if (twice > denominator || (twice == denominator && (q & 1) != 0)) {
    ++q;
  }
  return q;
}

template <class T>
constexpr int word_bits = sizeof(T) == 4 ? 32 : 64;

/// Whether the documented bounds hold for k.
template <class T>
bool bounds_hold(double most, double terms, int k) {
  rational const scaled = rational(most) * two_to(k);
  rational const limit = two_to(word_bits<T> - 1);
  return scaled <= two_to(limits<T>::digits - 3) && scaled * rational(terms) < limit &&
         rational(nearest(scaled)) * rational(terms) < limit;
}

template <class T>
struct total {
  using word = iso::bits_of<T>;
  word sum = 0;
  word flags = 0;
  word count = 0;

  void add(iso::reproducible_scale<T> const& scale, T x) {
    word const term = scale.round(x);
    sum += term;
    flags |= term;
    ++count;
  }
  void add(total const& other) {
    sum += other.sum;
    flags |= other.flags;
    count += other.count;
  }
  [[nodiscard]] T value(iso::reproducible_scale<T> const& scale) const {
    return scale.value(scale.without_rounder(sum, count));
  }
};

template <class T>
total<T> sum_of(iso::reproducible_scale<T> const& scale, std::vector<T> const& xs) {
  total<T> all;
  for (T const x : xs) {
    all.add(scale, x);
  }
  return all;
}

template <class T>
T largest(std::vector<T> const& xs) {
  T most = 0;
  for (T const x : xs) {
    most = std::max(most, std::abs(x));
  }
  return most;
}

template <class T>
std::vector<T> random_terms(std::uint64_t seed, int count, int octaves) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(0, octaves);
  std::vector<T> xs;
  for (int i = 0; i < count; ++i) {
    xs.push_back(T(std::ldexp(mantissa(random), exponent(random))));
  }
  return xs;
}

/// Error of the sum of xs against exact arithmetic, and the same bits from any order and split.
template <class T>
void check_sum(std::uint64_t seed, int count, int octaves) {
  auto xs = random_terms<T>(seed, count, octaves);
  iso::reproducible_scale<T> const scale(largest(xs), count);
  auto const reference = sum_of(scale, xs);
  RC_ASSERT(!scale.flagged(reference.flags));
  rational exact = 0;
  for (T const x : xs) {
    exact += rational(x);
  }
  T const value = reference.value(scale);
  rational const allowed =
      rational(scale.unit()) * count / 2 + magnitude(rational(value)) * two_to(-limits<T>::digits);
  RC_ASSERT(magnitude(rational(value) - exact) <= allowed);

  std::mt19937_64 random(seed + 1);
  std::shuffle(xs.begin(), xs.end(), random);
  total<T> parts;
  std::size_t begin = 0;
  while (begin < xs.size()) {
    auto const left = xs.size() - begin;
    auto const length = 1 + random() % left;
    parts.add(
        sum_of(scale, std::vector<T>(xs.begin() + long(begin), xs.begin() + long(begin + length))));
    begin += length;
  }
  RC_ASSERT(parts.sum == reference.sum);
  RC_ASSERT(parts.flags == reference.flags);
  RC_ASSERT(Kokkos::bit_cast<iso::bits_of<T>>(parts.value(scale)) ==
            Kokkos::bit_cast<iso::bits_of<T>>(value));
}

}  // namespace

TEST_CASE_TEMPLATE("reproducible: k is the largest that the bounds allow", T, float, double) {
  int const range = sizeof(T) == 4 ? 126 : 1022;
  std::vector<double> sizes{double(limits<T>::denorm_min()),
                            double(limits<T>::min()),
                            1.0,
                            1.5,
                            3.0,
                            0.1,
                            2047.9999,
                            524287.75,
                            double(limits<T>::max()),
                            double(limits<T>::max()) / 2};
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    sizes.push_back(std::ldexp(1.0 + double(random() % 1000) / 1000, int(random() % 100) - 50));
    sizes.push_back(double(T(std::nextafter(T(std::ldexp(1.0, i % 90 - 45)), T(0)))));
    sizes.push_back(double(std::nextafter(T(std::ldexp(1.0, i % 90 - 45)), limits<T>::max())));
  }
  for (double const most : sizes) {
    for (double const terms : {1.0, 2.0, 3.0, 511.0, 512.0, 1024.0, 4096.0, 5000.0, 65537.0, 1e6}) {
      INFO("most " << most << ", terms " << terms);
      iso::reproducible_scale<T> const scale(most, terms);
      int const k = -std::ilogb(scale.unit());
      CHECK(std::ldexp(1.0, -k) == double(scale.unit()));
      CHECK(bounds_hold<T>(most, terms, k));
      CHECK((k == range || !bounds_hold<T>(most, terms, k + 1)));
    }
  }
}

TEST_CASE_TEMPLATE("reproducible: most of zero, and of no use", T, float, double) {
  for (double const most : {0.0, -0.0, limits<double>::infinity(), limits<double>::quiet_NaN()}) {
    CHECK(iso::reproducible_scale<T>(most, 100).unit() == T(1));
  }
  iso::reproducible_scale<T> const scale(0, 3);
  auto const all = sum_of<T>(scale, {0, T(-0.0), 0});
  CHECK_FALSE(scale.flagged(all.flags));
  CHECK(all.value(scale) == 0);
}

TEST_CASE_TEMPLATE("reproducible: sums of terms on the grid are exact", T, float, double) {
  iso::reproducible_scale<T> const scale(3, 1000);
  std::vector<T> xs;
  std::int64_t exact = 0;
  for (int i = 0; i < 1000; ++i) {
    int const units = (i * 7919) % 6001 - 3000;
    xs.push_back(T(units) * scale.unit());
    exact += units;
  }
  CHECK(sum_of(scale, xs).value(scale) == T(exact) * scale.unit());
}

TEST_CASE_TEMPLATE("reproducible: the fullest sum does not wrap around", T, float, double) {
  // Terms that are all the largest, and round up.
  for (int const terms : {1, 2, 1000, 4096, 1 << 16}) {
    for (double const base : {1.0, 1024.0, 1e-30, 1e30}) {
      T const most = std::nextafter(T(base), T(0));
      iso::reproducible_scale<T> const scale(double(most), terms);
      for (T const x : {most, T(-most)}) {
        total<T> all;
        for (int i = 0; i < terms; ++i) {
          all.add(scale, x);
        }
        INFO("most " << double(most) << ", terms " << terms);
        CHECK_FALSE(scale.flagged(all.flags));
        double const exact = double(x) * terms;
        CHECK(std::abs(double(all.value(scale)) - exact) <=
              double(scale.unit()) * terms / 2 + std::abs(exact) * double(limits<T>::epsilon()));
      }
    }
  }
}

TEST_CASE_TEMPLATE("reproducible: a term that is not finite is flagged", T, float, double) {
  iso::reproducible_scale<T> const scale(2, 10);
  for (T const bad : {limits<T>::infinity(), -limits<T>::infinity(), limits<T>::quiet_NaN(),
                      -limits<T>::quiet_NaN()}) {
    CHECK(scale.flagged(scale.round(bad)));
    CHECK(scale.flagged(sum_of<T>(scale, {T(1), bad, T(-2)}).flags));
  }
  CHECK_FALSE(scale.flagged(sum_of<T>(scale, {T(1), T(2), T(-2), T(0)}).flags));
}

TEST_CASE("reproducible: any order and any split, within the bound, float") {
  CHECK(rc::check([] {
    check_sum<float>(*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::inRange(1, 2000),
                     *rc::gen::inRange(0, 30));
  }));
}

TEST_CASE("reproducible: any order and any split, within the bound, double") {
  CHECK(rc::check([] {
    check_sum<double>(*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::inRange(1, 2000),
                      *rc::gen::inRange(0, 80));
  }));
}
