// SPDX-License-Identifier: BSD-3-Clause
// What geometries and forward_project refuse, in which words, and that nothing is written then.
#include "forward_project_support.hpp"

#include <iso/core/error.hpp>
#include <iso/core/wrap.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace projector_support;
using iso::test::refusal;
using exec_space = Kokkos::Serial;

double const nan_value = std::numeric_limits<double>::quiet_NaN();
double const infinity = std::numeric_limits<double>::infinity();

std::string refused_view(view_vectors const& view, beam kind = beam::cone) {
  view_vectors const good{{9, 0, 0}, {-9, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  return refusal([&] { geometry(kind, 2, 3, {good, view}); });
}

/// A good call of forward_project, to be spoilt one argument at a time.
struct call {
  geometry scan = iso::ct::circular_cone({4, 5, 1, 1}, 20, 30, {0.0, 1.0});
  iso::volume_view<float, host> volume = random_volume<float>(grid::centred({6, 7, 8}, {1, 1, 1}));
  iso::projection_view<float, host> out = iso::make_projections<float, host>("out", 2, 4, 5);
  iso::workspace<host> scratch{4096};
  forward_project_options options;

  std::string operator()() const {
    return refusal_of(out.data, [&](iso::job const& control) {
      iso::ct::forward_project<exec_space, float>(exec_space(), iso::ct::stage(exec_space(), scan),
                                                  volume, out, scratch, options, control);
    });
  }
};

}  // namespace

TEST_CASE("geometry: what it refuses") {
  view_vectors const good{{9, 0, 0}, {-9, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CHECK(refusal([&] { geometry(beam::cone, 0, 3, {good}); }) ==
        "iso::ct::geometry: detector of [0, 3] pixels (at least one each way is needed); give the "
        "numbers of pixels along u and v");
  CHECK(refusal([&] { geometry(beam::cone, 2, -1, {good}); }) ==
        "iso::ct::geometry: detector of [2, -1] pixels (at least one each way is needed); give the "
        "numbers of pixels along u and v");
  CHECK(refusal([&] { geometry(beam::cone, 2, 3, {}); }) ==
        "iso::ct::geometry: no views (at least one is needed); give the vectors of each view");
  CHECK(refused_view(good) == "");
  CHECK(refused_view({{nan_value, 0, 1}, good.detector_origin, good.u_step, good.v_step}) ==
        "iso::ct::geometry: source of view 1 is [nan, 0, 1] (must be finite, at most 1e150 either "
        "way); check how it is computed");
  CHECK(refused_view({{0, infinity, 1}, good.detector_origin, good.u_step, good.v_step},
                     beam::parallel) ==
        "iso::ct::geometry: direction of view 1 is [0, inf, 1] (must be finite, at most 1e150 "
        "either way); check how it is computed");
  CHECK(refused_view({good.source, {0, 0, -infinity}, good.u_step, good.v_step}) ==
        "iso::ct::geometry: detector_origin of view 1 is [0, 0, -inf] (must be finite, at most "
        "1e150 either way); check how it is computed");
  CHECK(refused_view({good.source, good.detector_origin, {2, nan_value, 0}, good.v_step}) ==
        "iso::ct::geometry: u_step of view 1 is [2, nan, 0] (must be finite, at most 1e150 either "
        "way); check how it is computed");
  CHECK(refused_view({good.source, good.detector_origin, good.u_step, {2, nan_value, 0.5}}) ==
        "iso::ct::geometry: v_step of view 1 is [2, nan, 0.5] (must be finite, at most 1e150 "
        "either way); check how it is computed");
  std::string const parallel =
      "iso::ct::geometry: u_step and v_step of view 1 are parallel or shorter than 1e-150 mm (they "
      "must span the detector); give the steps from a pixel to its neighbours along u and v";
  CHECK(refused_view({good.source, good.detector_origin, {0, 0, -3}, good.v_step}) == parallel);
  CHECK(refused_view({good.source, good.detector_origin, {}, good.v_step}) == parallel);
  // Parallel but for rounding, and not parallel.
  vec3<double> const slanted{0.3, 0.7, 0.1};
  for (double const along : {0.1, -1.7, 3e20, 1e-20}) {
    vec3<double> const same = along * slanted;
    CHECK(refused_view({good.source, good.detector_origin, slanted, same}) == parallel);
    vec3<double> const beside = same + (1e-3 * along) * vec3<double>{0.7, -0.3, 0};
    CHECK(refused_view({good.source, good.detector_origin, slanted, beside}) == "");
  }
  CHECK(refused_view({good.source, good.detector_origin, good.u_step, {}}) == parallel);
  CHECK(refused_view({good.source, good.detector_origin, {0, 1e-160, 0}, good.v_step}) == parallel);
  CHECK(refused_view({good.source, good.detector_origin, {0, 2e150, 0}, good.v_step}) ==
        "iso::ct::geometry: u_step of view 1 is [0, 2e+150, 0] (must be finite, at most 1e150 "
        "either way); check how it is computed");
  CHECK(refused_view({good.source, good.detector_origin, {0, 1e-150, 0}, {0, 0, 1e-150}}) == "");
  CHECK(refused_view({good.source, good.detector_origin, {0, 1e150, 0}, {0, 0, 1e150}}) == "");
  CHECK(refused_view({{}, good.detector_origin, good.u_step, good.v_step}) == "");
  CHECK(refused_view({{}, good.detector_origin, good.u_step, good.v_step}, beam::parallel) ==
        "iso::ct::geometry: direction of view 1 is shorter than 1e-150 (rays need one); give the "
        "direction in which rays travel");
  CHECK(refusal([&] { geometry(beam(7), 2, 3, {good}); }) ==
        "iso::ct::geometry: beam is 7 (none of its values); choose one of cone, parallel");
  std::int64_t const side = std::int64_t(1) << 40;
  CHECK(refusal([&] { geometry(beam::cone, side, side, {good}); }) ==
        "iso::ct::geometry: 1 views of [1099511627776, 1099511627776] pixels (their number does "
        "not fit 63 bits); check the detector's extents");
  CHECK(refusal([&] { geometry(beam::cone, side, side >> 18, {good, good}); }) ==
        "iso::ct::geometry: 2 views of [1099511627776, 4194304] pixels (their number does not fit "
        "63 bits); check the detector's extents");
}

TEST_CASE("geometry: what subset and the builders refuse") {
  auto const three = iso::ct::circular_parallel({2, 2, 1, 1}, {0.0, 1.0, 2.0});
  CHECK(three.subset(1, 2).num_views() == 2);
  CHECK(refusal([&] { (void)three.subset(1, 3); }) ==
        "iso::ct::geometry: 3 views from view 1 on (must be a part of the 3); ask for views that "
        "the geometry has");
  CHECK(refusal([&] { (void)three.subset(-1, 2); }) ==
        "iso::ct::geometry: 2 views from view -1 on (must be a part of the 3); ask for views that "
        "the geometry has");
  CHECK(refusal([&] { (void)three.subset(1, 0); }) ==
        "iso::ct::geometry: 0 views from view 1 on (must be a part of the 3); ask for views that "
        "the geometry has");
  CHECK(refusal([&] { (void)three.subset(1, std::numeric_limits<std::int64_t>::max()); }) ==
        "iso::ct::geometry: 9223372036854775807 views from view 1 on (must be a part of the 3); "
        "ask for views that the geometry has");

  auto const parallel = [](iso::ct::flat_detector const& d, std::vector<double> const& angles) {
    return refusal([&] { iso::ct::circular_parallel(d, angles); });
  };
  CHECK(parallel({0, 2}, {0.0}) ==
        "iso::ct::geometry: detector of [0, 2] pixels (at least one each way is needed); give the "
        "numbers of pixels along u and v");
  CHECK(parallel({2, 2, 0, 1}, {0.0}) ==
        "iso::ct::geometry: pixel pitch [0, 1] mm (must be finite and positive); give the "
        "distances of neighbouring pixels along u and v");
  CHECK(parallel({2, 2, 1, infinity}, {0.0}) ==
        "iso::ct::geometry: pixel pitch [1, inf] mm (must be finite and positive); give the "
        "distances of neighbouring pixels along u and v");
  CHECK(parallel({2, 2, 1, 1, 0.5, nan_value}, {0.0}) ==
        "iso::ct::geometry: detector offset [0.5, nan] mm (must be finite); give 0 for a centred "
        "detector");
  CHECK(parallel({2, 2}, {}) ==
        "iso::ct::geometry: no view angles (at least one is needed); give an angle for each view");
  CHECK(parallel({2, 2}, {0.0, infinity}) ==
        "iso::ct::geometry: view angle inf rad (must be finite, at most 1e5 either way); take off "
        "whole turns");
  CHECK(parallel({2, 2}, {-123456.0}) ==
        "iso::ct::geometry: view angle -123456 rad (must be finite, at most 1e5 either way); take "
        "off whole turns");
  auto const cone = [](double source_axis, double source_detector) {
    return refusal([&] { iso::ct::circular_cone({2, 2}, source_axis, source_detector, {0.0}); });
  };
  CHECK(cone(0, 9) ==
        "iso::ct::geometry: source-axis 0 mm, source-detector 9 mm (must be finite and positive); "
        "give both distances in mm");
  CHECK(cone(5, -2) ==
        "iso::ct::geometry: source-axis 5 mm, source-detector -2 mm (must be finite and positive); "
        "give both distances in mm");
  CHECK(cone(nan_value, 9) ==
        "iso::ct::geometry: source-axis nan mm, source-detector 9 mm (must be finite and "
        "positive); give both distances in mm");
  CHECK(
      refusal([] { iso::ct::even_angles(std::int64_t(1) << 62, 1); }) ==
      "iso::ct::geometry: 4611686018427387904 view angles (at most 100000000); make them in parts");
  CHECK(refusal([] { iso::ct::even_angles(0, 1); }) ==
        "iso::ct::geometry: 0 view angles (at least one is needed); ask for 1 or more");
  std::string const over =
      " rad (all must be finite, at most 1e5 either way); take off whole turns";
  CHECK(refusal([] { iso::ct::even_angles(3, infinity); }) ==
        "iso::ct::geometry: view angles from 0 rad over inf" + over);
  CHECK(refusal([] { iso::ct::even_angles(3, 1, nan_value); }) ==
        "iso::ct::geometry: view angles from nan rad over 1" + over);
  CHECK(refusal([] { iso::ct::even_angles(3, -2e5); }) ==
        "iso::ct::geometry: view angles from 0 rad over -200000" + over);
  CHECK(refusal([] { iso::ct::even_angles(3, 1e5, 1e5); }) ==
        "iso::ct::geometry: view angles from 100000 rad over 100000" + over);
}

TEST_CASE("forward_project: volumes that it refuses") {
  CHECK(call()() == "");
  call c;
  c.volume.grid.extent[1] = 6;
  CHECK(c() ==
        "iso::ct::forward_project: volume data of [6, 7, 8] (its grid has [6, 6, 8] voxels); give "
        "both the same extents");
  c = {};
  c.volume.grid.extent[2] = 0;
  CHECK(c() ==
        "iso::ct::forward_project: grid of [6, 7, 0] voxels (every extent must be at least 1); "
        "check that the volume was read");
  c = {};
  c.volume.grid.extent = {std::int64_t(1) << 31, std::int64_t(1) << 31, 4};
  CHECK(c() ==
        "iso::ct::forward_project: grid of [2147483648, 2147483648, 4] voxels (their number does "
        "not fit 63 bits); check the extents");
  c = {};
  c.volume.grid.spacing.y = -1;
  CHECK(c() ==
        "iso::ct::forward_project: grid spacing [1, -1, 1] mm (must lie between 1e-150 and 1e150); "
        "check that the spacing is in mm");
  c = {};
  c.volume.grid.origin.z = nan_value;
  CHECK(c() ==
        "iso::ct::forward_project: grid origin [-2.5, -3, nan] mm (must be finite, at most 1e150 "
        "either way); check that the origin is in mm");
  c = {};
  float no_voxels = 0;
  c.volume.grid.extent = {1, 1, std::int64_t(1) << 24};
  c.volume.data = decltype(c.volume.data)(&no_voxels, 1, 1, std::size_t(1) << 24);  // never read
  CHECK(c() ==
        "iso::ct::forward_project: volume of [1, 1, 16777216] voxels (each extent must stay below "
        "2^24); project it in parts");
}

TEST_CASE("forward_project: data with gaps between rows") {
  call c;
  auto const padded = [](std::size_t a, std::size_t b, std::size_t n) {
    return Kokkos::View<float***, Kokkos::LayoutRight, host>(
        Kokkos::view_alloc("padded", Kokkos::AllowPadding), a, b, n);
  };
  c.volume = {grid::centred({6, 7, 515}, {1, 1, 1}), padded(6, 7, 515)};
  REQUIRE(!c.volume.data.span_is_contiguous());
  CHECK(c() ==
        "iso::ct::forward_project: volume data has gaps between its rows (elements must follow "
        "each other, the last index fastest); copy it into a plain view");
  c = {};
  c.scan = iso::ct::circular_cone({4, 515, 1, 1}, 20, 30, {0.0, 1.0});
  c.scratch.reserve(1 << 16);
  c.out.data = padded(2, 4, 515);
  REQUIRE(!c.out.data.span_is_contiguous());
  CHECK(c() ==
        "iso::ct::forward_project: projections has gaps between its rows (elements must follow "
        "each other, the last index fastest); copy it into a plain view");
}

TEST_CASE("forward_project: arrays without memory, and arrays that overlap") {
  call c;
  c.volume.data = decltype(c.volume.data)(static_cast<float*>(nullptr), 6, 7, 8);
  CHECK(c() ==
        "iso::ct::forward_project: volume data has elements but no memory (its pointer is null); "
        "allocate it first");
  c = {};
  decltype(c.out.data) const nothing(static_cast<float*>(nullptr), 2, 4, 5);
  CHECK(refusal([&] {
          iso::ct::forward_project<exec_space, float>(
              exec_space(), iso::ct::stage(exec_space(), c.scan), c.volume, {nothing}, c.scratch);
        }) ==
        "iso::ct::forward_project: projections has elements but no memory (its pointer is null); "
        "allocate it first");
  Kokkos::View<float*, host> const both("both", 40 + 6 * 7 * 8);
  c.volume.data = decltype(c.volume.data)(both.data() + 40, 6, 7, 8);
  c.out.data = decltype(c.out.data)(both.data(), 2, 4, 5);
  CHECK(c() == "");  // neighbours
  for (int const shift : {1, 40, 336}) {
    c.out.data = decltype(c.out.data)(both.data() + shift, 2, 4, 5);
    CHECK(c() ==
          "iso::ct::forward_project: projections and volume data overlap (one is written while the "
          "other is read); copy one of them");
  }
  c = {};
  auto const bytes = c.scratch.size();
  Kokkos::View<float*, host> const shared("shared", std::size_t(bytes) / sizeof(float) + 6 * 7 * 8);
  c.scratch = iso::wrap_workspace<host>(shared.data(), bytes);
  c.volume.data = decltype(c.volume.data)(shared.data() + bytes / 8, 6, 7, 8);
  CHECK(c().find("scratch and volume data overlap") != std::string::npos);
  c.volume = call().volume;
  c.out.data = decltype(c.out.data)(shared.data() + bytes / 8, 2, 4, 5);
  CHECK(c().find("projections and scratch overlap") != std::string::npos);
}

TEST_CASE("forward_project: projections and scratch that it refuses") {
  call c;
  c.out = iso::make_projections<float, host>("out", 2, 5, 4);
  CHECK(c() ==
        "iso::ct::forward_project: projections of [2, 5, 4] (geometry has [2, 4, 5]: views, u, v); "
        "give them the geometry's extents");
  c = {};
  auto const needed =
      iso::ct::forward_project_bytes_needed<float>(exec_space(), c.scan, c.volume.grid, c.options);
  CHECK(needed > 0);
  c.scratch = iso::workspace<host>(needed);
  CHECK(c() == "");
  c.scratch = iso::workspace<host>(needed - 1);
  CHECK(c() == "iso::ct::forward_project: scratch of " + std::to_string(needed - 1) + " bytes (" +
                   std::to_string(needed) +
                   " are needed); reserve what iso::ct::forward_project_bytes_needed returns");
  for (auto const method : exact_methods) {
    c.scratch = {};
    c.options = {.method = method};
    CHECK(c() == "");  // needs none
  }
  CHECK(refusal([] { iso::make_projections<float, host>("out", 2, 0, 5); }) ==
        "iso::make_projections: projections of [2, 0, 5] (every extent must be at least 1); give "
        "the numbers of views and of pixels along u and v");
}

TEST_CASE("forward_project_bytes_needed refuses volumes whose planes cannot be counted") {
  auto const c = call();
  for (std::int64_t const extent : {std::int64_t(0), std::int64_t(1) << 32}) {
    iso::grid g = c.volume.grid;
    g.extent[0] = extent;
    CHECK(refusal([&] {
            iso::ct::forward_project_bytes_needed<float>(Kokkos::Serial(), c.scan, g, c.options);
          }).starts_with("iso::ct::forward_project: volume of [" + std::to_string(extent)));
  }
  // 2^62 pixels are a geometry, and their sums by blocks of planes are too many bytes.
  geometry const wide(beam::cone, std::int64_t(1) << 31, std::int64_t(1) << 31,
                      c.scan.subset(0, 1).views());
  CHECK(refusal([&] {
          iso::ct::forward_project_bytes_needed<float>(Kokkos::Serial(), wide, c.volume.grid);
        }).find("(they do not fit 63 bits); call the function for a part at a time") !=
        std::string::npos);
}

TEST_CASE("forward_project: options that it refuses") {
  auto const with = [](forward_project_options const& options) {
    call c;
    c.options = options;
    return c();
  };
  auto const exact = projector::siddon;
  CHECK(with({.method = exact, .oversampling = 64}) == "");
  CHECK(
      with({.method = exact, .oversampling = 0}) ==
      "iso::ct::forward_project: oversampling 0 (must lie in 1..64); use 1 for one ray per pixel");
  CHECK(
      with({.method = exact, .oversampling = 65}) ==
      "iso::ct::forward_project: oversampling 65 (must lie in 1..64); use 1 for one ray per pixel");
  CHECK(with({.oversampling = 2}) ==
        "iso::ct::forward_project: oversampling 2 with a Joseph projector (only the exact methods "
        "oversample); leave it at 1");
  for (auto const method : exact_methods) {
    CHECK(with({.method = method, .sum = summation::reproducible}) == "");
  }
  CHECK(with({.slab_planes = 100}) ==
        "iso::ct::forward_project: slab_planes 100 (must be a multiple of 64, or 0); leave it at 0 "
        "to have it chosen");
  CHECK(with({.slab_planes = -64}) ==
        "iso::ct::forward_project: slab_planes -64 (must be a multiple of 64, or 0); leave it at 0 "
        "to have it chosen");
  CHECK(with({.shape = {-1}}) ==
        "iso::ct::forward_project: groups_per_launch -1 (must not be negative); leave it at 0 for "
        "one launch");
  CHECK(with({.max_abs = -1.5}) ==
        "iso::ct::forward_project: max_abs -1.5 (must be finite and not negative); leave it empty "
        "to have it computed");
  CHECK(with({.max_abs = infinity}) ==
        "iso::ct::forward_project: max_abs inf (must be finite and not negative); leave it empty "
        "to have it computed");
  CHECK(with({.max_abs = nan_value}) ==
        "iso::ct::forward_project: max_abs nan (must be finite and not negative); leave it empty "
        "to have it computed");
  auto const none_of = [](char const* value, char const* words) {
    return "iso::ct::forward_project: " + std::string(value) +
           " (none of its values); choose one of " + words;
  };
  CHECK(with({.method = projector(6)}) ==
        none_of("method is 6", "joseph, joseph-spline, amanatides-woo, branchless, siddon, exact"));
  CHECK(with({.sum = summation(2)}) == none_of("sum is 2", "ordered, reproducible"));
  CHECK(with({.edge = iso::boundary(-1)}) == none_of("edge is -1", "zero, truncate"));
  CHECK(with({.within = region(2)}) == none_of("within is 2", "box, cylinder"));
  CHECK(with({.path = joseph_path(2)}) == none_of("path is 2", "automatic, general"));
}

TEST_CASE("forward_project: progress, and a caller who says stop") {
  auto const g = grid::centred({200, 9, 8}, {1, 1, 1});
  auto const v = random_volume<float>(g);
  auto const scan = iso::ct::circular_cone({4, 5, 1, 1}, 300, 500, {0.0, 1.0});
  forward_project_options const slabs{.slab_planes = 64};
  std::vector<double> told;
  iso::job const watch{[&](double fraction) { told.push_back(fraction); }, {}};
  iso::backend::for_each([&](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    told.clear();
    projected(exec(), v, scan, slabs, watch);
    CHECK(told == std::vector<double>{64 / 200.0, 128 / 200.0, 192 / 200.0, 1.0});
    for (auto const method : all_methods) {
      told.clear();
      projected(exec(), v, scan, {.method = method, .path = joseph_path::general}, watch);
      CHECK(told == std::vector<double>{1.0});
    }
    int asked = 0;
    iso::job const stop{{}, [&] { return ++asked == 2; }};
    CHECK_THROWS_WITH_AS(projected(exec(), v, scan, slabs, stop),
                         "iso::job: cancelled by the caller (its outputs are incomplete); discard "
                         "them, or call again",
                         iso::cancelled);
    CHECK(asked == 2);
    iso::job const never{{}, [] { return false; }};
    CHECK(difference(projected(exec(), v, scan, slabs, never), projected(v, scan)) == "");
  });
}

TEST_CASE("forward_project: a processor's thread is asked to stop after a few views") {
  // Sixteen views of 256 x 256 rays through 64 planes are 2^26 samples.
  auto const v = random_volume<float>(grid::centred({64, 64, 8}, {1, 1, 1}));
  auto const scan =
      iso::ct::circular_cone({256, 256, 0.5, 0.5}, 300, 500, iso::ct::even_angles(16, 2 * pi, 0.1));
  auto const last = scan.subset(15, 1);
  for (auto const method : all_methods) {
    forward_project_options const options{.method = method, .sum = summation::reproducible};
    std::vector<double> told;
    iso::job const watch{[&](double fraction) { told.push_back(fraction); }, {}};
    auto const whole = projected(exec_space(), v, scan, options, watch);
    if (is_joseph(method)) {
      CHECK(told == std::vector<double>{0.5, 1});
    } else {
      CHECK(told == std::vector<double>{0.25, 0.5, 0.75, 1});  // 1.7 chords a plane
    }
    auto const alone = projected(exec_space(), v, last, options);
    CHECK(std::equal(alone.begin(), alone.end(), whole.end() - std::ptrdiff_t(alone.size())));
  }
}

TEST_CASE("forward_project: a processor's thread is asked to stop within a large view") {
  // A view of 1024 x 1024 rays through 64 planes is 2^26 samples, by exact lengths 1.7 times that.
  auto const v = random_volume<float>(grid::centred({64, 64, 4}, {1, 1, 1}));
  auto const scan = iso::ct::circular_cone({1024, 1024, 0.125, 0.125}, 300, 500, {0.1});
  for (auto const method : all_methods) {
    forward_project_options const options{.method = method, .path = joseph_path::general};
    std::vector<double> told;
    iso::job const watch{[&](double fraction) { told.push_back(fraction); }, {}};
    auto const whole = projected(exec_space(), v, scan, options, watch);
    CHECK(told.size() == std::size_t(is_joseph(method) ? 2 : 4));
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(told.back() == 1);
    // Launches of all rays at once have the same bits.
    iso::backend::for_each([&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      CHECK(difference(projected(exec, v, scan, options), whole) == "");
    });
    int asked = 0;
    iso::job const stop{{}, [&] { return ++asked == 2; }};
    CHECK_THROWS_AS(projected(exec_space(), v, scan, options, stop), iso::cancelled);
    CHECK(asked == 2);
  }
}
