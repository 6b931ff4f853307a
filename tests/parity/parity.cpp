// SPDX-License-Identifier: BSD-3-Clause
// One small case of every algorithm on every backend, to the bit. It prints a hash a case: builds
// of two compilers or presets agree where their outputs do. Exit code 1: a bit differs.
#include "parity.hpp"

#include <iso/core/stage.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>

#include <numbers>

namespace iso::test {
namespace {

template <class T>
std::string of_type(std::string const& name) {
  return name + (sizeof(T) == 4 ? " float" : " double");
}

template <class T, class Exec>
auto random_volume(Exec const& exec, grid const& g) {
  auto const v = make_volume<T, typename Exec::memory_space>("volume", g);
  auto const values = moved_to(exec, even_numbers<T>(std::size_t(g.size()), 1));
  using flat =
      Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, flat(v.data.data(), v.data.size()), values);
  return v;
}

template <class T, class Exec>
std::vector<T> projected(Exec const& exec, grid const& g, ct::geometry const& scan,
                         ct::forward_project_options const& options) {
  using space = typename Exec::memory_space;
  auto const out = make_projections<T, space>("out", scan.num_views(), scan.num_u(), scan.num_v());
  workspace<space> const scratch(ct::forward_project_bytes_needed<Exec, T>(scan, g, options));
  auto const v = random_volume<T>(exec, g);
  ct::forward_project<Exec, T>(exec, ct::stage(exec, scan), {v.grid, v.data, v.unit}, out, scratch,
                               options);
  return moved_back(exec, static_cast<T const*>(out.data.data()), out.data.size());
}

template <class T, class Exec>
auto random_projections(Exec const& exec, ct::geometry const& scan) {
  using space = typename Exec::memory_space;
  auto const p = make_projections<T, space>("p", scan.num_views(), scan.num_u(), scan.num_v());
  auto const values = moved_to(exec, even_numbers<T>(p.data.size(), 2));
  using flat = Kokkos::View<T*, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, flat(p.data.data(), p.data.size()), values);
  return p;
}

template <class T, class Exec>
std::vector<T> backprojected(Exec const& exec, grid const& g, ct::geometry const& scan,
                             ct::back_project_options const& options) {
  using space = typename Exec::memory_space;
  auto const p = random_projections<T>(exec, scan);
  auto const out = make_volume<T, space>("out", g);
  workspace<space> const scratch(ct::back_project_bytes_needed<Exec, T>(scan, g, options));
  ct::back_project<Exec, T>(exec, ct::stage(exec, scan), p, out, scratch, options);
  return moved_back(exec, static_cast<T const*>(out.data.data()), out.data.size());
}

template <class T, class Exec>
std::vector<T> reconstructed(Exec const& exec, grid const& g, ct::geometry const& scan,
                             ct::fdk_options const& options) {
  using space = typename Exec::memory_space;
  auto const p = random_projections<T>(exec, scan);
  auto const out = make_volume<T, space>("out", g);
  ct::fdk_reconstructor<Exec, T> const reconstructor(exec, scan, g, options);
  reconstructor.apply(p, out);
  return moved_back(exec, static_cast<T const*>(out.data.data()), out.data.size());
}

template <class T>
void compare_reconstructions(parity& all) {
  auto const g = grid::centred({30, 37, 96}, {1, 1.25, 0.75});
  double const circle = 2 * std::numbers::pi;
  ct::flat_detector const detector{21, 75, 9, 1.5, 3, 2};
  auto const compare = [&](std::string const& what, ct::geometry const& scan,
                           ct::fdk_options const& options) {
    all.compare(of_type<T>("fdk " + what),
                [&](auto const& exec) { return reconstructed<T>(exec, g, scan, options); });
  };
  auto const full = ct::circular_cone(detector, 300, 500, ct::even_angles(37, circle, 0.1));
  compare("cone", full, {});
  compare("cone hann", full, {.window = ct::ramp_window::hann, .cutoff = 0.7});
  compare("continued", full, {.scan = {.continuation = 9}});
  compare("short scan", ct::circular_cone(detector, 300, 500, ct::even_angles(40, 4.2, 0.1)), {});
  compare("parallel", ct::circular_parallel(detector, ct::even_angles(20, circle / 2)), {});
}

template <class T>
void compare_projections(parity& all) {
  auto const angles = ct::even_angles(3, 2 * std::numbers::pi, 0.1);
  auto const g = grid::centred({70, 61, 96}, {1, 1.25, 0.75});
  struct named_scan {
    char const* name;
    ct::geometry scan;
  };
  named_scan const scans[] = {
      // Neighbouring pixels meet neighbouring voxels.
      {"cone", ct::circular_cone({21, 75, 9, 1.5, 3, 2}, 300, 500, angles)},
      // They meet voxels far apart.
      {"coarse cone", ct::circular_cone({5, 33, 40, 12}, 300, 500, angles)},
      {"parallel", ct::circular_parallel({17, 40, 5, 2}, angles)},
  };
  for (named_scan const& each : scans) {
    auto const compare = [&](std::string const& what, ct::forward_project_options const& options) {
      all.compare(of_type<T>(std::string("forward_project ") + each.name + " " + what),
                  [&](auto const& exec) { return projected<T>(exec, g, each.scan, options); });
    };
    for (auto const path : {ct::joseph_path::automatic, ct::joseph_path::general}) {
      std::string const kind = path == ct::joseph_path::general ? "general" : "fast";
      compare(kind, {.path = path});
      compare(kind + " reproducible", {.sum = summation::reproducible, .path = path});
      compare(kind + " truncate", {.edge = boundary::truncate, .path = path});
      compare(kind + " spline", {.method = ct::projector::joseph_spline, .path = path});
    }
    compare("amanatides_woo", {.method = ct::projector::amanatides_woo});
    compare("branchless", {.method = ct::projector::branchless, .oversampling = 2});
    compare("siddon", {.method = ct::projector::siddon});
    auto const compare_back = [&](std::string const& what,
                                  ct::back_project_options const& options) {
      all.compare(of_type<T>(std::string("back_project ") + each.name + " " + what),
                  [&](auto const& exec) { return backprojected<T>(exec, g, each.scan, options); });
    };
    compare_back("fast", {});
    compare_back("fast truncate", {.edge = boundary::truncate});
    compare_back("general", {.path = ct::joseph_path::general});
    compare_back("spline", {.method = ct::projector::joseph_spline});
    compare_back("siddon", {.method = ct::projector::siddon, .oversampling = 2});
  }
}

template <class T>
std::vector<ray::ray<T>> random_rays(std::size_t count) {
  auto const ends = even_numbers<T>(6 * count, 3, -60, 60);
  std::vector<ray::ray<T>> rays;
  for (std::size_t n = 0; n < count; ++n) {
    T const* const p = &ends[6 * n];
    rays.push_back(ray::ray<T>::between({p[0], p[1], p[2]}, {p[3], p[4], p[5]}));
  }
  return rays;
}

template <class T>
void compare_rays(parity& all) {
  auto const g = grid::centred({40, 48, 56}, {1, 1.25, 0.75});
  auto const rays = random_rays<T>(500);
  using ray::traversal;
  for (auto const method : {traversal::amanatides_woo, traversal::branchless, traversal::siddon}) {
    all.compare(of_type<T>("radiological_path " + std::to_string(int(method))),
                [&](auto const& exec) {
                  auto const there = moved_to(exec, rays);
                  auto const paths = moved_to(exec, std::vector<T>(rays.size()));
                  auto const v = random_volume<T>(exec, g);
                  ray::radiological_path(exec, there, v, paths, {.method = method});
                  return moved_back(exec, static_cast<T const*>(paths.data()), rays.size());
                });
  }
  all.compare(of_type<T>("sort_rays"), [&](auto const& exec) {
    auto const there = moved_to(exec, rays);
    auto const order = moved_to(exec, std::vector<std::int64_t>(rays.size()));
    workspace<typename std::decay_t<decltype(exec)>::memory_space> const scratch(
        ray::sort_rays_bytes_needed(std::int64_t(rays.size())));
    ray::sort_rays(exec, there, g, order, scratch);
    return moved_back(exec, static_cast<std::int64_t const*>(order.data()), rays.size());
  });
}

template <class T>
void compare_ellipsoids(parity& all) {
  auto const shapes = ct::shepp_logan(20);
  auto const scan = ct::circular_cone({15, 33, 3, 1.5}, 80, 120, ct::even_angles(3, 6));
  auto const g = grid::centred({21, 22, 23}, {2, 2, 2});
  all.compare(of_type<T>("project_ellipsoids"), [&](auto const& exec) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const out =
        make_projections<T, space>("out", scan.num_views(), scan.num_u(), scan.num_v());
    ct::project_ellipsoids(exec, shapes, ct::stage(exec, scan), out, {.subsamples = 2});
    return moved_back(exec, static_cast<T const*>(out.data.data()), out.data.size());
  });
  all.compare(of_type<T>("rasterise_ellipsoids"), [&](auto const& exec) {
    auto const v = make_volume<T, typename std::decay_t<decltype(exec)>::memory_space>("v", g);
    ct::rasterise_ellipsoids(exec, shapes, v);
    return moved_back(exec, static_cast<T const*>(v.data.data()), v.data.size());
  });
}

}  // namespace
}  // namespace iso::test

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  iso::test::parity all;
  iso::test::compare_projections<float>(all);
  iso::test::compare_reconstructions<float>(all);
  iso::test::compare_projections<double>(all);
  iso::test::compare_reconstructions<double>(all);
  iso::test::compare_rays<float>(all);
  iso::test::compare_rays<double>(all);
  iso::test::compare_ellipsoids<float>(all);
  iso::test::compare_ellipsoids<double>(all);
  iso::test::compare_dose(all);
  iso::test::compare_products(all);
  return all.differences() == 0 ? 0 : 1;
}
