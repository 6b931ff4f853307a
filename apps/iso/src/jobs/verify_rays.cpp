// SPDX-License-Identifier: BSD-3-Clause
//! The part of verify's table that runs iso/ray.
#include "verify_inputs.hpp"
#include "verify_plan.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>
#include <iso/ray/traverse.hpp>

#include <cmath>

namespace iso::jobs {
namespace {

constexpr std::int64_t num_rays = 8192;

template <class T, class Exec>
using device_rays = Kokkos::View<ray::ray<T>*, typename Exec::memory_space>;

template <class T, class Exec>
device_rays<T, Exec> load_rays(Exec const& exec, grid const& g) {
  auto const host = verify_rays<T>(g, num_rays);
  device_rays<T, Exec> const rays(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::rays"), host.size());
  Kokkos::deep_copy(exec, rays,
                    Kokkos::View<ray::ray<T> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        host.data(), host.size()));
  exec.fence("iso::jobs::verify: rays");
  return rays;
}

/// A user's kernel: a ray a lane, the visitor called voxel by voxel.
template <class Method, class T>
struct visitor_kernel {
  ray::traversal_grid grid;
  ray::ray<T> const* rays;
  T* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.each([&](int lane) {
      std::int64_t const r = index * backend::lanes + lane;
      T sum = T(0);
      auto const visited = ray::traverse<Method>(rays[r], grid, [&](std::int64_t voxel, T length) {
        sum = Kokkos::fma(length, T(voxel % 1021), sum);
      });
      out[2 * r] = sum;
      out[2 * r + 1] = T(visited);
    });
  }
};

/// Of all rays through the box.
template <class T>
least_work paths_through(grid const& box) {
  auto const rays = verify_rays<T>(box, num_rays);
  return path_work<T>(double(num_rays), double(box.size()),
                      voxels_crossed(rays.data(), num_rays, box));
}

/// The numbers of voxels count for nothing here: rounding may add one of no length.
template <class T>
std::vector<double> exact_visits(grid const& box) {
  auto const number = [n = box.extent](index3 const& voxel) {
    return double(((voxel[0] * n[1] + voxel[1]) * n[2] + voxel[2]) % 1021);
  };
  std::vector<double> exact;
  for (auto const& path : exact_paths(box, verify_rays<T>(box, num_rays), number)) {
    exact.push_back(path);
    exact.push_back(std::nan(""));
  }
  return exact;
}

template <class T>
struct visitor_case {
  ray::traversal method;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    return method == ray::traversal::amanatides_woo ? with<ray::amanatides_woo>(exec)
           : method == ray::traversal::branchless   ? with<ray::branchless>(exec)
                                                    : with<ray::siddon>(exec);
  }

 private:
  template <class Method, class Exec>
  prepared<Exec, T> with(Exec const& exec) const {
    auto const box = make_grid(verify_small_volume());
    auto const rays = load_rays<T>(exec, box);
    return {2 * num_rays,
            [=](Exec const& on, variant const& v, T* out) {
              backend::for_each_lane_group(
                  "iso::jobs::verify::visitor", on, num_rays / backend::lanes,
                  visitor_kernel<Method, T>{ray::traversal_grid(box), rays.data(), out},
                  {v.groups});
            },
            paths_through<T>(box), [=] { return exact_visits<T>(box); }};
  }
};

template <class T>
struct path_case {
  ray::traversal method;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const volume = load<T>(exec, verify_volume());
    auto const rays = load_rays<T>(exec, volume.grid);
    auto const chosen = method;
    return {num_rays,
            [=](Exec const& on, variant const& v, T* out) {
              Kokkos::View<T*, space> const paths(out, rays.extent(0));
              ray::radiological_path(on, rays, volume_view<T const, space>(volume), paths,
                                     {chosen, {v.groups}});
            },
            paths_through<T>(volume.grid), exact};
  }

 private:
  static std::vector<double> exact() {
    auto const volume = verify_volume();
    auto const box = make_grid(volume);
    return exact_paths(box, verify_rays<T>(box, num_rays), [&](index3 const& voxel) {
      auto const& n = volume.extent;
      return double(volume.values[std::size_t((voxel[0] * n[1] + voxel[1]) * n[2] + voxel[2])]);
    });
  }
};

template <class T>
struct as_numbers {
  std::int64_t const* from;
  T* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = T(from[i]); }
};

template <class T>
struct sort_case {
  ray::ray_order order;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const box = make_grid(verify_volume());
    auto const rays = load_rays<T>(exec, box);
    workspace<space> const work(ray::sort_rays_bytes_needed(num_rays));
    Kokkos::View<std::int64_t*, space> const permutation(
        Kokkos::view_alloc(exec, "iso::jobs::permutation"), std::size_t(num_rays));
    auto const chosen = order;
    double const bytes = double(num_rays) * double(sizeof(ray::ray<T>) + sizeof(std::int64_t));
    return {num_rays,
            [=](Exec const& on, variant const&, T* out) {
              ray::sort_rays(on, rays, box, permutation, work, chosen);
              Kokkos::parallel_for(
                  "iso::jobs::verify::permutation",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(on, 0, num_rays),
                  as_numbers<T>{permutation.data(), out});
            },
            least_work{bytes, 0}};
  }
};

}  // namespace

void add_rays(plan& all) {
  using ray::ray_order;
  using ray::traversal;
  // The three walks promise the same bits, whichever the backend prefers.
  struct walk {
    char const* name;
    traversal method;
  };
  for (auto const& [name, method] :
       {walk{"amanatides_woo", traversal::amanatides_woo},
        walk{"branchless", traversal::branchless}, walk{"siddon", traversal::siddon}}) {
    all.add<visitor_case>({std::string("traverse_") + name, {"iso::ray::traverse"}}, method);
    all.add<path_case>({std::string("radiological_path_") + name, {"iso::ray::radiological_path"}},
                       method);
  }
  all.add<path_case>({"radiological_path_fastest", {"iso::ray::radiological_path"}},
                     traversal::fastest);
  all.add<sort_case>({"sort_rays_entry_and_exit", {"iso::ray::sort_rays"}, {{}}},
                     ray_order::entry_and_exit);
  all.add<sort_case>({"sort_rays_octant_then_entry", {"iso::ray::sort_rays"}, {{}}},
                     ray_order::octant_then_entry);
}

}  // namespace iso::jobs
