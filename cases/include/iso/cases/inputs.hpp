// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/inputs.hpp
//! Makes what operations compute on: numbers that look random, volumes, scans, projections and
//! rays, the same on every machine.
#pragma once

#include <iso/cases/memory.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/ray.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace iso::cases {

/// Returns a number of 64 bits that looks random: splitmix64 of the index.
KOKKOS_INLINE_FUNCTION std::uint64_t scrambled(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Returns a number in [-1, 1), exact in float and double.
KOKKOS_INLINE_FUNCTION double in_unit(std::uint64_t index) {
  return double(std::int64_t(scrambled(index) >> 40) - (std::int64_t(1) << 23)) / double(1 << 23);
}

/// Fills with in_unit of every index.
template <class T>
struct fill_random {
  T* values;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    values[i] = T(in_unit(std::uint64_t(i)));
  }
};

/// No value of smooth_field is larger.
inline constexpr double field_maximum = 0.0125;

/// A tilted hill in a cube that is zero outside the largest ball, the same numbers in float and
/// double.
template <class T>
struct smooth_field {
  T* values;
  std::int64_t n;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    float const to_unit = 2.0F / float(n);
    float const middle = 0.5F * float(n - 1);
    float const x = (float(i / (n * n)) - middle) * to_unit;
    float const y = (float(i / n % n) - middle) * to_unit;
    float const z = (float(i % n) - middle) * to_unit;
    float const h = 1.0F - (x * x + y * y + z * z);
    values[i] = h > 0.0F ? T(0.01F * h * h * (1.0F + 0.3F * x - 0.2F * y + 0.4F * z * x)) : T(0);
  }
};

struct input_volume {
  enum class contents { random, smooth, ellipsoids, given };

  grid box;
  contents what = contents::random;
  std::vector<ct::ellipsoid> bodies = {};
  std::shared_ptr<std::vector<float> const> values = {};

  /// Puts it where `exec` computes; waits.
  template <class T, class Exec>
  [[nodiscard]] volume_view<T, typename Exec::memory_space> on(Exec const& exec) const {
    auto const v = make_volume<T, typename Exec::memory_space>(exec, "iso::cases::volume", box);
    switch (what) {
      case contents::random:
        Kokkos::parallel_for("iso::cases::fill_random", flat_range(exec, box.size()),
                             fill_random<T>{v.data.data()});
        break;
      case contents::smooth:
        Kokkos::parallel_for("iso::cases::smooth_field", flat_range(exec, box.size()),
                             smooth_field<T>{v.data.data(), box.extent[0]});
        break;
      case contents::ellipsoids:
        ct::rasterise_ellipsoids<Exec, T>(exec, bodies, v);
        break;
      case contents::given:
        put(exec, v.data, *values);
        break;
    }
    exec.fence("iso::cases: the volume is there");
    return v;
  }
};

/// Returns n^3 voxels of 1 mm with a smooth_field.
inline input_volume smooth_volume(std::int64_t n) {
  return {grid::centred({n, n, n}, {1, 1, 1}), input_volume::contents::smooth};
}

/// The projections of a volume, of ellipsoids (one ray a pixel), those given, or numbers that look
/// random.
struct input_projections {
  std::optional<input_volume> volume = {};
  std::vector<ct::ellipsoid> bodies = {};
  std::shared_ptr<std::vector<float> const> values = {};

  /// Puts them where `exec` computes; waits.
  template <class T, class Exec>
  [[nodiscard]] projection_view<T, typename Exec::memory_space> on(Exec const& exec,
                                                                   ct::geometry const& g) const {
    using space = typename Exec::memory_space;
    auto const p = make_projections<T, space>(exec, "iso::cases::projections", g.num_views(),
                                              g.num_u(), g.num_v());
    if (volume) {
      auto const v = volume->on<T>(exec);
      workspace<space> const scratch(ct::forward_project_bytes_needed<T>(exec, g, v.grid));
      ct::forward_project<Exec, T>(exec, ct::stage(exec, g), v, p, scratch);
      exec.fence("iso::cases: the volume may go");
    } else if (!bodies.empty()) {
      ct::project_ellipsoids<Exec, T>(exec, bodies, ct::stage(exec, g), p, {1});
    } else if (values) {
      put(exec, p.data, *values);
    } else {
      Kokkos::parallel_for("iso::cases::fill_random", flat_range(exec, std::int64_t(p.data.size())),
                           fill_random<T>{p.data.data()});
    }
    exec.fence("iso::cases: the projections are there");
    return p;
  }
};

/// Returns numbers that look random, more than two blocks of driving planes along x and y.
input_volume random_volume();
/// Returns the same with little more than one block along x and y.
input_volume small_random_volume();

/// Returns scans of 9 views of 45 x 50 pixels.
ct::geometry small_cone();
ct::geometry small_parallel();
/// No view has v along z.
ct::geometry small_tilted();

/// Returns the circle of perf/peers/scan.py about n voxels of 1 mm a side: n x n pixels, or so many
/// times more each way.
ct::geometry cone_scan(std::int64_t n, std::int64_t views, double pixels = 1);
/// Returns a scan with its detector rolled by one degree and pitched by two, as that of a
/// calibrated scan may be: no row or column of it lies along an axis of the volume.
ct::geometry tilted(ct::geometry const& scan);
/// Returns what sweeps project: n views.
inline ct::geometry upright_scan(std::int64_t n) { return cone_scan(n, n); }
inline ct::geometry tilted_scan(std::int64_t n) { return tilted(cone_scan(n, n)); }

/// Returns the bytes of device memory that streamed calls on n^3 numbers of T have: as 4 GiB to
/// 1024^3 floats, and no less than small sizes need.
template <class T>
std::int64_t streaming_limit(std::int64_t n) {
  std::int64_t const room = std::int64_t(1) << 26;
  return std::max(room, std::int64_t(sizeof(T)) * n * n * n);
}

/// Returns rays about `g`, three of eight along an axis, many of those in a plane between voxels.
template <class T>
std::vector<ray::ray<T>> random_rays(grid const& g, std::int64_t count);

/// Returns the rays of cone views of a centred volume of n voxels of 1 mm a side: source 2 n,
/// detector 3 n away, n x n pixels of 1.5 mm, v fastest, so that neighbours cross the same columns.
template <class T>
std::vector<ray::ray<T>> cone_rays(std::int64_t n, std::int64_t views);

}  // namespace iso::cases
