// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/ellipsoid_support.hpp
//! Projections and voxels of ellipsoids, as host vectors.
#pragma once

#include <iso/ct/shepp_logan.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <numbers>
#include <vector>

namespace ellipsoid_support {

using iso::vec3;
using iso::ct::beam;
using iso::ct::ellipsoid;

using std::numbers::pi;

template <class View>
auto to_host(View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  using value = typename View::non_const_value_type;
  return std::vector<value>(host.data(), host.data() + host.size());
}

template <class T, class Exec>
std::vector<T> projected(Exec const& exec, std::vector<ellipsoid> const& bodies,
                         iso::ct::geometry const& g, std::int64_t subsamples = 1) {
  using space = typename Exec::memory_space;
  auto const out = iso::make_projections<T, space>("test", g.num_views(), g.num_u(), g.num_v());
  iso::ct::project_ellipsoids(exec, bodies, iso::ct::stage(exec, g), out, {subsamples});
  exec.fence();
  return to_host(out.data);
}

template <class T, class Exec>
std::vector<T> rasterised(Exec const& exec, std::vector<ellipsoid> const& bodies,
                          iso::grid const& g, std::int64_t samples = 5) {
  auto const out = iso::make_volume<T, typename Exec::memory_space>("test", g);
  iso::ct::rasterise_ellipsoids(exec, bodies, out, {samples});
  exec.fence();
  return to_host(out.data);
}

/// A scan of one ray for each pair of end points: one pixel a view.
inline iso::ct::geometry rays(beam kind, std::vector<std::array<vec3<double>, 2>> const& ends) {
  std::vector<iso::ct::view_vectors> views;
  for (auto const& [source, pixel] : ends) {
    views.push_back({source, pixel, {1, 0, 0}, {0, 1, 0}});
  }
  return {kind, 1, 1, views};
}

}  // namespace ellipsoid_support
