// SPDX-License-Identifier: BSD-3-Clause
//! iso::math against a multiprecision oracle of 50 digits: at most 1 ulp, everywhere.
#include <iso/backend/registry.hpp>
#include <iso/core/math.hpp>

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using oracle =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<
                                      50, boost::multiprecision::digit_base_10, void, std::int32_t>,
                                  boost::multiprecision::et_off>;
template <class T>
using limits = std::numeric_limits<T>;

enum class function { exp, expm1, log, sine, cosine };
constexpr function functions[] = {function::exp, function::expm1, function::log, function::sine,
                                  function::cosine};
std::string const names[] = {"exp", "expm1", "log", "sine", "cosine"};

template <class T>
T ours(function f, T x) {
  T sine = 0;
  T cosine = 0;
  switch (f) {
    case function::exp:
      return iso::math::exp(x);
    case function::expm1:
      return iso::math::expm1(x);
    case function::log:
      return iso::math::log(x);
    case function::sine:
      iso::math::sincos(x, sine, cosine);
      return sine;
    default:
      iso::math::sincos(x, sine, cosine);
      return cosine;
  }
}

oracle exactly(function f, oracle const& x) {
  switch (f) {
    case function::exp:
      return exp(x);
    case function::expm1:
      // Below, the subtraction would cost the oracle its digits; x + x^2/2 + x^3/6 leaves 1e-80.
      return abs(x) < oracle(1e-20)  ? x + x * x / 2 + x * x * x / 6
             : abs(x) < oracle(1e-4) ? oracle(2 * sinh(x / 2) * exp(x / 2))
                                     : oracle(exp(x) - 1);
    case function::log:
      return log(x);
    case function::sine:
      return sin(x);
    default:
      return cos(x);
  }
}

/// Distance of `value` from `exact`, in ulp of the exact value's binade.
template <class T>
double ulp_error(T value, oracle const& exact) {
  if (exact == 0) {
    return value == 0 ? 0 : limits<double>::infinity();
  }
  int const e = std::max(int(ilogb(exact)), limits<T>::min_exponent - 1);
  if (!std::isfinite(value)) {
    // Infinity is right where the exact value rounds to it.
    oracle const edge = ldexp(oracle(2) - ldexp(oracle(1), -limits<T>::digits), e);
    return e >= limits<T>::max_exponent || (e == limits<T>::max_exponent - 1 && abs(exact) >= edge)
               ? 0
               : limits<double>::infinity();
  }
  return std::abs(double(ldexp(oracle(value) - exact, limits<T>::digits - 1 - e)));
}

template <class T>
T from_bits(iso::bits_of<T> bits) {
  return Kokkos::bit_cast<T>(bits);
}

/// Arguments for which the function has a finite, non-trivial value.
template <class T>
std::pair<T, T> range_of(function f) {
  bool const single = sizeof(T) == 4;
  switch (f) {
    case function::exp:
      return single ? std::pair<T, T>(-105, 90) : std::pair<T, T>(-747, 711);
    case function::expm1:
      return single ? std::pair<T, T>(-25, 90) : std::pair<T, T>(-45, 711);
    case function::log:
      return {limits<T>::denorm_min(), limits<T>::max()};
    default:
      return {T(-1e5), T(1e5)};
  }
}

/// Both neighbours of every point, and the point.
template <class T>
void add_around(std::vector<T>& xs, T x) {
  xs.push_back(x);
  xs.push_back(std::nextafter(x, limits<T>::infinity()));
  xs.push_back(std::nextafter(x, -limits<T>::infinity()));
}

template <class T>
std::vector<T> arguments(function f) {
  auto const [low, high] = range_of<T>(f);
  std::vector<T> xs;
  int const sweep = 6000;
  for (int i = 0; i <= sweep; ++i) {
    double const t = double(i) / sweep;
    xs.push_back(T(double(low) * (1 - t) + double(high) * t));
    xs.push_back(T(-2 + 4 * t));
    xs.push_back(T(0.5 + t));
  }
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 20000; ++i) {
    xs.push_back(from_bits<T>(iso::bits_of<T>(random())));  // log-uniform, every sign and exponent
    // Log-uniform over the magnitudes at which the function is not trivial.
    double const e = -40 + 57 * (double(random() >> 11) * 0x1p-53);
    xs.push_back(T((random() & 1) != 0 ? std::exp2(e) : -std::exp2(e)));
  }
  for (T const edge : {limits<T>::denorm_min(), limits<T>::min(), limits<T>::epsilon(), T(1),
                       T(0.5), T(2), limits<T>::max(), low, high, T(std::log(2.0)), T(1e5)}) {
    add_around(xs, edge);
    add_around(xs, T(-edge));
  }
  // Ties of the reductions: odd multiples of half the period, and subnormal results of exp.
  for (int k = 1; k < 300; ++k) {
    add_around(xs, T(std::sqrt(0.5) * std::exp2(k - 150)));
    add_around(xs, T((k - 150 + 0.5) * std::log(2.0)));
    add_around(xs, T(low + T(k) / 16));
  }
  return xs;
}

/// Arguments next to multiples of pi/4, where a reduction shows its last bits.
template <class T>
void add_quarter_turns(std::vector<T>& xs) {
  oracle const quarter = boost::math::constants::pi<oracle>() / 4;
  for (int k = 1; k <= 127323; k += k < 4096 ? 1 : 7) {
    xs.push_back(T(oracle(quarter * k)));
  }
}

/// The multiple of pi/2 that a T up to 1e5 comes nearest to: the hardest argument there is.
template <class T>
T hardest_angle() {
  oracle const half = boost::math::constants::pi<oracle>() / 2;
  oracle least = 1;
  T worst = 1;
  for (int k = 1; k <= 63661; ++k) {
    oracle const exact = half * k;
    T const x = T(exact);
    oracle const distance = abs(oracle(x) - exact);
    if (distance < least) {
      least = distance;
      worst = x;
    }
  }
  return worst;
}

long double roughly(function f, long double x) {
  switch (f) {
    case function::exp:
      return std::exp(x);
    case function::expm1:
      return std::expm1(x);
    case function::log:
      return std::log(x);
    case function::sine:
      return std::sin(x);
    default:
      return std::cos(x);
  }
}

/// Random arguments a search; ISO_MATH_SEARCH makes it longer (docs/algorithms/numerics.md).
int search_length() {
  char const* const wanted = std::getenv("ISO_MATH_SEARCH");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : 200'000;
}

/// The worst of many arguments in [low, high] by the eleven more bits of long double: a search too
/// long for the oracle, which then judges what was found.
template <class T>
T worst_of_many(function f, double low, double high, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  long double most = -1;
  T worst = T(low);
  for (int i = 0, count = search_length(); i < count; ++i) {
    T const x = T(low + (high - low) * (double(random() >> 11) * 0x1p-53));
    long double const exact = roughly(f, x);
    int const e = std::max(std::ilogb(exact), limits<T>::min_exponent - 1);
    long double const error = std::abs(std::ldexp(ours(f, x) - exact, limits<T>::digits - 1 - e));
    if (exact != 0 && std::isfinite(error) && error > most) {
      most = error;
      worst = x;
    }
  }
  return worst;
}

template <class T>
void check_bound(std::string const& type) {
  for (function const f : functions) {
    auto xs = arguments<T>(f);
    bool const angle = f == function::sine || f == function::cosine;
    if (angle) {
      add_quarter_turns(xs);
      add_around(xs, hardest_angle<T>());
    }
    auto const [low, high] = range_of<T>(f);
    xs.push_back(worst_of_many<T>(f, f == function::log ? 0.25 : -2, 2, 1));
    xs.push_back(worst_of_many<T>(f, std::max(double(low), -1e5), std::min(double(high), 1e5), 2));
    double most = 0;
    T where = 0;
    std::int64_t checked = 0;
    for (T const x : xs) {
      if (!(x >= low && x <= high) || x == 0) {
        continue;
      }
      double const error = ulp_error(ours(f, x), exactly(f, oracle(x)));
      ++checked;
      if (!(error <= most)) {
        most = error;
        where = x;
      }
    }
    MESSAGE(names[int(f)] << " " << type << ": " << most << " ulp at " << double(where) << ", of "
                          << checked);
    CHECK(checked > 10000);
    CHECK(most <= 1.0);
  }
}

template <class T>
bool is_canonical(T x) {
  return Kokkos::bit_cast<iso::bits_of<T>>(x) == iso::float_bits<T>::canonical_nan;
}

template <class T>
bool same(T a, T b) {
  return Kokkos::bit_cast<iso::bits_of<T>>(a) == Kokkos::bit_cast<iso::bits_of<T>>(b);
}

}  // namespace

TEST_CASE("math: at most 1 ulp off, float") { check_bound<float>("float"); }

TEST_CASE("math: at most 1 ulp off, double") { check_bound<double>("double"); }

TEST_CASE_TEMPLATE("math: special values", T, float, double) {
  T const infinity = limits<T>::infinity();
  T const zero = 0;
  // Every kind of NaN gives the one canonical pattern.
  for (T const nan : {limits<T>::quiet_NaN(), -limits<T>::quiet_NaN(), limits<T>::signaling_NaN(),
                      from_bits<T>(~iso::bits_of<T>(0))}) {
    for (function const f : functions) {
      INFO(names[int(f)]);
      CHECK(is_canonical(ours(f, nan)));
    }
  }
  CHECK(same(iso::math::exp(zero), T(1)));
  CHECK(same(iso::math::exp(-zero), T(1)));
  CHECK(same(iso::math::exp(infinity), infinity));
  CHECK(same(iso::math::exp(-infinity), zero));
  CHECK(same(iso::math::exp(limits<T>::max()), infinity));
  CHECK(same(iso::math::exp(limits<T>::lowest()), zero));
  CHECK(same(iso::math::expm1(zero), zero));
  CHECK(same(iso::math::expm1(-zero), -zero));
  CHECK(same(iso::math::expm1(infinity), infinity));
  CHECK(same(iso::math::expm1(-infinity), T(-1)));
  CHECK(same(iso::math::expm1(limits<T>::denorm_min()), limits<T>::denorm_min()));
  CHECK(same(iso::math::expm1(-limits<T>::denorm_min()), -limits<T>::denorm_min()));
  CHECK(same(iso::math::log(T(1)), zero));
  CHECK(same(iso::math::log(zero), -infinity));
  CHECK(same(iso::math::log(-zero), -infinity));
  CHECK(same(iso::math::log(infinity), infinity));
  CHECK(is_canonical(iso::math::log(-limits<T>::denorm_min())));
  CHECK(is_canonical(iso::math::log(T(-1))));
  CHECK(is_canonical(iso::math::log(-infinity)));
  T const beyond = std::nextafter(T(1e5), infinity);
  for (T const x : {infinity, -infinity, beyond, T(-beyond), limits<T>::max()}) {
    CHECK(is_canonical(ours(function::sine, x)));
    CHECK(is_canonical(ours(function::cosine, x)));
  }
  CHECK_FALSE(is_canonical(ours(function::sine, T(1e5))));
  CHECK(same(ours(function::sine, zero), zero));
  CHECK(same(ours(function::sine, -zero), -zero));
  CHECK(same(ours(function::cosine, -zero), T(1)));
}

TEST_CASE_TEMPLATE("math: the largest and smallest results", T, float, double) {
  T x = T(limits<T>::max_exponent * std::log(2.0));
  while (std::isinf(iso::math::exp(x))) {
    x = std::nextafter(x, T(0));
  }
  CHECK(ulp_error(iso::math::exp(x), exactly(function::exp, oracle(x))) <= 1);
  T const above = std::nextafter(x, limits<T>::infinity());
  CHECK(ulp_error(limits<T>::infinity(), exactly(function::exp, oracle(above))) <= 1);
  // Down to the last subnormal number.
  T y = T((limits<T>::min_exponent - limits<T>::digits - 2) * std::log(2.0));
  CHECK(iso::math::exp(y) == 0);
  y = T((limits<T>::min_exponent - limits<T>::digits + 0.1) * std::log(2.0));
  CHECK(iso::math::exp(y) == limits<T>::denorm_min());
}

namespace {

/// Argument i of the comparison: log-uniform bits, or within the range where nothing is trivial.
template <class T>
KOKKOS_FUNCTION T argument(std::uint64_t i) {
  std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  h ^= h >> 31;
  if (i % 4 == 0) {
    return Kokkos::bit_cast<T>(iso::bits_of<T>(h));
  }
  T const unit = T(double(h >> 11) * 0x1p-52 - 1.0);
  return i % 4 == 1 ? unit : i % 4 == 2 ? unit * T(100) : unit * T(1e5);
}

/// The bits of all five results at argument i, mixed into one word that shows any difference.
template <class T>
KOKKOS_FUNCTION std::uint64_t results(std::uint64_t i) {
  T const x = argument<T>(i);
  T sine = 0;
  T cosine = 0;
  iso::math::sincos(x, sine, cosine);
  std::uint64_t mixed = 0;
  T const all[] = {iso::math::exp(x), iso::math::expm1(x), iso::math::log(x), sine, cosine};
  for (T const y : all) {
    mixed = mixed * 0x100000001b3ULL + Kokkos::bit_cast<iso::bits_of<T>>(y);
  }
  return mixed;
}

template <class T>
struct fill_results {
  template <class View>
  static void run(View const& out) {
    using exec = typename View::execution_space;
    Kokkos::parallel_for(
        "math", Kokkos::RangePolicy<exec>(0, std::int64_t(out.extent(0))),
        KOKKOS_LAMBDA(std::int64_t i) { out(i) = results<T>(std::uint64_t(i)); });
  }
};

template <class T>
void check_backends() {
  std::int64_t const count = 3'000'000;
  iso::backend::for_each([&](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO("backend " << std::string(tag.name));
    Kokkos::View<std::uint64_t*, exec> const out("math", std::size_t(count));
    fill_results<T>::run(out);
    auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
    std::int64_t different = 0;
    std::int64_t first = -1;
    for (std::int64_t i = 0; i < count; ++i) {
      if (got(i) != results<T>(std::uint64_t(i))) {
        first = different == 0 ? i : first;
        ++different;
      }
    }
    INFO("first at " << first);
    CHECK(different == 0);
  });
}

}  // namespace

TEST_CASE("math: the same bits on every backend, float") { check_backends<float>(); }

TEST_CASE("math: the same bits on every backend, double") { check_backends<double>(); }
