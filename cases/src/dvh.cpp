// SPDX-License-Identifier: BSD-3-Clause
//! Structures and dose-volume histograms.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/gamma.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/oracle/dvh.hpp>

#include <memory>
#include <vector>

namespace iso::cases {
namespace {

/// The dose and the structure of every case: a rough hill, and a sphere.
grid const dose_grid = grid::centred({11, 12, 13}, {3, 2.5, 2.25});

dvh::structure sphere() { return oracle::contours_of({}, 2, 60); }

template <class T, class Exec>
auto region_on(Exec const& exec) {
  using space = typename Exec::memory_space;
  auto const v = make_volume<T, space>(exec, "iso::cases::fractions",
                                       dvh::structure_grid(sphere(), dose_grid));
  dvh::rasterise<Exec, T>(exec, sphere(), v);
  auto const points = dvh::surface_points(sphere(), 1);
  Kokkos::View<vec3<double>*, space> const surface("iso::cases::surface", points.size());
  put(exec, surface, points);
  return dvh::region<T, space>{v, surface};
}

/// Shares of voxels.
template <class T>
struct fractions_case {
  dvh::structure_options options;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    auto const g = dvh::structure_grid(sphere(), dose_grid, options);
    auto const with = options;
    return {g.size(), [=](Exec const& on, variant const&, T* out) {
              dvh::rasterise<Exec, T>(on, sphere(),
                                      wrap_volume<typename Exec::memory_space>(out, g), with);
            }};
  }
};

/// Everything that is read off a dose: volumes, doses, statistics, quantities, histogram,
/// conformity.
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
              add(dvh::histograms<Exec, T>(on, {dose}, {where}, {.bins = bins})[0][0].cumulative);
              add({dvh::conformity(on, dose, where, 0.6)});
              std::vector<T> const rounded(all.begin(), all.end());
              put_at(on, out, rounded);
            }};
  }
};

}  // namespace

void add_dvh(catalogue& all) {
  all.add<fractions_case>(
      {"dvh_fractions",
       {"iso::dvh::voxel_fractions", "iso::dvh::rasterise", "iso::dvh::structure_grid"},
       {{}}},
      dvh::structure_options{});
  all.add<fractions_case>(
      {"dvh_fractions_rounded", {"iso::dvh::voxel_fractions", "iso::dvh::rasterise"}, {{}}},
      dvh::structure_options{.caps = dvh::end_cap::rounded});
  all.add<dose_volume_case>({"dvh_dose_volume",
                             {"iso::dvh::volumes_at", "iso::dvh::doses_at", "iso::dvh::statistics",
                              "iso::dvh::evaluate", "iso::dvh::histograms", "iso::dvh::conformity",
                              "iso::dvh::quantity_named", "iso::dvh::surface_points"},
                             {{}}});
}

}  // namespace iso::cases
