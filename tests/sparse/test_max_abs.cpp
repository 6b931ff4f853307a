// SPDX-License-Identifier: BSD-3-Clause
// max_abs against a plain loop: lengths about its blocks and beyond its most groups, several
// vectors with gaps, numbers of every kind.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;

template <class T>
double largest_of(std::vector<T> const& x, std::int64_t first, std::int64_t stride) {
  double most = 0;
  for (auto i = std::size_t(first); i < x.size(); i += std::size_t(stride)) {
    double const size = std::fabs(double(x[i]));
    most = std::isfinite(size) && size > most ? size : most;
  }
  return most;
}

template <class Exec, class T>
std::vector<double> found_by(Exec const& exec, std::vector<T> const& values, std::int64_t vectors,
                             std::int64_t stride) {
  using space = typename Exec::memory_space;
  auto const length = values.size() / std::size_t(stride);
  Kokkos::View<T**, Kokkos::LayoutRight, space> const whole("x", length, std::size_t(stride));
  auto const mirror = Kokkos::create_mirror_view(whole);
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < std::size_t(stride); ++k) {
      mirror(i, k) = values[i * std::size_t(stride) + k];
    }
  }
  Kokkos::deep_copy(exec, whole, mirror);
  Kokkos::View<double*, space> const largest("largest", std::size_t(vectors));
  iso::sparse::max_abs(
      exec, Kokkos::subview(whole, Kokkos::ALL, std::make_pair(std::int64_t(0), vectors)), largest);
  auto const back = Kokkos::create_mirror_view_and_copy(host(), largest);
  return {back.data(), back.data() + vectors};
}

template <class T>
std::vector<T> numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto x = std::vector<T>(std::size_t(count));
  for (auto& one : x) {
    one = T(uniform(random));
  }
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("the largest |x| is that of a plain loop", T, float, double) {
  for_each_instance([](auto const& exec) {
    for (std::int64_t const length :
         {1, 31, 32, 33, 511, 512, 513, 1025, 524287, 524289, 1600000}) {
      CAPTURE(length);
      auto x = numbers<T>(length, unsigned(length));
      CHECK(found_by(exec, x, 1, 1)[0] == largest_of(x, 0, 1));
      // Beyond all others, at either end and in the last block.
      for (std::int64_t const at : {std::int64_t(0), length - 1, length - length / 700 - 1}) {
        T const before = x[std::size_t(at)];
        x[std::size_t(at)] = T(-7);
        CHECK(found_by(exec, x, 1, 1)[0] == 7);
        x[std::size_t(at)] = before;
      }
    }
  });
}

TEST_CASE_TEMPLATE("the largest |x| of several vectors, with gaps between them", T, float, double) {
  for_each_instance([](auto const& exec) {
    for (std::int64_t const stride : {1, 2, 3, 4, 5, 8, 32, 33}) {
      CAPTURE(stride);
      auto const x = numbers<T>(700 * stride, unsigned(stride));
      std::int64_t const vectors = stride == 5 ? 3 : stride;
      auto const found = found_by(exec, x, vectors, stride);
      for (std::int64_t k = 0; k < vectors; ++k) {
        CHECK(found[std::size_t(k)] == largest_of(x, k, stride));
      }
    }
    // The largest of each vector anywhere, beyond the most groups too.
    for (std::int64_t const length : {1, 7, 4096, 300001}) {
      CAPTURE(length);
      auto x = numbers<T>(8 * length, unsigned(length));
      for (std::int64_t k = 0; k < 8; ++k) {
        x[std::size_t(8 * (length * k / 8) + k)] = T(k % 2 == 0 ? 2 + k : -2 - k);
        x[std::size_t(8 * (length - 1) + k)] += T(0.5);
      }
      auto const found = found_by(exec, x, 8, 8);
      for (std::int64_t k = 0; k < 8; ++k) {
        CHECK(found[std::size_t(k)] == largest_of(x, k, 8));
      }
    }
  });
}

TEST_CASE_TEMPLATE("what is not finite is no largest |x|, nor has zero a sign", T, float, double) {
  for_each_instance([](auto const& exec) {
    T const inf = std::numeric_limits<T>::infinity();
    T const nan = std::numeric_limits<T>::quiet_NaN();
    T const tiny = std::numeric_limits<T>::denorm_min();
    T const huge = std::numeric_limits<T>::max();
    auto const found = [&](T filling, T one) {
      std::vector<T> x(1300, filling);
      x[777] = one;
      return found_by(exec, x, 1, 1)[0];
    };
    CHECK(found(nan, inf) == 0);
    CHECK(found(T(-0.0), T(-0.0)) == 0);
    CHECK_FALSE(std::signbit(found(T(-0.0), T(-0.0))));
    CHECK(found(T(-0.0), -tiny) == double(tiny));
    CHECK(found(nan, -huge) == double(huge));
    CHECK(found(-inf, T(0.5)) == 0.5);
  });
}
