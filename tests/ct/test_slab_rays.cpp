// SPDX-License-Identifier: BSD-3-Clause
// Windows of the pixels whose rays may meet a slab: the others' sums are zero.
#include "forward_project_support.hpp"

#include <iso/ct/ray_sums.hpp>
#include <iso/ct/slab_rays.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace projector_support;
using iso::slab;
using iso::ct::pixel_window;
using iso::ct::slab_rays;

/// The numbers of pixels: within the windows, and those outside whose sums are not zero.
struct counts {
  std::int64_t all = 0;
  std::int64_t within = 0;
  std::int64_t met = 0;  ///< whose sums are not zero
  std::int64_t lost = 0;
};

/// Of a slab of positive voxels.
template <class T>
counts count_pixels(grid const& whole, geometry const& scan, slab const& own,
                    forward_project_options const& options) {
  Kokkos::Serial const exec;
  iso::ct::ray_sums<T, host> sums(exec, iso::ct::stage(exec, scan), whole, {1, true}, options);
  auto const voxels = iso::make_volume<T, host>(exec, "ones", whole);
  Kokkos::deep_copy(exec, voxels.data, T(1));
  sums.add(exec, voxels, own);
  exec.fence("test: the words are there");
  std::int64_t const halo = iso::ct::ray_sums<T, host>::halo_needed(scan, whole, options);
  auto const windows = slab_rays(
      scan, whole,
      {std::max(own.first - halo, std::int64_t(0)), std::min(own.last + halo, whole.extent[2])});
  REQUIRE(std::int64_t(windows.size()) == scan.num_views());
  counts of;
  for (std::int64_t view = 0; view < scan.num_views(); ++view) {
    pixel_window const& window = windows[std::size_t(view)];
    CHECK((window.first_u >= 0 && window.last_u <= scan.num_u()));
    CHECK((window.first_v >= 0 && window.last_v <= scan.num_v()));
    for (std::int64_t u = 0; u < scan.num_u(); ++u) {
      for (std::int64_t v = 0; v < scan.num_v(); ++v) {
        bool const met = sums.words()(std::size_t(view), std::size_t(u), std::size_t(v)) != 0;
        ++of.all;
        of.within += window.holds(u, v) ? 1 : 0;
        of.met += met ? 1 : 0;
        of.lost += met && !window.holds(u, v) ? 1 : 0;
      }
    }
  }
  return of;
}

forward_project_options any_options(std::mt19937_64& random) {
  auto const flip = [&] { return random() % 2 == 0; };
  auto const method = all_methods[random() % all_methods.size()];
  return {.method = method,
          .edge = flip() ? iso::boundary::zero : iso::boundary::truncate,
          .within = flip() ? region::box : region::cylinder,
          .oversampling = is_joseph(method) || flip() ? 1 : 3};
}

slab any_slab(std::mt19937_64& random, grid const& g) {
  std::int64_t const first = std::int64_t(random() % std::uint64_t(g.extent[2]));
  std::int64_t const left = g.extent[2] - first;
  return {first,
          first + (random() % 2 == 0 ? 1 : 1 + std::int64_t(random() % std::uint64_t(left)))};
}

}  // namespace

TEST_CASE_TEMPLATE("slab_rays: pixels outside of the windows have no words", T, float, double) {
  std::mt19937_64 random(61);
  counts all;
  for (int n = 0; n < 400; ++n) {
    CAPTURE(n);
    auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
    auto const own = any_slab(random, p.volume);
    auto const one = count_pixels<T>(p.volume, p.scan, own, any_options(random));
    CHECK(one.lost == 0);
    all = {all.all + one.all, all.within + one.within, all.met + one.met, 0};
  }
  CHECK(all.met > all.all / 20);
  CHECK(all.within < all.all * 3 / 4);  // else they say nothing
}

TEST_CASE("slab_rays: helices, rolls and laminography") {
  grid const whole = grid::centred({40, 36, 48}, {1, 1.1, 0.9});
  auto const angles = iso::ct::even_angles(9, 4 * projector_support::pi, 0.1);
  auto const circle = iso::ct::circular_cone({48, 64, 1.5, 1.5, 0.3, 2}, 150, 250, angles);
  std::mt19937_64 random(62);
  for (auto const& scan :
       {circle, iso::ct::helix(circle, angles, 20), iso::ct::turn_detector(circle, {.roll = 0.7}),
        iso::ct::laminography(circle, 0.6)}) {
    std::int64_t met = 0;
    for (int n = 0; n < 20; ++n) {
      auto const own = any_slab(random, whole);
      auto const of = count_pixels<float>(whole, scan, own, any_options(random));
      CHECK(of.lost == 0);
      met += of.met;  // a thin slab may have no group of rays of its own
    }
    CHECK(met > 0);
  }
}

TEST_CASE("slab_rays: of an upright cone a window is little larger than what the rays meet") {
  grid const whole = grid::centred({64, 64, 64}, {1, 1, 1});
  auto const scan = iso::ct::circular_cone({96, 96, 1.5, 1.5}, 300, 500,
                                           iso::ct::even_angles(7, 2 * projector_support::pi, 0.1));
  for (slab const& own : {slab{0, 8}, slab{28, 36}, slab{56, 64}}) {
    // By exact lengths, whose slabs have no halo.
    auto const of =
        count_pixels<float>(whole, scan, own, {.method = iso::ct::projector::branchless});
    CHECK(of.lost == 0);
    CHECK(of.within < of.met * 3 / 2);
  }
}

TEST_CASE("slab_rays: a slab about the source, behind it and behind the detector") {
  grid const whole = grid::centred({9, 9, 30}, {1, 1, 1});
  auto const window_of = [&](vec3<double> const& source, vec3<double> const& middle,
                             slab const& own) {
    geometry const scan(beam::cone, 8, 6,
                        {{source, middle - vec3<double>{0, 3.5, 2.5}, vec3<double>{0, 1, 0},
                          vec3<double>{0, 0, 1}}});
    return slab_rays(scan, whole, own)[0];
  };
  pixel_window const all{0, 8, 0, 6};
  CHECK(window_of({0, 0, 0}, {-50, 0, 0}, {14, 16}) == all);  // source within
  CHECK(window_of({0, 0, 0}, {-50, 0, 0}, {25, 30}) == all);  // beside
  CHECK(window_of({20, 0, 0}, {-50, 0, 0}, {14, 16}) == all);
  CHECK(window_of({20, 0, 0}, {-50, 0, 0}, {27, 30}).empty());
  CHECK(window_of({-20, 0, 0}, {-50, 0, 0}, {14, 16}).empty());  // slab behind the source
  CHECK(window_of({50, 0, 0}, {20, 0, 0}, {14, 16}).empty());    // and behind the detector
}

TEST_CASE("slab_rays: planes that the grid has not are refused") {
  grid const whole = grid::centred({4, 5, 6}, {1, 1, 1});
  auto const scan = iso::ct::circular_cone({3, 4, 1, 1, 0, 0}, 20, 10,
                                           iso::ct::even_angles(2, 2 * projector_support::pi));
  CHECK(iso::test::refusal([&] { slab_rays(scan, whole, {5, 7}); }) ==
        "iso::ct::slab_rays: 2 planes along z from plane 5 on (the grid has 6); choose one of them "
        "or more");
}
