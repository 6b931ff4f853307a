// SPDX-License-Identifier: BSD-3-Clause
//! Batches of rays: the visitor's sum on every backend, method, number of threads and launch shape.
#include "degenerate_rays.hpp"
#include "instances.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/stage.hpp>
#include <iso/ray/detail/radiological_path_kernel.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/traverse.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace iso::test;
using iso::grid;
using iso::vec3;
using iso::ray::traversal;
using host = Kokkos::HostSpace;

constexpr traversal methods[] = {traversal::fastest, traversal::amanatides_woo,
                                 traversal::branchless, traversal::siddon};

template <class T>
struct problem {
  iso::volume_view<T, host> volume;
  Kokkos::View<iso::ray::ray<T>*, host> rays;
};

/// The degenerate rays and as many random ones through numbered voxels.
template <class T>
problem<T> make_problem() {
  grid const g{{6, 5, 37}, {0.5, 0.75, 0.3}, {-1, 0.2, -5}};
  problem<T> p{iso::make_volume<T, host>("volume", g), {}};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::int64_t n = 0; n < g.size(); ++n) {
    p.volume.data.data()[n] = T(unit(random));
  }
  auto const named = degenerate_rays<T>(g, g.spacing);
  p.rays = Kokkos::View<iso::ray::ray<T>*, host>("rays", 2 * named.size() + 5);
  for (std::size_t n = 0; n < p.rays.extent(0); ++n) {
    auto const some = [&](double scale) {
      return vec3<T>{T(scale * (unit(random) - 0.5)), T(scale * (unit(random) - 0.5)),
                     T(scale * (unit(random) - 0.5))};
    };
    p.rays(n) = n < named.size() ? named[n].ray : iso::ray::ray<T>{some(12), some(1)};
  }
  return p;
}

/// What the visitor, called on the host, sums up to.
template <class T>
std::vector<T> expected_paths(problem<T> const& p) {
  std::vector<T> sums(p.rays.extent(0));
  for (std::size_t n = 0; n < sums.size(); ++n) {
    iso::ray::traverse<iso::ray::amanatides_woo>(
        p.rays(n), iso::ray::traversal_grid(p.volume.grid), [&](std::int64_t index, T length) {
          sums[n] = Kokkos::fma(length, p.volume.data.data()[index], sums[n]);
        });
    sums[n] = iso::canonical(sums[n]);
  }
  return sums;
}

template <class T, class Exec>
std::vector<T> paths_on(Exec const& exec, problem<T> const& p,
                        iso::ray::radiological_path_options const& options) {
  using space = typename Exec::memory_space;
  auto const rays = iso::stage<iso::access::read>(exec, p.rays);
  auto const data = iso::stage<iso::access::read>(exec, p.volume.data);
  Kokkos::View<T*, space> const paths("paths", p.rays.extent(0));
  iso::volume_view<T const, space> const volume{p.volume.grid, data.view()};
  iso::ray::radiological_path(exec, rays.view(), volume, paths, options);
  std::vector<T> result(paths.extent(0));
  Kokkos::View<T*, host, Kokkos::MemoryUnmanaged> const out(result.data(), result.size());
  Kokkos::deep_copy(exec, out, paths);
  exec.fence();
  return result;
}

/// Walks of more rounds than are kept in flight: a fan of neighbours, lines in any direction, and
/// rays from one point inside, which soon part. Voxel 0, where rays that have arrived wait, is a
/// NaN that no ray touches.
template <class T>
problem<T> make_long_problem() {
  auto const g = grid::centred({64, 80, 96}, {1, 1, 1});
  problem<T> p{iso::make_volume<T, host>("volume", g), {"rays", 3 * 413}};
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  for (std::int64_t n = 0; n < g.size(); ++n) {
    p.volume.data.data()[n] = T(unit(random));
  }
  p.volume.data(0, 0, 0) = std::numeric_limits<T>::quiet_NaN();
  auto const on_sphere = [&] {
    vec3<double> const q{normal(random), normal(random), normal(random)};
    return static_cast<vec3<T>>((71 / iso::norm(q)) * q);
  };
  using iso::ray::ray;
  for (std::size_t n = 0; n < p.rays.extent(0); n += 3) {
    auto const v = T(0.3 * (double(n / 3) - 200));
    p.rays(n / 3) = ray<T>::between({T(-90), T(-80), T(5)}, {T(70), T(90), v});
    p.rays(413 + n / 3) = ray<T>::between(on_sphere(), on_sphere());
    p.rays(826 + n / 3) = {{T(-20.3), T(-11.1), T(3.7)}, on_sphere()};
  }
  return p;
}

/// By a form of the host with registers of `vector_bytes`, 0 being the portable one, and an index
/// that holds 2^31 voxels or not.
template <class Index, class T>
std::vector<T> paths_in_step(problem<T> const& p, int vector_bytes) {
  using kernel = iso::ray::detail::radiological_path_kernel<iso::ray::branchless, Index, T>;
  std::vector<T> result(p.rays.extent(0));
  auto const count = std::int64_t(result.size());
  kernel const k{iso::ray::traversal_grid(p.volume.grid),
                 p.rays.data(),
                 p.volume.data.data(),
                 result.data(),
                 count,
                 0};
  for (std::int64_t group = 0; group < (count + 31) / 32; ++group) {
    iso::backend::detail::host_kernel<kernel>(k, vector_bytes)(group);
  }
  return result;
}

template <class T>
std::string message_of(problem<T> const& p, std::size_t num_paths,
                       iso::ray::radiological_path_options const& options = {}) {
  Kokkos::View<T*, host> const paths("paths", num_paths);
  Kokkos::deep_copy(paths, T(-7));
  std::string message;
  try {
    iso::ray::radiological_path(Kokkos::DefaultHostExecutionSpace(), p.rays, p.volume, paths,
                                options);
  } catch (iso::invalid_argument const& e) {
    message = e.what();
  }
  for (std::size_t n = 0; n < num_paths; ++n) {
    CHECK(paths(n) == T(-7));
  }
  return message;
}

}  // namespace

TEST_CASE_TEMPLATE("every backend, number of threads, method and launch shape: the visitor's bits",
                   T, float, double) {
  auto const p = make_problem<T>();
  auto const expected = expected_paths(p);
  for_each_instance([&](auto const& exec) {
    for (auto const method : methods) {
      for (std::int64_t const groups : {0, 1, 7}) {
        CAPTURE(int(method));
        CAPTURE(groups);
        CHECK(same_bits(paths_on(exec, p, {method, {groups}}), expected));
      }
    }
  });
}

TEST_CASE_TEMPLATE("rays in step, registers of either width, both indices: the visitor's bits", T,
                   float, double) {
  for (auto const& p : {make_long_problem<T>(), make_problem<T>()}) {
    auto const expected = expected_paths(p);
    for (int const vector_bytes : {0, 32, 64}) {
      if (vector_bytes > iso::backend::host_vector_bytes()) {
        continue;
      }
      CAPTURE(vector_bytes);
      CHECK(same_bits(paths_in_step<std::int32_t>(p, vector_bytes), expected));
      CHECK(same_bits(paths_in_step<std::int64_t>(p, vector_bytes), expected));
    }
  }
}

TEST_CASE_TEMPLATE("a NaN reaches the rays that cross its voxel, and no others", T, float, double) {
  auto clean = make_problem<T>();
  auto const before = expected_paths(clean);
  std::int64_t const bad = (2 * 5 + 2) * 37 + 18;
  // A negative NaN with a payload: what comes out must be the canonical one.
  clean.volume.data.data()[bad] =
      Kokkos::bit_cast<T>(iso::bits_of<T>(~iso::bits_of<T>(0) - iso::bits_of<T>(5)));
  auto expected = before;
  std::int64_t touched = 0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    iso::ray::traverse<iso::ray::siddon>(
        clean.rays(n), iso::ray::traversal_grid(clean.volume.grid), [&](std::int64_t index, T) {
          if (index == bad) {
            expected[n] = Kokkos::bit_cast<T>(iso::float_bits<T>::canonical_nan);
            ++touched;
          }
        });
  }
  CHECK(touched > 10);
  CHECK(touched < std::int64_t(expected.size()) / 2);
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    for (auto const method : methods) {
      CHECK(same_bits(paths_on(exec_space(), clean, {method}), expected));
    }
  });
}

TEST_CASE_TEMPLATE("a NaN beside a corner that rays pass through stays where it is", T, float,
                   double) {
  auto const g = grid::centred({2, 2, 2}, {1, 1, 1});
  problem<T> p{iso::make_volume<T, host>("volume", g), {"rays", 1}};
  Kokkos::deep_copy(p.volume.data, std::numeric_limits<T>::quiet_NaN());
  p.volume.data(0, 0, 0) = 1;
  p.volume.data(1, 1, 1) = 2;
  p.rays(0) = {{-2, -2, -2}, {1, 1, 1}};
  for (auto const method : methods) {
    auto const path = paths_on(Kokkos::DefaultHostExecutionSpace(), p, {method});
    CHECK(double(path[0]) == doctest::Approx(3 * std::sqrt(3.0)));
  }
}

TEST_CASE_TEMPLATE("ones: every path is the box's chord", T, float, double) {
  auto const g = grid::centred({64, 64, 64}, {1, 1, 1});
  problem<T> p{iso::make_volume<T, host>("volume", g), {"rays", 64}};
  Kokkos::deep_copy(p.volume.data, T(1));
  double const steepest = 0.4;  // |x| stays below 32 - 32 * 0.4 on the middle plane
  for (int n = 0; n < 64; ++n) {
    double const slope = steepest * n / 64;
    p.rays(n) = {{T(-64 * slope), T(0.3), T(-64)}, {T(slope), T(0), T(1)}};
  }
  auto const paths = paths_on(Kokkos::DefaultHostExecutionSpace(), p, {});
  for (int n = 0; n < 64; ++n) {
    double const slope = double(p.rays(n).direction.x);
    double const chord = 64 * std::sqrt(1 + slope * slope);
    CHECK(std::abs(double(paths[std::size_t(n)]) - chord) <=
          4 * 192 * double(std::numeric_limits<T>::epsilon()) * chord);
  }
}

TEST_CASE("no rays, no paths: nothing happens") {
  auto p = make_problem<float>();
  p.rays = {};
  CHECK(message_of(p, 0).empty());
}

TEST_CASE("radiological_path: a job is asked between batches of rays, and changes no bit") {
  auto const p = make_long_problem<float>();
  Kokkos::DefaultHostExecutionSpace const exec;
  Kokkos::View<float*, host> const paths("paths", p.rays.extent(0));
  auto const run = [&](iso::job const& control) {
    Kokkos::deep_copy(paths, -1.0F);
    iso::ray::radiological_path(exec, p.rays, p.volume, paths, {}, control);
    exec.fence();
    return std::vector<float>(paths.data(), paths.data() + paths.size());
  };
  auto const alone = run({});
  int asked = 0;
  double done = 0;
  CHECK(iso::test::difference(
            run({[&](double fraction) { done = fraction; }, [&] { return ++asked < 0; }}), alone) ==
        "");
  CHECK(done == 1);
  CHECK(asked > 2);
  int again = 0;
  CHECK_THROWS_AS(run({{}, [&] { return ++again == 2; }}), iso::cancelled);
  CHECK(again == 2);
}

TEST_CASE("what radiological_path refuses, and that it touches nothing then") {
  auto const good = make_problem<float>();
  CHECK(message_of(good, 3) ==
        "iso::ray::radiological_path: 941 rays and 3 paths (each ray has one path); give a path "
        "for each ray");

  CHECK(message_of(good, 941, {traversal(9)}) ==
        "iso::ray::radiological_path: method is 9 (none of its values); choose one of fastest, "
        "amanatides_woo, branchless, siddon");
  CHECK(message_of(good, 941, {.shape = {.groups_per_launch = -1}}) ==
        "iso::ray::radiological_path: groups_per_launch -1 (must not be negative); leave it at 0 "
        "for one launch");

  auto bad = good;
  bad.volume.grid.extent[1] = 4;
  CHECK(message_of(bad, 941) ==
        "iso::ray::radiological_path: volume data of [6, 5, 37] (its grid has [6, 4, 37] voxels); "
        "give both the same extents");

  bad = good;
  bad.volume.grid.spacing.z = 0;
  CHECK(message_of(bad, 941).find("grid spacing [0.5, 0.75, 0] mm (must lie between") !=
        std::string::npos);

  bad = good;
  bad.volume.grid.origin.x = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of(bad, 941).find("must be finite") != std::string::npos);

  bad = good;
  bad.volume.grid.extent = {6, 5, (std::int64_t(1) << 24) + 1};
  float no_voxels = 0;
  bad.volume.data =
      decltype(bad.volume.data)(&no_voxels, 6, 5, (std::size_t(1) << 24) + 1);  // never read
  CHECK(message_of(bad, 941) ==
        "iso::ray::radiological_path: grid of [6, 5, 16777217] voxels (at most 16777216 along an "
        "axis are counted exactly); use double");

  bad = good;
  bad.volume.data =
      decltype(bad.volume.data)(Kokkos::view_alloc("padded", Kokkos::AllowPadding), 6, 5, 37);
  if (!bad.volume.data.span_is_contiguous()) {
    CHECK(message_of(bad, 941) ==
          "iso::ray::radiological_path: volume data has gaps between its rows (elements must "
          "follow each other, the last index fastest); copy it into a plain view");
  }

  using rays_view = decltype(good.rays);
  using paths_view = Kokkos::View<float*, Kokkos::HostSpace>;
  paths_view const out("paths", 941);
  auto const refuses = [&](rays_view const& rays, auto const& volume, paths_view const& paths,
                           char const* what) {
    CHECK_THROWS_WITH_AS(iso::ray::radiological_path(Kokkos::Serial(), rays, volume, paths),
                         doctest::Contains(what), iso::invalid_argument);
  };
  refuses(rays_view(static_cast<rays_view::pointer_type>(nullptr), 941), good.volume, out,
          "rays has elements but no memory");
  refuses(good.rays, good.volume, paths_view(static_cast<float*>(nullptr), 941),
          "paths has elements but no memory");
  // The last voxel is the first path; what follows belongs to no other array.
  paths_view const both("both", 6 * 5 * 37 + 940);
  bad = good;
  bad.volume.data = decltype(bad.volume.data)(both.data(), 6, 5, 37);
  refuses(good.rays, bad.volume, paths_view(both.data() + 1109, 941),
          "paths and volume data overlap");
  refuses(good.rays, good.volume, paths_view(reinterpret_cast<float*>(good.rays.data()), 941),
          "paths and rays overlap");
  bad = good;
  bad.volume.data = decltype(bad.volume.data)(static_cast<float*>(nullptr), 6, 5, 37);
  refuses(good.rays, bad.volume, out, "volume data has elements but no memory");
}
