// SPDX-License-Identifier: BSD-3-Clause
// Prints a hash of what this file's own kernels compute, and of a projection by the library.
#include <iso/backend/lane_group.hpp>
#include <iso/core/space.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/traverse.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <type_traits>

namespace {

using space = iso::space::device;
using exec_space = Kokkos::DefaultExecutionSpace;

// x follows the logistic map: every rounding changes what comes after it, so one contraction or
// reassociation changes all bits.
template <class T>
struct logistic {
  T* x;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.template parts<T, 2>([&](auto const& part) {
      using value = typename std::decay_t<decltype(part)>::template per_lane<T>;
      value here = part.load(x + 32 * index);
      for (int step = 0; step < 100; ++step) {
        here = value(T(3.7)) * here - value(T(3.7)) * here * here;
      }
      part.store(x + 32 * index, here);
    });
  }
};

// The same in plain numbers, along rays through a grid: what a ray crosses, weighted.
struct weighted_paths {
  iso::ray::traversal_grid grid;
  float* sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const ray =
        iso::ray::ray<float>::between({-30, float(i) / 7, 1}, {30, float(i) / 11, float(i) / 5});
    float sum = 0;
    iso::ray::traverse<iso::ray::amanatides_woo>(ray, grid, [&](std::int64_t voxel, float length) {
      sum += length * float(voxel % 13) / 3.0F + sum * 0.01F;
    });
    sums[i] = sum;
  }
};

std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a

template <class View>
void add_to_hash(View const& view) {
  auto const here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  auto const* const bytes = reinterpret_cast<unsigned char const*>(here.data());
  for (std::size_t n = 0; n < here.size() * sizeof(*here.data()); ++n) {
    hash = (hash ^ bytes[n]) * 0x100000001b3U;
  }
}

template <class T>
void add_logistic(exec_space const& exec) {
  std::int64_t const groups = 8;
  Kokkos::View<T*, space> const x("x", 32 * groups);
  auto const start = Kokkos::create_mirror_view(x);
  for (std::int64_t i = 0; i < 32 * groups; ++i) {
    start(i) = T(i + 1) / T(32 * groups + 1);
  }
  Kokkos::deep_copy(exec, x, start);
  iso::backend::for_each_lane_group("logistic", exec, groups, logistic<T>{x.data()});
  exec.fence();
  add_to_hash(x);
}

void add_paths(exec_space const& exec, iso::grid const& grid) {
  std::int64_t const rays = 100;
  Kokkos::View<float*, space> const sums("sums", rays);
  Kokkos::parallel_for("weighted_paths", Kokkos::RangePolicy<exec_space>(exec, 0, rays),
                       weighted_paths{iso::ray::traversal_grid(grid), sums.data()});
  exec.fence();
  add_to_hash(sums);
}

void add_projection(exec_space const& exec, iso::grid const& grid) {
  auto const scan = iso::ct::circular_cone({.num_u = 33, .num_v = 33}, 1000, 1200, {0.0, 0.4});
  auto const head = iso::make_volume<float, space>(exec, "head", grid);
  auto const views = iso::make_projections<float, space>(exec, "views", 2, 33, 33);
  iso::workspace<space> const scratch(
      iso::ct::forward_project_bytes_needed<float>(exec_space(), scan, grid));
  iso::ct::rasterise_ellipsoids(exec, iso::ct::shepp_logan(15), head);
  iso::ct::forward_project(exec, iso::ct::stage(exec, scan), head, views, scratch);
  exec.fence();
  add_to_hash(views.data);
}

}  // namespace

int main() {
  Kokkos::ScopeGuard const kokkos;
  exec_space const exec;
  auto const grid = iso::grid::centred({32, 32, 32}, {1, 1, 1});
  add_logistic<float>(exec);
  add_logistic<double>(exec);
  add_paths(exec, grid);
  add_projection(exec, grid);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
