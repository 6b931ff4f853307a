// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/dvh.hpp
//! Reads a dose by dose-volume histograms.
#pragma once

#include <iso/cases/dose.hpp>
#include <iso/cases/gamma.hpp>
#include <iso/cases/operation.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/oracle/dvh.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace iso::cases {

/// A structure, and the same body as points.
struct organ {
  dvh::structure contours;
  std::function<bool(vec3<double> const&)> inside;
  grid points;  ///< a fine grid around it
};

/// Structures in a dose. For each of them, in per cent: the volume that gets n bins or
/// more, n from 0 to `bins`, and as parts of the dose where the last bin ends, mean and D95.
template <class T>
struct histogram_case {
  grid voxels;
  std::shared_ptr<std::vector<double> const> dose;
  double end;  ///< of the last bin
  std::vector<organ> organs;
  std::int64_t bins = 50;

  [[nodiscard]] std::int64_t numbers_each() const { return bins + 3; }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const values = make_volume<T, space>(exec, "iso::cases::dose", voxels);
    put(exec, values.data, *dose);
    volume_view<T const, space> const seen_dose = values;
    std::vector<dvh::region<T, space>> regions;
    for (auto const& one : organs) {
      dvh::structure_plan const plan(one.contours);
      auto const shares = make_volume<T, space>(exec, "iso::cases::fractions",
                                                dvh::structure_grid(plan, voxels, 1));
      dvh::rasterise<Exec, T>(exec, plan, shares);
      regions.push_back({shares, {}});
    }
    auto const with = *this;
    return {std::int64_t(organs.size()) * numbers_each(),
            [=](Exec const& on, variant const&, T* out) {
              auto const curves = dvh::histograms<Exec, T>(on, {seen_dose}, regions,
                                                           {.bins = with.bins, .end = with.end})[0];
              auto const figures = dvh::evaluate<Exec, T>(
                  on, {seen_dose}, regions,
                  {dvh::quantity_named("mean"), dvh::quantity_named("D95")})[0];
              std::vector<T> all;
              for (std::size_t s = 0; s < regions.size(); ++s) {
                for (double const volume : curves[s].cumulative) {
                  all.push_back(T(100 * volume / curves[s].volume));
                }
                for (double const of_dose : figures[s]) {
                  all.push_back(T(100 * of_dose / with.end));
                }
              }
              put_at(on, out, all);
            },
            {},
            [with](std::int64_t) { return with.exact(); }};
  }

 private:
  /// Counts points.
  [[nodiscard]] std::vector<double> exact() const {
    std::vector<double> all;
    for (auto const& one : organs) {
      auto const doses = oracle::sampled_doses(seen(voxels, *dose), one.points, one.inside);
      auto const count = double(doses.size());
      for (std::int64_t n = 0; n <= bins; ++n) {
        double const level = end * double(n) / double(bins);
        auto const less =
            std::partition_point(doses.begin(), doses.end(), [&](double d) { return d >= level; });
        all.push_back(100 * double(less - doses.begin()) / count);
      }
      double sum = 0;
      for (double const d : doses) {
        sum += d;
      }
      all.push_back(100 * sum / count / end);
      all.push_back(100 * doses[std::size_t(0.95 * (count - 1))] / end);
    }
    return all;
  }
};

/// A sphere in a dose exp(-r^2 / (2 width^2)) about its middle: in per cent, of its
/// volume what gets n bins or more, n from 0 to `bins`, and of the dose's maximum mean, D95, D50
/// and D2.
template <class T>
struct sphere_case {
  std::int64_t side;  ///< voxels of 2 mm of the dose, and voxels of 1 mm in the sphere's diameter
  std::int64_t bins = 100;
  bool with_figures = true;

  [[nodiscard]] double radius() const { return 0.5 * double(side); }
  [[nodiscard]] double width() const { return radius() / 1.2; }
  [[nodiscard]] grid voxels() const { return grid::centred({side, side, side}, {2, 2, 2}); }
  [[nodiscard]] dvh::structure contours() const {
    return oracle::contours_of({oracle::ideal_body::shape::sphere, double(side), double(side)}, 2);
  }
  [[nodiscard]] grid cells() const { return dvh::structure_grid(contours(), voxels(), {}, 2); }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    volume_view<T const, space> const dose =
        two_doses::placed<T>(exec, voxels(), two_doses::hill(voxels(), width(), 0, 0, 0));
    auto const shares = make_volume<T, space>(exec, "iso::cases::fractions", cells());
    dvh::rasterise<Exec, T>(exec, contours(), shares);
    dvh::region<T, space> const where{shares, {}};
    auto const with = *this;
    std::int64_t const curve = bins > 0 ? bins + 1 : 0;
    return {curve + (with_figures ? 4 : 0),
            [=](Exec const& on, variant const&, T* out) {
              std::vector<T> all;
              if (with.bins > 0) {
                auto const found = dvh::histograms<Exec, T>(on, {dose}, {where},
                                                            {.bins = with.bins, .end = 1})[0][0];
                for (double const volume : found.cumulative) {
                  all.push_back(T(100 * volume / found.volume));
                }
              }
              if (with.with_figures) {
                auto const figures =
                    dvh::evaluate<Exec, T>(on, {dose}, {where},
                                           {dvh::quantity_named("mean"), dvh::quantity_named("D95"),
                                            dvh::quantity_named("D50"), dvh::quantity_named("D2")});
                for (double const of_dose : figures[0][0]) {
                  all.push_back(T(100 * of_dose));
                }
              }
              put_at(on, out, all);
            },
            // Shares and the part of the dose around them, once each.
            min_work{double(sizeof(T)) * 1.125 * double(cells().size()), 0, arithmetic_of<T>},
            [with](std::int64_t) { return with.exact(); }};
  }

 private:
  /// Knows closed forms of the ideal body: what is off is the contours' and the interpolant's.
  [[nodiscard]] std::vector<double> exact() const {
    double const r = radius();
    double const w = width();
    double const whole = oracle::gaussian_volume(r, 1, w, 0);
    std::vector<double> all;
    for (std::int64_t n = 0; bins > 0 && n <= bins; ++n) {
      all.push_back(100 * oracle::gaussian_volume(r, 1, w, double(n) / double(bins)) / whole);
    }
    if (with_figures) {
      double const within = w * std::sqrt(std::acos(-1.0) / 2) * std::erf(r / (w * std::sqrt(2)));
      all.push_back(100 * 3 * w * w * (within - r * std::exp(-r * r / (2 * w * w))) / (r * r * r));
      for (double const part : {0.95, 0.5, 0.02}) {
        double const at = r * std::cbrt(part);
        all.push_back(100 * std::exp(-at * at / (2 * w * w)));
      }
    }
    return all;
  }
};

}  // namespace iso::cases
