// SPDX-License-Identifier: BSD-3-Clause
//! Densities and dose.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/dose.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/ranked_calculator.hpp>

#include <algorithm>
#include <utility>

namespace iso::cases {
namespace {

/// An oblique field onto a body of densities from 0 to 2 g/cm3.
irradiation oblique_field(double gantry, double couch, grid const& body) {
  irradiation one{body, {}, {}};
  one.field.gantry = gantry;
  one.field.couch = couch;
  one.field.collimator = 0.25;
  one.field.fluence = dose::fluence_map::rectangle(-19, 22, -26, 17);
  one.region = dose::region_around(one.field, body, one.margin);
  return one;
}

/// CT numbers from below the table's first point to above its last.
struct scanned {
  grid voxels = grid::centred({17, 29, 23}, {1, 1, 1});
  dose::density_table table = dose::named_density_table("schneider_2000");

  template <class T>
  [[nodiscard]] static T hounsfield_at(std::size_t n) {
    return T(1000 + 2500 * in_unit(n));
  }
  template <class T, class Exec>
  [[nodiscard]] auto hounsfield_on(Exec const& exec) const {
    auto const v = make_volume<T, typename Exec::memory_space>(exec, "iso::cases", voxels);
    std::vector<T> numbers(v.data.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      numbers[n] = hounsfield_at<T>(n);
    }
    put(exec, v.data, numbers);
    return v;
  }
  [[nodiscard]] double density_of(double hounsfield) const {
    auto const& p = table.points;
    std::size_t s = 0;
    while (s + 2 < p.size() && hounsfield >= p[s + 1].hounsfield) {
      ++s;
    }
    double const width = p[s + 1].hounsfield - p[s].hounsfield;
    double const part = std::clamp((hounsfield - p[s].hounsfield) / width, 0.0, 1.0);
    return p[s].density * (1 - part) + p[s + 1].density * part;
  }
  /// Count and first voxel of those below 0, and of those above the largest density.
  template <class T>
  [[nodiscard]] std::vector<double> faults() const {
    std::vector<double> out(8, 0);
    for (std::int64_t n = voxels.size(); n-- > 0;) {
      auto const x = double(hounsfield_at<T>(std::size_t(n)));
      if (x >= 0 && x <= dose::max_density) {
        continue;
      }
      auto* const fault = out.data() + (x < 0 ? 0 : 4);
      std::int64_t const row = n / voxels.extent[2];
      fault[0] += 1;
      fault[1] = double(row / voxels.extent[1]);
      fault[2] = double(row % voxels.extent[1]);
      fault[3] = double(n % voxels.extent[2]);
    }
    return out;
  }
};

template <class T>
struct density_case {
  scanned what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const hu = what.hounsfield_on<T>(exec);
    dose::staged_density_table<space> const table(exec, what.table);
    auto const with = *this;
    std::int64_t const size = what.voxels.size();
    return {size,
            [=](Exec const& on, variant const&, T* out) {
              dose::density_from_hounsfield<Exec, T>(on, table, hu,
                                                     wrap_volume<space>(out, with.what.voxels));
            },
            min_work{2 * double(sizeof(T)) * double(size), 2 * double(size), arithmetic_of<double>},
            [=](std::int64_t) {
              std::vector<double> all;
              for (std::size_t n = 0; n < std::size_t(size); ++n) {
                all.push_back(with.what.density_of(double(scanned::hounsfield_at<T>(n))));
              }
              return all;
            }};
  }
};

/// CT numbers looked at as if they were densities: count and first voxel of each fault.
template <class T>
struct density_report_case {
  scanned what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto const hu = what.hounsfield_on<T>(exec);
    std::int64_t const size = what.voxels.size();
    return {8,
            [=](Exec const& on, variant const&, T* out) {
              auto const report = dose::validate(on, hu);
              std::vector<T> numbers;
              auto const tell = [&](auto const& fault) {
                numbers.push_back(T(fault.count));
                for (std::int64_t const index : fault.first) {
                  numbers.push_back(T(index));
                }
              };
              tell(report.negative);
              tell(report.absurd);
              put_at(on, out, numbers);
            },
            min_work{double(sizeof(T)) * double(size), 0, arithmetic_of<T>},
            [what = what](std::int64_t) { return what.template faults<T>(); }};
  }
};

/// A dose by ranks.
template <class T>
struct ranked_dose_case {
  dose_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto result = whole.prepare(exec);
    auto const density = whole.what.template density_on<T>(exec);
    result.least = {};
    result.run = [=, with = whole](Exec const& on, variant const&, T* out) {
      backend::one_rank ranks;
      auto const& region = with.what.region;
      dose::ranked_calculator<Exec, T> calculator(
          on, ranks, region, divide_planes(region, ranks.size()), with.components(),
          {.cones = with.cones, .lines = with.options, .margin = with.what.margin});
      auto const dose = wrap_volume<space>(out, region);
      Kokkos::deep_copy(on, dose.data, T(0));
      calculator.add(with.what.field, density, dose);
    };
    return result;
  }
};

}  // namespace

irradiation water_field(grid const& water, double gantry) {
  irradiation one;
  one.patient = water;
  one.region = water;
  one.field.gantry = gantry;
  one.field.fluence = dose::fluence_map::rectangle(-50, 50, -50, 50);
  one.given = std::make_shared<std::vector<double> const>(std::size_t(water.size()), 1.0);
  return one;
}

dose::point_kernel kernel_named(std::string const& name, dose::spectrum const& photons) {
  if (name == "table") {
    return dose::mix_kernels(dose::water_kernels(), photons);
  }
  if (name == "own table") {
    return dose::parse_kernel(
        "90,0.5,0.4\n90,2,0.2\n90,30,0.1\n180,0.5,0.05\n180,2,0.1\n180,30,0.1", name, photons);
  }
  return dose::named_kernel(name);
}

// A cube of 256 mm of N^3 voxels, a field of 100 mm, 64 directions.
static void add_sized_dose(catalogue& all) {
  auto const add_sized = [&]<template <class> class Case>(sized_text const& text) {
    all.add_sized(text, [](auto const& exec, point const& p) {
      return in_precision(p, [&]<class T>(T) {
        double const voxel = 256 / double(p.size);
        Case<T> what{water_field(grid::centred({p.size, p.size, p.size}, {voxel, voxel, voxel}))};
        if constexpr (requires { what.options.shape; }) {
          what.options.shape.groups_per_launch = p.groups_per_launch;
        }
        return ready_of(exec, what.prepare(exec), p);
      });
    });
  };
  auto const numbers = [](double n) { return 4 * n * n * n; };
  auto const extra = [](double n) { return 16 * n * n * n; };
  add_sized.operator()<terma_case>({"dose_terma",
                                    "TERMA of a 100 mm field of 6 MV in 256 mm of water",
                                    "voxels along each side",
                                    16,
                                    1024,
                                    {number_type::f32, number_type::f64},
                                    3,
                                    shapes::fixed,
                                    numbers,
                                    extra,
                                    [](double n) { return 8 * n * n * n; }});
  add_sized.operator()<convolution_case>({"dose_convolution",
                                          "its collapsed-cone convolution in 64 directions",
                                          "voxels along each side",
                                          16,
                                          1024,
                                          {number_type::f32, number_type::f64},
                                          3,
                                          shapes::any,
                                          numbers,
                                          extra,
                                          [](double n) { return 64 * n * n * n; }});
}

/// Returns what a method is off its exact answer beside rounding; empty where it has none.
static std::optional<double> error_of(dose::dose_engine by) {
  switch (by) {
    case dose::dose_engine::lattice:
      return 2e-4;  // it holds a direction's tilt over a plane as a quadratic form
    case dose::dose_engine::voxel_lines:
      return 0;
    case dose::dose_engine::voxel_samples:
    case dose::dose_engine::non_voxel:
      break;
  }
  return std::nullopt;
}

void add_dose(catalogue& all) {
  using engine = dose::dose_engine;
  auto const with = [](std::vector<std::string> names, std::vector<std::string> const& more) {
    names.insert(names.end(), more.begin(), more.end());
    return names;
  };
  std::vector<std::string> const release = {
      "iso::dose::terma",    "iso::dose::frame_of",       "iso::dose::region_around",
      "iso::dose::terma_at", "iso::dose::named_spectrum", "iso::dose::parse_spectrum"};
  auto const convolve =
      with(release, {"iso::dose::calculator", "iso::dose::convolve", "iso::dose::make_cones",
                     "iso::dose::named_kernel", "iso::dose::parse_exponential_kernel"});
  auto const tabulated = with(convolve, {"iso::dose::mix_kernels", "iso::dose::water_kernels",
                                         "iso::dose::parse_mono_kernels"});
  auto const own = with(convolve, {"iso::dose::parse_kernel", "iso::dose::parse_tabulated_kernel",
                                   "iso::dose::absorbed_within"});
  std::vector<std::string> const tables = {"iso::dose::named_density_table",
                                           "iso::dose::parse_density_table"};
  auto const body = grid::centred({33, 29, 41}, {3, 4, 2.5});
  auto const oblique = oblique_field(0.6, 0.3, body);
  auto const along_x = oblique_field(1.5707963267948966, 0, body);
  // As thick as a patient, so that the field is a small part of the region.
  auto const patient = oblique_field(0.6, 0.5, grid::centred({34, 30, 36}, {10, 10, 10}));
  scanned const ct;
  all.add<density_case>(
      {"density_from_hounsfield", with(tables, {"iso::dose::density_from_hounsfield"}), {{}}}, ct);
  all.add<density_report_case>({"density_report", with(tables, {"iso::dose::validate"}), {{}}}, ct);
  all.add<terma_case>({"terma", release, {{}}}, oblique);

  auto const add = [&](std::string const& name, std::vector<std::string> const& functions,
                       irradiation const& what, std::string const& kernel,
                       dose::cone_options const& cones,
                       dose::convolution_options const& options = {}) {
    all.add<dose_case>({"dose_" + name, functions, launch_shapes, error_of(options.engine)}, what,
                       kernel, cones, options);
  };
  add("lattice", convolve, oblique, "6mv", {});
  add("lattice_patient", convolve, patient, "6mv", {4, 8});
  add("lattice_four_terms", convolve, along_x, "6mv_quad",
      {5, 9, dose::cone_placing::equal_solid_angle});
  add("lattice_table", tabulated, oblique, "table", {4, 8});
  add("lattice_by_energy", with(tabulated, {"iso::dose::split_by_energy"}), oblique, "by energy",
      {4, 4});
  add("lattice_own_table", own, along_x, "own table", {4, 4, dose::cone_placing::equal_solid_angle},
      {.tilt = false});
  add("voxel_samples", convolve, along_x, "6mv", {4, 4},
      {.engine = engine::voxel_samples, .radial_step = 2});
  add("non_voxel", tabulated, oblique, "table", {4, 4},
      {.engine = engine::non_voxel, .radial_step = 2, .ray_spacing = 3});
  add("voxel_lines", convolve, oblique, "6mv", {4, 4}, {.engine = engine::voxel_lines});
  auto cube = water_field(grid::centred({21, 22, 20}, {8, 7, 9}), 0.35);
  cube.margin = 300;  // all of it
  all.add<ranked_dose_case>(
      {"dose_ranked", {"iso::dose::ranked_calculator"}, {{}}, error_of(engine::voxel_lines), false},
      cube, "6mv", dose::cone_options{4, 4},
      dose::convolution_options{.engine = engine::voxel_lines});
  add_sized_dose(all);
}

}  // namespace iso::cases
