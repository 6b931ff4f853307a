// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/backend/registry.hpp>
#include <iso/backend/texture_volume.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/forward_project_texture.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/iterate.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/noise_of_counts.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/scan_weights.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/slab_rays.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/ct/streamed_fdk.hpp>
#include <iso/ct/streamed_pair.hpp>
#include <iso/ct/streamed_ranked.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/ct/view_projection.hpp>

#include <numbers>
#include <vector>

namespace {

using namespace calls;

iso::grid const cube = iso::grid::centred({8, 8, 8}, {1, 1, 1});

iso::ct::geometry circle() {
  return iso::ct::circular_cone({.num_u = 16, .num_v = 12}, 100, 120,
                                iso::ct::even_angles(16, 2 * std::numbers::pi));
}

auto views_of(iso::ct::geometry const& scan) {
  exec_space const exec;
  auto const views = iso::make_projections<float, space>(exec, "views", scan.num_views(),
                                                         scan.num_u(), scan.num_v());
  iso::ct::project_ellipsoids(exec, {{.half_axes = {3, 3, 3}, .density = 0.1}},
                              iso::ct::stage(exec, scan), views);
  return views;
}

}  // namespace

TEST_CASE("geometries") {
  exec_space const exec;
  auto const one = iso::ct::circular_cone({.num_u = 8, .num_v = 8}, 1000, 1200, {0.0});
  iso::ct::circular_parallel({8, 8}, {0, 1.5});
  iso::ct::helix(one, {0}, 10);
  iso::ct::laminography(one, 0.3);
  iso::ct::turn_detector(one, {.roll = 0.01});
  CHECK(iso::ct::shift_detector(one, {{1, 2}}).num_views() == 1);
  CHECK(iso::ct::shift_source(one, {{1, 2, 0}}).num_views() == 1);
  CHECK(iso::ct::move_detector(one, 1.5).num_views() == 1);
  CHECK(iso::ct::find_detectors_within(one, cube).views == 0);
  iso::ct::geometry const own(iso::ct::beam::cone, 8, 8,
                              {{.source = {100, 0, 0},
                                .detector_origin = {-20, -4, -4},
                                .u_step = {0, 1, 0},
                                .v_step = {0, 0, 1}}});
  CHECK(iso::ct::stage(exec, own).host().num_views() == 1);
  iso::ct::staged_geometry<space> const staged(exec, own);
  CHECK(iso::ct::projection_of(iso::ct::beam::cone, own.views()[0]).depth({100, 0, 0}) == 0);
  CHECK(iso::ct::weigh_scan(circle()).angles.size() == 16);
  CHECK(iso::ct::redundancy_weight(circle(), iso::ct::weigh_scan(circle()), 0, 0, 0) == 1);
}

TEST_CASE("projection and its adjoint") {
  exec_space const exec;
  auto const scan = circle();
  auto const volume = volume_of(cube, 0.02);
  auto const views = views_of(scan);
  iso::workspace<space> scratch(iso::ct::forward_project_bytes_needed<float>(exec, scan, cube));
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), volume, views, scratch);
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), volume, views, scratch,
                           {.method = iso::ct::projector::siddon});
  scratch.reserve(iso::ct::back_project_bytes_needed<float>(exec, scan, cube));
  iso::ct::back_project(exec, iso::ct::stage(exec, scan), views, volume, scratch);
  iso::ct::back_project_options const chords{.method = iso::ct::projector::siddon};
  scratch.reserve(iso::ct::back_project_bytes_needed<float>(exec, scan, cube, chords));
  iso::ct::back_project(exec, iso::ct::stage(exec, scan), views, volume, scratch, chords,
                        iso::onto::stored);
  auto const lower = iso::make_slab<float, space>(exec, "lower", cube, {0, 3});
  iso::validate_slab(lower, "calls");
  iso::ct::voxel_bounds const bounds = iso::ct::bounds_of(exec, volume);
  iso::ct::ray_sums<float, space> sums(exec, iso::ct::stage(exec, scan), cube, bounds);
  sums.add(exec, volume, iso::all_planes(cube));
  sums.finish(exec, views);
  CHECK(sums.planes().size() == 1);
  CHECK(iso::ct::slab_rays(scan, cube, {0, 1}).size() == std::size_t(scan.num_views()));
  scratch.reserve(iso::ct::back_project_bytes_needed<float>(exec, scan, cube, {0, 3}));
  iso::ct::back_project(exec, iso::ct::stage(exec, scan), views, lower, scratch);
  auto const by_texture = [&] {
    iso::backend::texture_volume const texture(exec, volume);
    iso::ct::forward_project_texture(exec, iso::ct::stage(exec, scan), texture, views);
  };
  if constexpr (iso::backend::is_device<exec_space>) {
    by_texture();
  } else {
    CHECK_THROWS_AS(by_texture(), iso::invalid_argument);
  }
  exec.fence();
}

TEST_CASE("volumes that pass through a device") {
  Kokkos::DefaultHostExecutionSpace const host;
  exec_space const exec;
  auto const scan = circle();
  auto const x = iso::make_volume<float, Kokkos::HostSpace>(host, "x", cube);
  Kokkos::deep_copy(x.data, 1.0F);
  auto const views = iso::make_projections<float, Kokkos::HostSpace>(
      host, "views", scan.num_views(), scan.num_u(), scan.num_v());
  auto const blocks =
      iso::ct::split_views(scan.num_views(), scan.num_views(), iso::ct::block_order::sequential);
  iso::ct::projector_options const by{.sum = iso::summation::reproducible};
  iso::ct::streamed_pair<exec_space, float> pair(exec, scan, cube, blocks, by, {1 << 26});
  pair.forward(0, x, views);
  pair.adjoint(0, views, x);
  CHECK(pair.report().bytes_in > 0);
  iso::ct::streamed_fdk<exec_space, float> fdk(exec, scan, cube, {}, {1 << 26});
  fdk.apply(views, x);
  Kokkos::View<std::uint16_t***, Kokkos::LayoutRight, Kokkos::HostSpace> const integers(
      "stored", scan.num_views(), scan.num_u(), scan.num_v());
  iso::ct::stored_readings<Kokkos::HostSpace> const stored{.data = integers, .scale = 1e-4};
  iso::ct::decode_readings(host, stored, views);
  iso::ct::streamed_fdk<exec_space, float> of_stored(
      exec, scan, cube, {}, {.device_bytes = 1 << 26, .stored_readings = true});
  of_stored.apply(stored, x);
  iso::ct::streamed const through(exec, {1 << 26});
  through.make<float>(scan, cube, blocks, by)->forward(0, x, views, {});
  through.make_fdk<float>(scan, cube)->apply(views, x, {});
  Kokkos::deep_copy(x.data, 0.0F);
  iso::ct::sart method(host, scan, views, x, {.projector = by}, {}, {}, through);
  method.step();
  CHECK(method.streaming()->forward.planes == 8);
  iso::ct::elsewhere const here;
  CHECK(!here);
}

TEST_CASE("volumes and scans on ranks") {
  exec_space const exec;
  iso::backend::one_rank ranks;
  iso::ct::rank_plan const plan(circle(), cube, iso::divide_planes(cube, ranks.size()));
  auto const x = iso::ct::make_volume_part<float>(exec, "x", plan, ranks.rank());
  auto const p = iso::ct::make_projections_part<float>(exec, "p", plan, ranks.rank());
  iso::ct::ranked_pair<exec_space, float> pair(exec, ranks, plan);
  pair.forward(0, x, p);
  pair.adjoint(0, p, x, iso::onto::stored);
  iso::ct::ranked_fdk<exec_space, float> fdk(exec, ranks, plan, {.cutoff = 0.5});
  fdk.apply(p, x);
  CHECK(fdk.report().bytes_sent == 0);
  iso::ct::sart method(exec, circle(), p, x, {.projector = {.sum = iso::summation::reproducible}},
                       {}, {}, iso::ct::ranked(exec, ranks, plan));
  CHECK(method.step().number == 1);
  auto const all = iso::ct::split_views(circle().num_views(), circle().num_views(),
                                        iso::ct::block_order::sequential);
  CHECK(iso::ct::ranked_pair<exec_space, float>::bytes_needed(exec, 0, plan, all) ==
        pair.report().bytes_held);
}

TEST_CASE("parts of ranks that pass through devices") {
  exec_space const exec;
  Kokkos::DefaultHostExecutionSpace const on_host;
  iso::backend::one_rank ranks;
  iso::ct::rank_plan const plan(circle(), cube, iso::divide_planes(cube, ranks.size()));
  iso::ct::streaming_options const limits{std::int64_t(1) << 26};
  auto const x = iso::ct::make_volume_part<float>(on_host, "x", plan, ranks.rank());
  auto const p = iso::ct::make_projections_part<float>(on_host, "p", plan, ranks.rank());
  iso::ct::streamed_ranked_fdk<exec_space, float> fdk(exec, ranks, plan, {}, limits);
  fdk.apply(p, x);
  CHECK(fdk.streaming().adjoint.planes > 0);
  CHECK(iso::ct::streamed_ranked_fdk<exec_space, float>::bytes_needed(exec, ranks, plan, {}, limits)
            .device == fdk.streaming().device_bytes);
  auto const all = iso::ct::split_views(circle().num_views(), circle().num_views(),
                                        iso::ct::block_order::sequential);
  CHECK(iso::ct::streamed_ranked_pair<exec_space, float>::bytes_needed(
            exec, ranks, plan, all, {.sum = iso::summation::reproducible}, limits)
            .halo == 0);
  iso::ct::sart method(on_host, circle(), p, x,
                       {.projector = {.sum = iso::summation::reproducible}}, {}, {},
                       iso::ct::ranked(exec, ranks, plan, limits));
  CHECK(method.step().number == 1);
}

TEST_CASE("filtered backprojection") {
  exec_space const exec;
  auto const scan = circle();
  auto const volume = volume_of(cube, 0);
  auto const views = views_of(scan);
  iso::ct::fdk_plan const plan(exec, scan);
  iso::ct::fdk_plan<space> const smooth(exec, scan, {.window = iso::ct::ramp_window::hann});
  iso::workspace<space> scratch(iso::ct::fdk_bytes_needed<float>(exec, scan));
  iso::ct::fdk(exec, plan, views, volume, scratch);
  iso::ct::fdk(exec, smooth, views, volume, scratch, iso::onto::stored);
  auto const& wide = plan.geometry().host();
  auto const filtered = iso::make_projections<float, space>(exec, "filtered", wide.num_views(),
                                                            wide.num_u(), wide.num_v());
  scratch.reserve(iso::ct::filter_projections_bytes_needed<float>(exec, scan));
  iso::ct::filter_projections(exec, plan, views, filtered, scratch);
  scratch.reserve(iso::ct::weighted_back_project_bytes_needed<float>(exec, scan));
  iso::ct::weighted_back_project(exec, plan, filtered, volume, scratch);
  iso::ct::fdk_reconstructor<exec_space, float> const reconstructor(exec, scan, cube);
  reconstructor.apply(views, volume);
  exec.fence();
  CHECK(iso::ct::fdk_reconstructor<exec_space, float>::bytes_needed(exec, scan) >
        reconstructor.bytes_held());
  CHECK(iso::ct::ramp_taps(8).size() == 8);
}

TEST_CASE("iterative methods") {
  exec_space const exec;
  auto const scan = circle();
  auto const views = views_of(scan);
  iso::projection_view<float const, space> const readings = views;
  auto const x = volume_of(cube, 0);
  iso::ct::stopping_rules const once{.iterations = 1};

  CHECK(iso::ct::iterate(iso::ct::cgls(exec, scan, views, x), {.iterations = 1}).size() == 1);
  iso::ct::lsqr<exec_space, float> lsqr(exec, scan, views, x, {.damping = 0.1});
  iso::ct::iterate(lsqr, once);
  iso::ct::sart sart(exec, scan, readings, volume_of(cube, 0),
                     {.block_views = 4, .box = {.lower = 0}});
  iso::ct::iterate(sart, once);
  iso::ct::mlem mlem(exec, scan, views, volume_of(cube, 1), {},
                     {.voxels = volume_of(cube, 1).data});
  iso::ct::iterate(mlem, once);
  iso::ct::total_variation tv(exec, scan, views, x, {.weight = 0.01});
  CHECK(iso::ct::iterate(tv, once).back().number == 1);

  CHECK(iso::ct::noise_of_counts(exec, views, 1e5) > 0);
  CHECK(iso::ct::noise_of_counts(exec, readings, 1e5, views) > 0);
  iso::ct::projector_pair<exec_space, float> const pair(
      exec, scan, cube, iso::ct::split_views(16, 4, iso::ct::block_order::golden));
  pair.forward(0, x, pair.part(views, 0));
  pair.adjoint(0, pair.part(views, 0), x);
  iso::ct::projector_pair<exec_space, float>(exec, scan, cube).forward(0, x, views);
  exec.fence();
}

TEST_CASE("phantoms and readings") {
  exec_space const exec;
  auto const scan = circle();
  auto const views = views_of(scan);
  iso::ct::project_ellipsoids(exec, iso::ct::shepp_logan(8), iso::ct::stage(exec, scan), views);
  auto const volume = volume_of(cube, 0);
  iso::ct::rasterise_ellipsoids(exec, iso::ct::shepp_logan(4), volume);
  iso::ct::rasterise_ellipsoids(exec, {{.half_axes = {3, 3, 3}}}, volume, {.samples = 2});

  auto const dark = iso::make_projections<float, space>(exec, "dark", 1, 16, 12);
  auto const flat = iso::make_projections<float, space>(exec, "flat", 1, 16, 12);
  Kokkos::deep_copy(exec, flat.data, 2.0F);
  iso::ct::mean_of_views(exec, views, {}, dark);
  iso::projection_view<float const, space> const read_dark = dark;
  iso::ct::pixel_mask<space> const dead("dead", 16, 12);
  iso::ct::find_dead_pixels(exec, dark, flat, dead);
  iso::ct::find_dead_pixels(exec, read_dark, flat, dead, {.radius = 1});
  iso::ct::replace_dead_pixels(exec, views, iso::ct::const_pixel_mask<space>(dead));
  iso::ct::line_integrals(exec, views, read_dark, flat);
  exec.fence();

  CHECK(iso::ct::axis_pixel(scan) == doctest::Approx(7.5));
  CHECK(iso::ct::mirror_weights(scan).size() == 16);
  auto const mean = iso::make_projections<double, iso::space::host>("mean", 1, 32, 4);
  for (std::int64_t u = 0; u < 32; ++u) {
    for (std::int64_t v = 0; v < 4; ++v) {
      double const from_axis = double(u) - 16.0;
      mean.data(std::int64_t(0), u, v) = 1 / (1 + from_axis * from_axis);
    }
  }
  CHECK(iso::ct::centre_of_rotation(mean, {.guess = 15}) == doctest::Approx(16));
}

TEST_CASE("const inputs of projection and reconstruction") {
  exec_space const exec;
  auto const scan = circle();
  auto const volume = volume_of(cube, 0.02);
  auto const views = iso::make_projections<float, space>(exec, "views", 16, 16, 12);
  iso::volume_view<float const, space> const seen = volume;
  iso::projection_view<float const, space> const read = views;
  iso::workspace<space> scratch(iso::ct::forward_project_bytes_needed<float>(exec, scan, cube));
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), seen, views, scratch);
  scratch.reserve(iso::ct::back_project_bytes_needed<float>(exec, scan, cube));
  iso::ct::back_project(exec, iso::ct::stage(exec, scan), read, volume, scratch);
  scratch.reserve(iso::ct::fdk_bytes_needed<float>(exec, scan));
  iso::ct::fdk_plan const plan(exec, scan);
  iso::ct::fdk(exec, plan, read, volume, scratch);
  iso::ct::fdk_reconstructor<exec_space, float> const reconstructor(exec, scan, cube);
  reconstructor.apply(read, volume);
  iso::ct::projector_pair<exec_space, float> const pair(exec, scan, cube);
  pair.forward(0, seen, views);
  pair.adjoint(0, read, volume);
  exec.fence();
  CHECK(volume.data.size() == 512);
}

TEST_CASE("const inputs of iterative methods") {
  exec_space const exec;
  auto const scan = circle();
  iso::projection_view<float const, space> const read = views_of(scan);
  auto const x = volume_of(cube, 1);
  iso::ct::stopping_rules const once{.iterations = 1};
  CHECK(iso::ct::iterate(iso::ct::cgls(exec, scan, read, x), once).size() == 1);
  CHECK(iso::ct::iterate(iso::ct::lsqr(exec, scan, read, x), once).size() == 1);
  CHECK(iso::ct::iterate(iso::ct::mlem(exec, scan, read, volume_of(cube, 1)), once).size() == 1);
  CHECK(
      iso::ct::iterate(iso::ct::total_variation(exec, scan, read, x, {.weight = 1}), once).size() ==
      1);
}
