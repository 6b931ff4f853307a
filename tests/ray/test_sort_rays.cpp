// SPDX-License-Identifier: BSD-3-Clause
#include "instances.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/core/stage.hpp>
#include <iso/ray/sort_rays.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using iso::grid;
using iso::vec3;
using iso::ray::ray_order;
using host = Kokkos::HostSpace;

grid const box = grid::centred({32, 32, 32}, {1, 1, 1});

template <class T>
Kokkos::View<iso::ray::ray<T>*, host> random_rays(std::size_t count) {
  Kokkos::View<iso::ray::ray<T>*, host> rays("rays", count);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (std::size_t n = 0; n < count; ++n) {
    auto const some = [&](double scale) {
      return vec3<T>{T(scale * unit(random)), T(scale * unit(random)), T(scale * unit(random))};
    };
    rays(n) = {some(30), some(1)};
  }
  rays(count / 2).direction.x = std::numeric_limits<T>::quiet_NaN();
  return rays;
}

template <class Exec, class T>
std::vector<std::int64_t> order_on(Exec const& exec,
                                   Kokkos::View<iso::ray::ray<T>*, host> const& rays,
                                   ray_order order) {
  auto const staged = iso::stage<iso::access::read>(exec, rays);
  std::vector<std::int64_t> result(rays.extent(0));
  Kokkos::View<std::int64_t*, typename Exec::memory_space> const permutation("permutation",
                                                                             rays.extent(0));
  iso::workspace<typename Exec::memory_space> const scratch(
      iso::ray::sort_rays_bytes_needed(exec, std::int64_t(rays.extent(0))));
  iso::ray::sort_rays(exec, staged.view(), box, permutation, scratch, order);
  Kokkos::View<std::int64_t*, host, Kokkos::MemoryUnmanaged> const out(result.data(),
                                                                       result.size());
  Kokkos::deep_copy(exec, out, permutation);
  exec.fence();
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("the order is a permutation, the same on every backend", T, float, double) {
  auto const rays = random_rays<T>(20000);
  for (auto const order : {ray_order::entry_and_exit, ray_order::octant_then_entry}) {
    auto const expected = order_on(Kokkos::Serial(), rays, order);
    auto sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t n = 0; n < sorted.size(); ++n) {
      REQUIRE(sorted[n] == std::int64_t(n));
    }
    iso::test::for_each_instance(
        [&](auto const& exec) { CHECK(order_on(exec, rays, order) == expected); });
  }
}

TEST_CASE("rays of four corners come out corner by corner, empty ones last") {
  // Ray n starts in corner n % 4 of the lower x face and runs along +x, but for every fifth, a
  // miss.
  std::size_t const count = 400;
  Kokkos::View<iso::ray::ray<double>*, host> const rays("rays", count);
  for (std::size_t n = 0; n < count; ++n) {
    double const y = n % 4 < 2 ? -15.2 : 15.2;
    double const z = n % 2 == 0 ? -15.2 : 15.2;
    rays(n) = {{-40, n % 5 == 0 ? 99 : y, z}, {1, 0, 0}};
  }
  for (auto const order : {ray_order::entry_and_exit, ray_order::octant_then_entry}) {
    auto const sorted = order_on(Kokkos::Serial(), rays, order);
    std::vector<std::int64_t> expected;
    for (std::size_t corner = 0; corner < 4; ++corner) {
      for (std::size_t n = corner; n < count; n += 4) {
        if (n % 5 != 0) {
          expected.push_back(std::int64_t(n));
        }
      }
    }
    for (std::size_t n = 0; n < count; n += 5) {
      expected.push_back(std::int64_t(n));
    }
    CHECK(sorted == expected);
  }
}

TEST_CASE("a stable sort, at sizes about the tiles and runs that are merged") {
  // Along +x, entering at one of the 512 parts along z: the order is that of the parts.
  for (std::size_t const count :
       {1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 1000, 4096, 4097, 8191, 8193, 20000}) {
    CAPTURE(count);
    Kokkos::View<iso::ray::ray<double>*, host> const rays("rays", count);
    std::vector<int> part(count);
    std::vector<std::int64_t> expected(count);
    std::mt19937_64 random(count);
    for (std::size_t n = 0; n < count; ++n) {
      part[n] = int(random() % 512);
      expected[n] = std::int64_t(n);
      rays(n) = {{-40, -15.99, -16 + (part[n] + 0.5) / 16}, {1, 0, 0}};
    }
    std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
      return part[std::size_t(a)] < part[std::size_t(b)];
    });
    iso::test::for_each_instance([&](auto const& exec) {
      CHECK(order_on(exec, rays, ray_order::octant_then_entry) == expected);
    });
  }
}

TEST_CASE("what sort_rays refuses") {
  auto const rays = random_rays<float>(10);
  iso::workspace<host> const enough(iso::ray::sort_rays_bytes_needed(Kokkos::Serial(), 10));
  iso::workspace<host> const short_of_one(iso::ray::sort_rays_bytes_needed(Kokkos::Serial(), 10) -
                                          1);
  auto const message = [&](std::size_t length, grid const& g, ray_order order,
                           iso::workspace<host> const& scratch) -> std::string {
    Kokkos::View<std::int64_t*, host> const permutation("permutation", length);
    try {
      iso::ray::sort_rays(Kokkos::Serial(), rays, g, permutation, scratch, order);
    } catch (iso::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(message(10, box, ray_order::entry_and_exit, enough) == "");
  CHECK(message(9, box, ray_order::entry_and_exit, enough) ==
        "iso::ray::sort_rays: 10 rays and a permutation of 9 (lengths must agree); give the "
        "permutation an element for each ray");
  CHECK(message(10, box, ray_order(5), enough) ==
        "iso::ray::sort_rays: order 5 (is none of the enumeration); choose one of "
        "iso::ray::ray_order");
  CHECK(message(10, box, ray_order::entry_and_exit, short_of_one) ==
        "iso::ray::sort_rays: scratch of 255 bytes (256 are needed); reserve what "
        "iso::ray::sort_rays_bytes_needed returns");
  CHECK_THROWS_WITH_AS(
      iso::ray::sort_rays_bytes_needed(Kokkos::Serial(), -1),
      "iso::ray::sort_rays: scratch of -1 elements (must not be negative); check the extents",
      iso::invalid_argument);
  CHECK_THROWS_AS(iso::ray::sort_rays_bytes_needed(Kokkos::Serial(), std::int64_t(1) << 61),
                  iso::invalid_argument);
  grid flat = box;
  flat.extent[2] = 0;
  CHECK(message(10, flat, ray_order::entry_and_exit, enough)
            .find("every extent must be at least 1") != std::string::npos);
  auto const refuses = [&](auto const& from, auto const& to, char const* what) {
    CHECK_THROWS_WITH_AS(iso::ray::sort_rays(Kokkos::Serial(), from, box, to, enough),
                         doctest::Contains(what), iso::invalid_argument);
  };
  using order_view = Kokkos::View<std::int64_t*, host>;
  refuses(decltype(rays)(static_cast<iso::ray::ray<float>*>(nullptr), 10),
          order_view("permutation", 10), "rays has elements but no");
  refuses(rays, order_view(static_cast<std::int64_t*>(nullptr), 10),
          "permutation has elements but no memory");
  refuses(rays, order_view(reinterpret_cast<std::int64_t*>(rays.data()), 10),
          "permutation and rays overlap");
  Kokkos::View<iso::ray::ray<float>*, host> const none("rays", 0);
  Kokkos::View<std::int64_t*, host> const nothing("permutation", 0);
  CHECK_NOTHROW(iso::ray::sort_rays(Kokkos::Serial(), none, box, nothing, {}));
}
