// SPDX-License-Identifier: BSD-3-Clause
//! Doses on grids, and their gamma on any backend.
#pragma once

#include "volume_of.hpp"

#include <iso/core/volume_view.hpp>
#include <iso/gamma/gamma_index.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gamma_support {

using iso::grid;
using iso::vec3;
using namespace iso::gamma;

template <class T>
using host_volume = iso::volume_view<T, Kokkos::HostSpace>;

/// A volume whose voxel at (x, y, z) mm is f(x, y, z).
template <class T, class F>
host_volume<T> dose_of(grid const& g, F const& f) {
  return iso::test::volume_of<T>(g, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return f(g.origin.x + g.spacing.x * double(i), g.origin.y + g.spacing.y * double(j),
             g.origin.z + g.spacing.z * double(k));
  });
}

/// A volume on `g` of the numbers in the order they lie.
template <class T>
host_volume<T> dose_of(grid const& g, std::vector<double> const& values) {
  auto v = iso::make_volume<T, Kokkos::HostSpace>("dose", g);
  for (std::size_t n = 0; n < v.data.size(); ++n) {
    v.data.data()[n] = T(values.at(n));
  }
  return v;
}

inline double hill(double x, double y, double z) {
  return std::exp(-(x * x + y * y + z * z) / (2 * 30.0 * 30.0));
}

/// Numbers in [0, 1) that look random.
inline double noise(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15ULL;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  return double((n ^ (n >> 31)) >> 11) * 0x1p-53;
}

template <class T>
struct found {
  std::vector<T> gamma;  ///< [criteria, points]
  std::vector<point_status> status;
  std::vector<gamma_summary> summaries;
};

template <class T, class Exec>
found<T> gamma_on(Exec const& exec, host_volume<T> const& reference,
                  host_volume<T> const& evaluated, std::vector<criterion> const& criteria,
                  gamma_options const& options = {}, summary_options const& summary = {}) {
  using space = typename Exec::memory_space;
  auto const there = [&](host_volume<T> const& v) {
    auto const copy = iso::make_volume<T, space>(exec, "dose", v.grid);
    Kokkos::deep_copy(exec, copy.data, v.data);
    return copy;
  };
  gamma_plan<T, space> const plan(exec, there(reference), there(evaluated), criteria, options);
  auto const& n = reference.grid.extent;
  gamma_values<T, space> const gamma("gamma", criteria.size(), n[0], n[1], n[2]);
  status_values<space> const status("status", n[0], n[1], n[2]);
  gamma_index(exec, plan, gamma, status);
  found<T> all;
  all.summaries = summarise(exec, plan, gamma, status, summary);
  auto const host_gamma = Kokkos::create_mirror_view(gamma);
  auto const host_status = Kokkos::create_mirror_view(status);
  Kokkos::deep_copy(exec, host_gamma, gamma);
  Kokkos::deep_copy(exec, host_status, status);
  exec.fence();
  all.gamma.assign(host_gamma.data(), host_gamma.data() + host_gamma.size());
  all.status.assign(host_status.data(), host_status.data() + host_status.size());
  return all;
}

template <class T>
found<T> gamma_of(host_volume<T> const& reference, host_volume<T> const& evaluated,
                  std::vector<criterion> const& criteria, gamma_options const& options = {},
                  summary_options const& summary = {}) {
  return gamma_on<T>(Kokkos::DefaultHostExecutionSpace(), reference, evaluated, criteria, options,
                     summary);
}

}  // namespace gamma_support
