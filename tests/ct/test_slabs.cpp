// SPDX-License-Identifier: BSD-3-Clause
// Slabs of a volume: projection, adjoint and filtered backprojection have the whole's bits.
#include "back_project_support.hpp"
#include "fdk_kinds.hpp"
#include "instances.hpp"
#include "kokkos_events.hpp"
#include "slabs.hpp"

#include <iso/ct/detail/fdk_impl.hpp>
#include <iso/ct/detail/ray_sums_impl.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/ray_sums.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace projector_support;
using iso::slab;
using iso::ct::ray_sums;
using iso::ct::voxel_bounds;
using iso::test::for_each_instance;
using iso::test::planes_of;
using iso::test::random_slabs;

/// Voxels of both signs: sums of words below zero look like no number.
template <class T>
volume<T> signed_volume(grid const& g, unsigned seed) {
  auto const v = random_volume<T>(g, seed);
  for (std::size_t n = 0; n < v.data.size(); ++n) {
    v.data.data()[n] -= T(0.5);
  }
  return v;
}

/// The planes that samples or chords of a slab read, and now and then more.
slab held_by(std::mt19937_64& random, slab const& own, grid const& g, std::int64_t halo) {
  std::int64_t const before = halo + std::int64_t(random() % 3);
  std::int64_t const after = halo + std::int64_t(random() % 3);
  return {std::max(own.first - before, std::int64_t(0)), std::min(own.last + after, g.extent[2])};
}

/// Projections by slabs in any order, half of them added by way of other sums.
template <class T, class Exec>
std::vector<T> projected_by_slabs(Exec const& exec, std::mt19937_64& random, volume<T> const& v,
                                  geometry const& scan, forward_project_options const& options) {
  using space = typename Exec::memory_space;
  auto slabs = random_slabs(random, v.grid);
  voxel_bounds bounds;
  for (slab const& own : slabs) {
    bounds = bounds.joined(iso::ct::bounds_of(exec, planes_of(exec, v, own)));
  }
  std::shuffle(slabs.begin(), slabs.end(), random);
  auto const staged = iso::ct::stage(exec, scan);
  ray_sums<T, space> sums(exec, staged, v.grid, bounds, options);
  ray_sums<T, space> others(exec, staged, v.grid, bounds, options);
  std::int64_t const halo = ray_sums<T, space>::halo_needed(scan, v.grid, options);
  for (std::size_t n = 0; n < slabs.size(); ++n) {
    auto const held = planes_of(exec, v, held_by(random, slabs[n], v.grid, halo));
    (n % 2 == 0 ? sums : others).add(exec, held, slabs[n]);
    exec.fence("test: the slab may go");
  }
  sums.add(exec, others);
  auto const out =
      iso::make_projections<T, space>("out", scan.num_views(), scan.num_u(), scan.num_v());
  Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
  sums.finish(exec, out);
  exec.fence("test: the projections are there");
  return host_vector(out.data);
}

forward_project_options random_options(std::mt19937_64& random) {
  auto const flip = [&] { return random() % 2 == 0; };
  auto const method = all_methods[random() % all_methods.size()];
  return {.method = method,
          .sum = summation::reproducible,
          .edge = flip() ? iso::boundary::zero : iso::boundary::truncate,
          .within = flip() ? region::box : region::cylinder,
          .path = flip() ? joseph_path::automatic : joseph_path::general,
          .oversampling = is_joseph(method) || flip() ? 1 : 3,
          .slab_planes = flip() ? 0 : 64};
}

/// Backprojections of slabs, one after the other, as host vectors.
template <class T, class Exec>
void check_adjoint(Exec const& exec, std::mt19937_64& random, problem const& p,
                   std::vector<T> const& pixels, back_project_options const& options) {
  using space = typename Exec::memory_space;
  auto const all = backprojected(exec, pixels, p, options);
  auto const scan = iso::ct::stage(exec, p.scan);
  auto const readings = staged_pixels(exec, p.scan, pixels, 0, p.scan.num_views());
  for (slab const& planes : random_slabs(random, p.volume)) {
    auto const out = iso::make_slab<T, space>(exec, "out", p.volume, planes);
    Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
    iso::workspace<space> const scratch(
        iso::ct::back_project_bytes_needed<T>(exec, p.scan, p.volume, planes, options));
    fill_with_nan(exec, scratch);
    iso::ct::back_project<Exec, T>(exec, scan, readings, out, scratch, options);
    exec.fence("test: the slab is there");
    CAPTURE(planes.first);
    CAPTURE(planes.last);
    CHECK(difference(host_vector(out.data), planes_of(all, p.volume, planes)) == "");
  }
}

}  // namespace

TEST_CASE_TEMPLATE("slabs: each plane that a ray crosses has one owner, however flat the ray", T,
                   float, double) {
  using namespace iso::ct::detail;
  grid const whole = grid::centred({1024, 1024, 1024}, {1, 1, 1});
  plane_range const all{0, 1024};
  for (double const slope :
       {0.0, 1e-17, 1e-10, 1e-8, 1e-6, 1e-4, 0.0009765625, 0.01, 0.3, 0.5, 1.0}) {
    for (double const base :
         {512.0, 511.9999, 512.00001, 63.99999, 64.0, -0.5, 0.0, 1023.5, 300.3}) {
      for (double const sign : {-1.0, 1.0}) {
        coordinate<T> const z{T(sign * slope), T(base)};
        for (std::int64_t const planes : {64, 37, 1024}) {
          std::vector<int> owners(1024, 0);
          for (std::int64_t first = 0; first < 1024; first += planes) {
            slab const own{first, std::min<std::int64_t>(first + planes, 1024)};
            plane_range const r = slab_samples<T>(whole, own).of(z, all);
            for (std::int32_t i = r.first; i < r.last; ++i) {
              ++owners[std::size_t(i)];
            }
          }
          CAPTURE(slope * sign);
          CAPTURE(base);
          CAPTURE(planes);
          CHECK(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("ray_sums: slabs in any order and number have the whole's bits", T, float,
                   double) {
  for_each_instance([](auto const& exec) {
    std::mt19937_64 random(47);
    for (int n = 0; n < 60; ++n) {
      CAPTURE(n);
      auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
      auto const v = signed_volume<T>(p.volume, unsigned(n));
      auto const options = random_options(random);
      CAPTURE(int(options.method));
      auto const expected = projected<T>(exec, v, p.scan, options);
      CHECK(difference(projected_by_slabs<T>(exec, random, v, p.scan, options), expected) == "");
    }
  });
}

TEST_CASE_TEMPLATE("ray_sums: rays that run within planes of voxels belong to one slab", T, float,
                   double) {
  // Every ray has one height: the middle of a plane, or the face to the next. Of those at quarter
  // turns some run along faces of columns too.
  grid const whole = grid::centred({20, 21, 23}, {1, 1, 1});
  auto const v = signed_volume<T>(whole, 3);
  for (double const first_angle : {0.0, 0.1}) {
    auto const scan = iso::ct::circular_parallel({25, 46, 1, 0.5, 0, 0.5},
                                                 iso::ct::even_angles(4, 2 * pi, first_angle));
    for_each_instance([&](auto const& exec) {
      std::mt19937_64 random(50);
      for (forward_project_options options :
           {forward_project_options{},
            {.path = joseph_path::general},
            {.method = projector::siddon},
            {.method = projector::branchless, .oversampling = 3}}) {
        options.sum = summation::reproducible;
        auto const expected = projected<T>(exec, v, scan, options);
        for (int n = 0; n < 3; ++n) {
          CHECK(difference(projected_by_slabs<T>(exec, random, v, scan, options), expected) == "");
        }
      }
    });
  }
}

TEST_CASE_TEMPLATE("ray_sums: rays along z cross all slabs", T, float, double) {
  grid const whole = grid::centred({7, 6, 40}, {1, 1, 0.7});
  auto const v = signed_volume<T>(whole, 4);
  // Up and down, through middles of columns and along their faces, and a little aside.
  for (vec3<double> const along : {vec3<double>{0, 0, 1}, {0, 0, -1}, {0.003, -0.01, -1}}) {
    geometry const scan(beam::parallel, 15, 13, {{along, {-3.5, -3, 0}, {0.5, 0, 0}, {0, 0.5, 0}}});
    for_each_instance([&](auto const& exec) {
      std::mt19937_64 random(51);
      for (auto const method : all_methods) {
        CAPTURE(int(method));
        forward_project_options const options{.method = method, .sum = summation::reproducible};
        auto const expected = projected<T>(exec, v, scan, options);
        for (int n = 0; n < 2; ++n) {
          CHECK(difference(projected_by_slabs<T>(exec, random, v, scan, options), expected) == "");
        }
      }
    });
  }
}

TEST_CASE_TEMPLATE("ray_sums: voxels as large as can be, whose blends overflow", T, float, double) {
  T const most = std::numeric_limits<T>::max();
  grid const whole = grid::centred({9, 8, 12}, {1, 1, 1});
  auto const scan =
      iso::ct::circular_cone({16, 20, 1, 1}, 60, 100, iso::ct::even_angles(3, 2 * pi, 0.1));
  auto const v = volume_of<T>(whole, [most](auto i, auto j, auto k) {
    return double((i + j + k) % 2 == 0 ? most : -most);
  });
  for_each_instance([&](auto const& exec) {
    std::mt19937_64 random(52);
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      forward_project_options const options{.method = method, .sum = summation::reproducible};
      auto const expected = projected<T>(exec, v, scan, options);
      auto const bad = std::count_if(expected.begin(), expected.end(), [](T x) { return x != x; });
      CHECK((bad > 100) == is_joseph(method));
      CHECK(difference(projected_by_slabs<T>(exec, random, v, scan, options), expected) == "");
    }
  });
}

TEST_CASE_TEMPLATE("forward_project: only voxels that are not finite make it look at samples", T,
                   float, double) {
  grid const whole = grid::centred({7, 6, 40}, {1, 1, 0.7});
  T const nan = std::numeric_limits<T>::quiet_NaN();
  for_each_instance([&](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const trusts = [&](volume<T> const& v, std::optional<double> max_abs) {
      iso::volume_view<T const, space> const there = planes_of(exec, v, all_planes(whole));
      Kokkos::View<iso::ct::detail::voxel_range, space> const range("range");
      Kokkos::View<iso::ct::detail::ray_sum_scale<T>, space> const scale("scale");
      iso::ct::detail::prepare_reproducible(exec, there, range.data(), scale.data(),
                                            {.max_abs = max_abs});
      exec.fence("test: the scale is there");
      return Kokkos::create_mirror_view_and_copy(host{}, scale)().all_finite;
    };
    auto const v = signed_volume<T>(whole, 4);
    CHECK(trusts(v, {}));
    CHECK(trusts(v, 0.5));
    CHECK(trusts(v, 100));
    CHECK(!trusts(v, 0.1));  // untrue
    v.data(3, 2, 1) = nan;
    CHECK(!trusts(v, {}));
    CHECK(!trusts(v, 0.5));
  });
}

TEST_CASE_TEMPLATE("ray_sums: voxels that are not finite reach the rays that blend them", T, float,
                   double) {
  for_each_instance([](auto const& exec) {
    std::mt19937_64 random(48);
    for (int n = 0; n < 40; ++n) {
      CAPTURE(n);
      auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
      auto const v = signed_volume<T>(p.volume, unsigned(n));
      for (int bad = 0; bad < 3; ++bad) {
        v.data.data()[random() % v.data.size()] =
            bad == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      }
      auto const options = random_options(random);
      auto const expected = projected<T>(exec, v, p.scan, options);
      CHECK(difference(projected_by_slabs<T>(exec, random, v, p.scan, options), expected) == "");
    }
  });
}

TEST_CASE_TEMPLATE("back_project: a slab has the whole's voxels, to the bit", T, float, double) {
  for_each_instance([](auto const& exec) {
    std::mt19937_64 random(49);
    for (int n = 0; n < 40; ++n) {
      CAPTURE(n);
      auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
      auto pixels = random_pixels<T>(p.scan, unsigned(n));
      if (n % 5 == 4) {
        pixels[random() % pixels.size()] = std::numeric_limits<T>::quiet_NaN();
      }
      back_project_options const options{
          .method = all_methods[random() % all_methods.size()],
          .edge = random() % 2 == 0 ? iso::boundary::zero : iso::boundary::truncate,
          .within = random() % 2 == 0 ? region::box : region::cylinder,
          .path = random() % 3 == 0 ? joseph_path::general : joseph_path::automatic};
      check_adjoint<T>(exec, random, p, pixels, options);
    }
  });
}

TEST_CASE_TEMPLATE("fdk: a slab has the whole's voxels, to the bit, of every kind of scan", T,
                   float, double) {
  grid const whole = grid::centred({11, 13, 45}, {1.7, 1.6, 0.8});
  for (auto const& kind : fdk_support::fdk_kinds(37)) {
    auto const& scan = kind.scan;
    auto const& options = kind.options;
    CAPTURE(kind.name);
    auto const pixels = random_pixels<T>(scan);
    for_each_instance([&](auto const& exec) {
      using exec_space = std::decay_t<decltype(exec)>;
      using space = typename exec_space::memory_space;
      iso::ct::fdk_plan<space> const plan(exec, scan, options);
      iso::workspace<space> const scratch(iso::ct::fdk_bytes_needed<T>(exec, scan, options));
      // In batches of views.
      auto const reconstructed = [&](slab const& planes, std::int64_t batch) {
        auto const out = iso::make_slab<T, space>(exec, "out", whole, planes);
        Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
        for (std::int64_t first = 0; first < scan.num_views(); first += batch) {
          std::int64_t const count = std::min(batch, scan.num_views() - first);
          iso::ct::fdk<exec_space, T>(exec, plan.subset(first, count),
                                      staged_pixels(exec, scan, pixels, first, count), out, scratch,
                                      first == 0 ? iso::onto::zero : iso::onto::stored);
          exec.fence("test: the pixels may go");
        }
        return host_vector(out.data);
      };
      auto const all = reconstructed(all_planes(whole), scan.num_views());
      CHECK(std::any_of(all.begin(), all.end(), [](T x) { return x != 0; }));
      // Slabs of unequal height; the last one in batches of unequal numbers of views.
      for (slab const& planes : {slab{0, 1}, slab{1, 33}, slab{33, 45}}) {
        CAPTURE(planes.first);
        std::int64_t const batch = planes.last == 45 ? 16 : 37;
        CHECK(difference(reconstructed(planes, batch), planes_of(all, whole, planes)) == "");
      }
    });
  }
}

TEST_CASE("ray_sums: they take the bytes that they say, and adding takes none") {
  grid const whole = grid::centred({31, 29, 45}, {1, 1, 1});
  for_each_instance([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    using sums_type = ray_sums<float, typename exec_space::memory_space>;
    auto const scan = iso::ct::stage(
        exec, iso::ct::circular_cone({40, 52, 1, 1, 0, 0}, 90, 150, iso::ct::even_angles(7, 6)));
    auto const slab_of_all = planes_of(exec, random_volume<float>(whole), all_planes(whole));
    for (auto const method : {projector::joseph_linear, projector::siddon}) {
      for (voxel_bounds const bounds : {voxel_bounds{1, true}, {1, false}, {3e38, true}}) {
        forward_project_options const options{.method = method};
        auto const taken = iso::test::peak_bytes_of([&] {
          sums_type sums(exec, scan, whole, bounds, options);
          sums.add(exec, slab_of_all, {0, 20});
          sums.add(exec, slab_of_all, {20, 45});
          exec.fence("test: before the words go");
        });
        auto const said = sums_type::bytes_needed(exec, scan.host(), whole, bounds, options);
        CHECK(taken == said);
      }
    }
  });
}

TEST_CASE("slabs: what cannot be is refused in a sentence") {
  Kokkos::Serial const exec;
  grid const whole = grid::centred({4, 5, 6}, {1, 1, 1});
  auto const scan = iso::ct::stage(
      exec, iso::ct::circular_cone({3, 4, 1, 1, 0, 0}, 20, 30, iso::ct::even_angles(2, 2 * pi)));
  auto const v = random_volume<float>(whole);
  auto const bounds = iso::ct::bounds_of(exec, v);
  using sums_type = ray_sums<float, host>;
  auto const out = iso::make_projections<float, host>("out", 2, 3, 4);
  auto const refusal = [](auto const& call) { return iso::test::refusal(call); };

  sums_type sums(exec, scan, whole, bounds);
  auto const held = planes_of(exec, v, {2, 5});
  CHECK(refusal([&] { sums.add(exec, held, {2, 5}); }) ==
        "iso::ct::ray_sums::add: rays through planes 2 to 4 from data of planes 2 to 4 (their "
        "neighbours reach 6 planes beyond); give data of planes 0 to 5");
  CHECK(refusal([&] { sums.add(exec, held, {5, 7}); }) ==
        "iso::ct::ray_sums::add: 2 planes along z from plane 5 on (the grid has 6); choose one of "
        "them or more");
  auto const all = planes_of(exec, v, {0, 6});
  sums.add(exec, all, {2, 4});
  CHECK(refusal([&] { sums.add(exec, all, {3, 4}); }) ==
        "iso::ct::ray_sums::add: planes 3 to 3 (2 to 3 were added before); give each "
        "plane to one slab");
  CHECK(refusal([&] { sums.finish(exec, out); }) ==
        "iso::ct::ray_sums::finish: plane 0 of 6 was not added (the sums need all); add the "
        "slab that owns it");
  auto elsewhere = held;
  elsewhere.grid.origin.x += 1;
  CHECK(refusal([&] {
          sums.add(exec, elsewhere, {2, 4});
        }).starts_with("iso::ct::ray_sums::add: a slab of another grid"));
  CHECK(refusal([&] {
          sums.add(exec, sums_type(exec, scan, whole, {2 * bounds.max_abs, true}));
        }).starts_with("iso::ct::ray_sums::add: sums of another scan, grid, options or bounds"));
  auto const turned = iso::ct::stage(
      exec, iso::ct::circular_cone({3, 4, 1, 1, 0, 0}, 20, 30, iso::ct::even_angles(2, 3)));
  auto aside = whole;
  aside.origin.y += 1;
  for (sums_type const& other :
       {sums_type(exec, turned, whole, bounds), sums_type(exec, scan, aside, bounds)}) {
    CHECK(refusal([&] {
            sums.add(exec, other);
          }).starts_with("iso::ct::ray_sums::add: sums of another scan, grid, options or bounds"));
  }
  // Which rays share samples where slabs do is a matter of the path.
  REQUIRE(iso::ct::detail::groups_of(scan.host(), whole, joseph_path::automatic, 4).fast);
  for (forward_project_options const& other :
       {forward_project_options{.method = projector::joseph_spline},
        {.edge = iso::boundary::truncate},
        {.within = region::cylinder},
        {.path = joseph_path::general},
        {.method = projector::siddon}}) {
    CAPTURE(int(other.method));
    CAPTURE(int(other.edge));
    CAPTURE(int(other.within));
    CAPTURE(int(other.path));
    CHECK(refusal([&] {
            sums.add(exec, sums_type(exec, scan, whole, bounds, other));
          }).starts_with("iso::ct::ray_sums::add: sums of another scan, grid, options or bounds"));
  }
  sums_type chords(exec, scan, whole, bounds, {.method = projector::siddon, .oversampling = 2});
  chords.add(exec, held, {2, 5});
  CHECK(refusal([&] { chords.add(exec, held, {1, 2}); }) ==
        "iso::ct::ray_sums::add: rays through planes 1 to 1 from data of planes 2 to 4 (their "
        "neighbours reach 0 planes beyond); give data of planes 1 to 1");
  CHECK(refusal([&] {
          chords.add(exec, sums_type(exec, scan, whole, bounds, {.method = projector::siddon}));
        }).starts_with("iso::ct::ray_sums::add: sums of another scan, grid, options or bounds"));
  CHECK(refusal([&] {
          chords.add(exec, sums_type(exec, scan, whole, bounds,
                                     {.method = projector::branchless, .oversampling = 2}));
        }).starts_with("iso::ct::ray_sums::add: sums of another scan, grid, options or bounds"));
  // No ray by exact lengths shares samples.
  chords.add(
      exec,
      sums_type(exec, scan, whole, bounds,
                {.method = projector::siddon, .path = joseph_path::general, .oversampling = 2}));
  CHECK(refusal([&] {
          sums_type(exec, scan, whole, bounds, {.oversampling = 2});
        }).starts_with("iso::ct::forward_project: oversampling 2 with a Joseph projector"));
  CHECK(refusal([&] {
          iso::workspace<host> const scratch(1 << 20);
          iso::ct::forward_project<Kokkos::Serial, float>(exec, scan, held, out, scratch);
        }).starts_with("iso::ct::forward_project: volume data of [4, 5, 3]"));
}
