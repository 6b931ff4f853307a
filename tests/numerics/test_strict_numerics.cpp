// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/numerics/test_strict_numerics.cpp
//! The strict flags of the exported target are in force in a user's kernel, on every backend.
#include <iso/backend/registry.hpp>
#include <iso/core/numerics.hpp>

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace {

// Operands lie in memory so that no compiler can fold them.
template <class T, class Exec>
struct arithmetic {
  using view_type = Kokkos::View<T*, typename Exec::memory_space>;
  view_type a, b, c;
  view_type separate, fused, quotient, root;

  explicit arithmetic(std::int64_t count)
      : a("a", count),
        b("b", count),
        c("c", count),
        separate("separate", count),
        fused("fused", count),
        quotient("quotient", count),
        root("root", count) {}

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    separate(i) = a(i) * b(i) + c(i);
    fused(i) = Kokkos::fma(a(i), b(i), c(i));
    quotient(i) = a(i) / b(i);
    root(i) = Kokkos::sqrt(a(i));
  }

  void run() const {
    Kokkos::parallel_for("strict", Kokkos::RangePolicy<Exec>(0, std::int64_t(a.extent(0))), *this);
    Exec().fence();
  }
};

template <class View>
auto on_host(View const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

template <class View, class F>
void fill(View const& view, F&& value) {
  auto const mirror = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
  for (std::int64_t i = 0; i < std::int64_t(view.extent(0)); ++i) {
    mirror(i) = value(i);
  }
  Kokkos::deep_copy(view, mirror);
}

// (1 + e)^2 = 1 + 2 e + e^2, and e^2 is lost when the product is rounded: minus (1 + 2 e) that
// leaves 0, but e^2 when the product goes into the sum unrounded.
template <class T, class Exec>
void check_contraction() {
  T const e = std::ldexp(T(1), -(std::numeric_limits<T>::digits / 2 + 1));
  arithmetic<T, Exec> const kernel(257);
  fill(kernel.a, [&](std::int64_t) { return 1 + e; });
  fill(kernel.b, [&](std::int64_t) { return 1 + e; });
  fill(kernel.c, [&](std::int64_t) { return -(1 + 2 * e); });
  kernel.run();
  auto const separate = on_host(kernel.separate);
  auto const fused = on_host(kernel.fused);
  for (std::int64_t i = 0; i < 257; ++i) {
    REQUIRE(separate(i) == T(0));
    REQUIRE(fused(i) == e * e);
  }
}

// A double quotient or root of floats, rounded to float, is the correctly rounded one.
template <class Exec>
void check_division_and_root() {
  std::int64_t const count = 20000;
  arithmetic<float, Exec> const kernel(count);
  fill(kernel.a, [](std::int64_t i) { return 1.0F + 0.37F * float(i); });
  fill(kernel.b, [](std::int64_t i) { return 3.0F + 1.61F * float(i % 977); });
  kernel.run();
  auto const a = on_host(kernel.a);
  auto const b = on_host(kernel.b);
  auto const quotient = on_host(kernel.quotient);
  auto const root = on_host(kernel.root);
  for (std::int64_t i = 0; i < count; ++i) {
    REQUIRE(quotient(i) == float(double(a(i)) / double(b(i))));
    REQUIRE(root(i) == float(std::sqrt(double(a(i)))));
  }
}

template <class T, class Exec>
void check_subnormals() {
  T const smallest = std::numeric_limits<T>::min();
  arithmetic<T, Exec> const kernel(1);
  fill(kernel.a, [&](std::int64_t) { return smallest; });
  fill(kernel.b, [&](std::int64_t) { return T(2); });
  kernel.run();
  CHECK(on_host(kernel.quotient)(0) == smallest / 2);
  CHECK(on_host(kernel.quotient)(0) > T(0));
}

}  // namespace

TEST_CASE("a product and a sum are never contracted behind our back") {
  iso::backend::for_each([](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO("backend ", std::string(tag.name));
    check_contraction<float, exec>();
    check_contraction<double, exec>();
  });
}

TEST_CASE("float division and square root are correctly rounded") {
  iso::backend::for_each([](auto tag) {
    INFO("backend ", std::string(tag.name));
    check_division_and_root<typename decltype(tag)::execution_space>();
  });
}

TEST_CASE("subnormal numbers are kept") {
  iso::backend::for_each([](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO("backend ", std::string(tag.name));
    check_subnormals<float, exec>();
    check_subnormals<double, exec>();
  });
}

TEST_CASE("this thread and those of the host backend round to nearest and keep subnormals") {
  CHECK_NOTHROW(iso::backend::check_floating_point_environment());
}
