// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/paths.hpp
//! Rays through a volume of random values, close together, random or sorted, and their radiological
//! paths.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/cases/work.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>

namespace iso::cases {

/// Cone views in the order of their pixels or in none; chords of a ball at random. How they are
/// sorted then.
enum class bundle { coherent, shuffled, random };
enum class sorting { none, by_ends, by_entry };

template <class T>
using host_view = Kokkos::View<T*, Kokkos::HostSpace>;

/// Cone views of a centred volume of n voxels of 1 mm a side, source 2 n, detector 3 n away, n x n
/// pixels of 1.5 mm: v fastest, so that neighbours cross the same columns.
template <class T>
ray::ray<T> cone_ray(std::int64_t i, std::int64_t n) {
  double const angle = 0.7 + double(i / (n * n));
  double const c = std::cos(angle);
  double const s = std::sin(angle);
  double const u = (double(i / n % n) + 0.5 - 0.5 * double(n)) * 1.5;
  double const v = (double(i % n) + 0.5 - 0.5 * double(n)) * 1.5;
  double const far = double(n);
  vec3<double> const source{2 * far * c, 2 * far * s, 0};
  vec3<double> const pixel{-far * c - u * s, -far * s + u * c, v};
  return ray::ray<T>::between(static_cast<vec3<T>>(source), static_cast<vec3<T>>(pixel));
}

template <class T>
host_view<ray::ray<T>> make_rays(bundle kind, std::int64_t n, std::int64_t count) {
  host_view<ray::ray<T>> const rays("rays", std::size_t(count));
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  auto const on_sphere = [&] {
    vec3<double> const p{normal(random), normal(random), normal(random)};
    return static_cast<vec3<T>>((0.87 * double(n) / norm(p)) * p);
  };
  for (std::int64_t i = 0; i < count; ++i) {
    rays(std::size_t(i)) =
        kind == bundle::random ? ray::ray<T>::between(on_sphere(), on_sphere()) : cone_ray<T>(i, n);
  }
  if (kind == bundle::shuffled) {
    std::shuffle(rays.data(), rays.data() + count, random);
  }
  return rays;
}

template <class T>
struct fill_volume {
  T* data;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const hash = (std::uint64_t(i) + 1) * 0x9e3779b97f4a7c15ULL;
    data[i] = T(double(hash >> 40U) * 0x1p-24);
  }
};

template <class T>
struct plain_path {
  ray::traversal_grid grid;
  ray::ray<T> const* rays;
  T const* values;
  T* paths;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    T sum = 0;
    ray::traverse<ray::amanatides_woo>(rays[i], grid, [&](std::int64_t voxel, T length) {
      sum = Kokkos::fma(length, values[voxel], sum);
    });
    paths[i] = canonical(sum);
  }
};

template <class T>
struct permute_rays {
  ray::ray<T> const* from;
  std::int64_t const* order;
  ray::ray<T>* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[order[i]]; }
};

template <class Exec, class T>
class paths_problem {
  using space = typename Exec::memory_space;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

 public:
  /// `views` times n^2 rays through n^3 voxels.
  paths_problem(Exec const& exec, std::int64_t n, std::int64_t views, bundle kind, sorting how)
      : exec_(exec),
        n_(n),
        count_(n * n * views),
        volume_(make_volume<T, space>("volume", grid::centred({n_, n_, n_}, {1, 1, 1}))),
        host_rays_(make_rays<T>(kind, n_, count_)),
        rays_("rays", std::size_t(count_)),
        paths_("paths", std::size_t(count_)),
        plain_paths_("plain paths", std::size_t(count_)) {
    Kokkos::parallel_for("iso::cases::fill_volume", policy(exec, 0, volume_.grid.size()),
                         fill_volume<T>{volume_.data.data()});
    Kokkos::deep_copy(exec, rays_, host_rays_);
    if (how != sorting::none) {
      sort(how == sorting::by_ends ? ray::ray_order::entry_and_exit
                                   : ray::ray_order::octant_then_entry);
    }
    exec.fence("iso::cases: rays are there");
  }

  void plain() const {
    Kokkos::parallel_for("iso::cases::plain_path", policy(exec_, 0, count_),
                         plain_path<T>{ray::traversal_grid(volume_.grid), rays_.data(),
                                       volume_.data.data(), plain_paths_.data()});
  }
  void run(ray::radiological_path_options const& options) const {
    ray::radiological_path(exec_, rays_, volume_, paths_, options);
  }

  [[nodiscard]] Kokkos::View<T*, space> const& paths() const { return paths_; }
  [[nodiscard]] Kokkos::View<T*, space> const& plain_paths() const { return plain_paths_; }
  [[nodiscard]] least_work work() const {
    return path_work<T>(rays(), double(volume_.grid.size()), voxels());
  }
  [[nodiscard]] double rays() const { return double(count_); }
  [[nodiscard]] double rays_of_view() const { return double(n_ * n_); }
  [[nodiscard]] double sort_seconds() const { return sort_seconds_; }

  /// Voxels crossed by all rays, from every 61st of them.
  [[nodiscard]] double voxels() const {
    return voxels_crossed(host_rays_.data(), count_, volume_.grid, 61);
  }

  [[nodiscard]] double error() const {
    auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), volume_.data);
    auto const rays = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rays_);
    auto const paths = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), paths_);
    double worst = 0;
    double longest = 0;
    for (std::size_t i = 0; i < std::size_t(count_); i += 997) {
      auto const& r = rays(i);
      double exact = 0;
      ray::traverse<ray::siddon>(ray::ray<double>{static_cast<vec3<double>>(r.origin),
                                                  static_cast<vec3<double>>(r.direction),
                                                  double(r.t_min), double(r.t_max)},
                                 ray::traversal_grid(volume_.grid),
                                 [&](std::int64_t voxel, double length) {
                                   exact += length * double(values.data()[voxel]);
                                 });
      worst = std::max(worst, std::abs(exact - double(paths(i))));
      longest = std::max(longest, exact);
    }
    return worst / longest;
  }

 private:
  void sort(ray::ray_order order) {
    Kokkos::View<std::int64_t*, space> const permutation("order", std::size_t(count_));
    workspace<space> const scratch(ray::sort_rays_bytes_needed(count_));
    auto const once = [&] {
      ray::sort_rays(exec_, rays_, volume_.grid, permutation, scratch, order);
    };
    once();
    exec_.fence("iso::cases: sorted once");
    auto const start = std::chrono::steady_clock::now();
    once();
    exec_.fence("iso::cases: sorted twice");
    sort_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Kokkos::View<ray::ray<T>*, space> const sorted("sorted rays", std::size_t(count_));
    Kokkos::parallel_for("iso::cases::permute_rays", policy(exec_, 0, count_),
                         permute_rays<T>{rays_.data(), permutation.data(), sorted.data()});
    exec_.fence("iso::cases: rays are sorted");
    rays_ = sorted;
  }

  Exec exec_;
  std::int64_t n_;
  std::int64_t count_;
  volume_view<T, space> volume_;
  host_view<ray::ray<T>> host_rays_;
  Kokkos::View<ray::ray<T>*, space> rays_;
  Kokkos::View<T*, space> paths_;
  Kokkos::View<T*, space> plain_paths_;
  double sort_seconds_ = 0;
};

}  // namespace iso::cases
