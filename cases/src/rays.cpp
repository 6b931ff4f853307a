// SPDX-License-Identifier: BSD-3-Clause
//! Rays: walked, summed along and sorted.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/paths.hpp>

#include <iso/backend/lane_group.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>
#include <iso/ray/traverse.hpp>

#include <cmath>

namespace iso::cases {
namespace {

constexpr std::int64_t num_rays = 8192;

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

/// The numbers of voxels count for nothing here: rounding may add one of no length.
template <class T>
std::vector<double> exact_visits(grid const& box, std::int64_t count) {
  auto const number = [n = box.extent](oracle::index3 const& voxel) {
    return double(((voxel[0] * n[1] + voxel[1]) * n[2] + voxel[2]) % 1021);
  };
  std::vector<double> exact;
  for (auto const& path : some_exact_paths(box, random_rays<T>(box, num_rays), count, number)) {
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
    auto const box = small_random_volume().box;
    auto const host = random_rays<T>(box, num_rays);
    auto const rays = load_rays<T>(exec, host);
    return {2 * num_rays,
            [=](Exec const& on, variant const& v, T* out) {
              backend::for_each_lane_group(
                  "iso::cases::visitor", on, num_rays / backend::lanes,
                  visitor_kernel<Method, T>{ray::traversal_grid(box), rays.data(), out},
                  {v.groups});
            },
            paths_through<T>(host, box),
            [=](std::int64_t count) { return exact_visits<T>(box, count); }};
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
    auto const box = random_volume().box;
    auto const rays = load_rays<T>(exec, random_rays<T>(box, num_rays));
    workspace<space> const work(ray::sort_rays_bytes_needed(exec, num_rays));
    Kokkos::View<std::int64_t*, space> const permutation(
        Kokkos::view_alloc(exec, "iso::cases::permutation"), std::size_t(num_rays));
    auto const chosen = order;
    double const bytes = double(num_rays) * double(sizeof(ray::ray<T>) + sizeof(std::int64_t));
    return {num_rays,
            [=](Exec const& on, variant const&, T* out) {
              ray::sort_rays(on, rays, box, permutation, work, chosen);
              Kokkos::parallel_for(
                  "iso::cases::permutation",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(on, 0, num_rays),
                  as_numbers<T>{permutation.data(), out});
            },
            min_work{bytes, 0}};
  }
};

/// What has a type besides T.
template <class T>
struct random_path_case : path_case<T> {
  explicit random_path_case(ray::traversal method) : path_case<T>{random_volume(), {}, method} {}
};

}  // namespace

void add_rays(catalogue& all) {
  using ray::ray_order;
  using ray::traversal;
  // The walks promise the same bits, whichever the backend prefers.
  for (auto const& [method, text] : words(traversal())) {
    std::string const name(text);
    if (method != traversal::fastest) {
      all.add<visitor_case>({"traverse_" + name, {"iso::ray::traverse"}}, method);
    }
    all.add<random_path_case>({"radiological_path_" + name, {"iso::ray::radiological_path"}},
                              method);
  }
  all.add<sort_case>({"sort_rays_entry_and_exit", {"iso::ray::sort_rays"}, {{}}, std::nullopt},
                     ray_order::entry_and_exit);
  all.add<sort_case>({"sort_rays_octant_then_entry", {"iso::ray::sort_rays"}, {{}}, std::nullopt},
                     ray_order::octant_then_entry);

  all.add_sized({"radiological_path",
                 "a cone view's rays, one a pixel",
                 "voxels along each side",
                 16,
                 2048,
                 {number_type::f32, number_type::f64},
                 3,
                 shapes::any,
                 [](double n) { return n * n * n + 4 * n * n; },
                 [](double n) { return 128 * n * n; },
                 [](double n) { return 4 * n * n * n; }},
                [](auto const& exec, point const& p) {
                  return in_precision(p, [&]<class T>(T) {
                    path_case<T> const what{
                        smooth_volume(p.size),
                        std::make_shared<std::vector<ray::ray<T>> const>(cone_rays<T>(p.size, 1))};
                    return ready_of(exec, what.prepare(exec), p);
                  });
                });
}

}  // namespace iso::cases
