// SPDX-License-Identifier: BSD-3-Clause
//! The part of verify's table that runs iso/ct.
#include "verify_inputs.hpp"
#include "verify_plan.hpp"

#include <iso/core/workspace.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <cmath>
#include <numbers>

namespace iso::jobs {
namespace {

using ct::projector;
using iso::summation;

std::int64_t pixels(ct::geometry const& g) { return g.num_views() * g.num_u() * g.num_v(); }

template <class T>
struct projection_case {
  files::host_volume (*volume)();
  ct::geometry scan;
  ct::forward_project_options options;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const voxels = load<T>(exec, volume());
    auto const staged = ct::stage(exec, scan);
    auto const wanted = options;
    workspace<space> const work(
        ct::forward_project_bytes_needed<Exec, T>(scan, voxels.grid, wanted));
    auto const voxels_of = volume;
    return {pixels(scan),
            [=](Exec const& on, variant const& v, T* out) {
              auto here = wanted;
              here.shape = {v.groups};
              here.slab_planes = v.slab;
              here.path = v.path;
              ct::forward_project<Exec, T>(on, staged, voxels,
                                           projections_at<T, space>(out, staged.host()),
                                           wrap_workspace<space>(work.data(), work.size()), here);
            },
            projection_work<T>(wanted, scan, voxels.grid),
            [=] {
              auto const read = voxels_of();
              return exact_projections(view_of(read), staged.host(), wanted, 7);
            }};
  }
};

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
                  "iso::jobs::verify::views",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(on, 0, views),
                  view_reader<T>{staged.views().data(), out});
              on.fence("iso::jobs::verify: the views may go");
            },
            least_work{12 * double(views) * (sizeof(double) + sizeof(T)), 0}, closed};
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

/// One solid that no axis of the grid is an axis of, and the ten of the head.
std::vector<ct::ellipsoid> one_body() { return {{{3.25, -7.5, 1.75}, {31, 17, 22}, 0.7, 0.02}}; }
std::vector<ct::ellipsoid> head() { return ct::shepp_logan(60); }
std::vector<ct::ellipsoid> original_head() {
  return ct::shepp_logan(60, ct::shepp_logan_contrast::original);
}
using phantom_maker = std::vector<ct::ellipsoid> (*)();

template <class T>
struct analytic_case {
  phantom_maker phantom;
  ct::geometry scan;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const staged = ct::stage(exec, scan);
    auto const bodies = phantom();
    return {pixels(scan),
            [=](Exec const& on, variant const&, T* out) {
              ct::project_ellipsoids<Exec, T>(on, bodies, staged,
                                              projections_at<T, space>(out, staged.host()), {3});
            },
            ellipsoid_work<T>(bodies, scan, 3),
            [=] { return exact_projections(bodies, staged.host(), 3); }};
  }
};

template <class T>
struct raster_case {
  phantom_maker phantom;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    using space = typename Exec::memory_space;
    auto const bodies = phantom();
    auto const g = grid::centred({48, 40, 44}, {2.5, 3, 2.75});
    return {g.size(),
            [=](Exec const& on, variant const&, T* out) {
              ct::rasterise_ellipsoids<Exec, T>(on, bodies, wrap_volume<space>(out, g), {3});
            },
            raster_work<T>(g), [=] { return exact_raster(bodies, g, 3); }};
  }
};

std::vector<variant> const joseph_shapes = {
    {}, {4096}, {257, 64}, {0, 128}, {0, 0, ct::joseph_path::general}};

operation projection(std::string const& name, std::vector<variant> variants) {
  return {
      "project_" + name,
      {"iso::ct::forward_project", "iso::blend", "iso::wrap_projections", "iso::wrap_workspace"},
      std::move(variants)};
}

struct named_scan {
  char const* name;
  ct::geometry scan;
};

// Every Joseph method with every sum and boundary, and in a cylinder.
void add_joseph(plan& all, named_scan const& with) {
  for (auto const method : {projector::joseph_linear, projector::joseph_spline}) {
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      for (auto const edge : {boundary::zero, boundary::truncate}) {
        std::string const name =
            std::string(method == projector::joseph_linear ? "joseph_" : "joseph_spline_") +
            (sum == summation::ordered ? "ordered_" : "reproducible_") + with.name +
            (edge == boundary::zero ? "" : "_cut");
        ct::forward_project_options options;
        options.method = method;
        options.sum = sum;
        options.edge = edge;
        all.add<projection_case>(projection(name, joseph_shapes), verify_small_volume, with.scan,
                                 options);
      }
    }
    ct::forward_project_options options;
    options.method = method;
    options.within = ct::region::cylinder;
    all.add<projection_case>(
        projection(std::string(method == projector::joseph_linear ? "joseph_" : "joseph_spline_") +
                       "cylinder_" + with.name,
                   joseph_shapes),
        verify_small_volume, with.scan, options);
  }
}

struct named_walk {
  char const* name;
  projector method;
};
constexpr named_walk walks[] = {{"amanatides_woo", projector::amanatides_woo},
                                {"branchless", projector::branchless},
                                {"siddon", projector::siddon}};

// Every exact method, with one ray a pixel and with nine.
void add_exact(plan& all, named_scan const& with) {
  for (auto const& [walk, method] : walks) {
    for (std::int32_t const rays : {1, 3}) {
      ct::forward_project_options options;
      options.method = method;
      options.oversampling = rays;
      std::string const name =
          std::string(walk) + "_" + with.name + (rays > 1 ? "_oversampled" : "");
      all.add<projection_case>(projection(name, launch_shapes), verify_small_volume, with.scan,
                               options);
      options.within = ct::region::cylinder;
      all.add<projection_case>(projection(name + "_cylinder", launch_shapes), verify_small_volume,
                               with.scan, options);
    }
  }
}

// In a volume of several blocks of driving planes, which slabs cut.
void add_large(plan& all) {
  ct::forward_project_options options;
  all.add<projection_case>(projection("joseph_ordered", joseph_shapes), verify_volume,
                           verify_cone(), options);
  options.sum = summation::reproducible;
  all.add<projection_case>(projection("joseph_reproducible", joseph_shapes), verify_volume,
                           verify_cone(), options);
  options.max_abs = 1.5;
  all.add<projection_case>(projection("joseph_reproducible_given_max", joseph_shapes),
                           verify_volume, verify_cone(), options);
  for (auto const& [walk, method] : walks) {
    ct::forward_project_options exact;
    exact.method = method;
    all.add<projection_case>(projection(walk, launch_shapes), verify_volume, verify_cone(), exact);
  }
}

}  // namespace

void add_projections(plan& all) {
  named_scan const scans[] = {{"cone", verify_cone().subset(0, 3)},
                              {"parallel", verify_parallel().subset(2, 3)},
                              {"tilted", verify_tilted().subset(5, 3)}};
  std::vector<std::string> const projecting = {"iso::ct::project_ellipsoids",
                                               "iso::ct::shepp_logan"};
  all.add<geometry_case>({"circular_cone", {"iso::ct::circular_cone", "iso::ct::stage"}, {{}}},
                         verify_cone, exact_cone);
  all.add<geometry_case>(
      {"circular_parallel", {"iso::ct::circular_parallel", "iso::ct::stage"}, {{}}},
      verify_parallel, exact_parallel);
  for (auto const& with : scans) {
    all.add<analytic_case>({std::string("phantom_projection_") + with.name, projecting, {{}}}, head,
                           with.scan);
  }
  all.add<analytic_case>({"phantom_projection_original", projecting, {{}}}, original_head,
                         scans[0].scan);
  all.add<analytic_case>({"phantom_projection_body", {"iso::ct::project_ellipsoids"}, {{}}},
                         one_body, scans[2].scan);
  all.add<raster_case>(
      {"phantom_raster", {"iso::ct::rasterise_ellipsoids", "iso::wrap_volume"}, {{}}}, head);
  all.add<raster_case>(
      {"phantom_raster_body", {"iso::ct::rasterise_ellipsoids", "iso::wrap_volume"}, {{}}},
      one_body);
  add_large(all);
  for (auto const& with : scans) {
    add_joseph(all, with);
    add_exact(all, with);
  }
}

}  // namespace iso::jobs
