// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/forward_project_support.hpp
//! Volumes, scans and projections for the tests of forward_project.
#pragma once

#include "compare.hpp"
#include "volume_of.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/stage.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/forward_project.hpp>

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace projector_support {

using host = Kokkos::HostSpace;
using iso::grid;
using iso::summation;
using iso::vec3;
using iso::ct::beam;
using iso::ct::forward_project_options;
using iso::ct::geometry;
using iso::ct::joseph_path;
using iso::ct::projector;
using iso::ct::region;
using iso::ct::view_vectors;
using iso::test::difference;
using iso::test::volume_of;

using std::numbers::pi;
inline constexpr std::array exact_methods = {projector::amanatides_woo, projector::branchless,
                                             projector::siddon};
inline constexpr std::array all_methods = {projector::joseph_linear, projector::joseph_spline,
                                           projector::amanatides_woo, projector::branchless,
                                           projector::siddon};

inline bool is_joseph(projector method) {
  return method == projector::joseph_linear || method == projector::joseph_spline;
}

template <class T>
using volume = iso::volume_view<T, host>;

template <class T>
volume<T> random_volume(grid const& g, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  return volume_of<T>(g, [&](auto, auto, auto) { return unit(random); });
}

/// Pixels of a scan's projections, in [-1, 1).
template <class T>
std::vector<T> random_pixels(geometry const& g, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(std::size_t(g.num_views() * g.num_u() * g.num_v()));
  for (T& x : values) {
    x = T(double(random()) * 0x1p-63 - 1);
  }
  return values;
}

template <class Exec>
void fill_with_nan(Exec const& exec, iso::workspace<typename Exec::memory_space> const& scratch) {
  Kokkos::View<unsigned char*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> const raw(
      reinterpret_cast<unsigned char*>(scratch.data()), std::size_t(scratch.size()));
  Kokkos::deep_copy(exec, raw, static_cast<unsigned char>(0xff));
}

/// The elements of a view that `exec` has written.
template <class View>
auto host_vector(View const& v) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(host{}, v);
  return std::vector<typename View::non_const_value_type>(mirror.data(),
                                                          mirror.data() + mirror.size());
}

/// Projections as a host vector. Outputs and scratch begin as NaN, so that nothing unwritten
/// passes.
template <class T, class Exec>
std::vector<T> projected(Exec const& exec, volume<T> const& v, geometry const& g,
                         forward_project_options const& options = {},
                         iso::job const& control = {}) {
  using space = typename Exec::memory_space;
  auto const voxels = iso::stage<iso::access::read>(exec, v.data);
  auto const out = iso::make_projections<T, space>("out", g.num_views(), g.num_u(), g.num_v());
  Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
  iso::workspace<space> const scratch(
      iso::ct::forward_project_bytes_needed<T>(exec, g, v.grid, options));
  fill_with_nan(exec, scratch);
  iso::volume_view<T const, space> const staged{v.grid, voxels.view()};
  iso::ct::forward_project<Exec, T>(exec, iso::ct::stage(exec, g), staged, out, scratch, options,
                                    control);
  exec.fence("projector_support::projected");
  return host_vector(out.data);
}

template <class T>
std::vector<T> projected(volume<T> const& v, geometry const& g,
                         forward_project_options const& options = {}) {
  return projected(Kokkos::Serial(), v, g, options);
}

/// Largest |a - b|; infinite where one of them is not a number.
template <class T, class U>
double farthest(std::vector<T> const& a, std::vector<U> const& b) {
  double most = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < a.size() && n < b.size(); ++n) {
    double const d = std::abs(double(a[n]) - double(b[n]));
    most = d <= most ? most : d == d ? d : std::numeric_limits<double>::infinity();
  }
  return most;
}

/// What run(control) says; checks that, where it says something, `out` was not written and no one
/// was asked.
template <class Out, class Run>
std::string refusal_of(Out const& out, Run const& run) {
  Kokkos::deep_copy(out, -7.0F);
  int asked = 0;
  iso::job const control{[&](double) { ++asked; }, {}};
  auto const said = iso::test::refusal([&] { run(control); });
  for (std::size_t n = 0; n < out.size() && out.span_is_contiguous(); ++n) {
    CHECK((out.data()[n] == -7.0F) == !said.empty());
  }
  CHECK((asked == 0) == !said.empty());
  return said;
}

/// Length of the ray of a pixel inside the box of the grid's voxels or the cylinder in it, mm.
inline double box_chord(view_vectors const& view, beam kind, double u, double v, grid const& g,
                        region within = region::box) {
  vec3<double> const pixel = view.detector_origin + u * view.u_step + v * view.v_step;
  vec3<double> const from = kind == beam::cone ? view.source : pixel;
  vec3<double> const d = kind == beam::cone ? pixel - view.source : view.source;
  double enter = kind == beam::cone ? 0 : -std::numeric_limits<double>::infinity();
  double leave = kind == beam::cone ? 1 : std::numeric_limits<double>::infinity();
  for (int a = 0; a < 3; ++a) {
    double const low = g.origin[a] - 0.5 * g.spacing[a];
    double const high = low + double(g.extent[std::size_t(a)]) * g.spacing[a];
    if (d[a] == 0) {
      leave = from[a] >= low && from[a] < high ? leave : enter;
      continue;
    }
    double const t0 = (low - from[a]) / d[a];
    double const t1 = (high - from[a]) / d[a];
    enter = std::max(enter, std::min(t0, t1));
    leave = std::min(leave, std::max(t0, t1));
  }
  if (within == region::cylinder) {
    auto const half = [&](int a) { return 0.5 * double(g.extent[std::size_t(a)]) * g.spacing[a]; };
    double const radius = std::min(half(0), half(1));
    double const x = from.x - (g.origin.x - 0.5 * g.spacing.x + half(0));
    double const y = from.y - (g.origin.y - 0.5 * g.spacing.y + half(1));
    double const across = std::hypot(d.x, d.y);
    double const nearest = -(x * d.x + y * d.y) / (across * across);
    double const beside = std::hypot(x + nearest * d.x, y + nearest * d.y);
    double const reach =
        beside < radius ? std::sqrt(radius * radius - beside * beside) / across : 0;
    enter = std::max(enter, nearest - reach);
    leave = std::min(leave, nearest + reach);
  }
  return leave > enter ? (leave - enter) * iso::norm(d) : 0.0;
}

inline std::vector<double> box_chords(geometry const& s, grid const& g,
                                      region within = region::box) {
  std::vector<double> chords;
  for (auto const& view : s.views()) {
    for (std::int64_t u = 0; u < s.num_u(); ++u) {
      for (std::int64_t v = 0; v < s.num_v(); ++v) {
        chords.push_back(box_chord(view, s.kind(), double(u), double(v), g, within));
      }
    }
  }
  return chords;
}

/// A volume's grid and a scan of it.
struct problem {
  grid volume;
  geometry scan;
};

enum class tilt {
  none,  ///< v along z
  any,
};

/// Odd extents, spacings, offsets and detectors: some much larger than the volume, some much
/// smaller, sources near it and now and then inside, beams of both kinds.
inline problem random_problem(std::mt19937_64& random, tilt how) {
  auto const uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  auto const one_of = [&](auto const&... values) {
    std::common_type_t<decltype(values)...> const list[] = {values...};
    return list[random() % sizeof...(values)];
  };
  auto const extent = [&] { return std::int64_t(one_of(1, 2, 5, 13, 17, 31, 32, 33, 37, 67)); };
  grid const g{{extent(), extent(), extent()},
               {uniform(0.4, 1.2), uniform(0.4, 1.2), uniform(0.4, 2.5)},
               {uniform(-40, 5), uniform(-40, 5), uniform(-40, 5)}};
  vec3<double> half;
  for (int a = 0; a < 3; ++a) {
    half[a] = 0.5 * double(g.extent[std::size_t(a)] - 1) * g.spacing[a];
  }
  vec3<double> const middle = g.origin + half;
  double const radius = std::max(2.0, iso::norm(half));
  beam const kind = one_of(beam::cone, beam::cone, beam::parallel);
  auto const num_u = std::int64_t(one_of(1, 3, 15, 16, 17, 21));
  auto const num_v = std::int64_t(one_of(1, 7, 31, 32, 33, 64, 65, 70));
  std::vector<view_vectors> views;
  auto const num_views = 1 + std::int64_t(random() % 3);
  for (std::int64_t n = 0; n < num_views; ++n) {
    double const angle = uniform(0, 2 * pi);
    vec3<double> const out{std::cos(angle), std::sin(angle), 0};
    vec3<double> u{-out.y, out.x, uniform(-0.2, 0.2)};
    vec3<double> v{0, 0, one_of(1.0, 1.0, -1.0)};
    vec3<double> lift{0, 0, uniform(-0.3, 0.3)};
    if (how == tilt::any) {
      u = u + vec3<double>{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      v = v + vec3<double>{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      lift.z = uniform(-3, 3);
    }
    double const source = radius * one_of(0.4, 1.1, 1.6, 4.0, 30.0);
    double const detector = radius * one_of(-0.3, 1.0, 2.0);
    double const width = radius * one_of(0.2, 1.0, 3.0);
    vec3<double> const du = (width / double(num_u)) * u;
    vec3<double> const dv = (width / double(num_v)) * v;
    vec3<double> const centre = middle - detector * out + (uniform(-0.2, 0.2) * radius) * u +
                                (uniform(-0.2, 0.2) * radius) * v;
    views.push_back({kind == beam::cone ? middle + source * (out + 0.3 * lift) : lift - out,
                     centre - (0.5 * double(num_u - 1)) * du - (0.5 * double(num_v - 1)) * dv, du,
                     dv});
  }
  return {g, geometry(kind, num_u, num_v, views)};
}

/// The same with every length times `s`.
inline problem scaled(problem const& p, double s) {
  std::vector<view_vectors> views;
  for (auto const& v : p.scan.views()) {
    views.push_back({s * v.source, s * v.detector_origin, s * v.u_step, s * v.v_step});
  }
  return {{p.volume.extent, s * p.volume.spacing, s * p.volume.origin},
          geometry(p.scan.kind(), p.scan.num_u(), p.scan.num_v(), views)};
}

/// The fast path runs by itself for this.
template <class T>
bool is_fast(problem const& p) {
  return iso::ct::detail::fast_path_applies(p.scan, p.volume, sizeof(T));
}

}  // namespace projector_support
