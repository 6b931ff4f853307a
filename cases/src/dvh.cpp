// SPDX-License-Identifier: BSD-3-Clause
//! Structures and dose-volume histograms.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/dvh.hpp>
#include <iso/cases/gamma.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/ranked_dose.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/oracle/dvh.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace iso::cases {
namespace {

/// The grid of doses, and the structure of every case: a sphere of 24 mm.
grid const dose_grid = grid::centred({11, 12, 13}, {3, 2.5, 2.25});
constexpr double slices = 2;             // mm between contours
constexpr std::int64_t subdivision = 3;  // of the dose's cells

dvh::structure sphere() { return oracle::contours_of({}, slices); }

template <class T, class Exec>
auto region_on(Exec const& exec) {
  using space = typename Exec::memory_space;
  dvh::structure_plan const plan(sphere());
  auto const v = make_volume<T, space>(exec, "iso::cases::fractions",
                                       dvh::structure_grid(plan, dose_grid, subdivision));
  dvh::rasterise<Exec, T>(exec, plan, v);
  auto const points = dvh::surface_points(plan, 1);
  Kokkos::View<vec3<double>*, space> const surface("iso::cases::surface", points.size());
  put(exec, surface, points);
  return dvh::region<T, space>{v, surface};
}

/// Shares of voxels.
template <class T>
struct fractions_case {
  dvh::end_cap caps;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    dvh::structure_options const options{.caps = caps};
    auto const g = dvh::structure_grid(sphere(), dose_grid, options, subdivision);
    return {g.size(),
            [=](Exec const& on, variant const&, T* out) {
              dvh::rasterise<Exec, T>(on, sphere(),
                                      wrap_volume<typename Exec::memory_space>(out, g), options);
            },
            {},
            [g, rounded = caps == dvh::end_cap::rounded](std::int64_t count) {
              auto const solid = oracle::convention_of({}, slices);
              double const height = 0.5 * slices;
              double const last = solid.z.back() - height;
              return oracle::shares_in(
                  [=](double z) {
                    double const beyond = (std::fabs(z) - last) / height;
                    return solid.radius_at(z) * (rounded && beyond > 0
                                                     ? std::sqrt(std::max(1 - beyond * beyond, 0.0))
                                                     : 1.0);
                  },
                  g, stride_for(g.size(), count));
            }};
  }
};

/// What a sphere gets in a gradient, beside its closed forms: volumes, doses, statistics,
/// quantities, histogram, conformity.
template <class T>
struct gradient_case {
  static constexpr double middle = 16;  // Gy, and 1 Gy/mm along x
  static constexpr double prescription = 18;
  static constexpr std::int64_t bins = 20;
  static constexpr double end = 30;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    std::vector<double> values;
    for (std::int64_t n = 0; n < dose_grid.size(); ++n) {
      values.push_back(middle + dose_grid.origin.x +
                       dose_grid.spacing.x *
                           double(n / (dose_grid.extent[1] * dose_grid.extent[2])));
    }
    volume_view<T const, space> const dose = two_doses::placed<T>(exec, dose_grid, values);
    auto const where = region_on<T>(exec);
    return {3 + 2 + 5 + 4 + bins + 1,
            [=](Exec const& on, variant const&, T* out) {
              std::vector<double> all = dvh::volumes_at(on, dose, where, {8, 16, 24});
              auto const add = [&](std::vector<double> const& more) {
                all.insert(all.end(), more.begin(), more.end());
              };
              add(dvh::doses_at(on, dose, where, {100, 3000}));
              auto const s = dvh::statistics(on, dose, where);
              add({s.volume, s.outside, s.mean, s.minimum, s.maximum});
              add(dvh::evaluate<Exec, T>(
                  on, {dose}, {where},
                  {dvh::quantity_named("D95"), dvh::quantity_named("V20Gy"),
                   dvh::quantity_named("homogeneity"), dvh::quantity_named("CI18Gy")})[0][0]);
              add(dvh::histograms<Exec, T>(on, {dose}, {where}, {.bins = bins, .end = end})[0][0]
                      .differential);
              add({dvh::conformity(on, dose, where, prescription)});
              std::vector<T> const rounded(all.begin(), all.end());
              put_at(on, out, rounded);
            },
            {},
            [](std::int64_t) { return exact(); }};
  }

 private:
  static std::vector<double> exact() {
    auto const solid = oracle::convention_of({}, slices);
    double const whole = solid.volume();
    auto const volume = [&](double level) { return solid.volume_above_x(level - middle); };
    auto const dose = [&](double of_volume) {
      double low = 0;
      double high = end;
      for (int n = 0; n < 40; ++n) {
        double const between = 0.5 * (low + high);
        (volume(between) >= of_volume ? low : high) = between;
      }
      return low;
    };
    // A plane of the contours has z = 1: the largest circle.
    double const reach = oracle::ideal_body{}.radius(0.5 * slices);
    double const anywhere =
        (0.5 * dose_grid.spacing.x * double(dose_grid.extent[0]) - (prescription - middle)) *
        dose_grid.spacing.y * double(dose_grid.extent[1]) * dose_grid.spacing.z *
        double(dose_grid.extent[2]);
    double const inside = volume(prescription);
    double const conformity = inside / whole * (inside / anywhere);
    std::vector<double> all = {volume(8),
                               volume(16),
                               volume(24),
                               dose(100),
                               dose(3000),
                               whole,
                               0,
                               middle,
                               middle - reach,
                               middle + reach,
                               dose(0.95 * whole),
                               100 * volume(20) / whole,
                               (dose(0.02 * whole) - dose(0.98 * whole)) / dose(0.5 * whole),
                               conformity};
    for (std::int64_t n = 0; n < bins; ++n) {
      all.push_back(volume(end / bins * double(n)) - volume(end / bins * double(n + 1)));
    }
    all.push_back(conformity);
    return all;
  }
};

/// What the sphere gets in a rough dose, which has no closed form.
template <class T>
struct dose_volume_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    volume_view<T const, space> const dose =
        two_doses::placed<T>(exec, dose_grid, two_doses::hill(dose_grid, 10, 0, 0.05, 0));
    auto const where = region_on<T>(exec);
    constexpr std::int64_t bins = 20;
    return {3 + 2 + 5 + 3 + bins + 1 + 1, [=](Exec const& on, variant const&, T* out) {
              std::vector<double> all = dvh::volumes_at(on, dose, where, {0.5, 0.6, 0.8});
              auto const add = [&](std::vector<double> const& values) {
                all.insert(all.end(), values.begin(), values.end());
              };
              add(dvh::doses_at(on, dose, where, {100, 3000}));
              auto const s = dvh::statistics(on, dose, where);
              add({s.volume, s.outside, s.mean, s.minimum, s.maximum});
              add(dvh::evaluate<Exec, T>(on, {dose}, {where},
                                         {dvh::quantity_named("D95"), dvh::quantity_named("V0.6Gy"),
                                          dvh::quantity_named("homogeneity")})[0][0]);
              dvh::histogrammer<Exec, T> const placed(on, dose, where);
              add(placed.make_histogram({.bins = bins}).cumulative);
              add({dvh::conformity(on, dose, where, 0.6)});
              std::vector<T> const rounded(all.begin(), all.end());
              put_at(on, out, rounded);
            }};
  }
};

/// Returns what dose_volume_case asks of a structure in a dose.
template <class Exec, class T>
std::vector<double> figures_of(dvh::histogrammer<Exec, T> const& placed) {
  std::vector<double> all = placed.volumes_at({0.5, 0.6, 0.8});
  auto const add = [&](std::vector<double> const& values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  add(placed.doses_at({100, 3000}));
  auto const s = placed.statistics();
  add({s.volume, s.outside, s.mean, s.minimum, s.maximum});
  add(placed.evaluate({dvh::quantity_named("D95"), dvh::quantity_named("V0.6Gy"),
                       dvh::quantity_named("homogeneity")}));
  add(placed.make_histogram({.bins = 20}).cumulative);
  add({placed.conformity(0.6)});
  return all;
}

/// The same from a dose and shares that come in three slabs of the dose, one of a single plane.
template <class T>
struct slab_dose_volume_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto result = dose_volume_case<T>().prepare(exec);
    auto const dose =
        two_doses::placed<T>(exec, dose_grid, two_doses::hill(dose_grid, 10, 0, 0.05, 0));
    auto const where = region_on<T>(exec);
    result.run = [=](Exec const& on, variant const&, T* out) {
      dvh::slab_source<T, space> const source{
          dose_grid,
          where.fractions.grid,
          three_slabs(dose_grid),
          [&](slab const& planes) { return planes_of(on, dose, planes); },
          [&](slab const& planes) { return planes_of(on, where.fractions, planes); },
          where.surface};
      auto const all = figures_of(dvh::histogrammer<Exec, T>(on, source));
      std::vector<T> const rounded(all.begin(), all.end());
      put_at(on, out, rounded);
    };
    return result;
  }
};

/// The same by ranks.
template <class T>
struct ranked_dose_volume_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto result = dose_volume_case<T>().prepare(exec);
    auto const dose =
        two_doses::placed<T>(exec, dose_grid, two_doses::hill(dose_grid, 10, 0, 0.05, 0));
    auto const where = region_on<T>(exec);
    result.run = [=](Exec const& on, variant const&, T* out) {
      backend::one_rank ranks;
      dvh::ranked_dose<Exec, T> const here(on, ranks, dose, divide_planes(dose_grid, ranks.size()),
                                           {where.fractions.grid});
      auto const source = here.source(
          where.fractions.grid,
          [=](slab const& planes) { return planes_of(on, where.fractions, planes); },
          where.surface);
      auto const all = figures_of(dvh::histogrammer<Exec, T>(on, ranks, source));
      std::vector<T> const rounded(all.begin(), all.end());
      put_at(on, out, rounded);
    };
    return result;
  }
};

}  // namespace

void add_dvh(catalogue& all) {
  // Planes cut the voxels on a structure's surface. Structures are rasterised on the host, and what
  // reads doses has no model.
  constexpr double by_planes = 2e-3;
  all.add<fractions_case>(
      {"dvh_fractions",
       {"iso::dvh::voxel_fractions", "iso::dvh::rasterise", "iso::dvh::structure_grid"},
       {{}},
       by_planes,
       false},
      dvh::end_cap::half_slice);
  all.add<fractions_case>({"dvh_fractions_rounded",
                           {"iso::dvh::voxel_fractions", "iso::dvh::rasterise"},
                           {{}},
                           by_planes,
                           false},
                          dvh::end_cap::rounded);
  all.add<gradient_case>({"dvh_gradient",
                          {"iso::dvh::volumes_at", "iso::dvh::doses_at", "iso::dvh::statistics",
                           "iso::dvh::evaluate", "iso::dvh::histograms", "iso::dvh::conformity",
                           "iso::dvh::quantity_named", "iso::dvh::surface_points"},
                          {{}},
                          by_planes,
                          false});
  all.add<dose_volume_case>(
      {"dvh_dose_volume",
       {"iso::dvh::volumes_at", "iso::dvh::doses_at", "iso::dvh::statistics", "iso::dvh::evaluate",
        "iso::dvh::histogrammer", "iso::dvh::conformity"},
       {{}},
       std::nullopt,
       false});

  // The hash is that of dvh_dose_volume.
  all.add<slab_dose_volume_case>({"dvh_slabs_dose_volume",
                                  {"iso::dvh::histogrammer", "iso::dvh::planes_needed"},
                                  {{}},
                                  std::nullopt,
                                  false});

  all.add<ranked_dose_volume_case>(
      {"dvh_ranked_dose_volume", {"iso::dvh::ranked_dose"}, {{}}, std::nullopt, false});

  all.add_sized({"dose_volume",
                 "a curve of 100 bins, mean, D95, D50 and D2 of a sphere of 1 mm voxels in a hill "
                 "of 2 mm voxels",
                 "voxels along each side",
                 16,
                 512,
                 {number_type::f32, number_type::f64},
                 3,
                 shapes::fixed,
                 [](double n) { return 2 * n * n * n; },
                 [](double n) { return 8 * n * n * n; },
                 [](double n) { return 500 * n * n * n; }},
                [](auto const& exec, point const& p) {
                  return in_precision(p, [&]<class T>(T) {
                    sphere_case<T> const what{p.size};
                    return ready_of(exec, what.prepare(exec), p);
                  });
                });
}

}  // namespace iso::cases
