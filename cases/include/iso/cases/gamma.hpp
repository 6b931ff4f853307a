// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/gamma.hpp
//! Compares two doses by the gamma index: a hill, and the same shifted and scaled.
#pragma once

#include <iso/cases/inputs.hpp>
#include <iso/cases/operation.hpp>
#include <iso/core/math.hpp>
#include <iso/core/wrap.hpp>
#include <iso/gamma/gamma_index.hpp>
#include <iso/oracle/gamma.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace iso::cases {

/// A hill exp(-r^2 / (2 width^2)) and what is compared with it: 1.01 times the hill about a point 1
/// mm aside, both times 1 + `rough` times numbers that look random.
struct two_doses {
  grid reference;
  grid evaluated;
  double width = 30;  ///< mm
  double rough = 0;
  std::vector<gamma::criterion> criteria = {{0.03, 3}};
  gamma::gamma_options options = {};

  [[nodiscard]] static std::vector<double> hill(grid const& g, double width, double aside,
                                                double rough, std::uint64_t seed) {
    std::vector<double> all;
    all.reserve(std::size_t(g.size()));
    for (std::int64_t i = 0; i < g.extent[0]; ++i) {
      for (std::int64_t j = 0; j < g.extent[1]; ++j) {
        for (std::int64_t k = 0; k < g.extent[2]; ++k) {
          double const x = g.origin.x + g.spacing.x * double(i) - aside;
          double const y = g.origin.y + g.spacing.y * double(j);
          double const z = g.origin.z + g.spacing.z * double(k);
          all.push_back(math::exp(-(x * x + y * y + z * z) / (2 * width * width)) *
                        (1 + rough * in_unit(seed + all.size())));
        }
      }
    }
    return all;
  }
  template <class T, class Exec>
  [[nodiscard]] auto reference_on(Exec const& exec) const {
    return placed<T>(exec, reference, hill(reference, width, 0, rough, 0));
  }
  template <class T, class Exec>
  [[nodiscard]] auto evaluated_on(Exec const& exec) const {
    auto values = hill(evaluated, width, 1, rough, std::uint64_t(1) << 40);
    for (double& x : values) {
      x *= 1.01;
    }
    return placed<T>(exec, evaluated, values);
  }
  template <class T, class Exec>
  static auto placed(Exec const& exec, grid const& g, std::vector<double> const& values) {
    auto const v = make_volume<T, typename Exec::memory_space>(exec, "iso::cases::dose", g);
    put(exec, v.data, values);
    return v;
  }
};

/// Returns the doses of the documentation, a cube of 2 mm voxels unless told otherwise. In a cube
/// of 128 mm the hill is 30 mm wide, and in others as wide in parts of the side.
inline two_doses documented_doses(std::int64_t side, double voxel = 2) {
  auto const g = grid::centred({side, side, side}, {voxel, voxel, voxel});
  return {g, g, 30 * voxel * double(side) / 128};
}

/// Gamma and status of every point, [criteria, points] and [points].
template <class T>
struct gamma_case {
  two_doses what;

  /// Returns the doses as T holds them, on the host.
  [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> rounded() const {
    Kokkos::Serial const exec;
    auto const r = fetch(exec, what.reference_on<T>(exec).data);
    auto const e = fetch(exec, what.evaluated_on<T>(exec).data);
    return {{r.begin(), r.end()}, {e.begin(), e.end()}};
  }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const plan = std::make_shared<gamma::gamma_plan<T, space> const>(
        exec, what.reference_on<T>(exec), what.evaluated_on<T>(exec), what.criteria, what.options);
    auto const& n = what.reference.extent;
    gamma::status_values<space> const status("iso::cases::status", n[0], n[1], n[2]);
    auto const count = std::int64_t(what.criteria.size());
    std::int64_t const points = what.reference.size();
    auto const with = *this;
    return {count * points,
            [=](Exec const& on, variant const&, T* out) {
              auto const& m = with.what.reference.extent;
              gamma::gamma_index(
                  on, *plan, gamma::gamma_values<T, space>(out, count, m[0], m[1], m[2]), status);
            },
            gamma_work<T>(double(points), double(what.evaluated.size()), double(count)),
            [=](std::int64_t samples) {
              // The oracle takes milliseconds a point.
              std::int64_t const stride =
                  stride_for(points, std::max<std::int64_t>(samples / 64, 1));
              auto const [r, e] = with.rounded();
              std::vector<double> exact;
              for (auto const& c : with.what.criteria) {
                auto const one = oracle::exact_gamma(
                    wrap_volume<Kokkos::HostSpace>(r.data(), with.what.reference),
                    wrap_volume<Kokkos::HostSpace>(e.data(), with.what.evaluated), c,
                    with.what.options, stride);
                exact.insert(exact.end(), one.begin(), one.end());
              }
              return exact;
            }};
  }
};

}  // namespace iso::cases
