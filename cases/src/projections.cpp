// SPDX-License-Identifier: BSD-3-Clause
//! Views, phantoms, forward projection and its adjoint.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/scan_rows.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/streamed_pair.hpp>
#include <iso/ct/streamed_ranked.hpp>
#include <iso/ct/view_projection.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace iso::cases {
namespace {

using ct::projector;
using iso::summation;

/// The twelve numbers of every view, as kernels read them.
template <class T>
struct view_reader {
  ct::view_vectors const* views;
  T* out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const& view = views[i];
    auto const put = [&](int first, vec3<double> const& v) {
      out[12 * i + first] = T(v.x);
      out[12 * i + first + 1] = T(v.y);
      out[12 * i + first + 2] = T(v.z);
    };
    put(0, view.source);
    put(3, view.detector_origin);
    put(6, view.u_step);
    put(9, view.v_step);
  }
};

template <class T>
struct geometry_case {
  ct::geometry (*make)();
  std::vector<double> (*exact)();

  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    auto const make_again = make;
    std::int64_t const views = make().num_views();
    auto const closed = exact;
    return {12 * views,
            [=](Exec const& on, variant const&, T* out) {
              auto const staged = ct::stage(on, make_again());
              Kokkos::parallel_for(
                  "iso::cases::views",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(on, 0, views),
                  view_reader<T>{staged.views().data(), out});
              on.fence("iso::cases: the views may go");
            },
            min_work{12 * double(views) * (sizeof(double) + sizeof(T)), 0},
            [closed](std::int64_t) { return closed(); }};
  }
};

/// Where every view sees voxels of a box: u, v and depth.
template <class T>
struct seen_kernel {
  ct::beam kind;
  ct::view_vectors const* views;
  grid box;
  T* out;

  KOKKOS_FUNCTION static vec3<double> voxel(grid const& g, std::int64_t i) {
    auto const at = [&](int a, std::int64_t n) { return g.origin[a] + double(n) * g.spacing[a]; };
    return {at(0, i / (g.extent[1] * g.extent[2])), at(1, i / g.extent[2] % g.extent[1]),
            at(2, i % g.extent[2])};
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const see = ct::projection_of(kind, views[i / box.size()]);
    auto const x = voxel(box, i % box.size());
    double const depth = see.depth(x);
    out[3 * i] = T(see.u(x) / depth);
    out[3 * i + 1] = T(see.v(x) / depth);
    out[3 * i + 2] = T(depth);
  }
};

template <class T>
struct seen_case {
  ct::geometry scan;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto const box = grid::centred({5, 4, 3}, {13, 17, 19});
    auto const staged = ct::stage(exec, scan);
    std::int64_t const count = scan.num_views() * box.size();
    return {3 * count,
            [=](Exec const& on, variant const&, T* out) {
              Kokkos::parallel_for(
                  "iso::cases::seen", flat_range(on, count),
                  seen_kernel<T>{staged.host().kind(), staged.views().data(), box, out});
            },
            min_work{3 * double(count) * sizeof(T), 20 * double(count)},
            [=, g = scan](std::int64_t) { return exact(g, box); }};
  }

  /// By the ray through the voxel: where it meets the detector's plane.
  static std::vector<double> exact(ct::geometry const& g, grid const& box) {
    std::vector<double> all;
    for (auto const& w : g.views()) {
      for (std::int64_t i = 0; i < box.size(); ++i) {
        auto const x = seen_kernel<T>::voxel(box, i);
        auto const n = cross(w.u_step, w.v_step);
        bool const cone = g.kind() == ct::beam::cone;
        auto const along = cone ? x - w.source : w.source;
        auto const from = cone ? w.source : x;
        double const t = dot(n, w.detector_origin - from) / dot(n, along);
        auto const hit = from + t * along - w.detector_origin;
        // Coordinates on the detector by its Gram matrix.
        double const uu = dot(w.u_step, w.u_step);
        double const vv = dot(w.v_step, w.v_step);
        double const uv = dot(w.u_step, w.v_step);
        double const det = uu * vv - uv * uv;
        all.push_back((dot(hit, w.u_step) * vv - dot(hit, w.v_step) * uv) / det);
        all.push_back((dot(hit, w.v_step) * uu - dot(hit, w.u_step) * uv) / det);
        all.push_back(cone ? 1 / t : 1);
      }
    }
    return all;
  }
};

/// Nine views of a detector with its first pixel at `first`, as geometry.hpp says.
std::vector<double> exact_circle(long double first_angle, long double range, ct::beam kind,
                                 vec3<double> const& first, vec3<double> const& pitch) {
  std::vector<double> exact;
  for (int view = 0; view < 9; ++view) {
    long double const angle = first_angle + range * view / 9;
    long double const c = std::cos(angle);
    long double const s = std::sin(angle);
    long double const out = kind == ct::beam::cone ? 500 : -1;
    long double const away = kind == ct::beam::cone ? -300 : 0;
    for (long double const x :
         {out * c, out * s, 0.0L, away * c - first.x * s, away * s + first.x * c,
          static_cast<long double>(first.y), -pitch.x * s, pitch.x * c, 0.0L, 0.0L, 0.0L,
          static_cast<long double>(pitch.y)}) {
      exact.push_back(double(x));
    }
  }
  return exact;
}
std::vector<double> exact_cone() {
  return exact_circle(0.01L, 2 * std::numbers::pi_v<long double>, ct::beam::cone,
                      {3.3 - 22 * 5.1, -1.1 - 24.5 * 1.7, 0}, {5.1, 1.7, 0});
}
std::vector<double> exact_parallel() {
  return exact_circle(0, std::numbers::pi_v<long double>, ct::beam::parallel,
                      {0.4 - 22 * 3.1, -0.3 - 24.5 * 0.9, 0}, {3.1, 0.9, 0});
}

/// The projections of a volume that comes in three slabs, one of a single plane, the last first.
template <class T>
struct slab_projection_case {
  projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const voxels = whole.volume.template on<T>(exec);
    auto const staged = ct::stage(exec, whole.scan);
    auto result = whole.prepare(exec);
    result.run = [=, options = whole.options](Exec const& on, variant const& v, T* out) {
      slab const all = all_planes(voxels.grid);
      auto const own = three_slabs(voxels.grid);
      std::int64_t const halo =
          ct::ray_sums<T, space>::halo_needed(staged.host(), voxels.grid, options);
      ct::voxel_bounds bounds;
      std::vector<volume_view<T, space>> slabs;
      for (slab const& one : own) {
        slab const held{std::max(one.first - halo, std::int64_t(0)),
                        std::min(one.last + halo, all.last)};
        slabs.push_back(planes_of(on, voxels, held));
        bounds = bounds.joined(ct::bounds_of(on, slabs.back()));
      }
      auto here = options;
      here.path = v.path == ct::joseph_path::automatic ? options.path : v.path;
      ct::ray_sums<T, space> sums(on, staged, voxels.grid, bounds, here);
      for (std::size_t n = 0; n < slabs.size(); ++n) {
        sums.add(on, slabs[n], own[n]);
      }
      sums.finish(on, projections_at<T, space>(out, staged.host()));
      on.fence("iso::cases: the slabs may go");
    };
    return result;
  }
};

/// The voxels of ellipsoids, slab by slab.
template <class T>
struct slab_raster_case {
  raster_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto result = whole.prepare(exec);
    result.run = [with = whole](Exec const& on, variant const&, T* out) {
      auto const all = wrap_volume<space>(out, with.volume);
      for (slab const& planes : three_slabs(with.volume)) {
        auto const some = make_slab<T, space>(on, "iso::cases::slab", with.volume, planes);
        ct::rasterise_ellipsoids<Exec, T>(on, with.bodies, some, {std::int32_t(with.samples)});
        Kokkos::deep_copy(on, part_of(all.data, planes), some.data);
        on.fence("iso::cases: the slab may go");
      }
    };
    return result;
  }
};

/// The projections of a volume in host memory that passes through the backend's in slabs.
template <class T>
struct streamed_projection_case {
  projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    using host = Kokkos::HostSpace;
    auto const voxels = whole.volume.template on<T>(exec);
    volume_view<T, host> const x{voxels.grid,
                                 Kokkos::create_mirror_view_and_copy(host(), voxels.data)};
    auto result = whole.prepare(exec);
    result.least = {};
    result.run = [=, scan = whole.scan, options = whole.options](Exec const& on, variant const&,
                                                                 T* out) {
      auto const views = scan.num_views();
      ct::streamed_pair<Exec, T> pair(on, scan, x.grid,
                                      ct::split_views(views, views, ct::block_order::sequential),
                                      {.method = options.method, .sum = options.sum},
                                      {.device_bytes = std::int64_t(1) << 28, .max_planes = 5});
      auto const p =
          make_projections<T, host>(Kokkos::DefaultHostExecutionSpace(), "iso::cases::streamed",
                                    views, scan.num_u(), scan.num_v());
      pair.page_lock(x.data);
      pair.forward(0, x, p);
      Kokkos::deep_copy(on, projections_at<T, space>(out, scan).data, p.data);
      on.fence("iso::cases: the projections may go");
    };
    return result;
  }
};

/// The projections by what ranks do, of a job of one: the second half of the views by slabs that
/// pass through. tests/ranks compares several with it.
template <class T>
struct ranked_projection_case {
  projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto const voxels = whole.volume.template on<T>(exec);
    auto result = whole.prepare(exec);
    result.least = {};
    result.run = [=, scan = whole.scan, options = whole.options](Exec const& on, variant const&,
                                                                 T* out) {
      backend::one_rank ranks;
      ct::rank_plan const plan(scan, voxels.grid, divide_planes(voxels.grid, ranks.size()));
      auto const x = ct::make_volume_part<T>(on, "iso::cases::ranked", plan, ranks.rank());
      auto const p = ct::make_projections_part<T>(on, "iso::cases::ranked", plan, ranks.rank());
      Kokkos::deep_copy(on, x.data, voxels.data);
      ct::ranked_pair<Exec, T>(on, ranks, plan, {.method = options.method, .sum = options.sum}, 16)
          .forward(0, x, p);
      auto const result = projections_at<T, typename Exec::memory_space>(out, scan).data;
      Kokkos::deep_copy(on, result, p.data);
      on.fence("iso::cases: the projections may go");

      using host = Kokkos::HostSpace;
      volume_view<T, host> const slab{x.grid, Kokkos::create_mirror_view_and_copy(host(), x.data)};
      auto const views = scan.num_views();
      auto const passed =
          make_projections<T, host>(Kokkos::DefaultHostExecutionSpace(), "iso::cases::ranked",
                                    views, scan.num_u(), scan.num_v());
      ct::streamed_ranked_pair<Exec, T>(on, ranks, plan,
                                        ct::split_views(views, views, ct::block_order::sequential),
                                        {.method = options.method, .sum = options.sum},
                                        {.device_bytes = std::int64_t(1) << 28, .max_planes = 5})
          .forward(0, slab, passed);
      auto const second = Kokkos::make_pair(views / 2, views);
      Kokkos::deep_copy(on, Kokkos::subview(result, second, Kokkos::ALL, Kokkos::ALL),
                        Kokkos::subview(passed.data, second, Kokkos::ALL, Kokkos::ALL));
      on.fence("iso::cases: what passed may go");
    };
    return result;
  }
};

/// The same where only streaming counts: of what comes out, one view is looked at.
template <class T>
struct streamed_scan_case {
  projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    using host = Kokkos::HostSpace;
    auto const& scan = whole.scan;
    auto const views = scan.num_views();
    auto const one = scan.subset(0, 1);
    auto result = projection_case<T>{whole.volume, one, whole.options}.prepare(exec);
    auto const voxels = whole.volume.template on<T>(exec);
    volume_view<T, host> const x{voxels.grid,
                                 Kokkos::create_mirror_view_and_copy(host(), voxels.data)};
    auto const p =
        make_projections<T, host>(Kokkos::DefaultHostExecutionSpace(), "iso::cases::streamed",
                                  views, scan.num_u(), scan.num_v());
    auto const pair = std::make_shared<ct::streamed_pair<Exec, T>>(
        exec, scan, x.grid, ct::split_views(views, views, ct::block_order::sequential),
        ct::projector_options{.method = whole.options.method, .sum = whole.options.sum},
        ct::streaming_options{.device_bytes = streaming_limit<T>(x.grid.extent[2])});
    result.least = projection_work<T>(whole.options, scan, x.grid);
    result.run = [=](Exec const& on, variant const&, T* out) {
      pair->forward(0, x, p);
      Kokkos::deep_copy(on, projections_at<T, space>(out, one).data,
                        projections_at<T, host>(p.data.data(), one).data);
      on.fence("iso::cases: the view is here");
    };
    return result;
  }
};

std::vector<variant> const joseph_shapes = {
    {}, {4096}, {257, 64}, {0, 128}, {0, 0, ct::joseph_path::general}};

struct named_scan {
  std::string name;
  ct::geometry scan;
};

struct named_method {
  std::string name;
  projector method;
};
named_method const joseph_methods[] = {{"joseph", projector::joseph_linear},
                                       {"joseph_spline", projector::joseph_spline}};
named_method const walks[] = {{"amanatides_woo", projector::amanatides_woo},
                              {"branchless", projector::branchless},
                              {"siddon", projector::siddon}};

void add_projection(catalogue& all, std::string const& name, input_volume const& volume,
                    ct::geometry const& scan, ct::forward_project_options const& options) {
  all.add<projection_case>(
      {"project_" + name,
       {"iso::ct::forward_project", "iso::blend", "iso::wrap_projections", "iso::wrap_workspace"},
       ct::detail::is_joseph(options.method) ? joseph_shapes : launch_shapes},
      volume, scan, options);
}

/// Every Joseph method with every sum and boundary, and in a cylinder.
void add_joseph(catalogue& all, named_scan const& with) {
  auto const volume = small_random_volume();
  for (auto const& [name, method] : joseph_methods) {
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      for (auto const edge : {boundary::zero, boundary::truncate}) {
        add_projection(all,
                       name + (sum == summation::ordered ? "_ordered_" : "_reproducible_") +
                           with.name + (edge == boundary::zero ? "" : "_cut"),
                       volume, with.scan, {.method = method, .sum = sum, .edge = edge});
      }
    }
    add_projection(all, name + "_cylinder_" + with.name, volume, with.scan,
                   {.method = method, .within = ct::region::cylinder});
  }
}

/// In slabs: the hashes are those of the whole volume's reproducible sums.
void add_slabs(catalogue& all, named_scan const& with, named_method const& of) {
  std::vector<std::string> const functions = {"iso::ct::ray_sums", "iso::ct::bounds_of",
                                              "iso::make_slab", "iso::all_planes"};
  all.add<slab_projection_case>(
      {"project_slabs_" + of.name + "_" + with.name,
       functions,
       {{}, {0, 0, ct::joseph_path::general}}},
      small_random_volume(), with.scan,
      ct::forward_project_options{.method = of.method, .sum = summation::reproducible});
}

/// Streamed: the hash is that of the whole volume's reproducible sums.
void add_streamed(catalogue& all, named_scan const& with, named_method const& of) {
  all.add<streamed_projection_case>(
      {.name = "project_streamed_" + of.name + "_" + with.name,
       .functions = {"iso::ct::streamed_pair", "iso::backend::another_instance",
                     "iso::backend::copy_rows", "iso::backend::page_lock"},
       .variants = {{}},
       .has_model = false},
      small_random_volume(), with.scan,
      ct::forward_project_options{.method = of.method, .sum = summation::reproducible});
}

/// By ranks: the same hash.
void add_ranked(catalogue& all, named_scan const& with, named_method const& of) {
  all.add<ranked_projection_case>(
      {.name = "project_ranked_" + of.name + "_" + with.name,
       .functions = {"iso::ct::ranked_pair", "iso::ct::streamed_ranked_pair", "iso::ct::rank_plan",
                     "iso::ct::make_volume_part", "iso::ct::make_projections_part",
                     "iso::divide_planes", "iso::backend::carrier", "iso::backend::communicator",
                     "iso::backend::device_link"},
       .variants = {{}},
       .has_model = false},
      small_random_volume(), with.scan,
      ct::forward_project_options{.method = of.method, .sum = summation::reproducible});
}

/// Reproducible sums of chords, of the whole volume and in slabs: one hash.
void add_exact_sums(catalogue& all, ct::geometry const& scan) {
  ct::forward_project_options const options{
      .method = projector::siddon, .sum = summation::reproducible, .oversampling = 2};
  add_projection(all, "exact_reproducible", small_random_volume(), scan, options);
  all.add<slab_projection_case>(
      {"project_slabs_exact",
       {"iso::ct::ray_sums", "iso::ct::bounds_of", "iso::make_slab", "iso::all_planes"},
       {{}}},
      small_random_volume(), scan, options);
}

/// Every exact method, with one ray a pixel and with nine.
void add_exact(catalogue& all, named_scan const& with) {
  for (auto const& [name, method] : walks) {
    for (std::int32_t const rays : {1, 3}) {
      for (auto const within : {ct::region::box, ct::region::cylinder}) {
        add_projection(all,
                       name + "_" + with.name + (rays > 1 ? "_oversampled" : "") +
                           (within == ct::region::box ? "" : "_cylinder"),
                       small_random_volume(), with.scan,
                       {.method = method, .within = within, .oversampling = rays});
      }
    }
  }
}

/// In a volume of several blocks of driving planes, which slabs cut.
void add_large(catalogue& all) {
  auto const volume = random_volume();
  auto const scan = small_cone();
  add_projection(all, "joseph_ordered", volume, scan, {});
  add_projection(all, "joseph_reproducible", volume, scan, {.sum = summation::reproducible});
  add_projection(all, "joseph_reproducible_given_max", volume, scan,
                 {.sum = summation::reproducible, .max_abs = 1.5});
  for (auto const& [name, method] : walks) {
    add_projection(all, name, volume, scan, {.method = method});
  }
}

void add_phantoms(catalogue& all, named_scan const (&scans)[4]) {
  std::vector<std::string> const projecting = {"iso::ct::project_ellipsoids",
                                               "iso::ct::shepp_logan"};
  std::vector<std::string> const rasterising = {"iso::ct::rasterise_ellipsoids",
                                                "iso::wrap_volume"};
  auto const head = ct::shepp_logan(60);
  // No axis of the grid is one of its axes.
  std::vector<ct::ellipsoid> const body = {{{3.25, -7.5, 1.75}, {31, 17, 22}, 0.7, 0.02}};
  auto const box = grid::centred({48, 40, 44}, {2.5, 3, 2.75});
  std::int64_t const rays = 3;
  for (auto const& with : scans) {
    all.add<ellipsoid_projection_case>({"phantom_projection_" + with.name, projecting, {{}}}, head,
                                       with.scan, rays);
  }
  all.add<ellipsoid_projection_case>({"phantom_projection_original", projecting, {{}}},
                                     ct::shepp_logan(60, ct::shepp_logan_contrast::original),
                                     scans[0].scan, rays);
  all.add<ellipsoid_projection_case>(
      {"phantom_projection_body", {"iso::ct::project_ellipsoids"}, {{}}}, body, scans[2].scan,
      rays);
  all.add<raster_case>({"phantom_raster", rasterising, {{}}}, head, box, rays);
  all.add<raster_case>({"phantom_raster_body", rasterising, {{}}}, body, box, rays);
  // The hash is that of the whole volume.
  all.add<slab_raster_case>(
      {"phantom_raster_slabs", {"iso::ct::rasterise_ellipsoids", "iso::make_slab"}, {{}}}, head,
      box, rays);
}

/// At the sizes of sweeps.
void add_sized_projections(catalogue& all) {
  using steps_of = double (*)(double);
  steps_of const samples = [](double n) { return n * n * n * n; };
  steps_of const chords = [](double n) { return 8 * n * n * n * n; };
  ct::forward_project_options const reproducible{.sum = summation::reproducible};
  ct::forward_project_options const siddon{.method = ct::projector::siddon};
  auto const add = [&](scan_row const& row, steps_of steps,
                       ct::forward_project_options const& options) {
    add_scan_row(all, row, shapes::any, {[](double n) { return 2.1 * n * n * n; }, steps},
                 [options]<class T>(T, std::int64_t n, ct::geometry const& scan) {
                   return projection_case<T>{smooth_volume(n), scan, options};
                 });
  };
  add({"forward_project", "linear Joseph, ordered sums, as many cone views as voxels along a side",
       upright_scan},
      samples, {});
  add({"forward_project_tilted", tilted_alike, tilted_scan}, samples, {});
  add({"forward_project_reproducible", "forward_project with reproducible sums", upright_scan},
      samples, reproducible);
  add({"forward_project_reproducible_tilted", "forward_project_tilted with reproducible sums",
       tilted_scan},
      samples, reproducible);
  add({"forward_project_siddon", "forward_project by exact lengths", upright_scan}, chords, siddon);
  add({"forward_project_siddon_tilted", "forward_project_tilted by exact lengths", tilted_scan},
      chords, siddon);
  auto const add_streamed_row = [&](scan_row const& row) {
    add_scan_row(all, row, shapes::fixed, {[](double n) { return 5.2 * n * n * n; }, samples},
                 [reproducible]<class T>(T, std::int64_t n, ct::geometry const& scan) {
                   return streamed_scan_case<T>{{smooth_volume(n), scan, reproducible}};
                 });
  };
  add_streamed_row({"forward_project_streamed",
                    "reproducible sums of a volume in host memory, through 4 GiB a 1024^3 floats",
                    upright_scan});
  add_streamed_row({"forward_project_streamed_tilted", tilted_alike, tilted_scan});
}

}  // namespace

void add_projections(catalogue& all) {
  // Pixels of the coarse detector meet voxels far apart.
  named_scan const scans[] = {
      {"cone", small_cone().subset(0, 3)},
      {"parallel", small_parallel().subset(2, 3)},
      {"tilted", small_tilted().subset(5, 3)},
      {"coarse", ct::circular_cone({5, 33, 40, 12}, 300, 500,
                                   ct::even_angles(3, 2 * std::numbers::pi, 0.1))}};
  all.add<geometry_case>({"circular_cone", {"iso::ct::circular_cone", "iso::ct::stage"}, {{}}},
                         small_cone, exact_cone);
  all.add<geometry_case>(
      {"circular_parallel", {"iso::ct::circular_parallel", "iso::ct::stage"}, {{}}}, small_parallel,
      exact_parallel);
  for (auto const& with : scans) {
    all.add<seen_case>({"view_projection_" + with.name, {"iso::ct::projection_of"}, {{}}},
                       with.scan);
  }
  add_phantoms(all, scans);
  add_large(all);
  for (auto const& with : scans) {
    add_joseph(all, with);
    add_slabs(all, with, joseph_methods[with.name == "tilted" ? 1 : 0]);
    if (with.name == "cone" || with.name == "tilted") {
      add_streamed(all, with, joseph_methods[0]);
      add_ranked(all, with, joseph_methods[0]);
    }
    if (with.name != "coarse") {
      add_exact(all, with);
    }
  }
  add_exact_sums(all, small_tilted());
  add_sized_projections(all);
}

}  // namespace iso::cases
