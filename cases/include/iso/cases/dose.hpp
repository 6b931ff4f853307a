// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/dose.hpp
//! Runs a photon field onto a patient: TERMA, its convolution, both as dose::calculator has them.
#pragma once

#include <iso/cases/inputs.hpp>
#include <iso/cases/operation.hpp>
#include <iso/core/wrap.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/terma.hpp>
#include <iso/oracle/dose.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace iso::cases {

/// A field, and densities in g/cm3: from 0 to 2 at random, or those given.
struct irradiation {
  grid patient;
  dose::beam field;
  grid region;         ///< that gets dose
  double margin = 12;  ///< mm, of the region around the field where a calculator chooses it
  std::shared_ptr<std::vector<double> const> given = {};
  dose::spectrum photons = dose::named_spectrum("mohan_6mv");

  [[nodiscard]] std::vector<double> densities() const {
    if (given) {
      return *given;
    }
    std::vector<double> all(std::size_t(patient.size()));
    for (std::size_t n = 0; n < all.size(); ++n) {
      all[n] = 1 + in_unit(n);
    }
    return all;
  }
  /// Returns the densities of the region, which lies within the patient's grid.
  [[nodiscard]] std::vector<double> densities_of_region() const {
    auto const all = densities();
    std::vector<double> out;
    out.reserve(std::size_t(region.size()));
    vec3<double> const first = patient.to_index(region.origin);
    auto const from = [&](int axis) { return std::int64_t(first[axis] + 0.5); };
    for (std::int64_t i = 0; i < region.extent[0]; ++i) {
      for (std::int64_t j = 0; j < region.extent[1]; ++j) {
        auto const row = ((from(0) + i) * patient.extent[1] + from(1) + j) * patient.extent[2];
        auto const begin = all.begin() + row + from(2);
        out.insert(out.end(), begin, begin + region.extent[2]);
      }
    }
    return out;
  }
  template <class T, class Exec>
  [[nodiscard]] auto density_on(Exec const& exec) const {
    auto const v =
        make_volume<T, typename Exec::memory_space>(exec, "iso::cases::density", patient);
    put(exec, v.data, densities());
    return v;
  }
};

/// Returns a square field of 100 mm of 6 MV in water, dose everywhere.
irradiation water_field(grid const& water, double gantry = 0);

inline volume_view<double const, Kokkos::HostSpace> seen(grid const& g,
                                                         std::vector<double> const& v) {
  return wrap_volume<Kokkos::HostSpace>(v.data(), g);
}

template <class T>
struct terma_case {
  irradiation what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const density = what.density_on<T>(exec);
    dose::terma_plan<space> const plan(exec, what.field, what.photons);
    auto const with = what;
    return {with.region.size(),
            [=](Exec const& on, variant const&, T* out) {
              dose::terma<Exec, T>(on, plan, density, wrap_volume<space>(out, with.region));
            },
            terma_work<T>(double(with.patient.size()), double(with.region.size())),
            [=](std::int64_t count) {
              auto const rho = with.densities();
              return oracle::exact_terma(with.field, with.photons, {}, seen(with.patient, rho),
                                         with.region, stride_for(with.region.size(), count));
            }};
  }
};

/// What of a voxel's dose is followed by hand takes as long as hundreds of pixels.
inline std::int64_t dose_stride(grid const& region, std::int64_t count) {
  return stride_for(region.size(), std::max<std::int64_t>(count / 16, 1));
}

inline oracle::transport transport_of(dose::dose_engine engine) {
  return engine == dose::dose_engine::lattice ? oracle::transport::lattice
                                              : oracle::transport::lines;
}

/// Returns the kernel of all photons: an exponential one by its name, "table" for a tabulated one
/// mixed for the spectrum, "own table" for one of two cones and three shells.
dose::point_kernel kernel_named(std::string const& name, dose::spectrum const& photons);

/// The convolution alone, of the library's TERMA. Engines that sample the density along a line
/// are compared with lines of exact chords. The launch shape is that of `options`.
template <class T>
struct convolution_case {
  irradiation what;
  std::string kernel = "6mv";
  dose::cone_options cones = {};
  dose::convolution_options options = {};

  [[nodiscard]] double directions() const { return double(cones.cones * cones.azimuths); }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const with = *this;
    auto const& region = what.region;
    auto const directions = dose::make_cones(kernel_named(kernel, what.photons), cones);
    auto const density = what.density_on<T>(exec);
    auto const terma = make_volume<T, space>(exec, "iso::cases::terma", region);
    dose::terma_plan<space> const beam(exec, what.field, what.photons);
    dose::terma<Exec, T>(exec, beam, density, terma);
    dose::convolution_plan<T, space> const plan(exec, region, what.field, directions, options);
    workspace<space> const work(dose::convolve_bytes_needed<T>(exec, plan));
    exec.fence("iso::cases: TERMA is there");
    bool const walks = options.engine == dose::dose_engine::lattice && kernel != "table";
    return {region.size(),
            [=](Exec const& on, variant const&, T* out) {
              auto const volume = wrap_volume<space>(out, with.what.region);
              dose::convolve<Exec, T>(on, plan, terma, density, volume,
                                      wrap_workspace<space>(work.data(), work.size()));
            },
            convolution_work<T>(double(region.size()), walks ? this->directions() : 0),
            [=](std::int64_t count) {
              auto const rho = with.what.densities_of_region();
              auto const released = fetch(exec, terma.data);
              std::vector<double> const wide(released.begin(), released.end());
              auto const& g = with.what.region;
              return oracle::exact_dose(with.what.field, directions, with.options.tilt,
                                        seen(g, wide), seen(g, rho), dose_stride(g, count),
                                        transport_of(with.options.engine));
            }};
  }
};

/// TERMA and convolution of a beam, of all photons ("6mv") or of some bins ("by energy").
template <class T>
struct dose_case {
  irradiation what;
  std::string kernel = "6mv";
  dose::cone_options cones = {};
  dose::convolution_options options = {};

  [[nodiscard]] std::vector<dose::energy_component> components() const {
    if (kernel != "by energy") {
      return {{1, what.photons, kernel_named(kernel, what.photons)}};
    }
    auto const& bins = what.photons.bins;
    return dose::split_by_energy(dose::water_kernels(), {{bins[1], bins[7], bins[15]}});
  }

  [[nodiscard]] std::vector<double> exact(std::int64_t count) const {
    auto const rho = what.densities_of_region();
    auto const all = what.densities();
    std::vector<double> sum(std::size_t(what.region.size()), 0);
    for (auto const& c : components()) {
      auto field = what.field;
      field.weight *= c.share;
      auto const terma =
          oracle::exact_terma(field, c.photons, {}, seen(what.patient, all), what.region);
      auto const one = oracle::exact_dose(
          what.field, dose::make_cones(c.kernel, cones), options.tilt, seen(what.region, terma),
          seen(what.region, rho), dose_stride(what.region, count), transport_of(options.engine));
      std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const density = what.density_on<T>(exec);
    auto const with = *this;
    auto const parts = components();
    double const directions = double(parts.size()) * double(cones.cones * cones.azimuths);
    // A calculator belongs to an instance of Exec and has its launch shape.
    auto const last = std::make_shared<
        std::tuple<Exec, std::int64_t, std::shared_ptr<dose::calculator<Exec, T>>>>();
    bool const sampled = options.engine == dose::dose_engine::voxel_samples ||
                         options.engine == dose::dose_engine::non_voxel;
    return {what.region.size(),
            [=](Exec const& on, variant const& v, T* out) {
              auto const volume = wrap_volume<space>(out, with.what.region);
              auto& [exec_of, groups, calculator] = *last;
              if (!calculator || !(exec_of == on) || groups != v.groups) {
                auto chosen = with.options;
                chosen.shape.groups_per_launch = groups = v.groups;
                exec_of = on;
                calculator = std::make_shared<dose::calculator<Exec, T>>(
                    on, with.what.patient, parts,
                    dose::calculator_options{with.cones, {}, chosen, with.what.margin});
              }
              Kokkos::deep_copy(on, volume.data, T(0));
              calculator->add(with.what.field, density, volume);
            },
            convolution_work<T>(double(what.region.size()), directions),
            sampled ? std::function<std::vector<double>(std::int64_t)>()
                    : [=](std::int64_t count) { return with.exact(count); }};
  }
};

}  // namespace iso::cases
