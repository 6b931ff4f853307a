// SPDX-License-Identifier: BSD-3-Clause
// That calls on readings and rays, which may last on a processor, ask their job, and that it
// changes no bit.
#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/noise_of_counts.hpp>
#include <iso/ray/sort_rays.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace asked_readings {
namespace {

using host = Kokkos::HostSpace;
using exec_space = Kokkos::Serial;

/// Checks that run(control) asks at least so often, returns what it returns without a job, and ends
/// where it is told to.
template <class Run>
void check_job(int least, Run const& run) {
  auto const alone = run(iso::job{});
  int asked = 0;
  CHECK(run(iso::job{{}, [&] {
                       ++asked;
                       return false;
                     }}) == alone);
  CHECK(asked >= least);
  asked = 0;
  CHECK_THROWS_AS(run(iso::job{{}, [&] { return ++asked == 2; }}), iso::cancelled);
  CHECK(asked == 2);
}

/// Numbers from 0 to 1 that look random.
double number(std::int64_t k) { return double(k * 7919 % 10007) / 10007; }

}  // namespace

TEST_CASE("noise_of_counts: asked after some millions of readings") {
  auto const p = iso::make_projections<double, host>("p", 1, 2500, 2000);
  for (std::int64_t i = 0; i < std::int64_t(p.data.size()); ++i) {
    p.data.data()[i] = 5 * number(i);
  }
  iso::projection_view<double const, host> const readings = p;
  check_job(4, [&](iso::job const& control) {
    return iso::ct::noise_of_counts<exec_space, double>(exec_space(), readings, 1e5, readings,
                                                        control);
  });
}

TEST_CASE("centre_of_rotation: asked after some millions of pixels") {
  auto const mean = iso::make_projections<double, host>("mean", 1, 300, 400);
  for (std::int64_t u = 0; u < 300; ++u) {
    for (std::int64_t v = 0; v < 400; ++v) {
      mean.data(0, u, v) = std::exp(-1e-3 * double((u - 140) * (u - 140))) + 0.01 * number(u + v);
    }
  }
  check_job(3, [&](iso::job const& control) {
    return iso::ct::centre_of_rotation(mean, {.guess = 149}, control);
  });
}

TEST_CASE("find_dead_pixels: asked between batches of pixels") {
  auto const dark = iso::make_projections<float, host>("dark", 1, 60, 50);
  auto const flat = iso::make_projections<float, host>("flat", 1, 60, 50);
  for (std::int64_t i = 0; i < 3000; ++i) {
    flat.data.data()[i] = float(1 + 0.8 * number(i));
  }
  check_job(3, [&](iso::job const& control) {
    iso::ct::pixel_mask<host> const dead("dead", 60, 50);
    iso::ct::find_dead_pixels<exec_space, float>(exec_space(), dark, flat, dead, {.radius = 2},
                                                 control);
    return std::vector<std::uint8_t>(dead.data(), dead.data() + dead.size());
  });
}

TEST_CASE("sort_rays: asked between batches of rays, and between its passes") {
  std::int64_t const count = 5000;
  Kokkos::View<iso::ray::ray<double>*, host> const rays("rays", count);
  for (std::int64_t i = 0; i < count; ++i) {
    rays(i) = {{40 * number(i) - 20, 40 * number(3 * i) - 20, -50},
               {number(5 * i) - 0.5, number(7 * i) - 0.5, 1},
               0,
               100};
  }
  auto const box = iso::grid::centred({32, 32, 32}, {1, 1, 1});
  exec_space const exec;
  iso::workspace<host> const scratch(iso::ray::sort_rays_bytes_needed(exec, count));
  check_job(10, [&](iso::job const& control) {
    Kokkos::View<std::int64_t*, host> const order("order", count);
    iso::ray::sort_rays(exec, rays, box, order, scratch, iso::ray::ray_order::entry_and_exit,
                        control);
    return std::vector<std::int64_t>(order.data(), order.data() + count);
  });
}

}  // namespace asked_readings
