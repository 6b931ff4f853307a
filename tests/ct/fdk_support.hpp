// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/fdk_support.hpp
//! Projections and reconstructions for the tests of fdk.
#pragma once

#include "forward_project_support.hpp"

#include <iso/ct/fdk.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace fdk_support {

using namespace projector_support;
using iso::ct::detector_placement;
using iso::ct::fdk_options;
using iso::ct::ramp_window;
using iso::ct::scan_arc;
using iso::ct::scan_options;

/// The host's fastest backend.
inline Kokkos::DefaultHostExecutionSpace const& fast() {
  static Kokkos::DefaultHostExecutionSpace const exec;
  return exec;
}

template <class T>
using stack = iso::projection_view<T, host>;

template <class T>
stack<T> stack_of(geometry const& g, std::vector<T> const& values) {
  auto const p = iso::make_projections<T, host>("p", g.num_views(), g.num_u(), g.num_v());
  std::copy(values.begin(), values.end(), p.data.data());
  return p;
}

template <class T>
stack<T> random_stack(geometry const& g, unsigned seed = 1) {
  return stack_of<T>(g, random_pixels<T>(g, seed));
}

/// Outputs and scratch begin as NaN, so that nothing unwritten passes.
template <class T, class Exec>
std::vector<T> reconstructed(Exec const& exec, geometry const& g, stack<T> const& p,
                             grid const& volume_grid, fdk_options const& options = {}) {
  using space = typename Exec::memory_space;
  auto const pixels = iso::stage<iso::access::read>(exec, p.data);
  auto const out = iso::make_volume<T, space>("out", volume_grid);
  Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
  iso::workspace<space> const scratch(iso::ct::fdk_bytes_needed<T>(exec, g, options));
  fill_with_nan(exec, scratch);
  iso::ct::fdk_plan<space> const plan(exec, g, options);
  iso::ct::fdk<Exec, T>(exec, plan, iso::projection_view<T const, space>{pixels.view()}, out,
                        scratch);
  exec.fence("test_fdk");
  return host_vector(out.data);
}

/// Exact line integrals, each pixel the mean of 3 x 3 rays.
template <class T>
stack<T> projected_bodies(std::vector<iso::ct::ellipsoid> const& bodies, geometry const& g) {
  auto const p = iso::make_projections<T, host>("p", g.num_views(), g.num_u(), g.num_v());
  Kokkos::DefaultHostExecutionSpace const exec;
  iso::ct::project_ellipsoids<Kokkos::DefaultHostExecutionSpace, T>(
      exec, bodies, iso::ct::stage(exec, g), p, {.subsamples = 3});
  exec.fence("fdk_support::projected_bodies");
  return p;
}

template <class T>
std::vector<T> rastered_bodies(std::vector<iso::ct::ellipsoid> const& bodies, grid const& g) {
  auto const v = iso::make_volume<T, host>("v", g);
  Kokkos::DefaultHostExecutionSpace const exec;
  iso::ct::rasterise_ellipsoids<Kokkos::DefaultHostExecutionSpace, T>(exec, bodies, v);
  exec.fence("fdk_support::rastered_bodies");
  return {v.data.data(), v.data.data() + v.data.size()};
}

}  // namespace fdk_support
