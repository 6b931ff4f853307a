// SPDX-License-Identifier: BSD-3-Clause
// A kernel for each bin of the spectrum, against one for all depths.
#include "depth_dose_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace dose_support;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// The dose of `s` with a kernel for each bin, added in the order of split_by_energy.
template <class T>
host_volume<T> dose_by_bins(setup const& s, std::vector<mono_kernel> const& kernels,
                            host_volume<T> const& density) {
  exec_space const exec;
  auto const region = region_around(s.field, s.phantom, s.margin);
  auto const released = iso::make_volume<T, Kokkos::HostSpace>("terma", region);
  auto out = iso::make_volume<T, Kokkos::HostSpace>("dose", s.phantom);
  iso::workspace<Kokkos::HostSpace> scratch;
  for (energy_component const& c : split_by_energy(kernels, named_spectrum(s.photons))) {
    auto part = s.field;
    part.weight *= c.share;
    terma_plan<Kokkos::HostSpace> const beam(exec, part, c.photons, s.hardening);
    terma<exec_space, T>(exec, beam, density, released);
    convolution_plan<T, Kokkos::HostSpace> const plan(exec, region, part,
                                                      make_cones(c.kernel, s.cones), s.options);
    scratch.reserve(convolve_bytes_needed<T>(exec, plan));
    convolve<exec_space, T>(exec, plan, released, density, out, scratch, iso::onto::stored);
    exec.fence();
  }
  return out;
}

template <class T>
double largest_difference(host_volume<T> const& a, host_volume<T> const& b) {
  double most = 0;
  double worst = 0;
  for (std::size_t n = 0; n < a.data.size(); ++n) {
    most = std::max(most, double(b.data.data()[n]));
    worst = std::max(worst, std::fabs(double(a.data.data()[n]) - double(b.data.data()[n])));
  }
  REQUIRE(most > 0);
  return worst / most;
}

}  // namespace

TEST_CASE("dose: the bins of a spectrum and their kernels make up the whole") {
  auto const photons = named_spectrum("mohan_6mv");
  auto const kernels = water_kernels();
  auto const parts = split_by_energy(kernels, photons);
  REQUIRE(parts.size() == photons.bins.size());
  for (double const depth : {0.0, 10.0, 30.0}) {
    double sum = 0;
    for (energy_component const& c : parts) {
      REQUIRE(c.photons.bins.size() == 1);
      // Nothing hardens.
      CHECK(terma_at(c.photons, depth, {true}) ==
            doctest::Approx(terma_at(c.photons, depth, {false})).epsilon(1e-14));
      sum += c.share * terma_at(c.photons, depth, {false});
    }
    CHECK(sum == doctest::Approx(terma_at(photons, depth, {false})).epsilon(1e-13));
  }
  auto const mixed = mix_kernels(kernels, photons);
  std::vector<double> sums(mixed.radii.size(), 0);
  for (energy_component const& c : parts) {
    auto const& cone = std::get<tabulated_kernel>(c.kernel).cones[3];
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] +=
          c.share * terma_at(c.photons, 0) / terma_at(photons, 0, {false}) * cone.fraction[j];
    }
  }
  for (std::size_t j = 0; j < sums.size(); ++j) {
    CHECK(sums[j] == doctest::Approx(mixed.cones[3].fraction[j]).epsilon(1e-12));
  }
  // Bins without photons are left out; energies beyond the kernels are refused.
  auto few = photons;
  few.bins[2].fluence = 0;
  CHECK(split_by_energy(kernels, few).size() == parts.size() - 1);
  few.bins.back().energy = 7;
  CHECK_THROWS_AS(split_by_energy(kernels, few), iso::invalid_argument);
}

namespace {

template <class T>
void check_same_kernels(bool oblique) {
  CAPTURE(oblique);
  auto s = turned(setup::square(grid::centred({20, 30, 20}, {5, 5, 5}), 40, 900), oblique);
  s.hardening.hardening_correction = false;
  auto const density = volume_of<T>(
      s.phantom, [](auto, std::int64_t j, auto) { return j >= 8 && j < 16 ? 0.3 : 1.0; });
  auto const one = mix_kernels(water_kernels(), named_spectrum(s.photons));
  s.kernel = one;
  std::vector<mono_kernel> const same = {{1, one}, {6, one}};
  auto const by_bins = dose_by_bins<T>(s, same, density);
  auto const whole = calculation<T, exec_space>(exec_space(), s, density).dose_on_host();
  // Each of 24 doses is rounded to a fixed point of its own, and in float the TERMA of each is
  // rounded by up to 2^-16.
  CHECK(largest_difference(by_bins, whole) < (sizeof(T) == 4 ? 0x1p-16 : 1e-8));
  // The same bits each time.
  CHECK(largest_difference(by_bins, dose_by_bins<T>(s, same, density)) == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("dose: kernels that are the same for all energies give the dose of one", T,
                   float, double) {
  check_same_kernels<T>(true);
}

TEST_CASE_TEMPLATE("dose: kernels that are the same for all energies, every row", T, float,
                   double) {
  check_same_kernels<T>(false);
}

namespace {

void check_bins(bool oblique) {
  CAPTURE(oblique);
  water_field f(100, 4, oblique);
  setup& s = f.s;
  auto const density = f.density<float>();
  s.kernel = mix_kernels(water_kernels(), named_spectrum(s.photons));
  auto const one_kernel = [&](bool corrected) {
    s.hardening.hardening_correction = corrected;
    return depth_dose(s.field, calculation<float, exec_space>({}, s, density).dose_on_host());
  };
  auto const plain = one_kernel(false);
  auto const corrected = one_kernel(true);
  depth_dose const bins(s.field, dose_by_bins<float>(s, water_kernels(), density));
  double const shape = worst(bins, [](depth_dose_point const& p) { return p.by_bins; });
  MESSAGE("by bins against the exact superposition by bins: ", shape, " % of the maximum");
  CHECK(shape < 0.2);
  auto const tell = [&](std::string const& name, depth_dose const& d) {
    MESSAGE(
        name, ", equal at 15 mm: ", 100 * d.at(100) / d.at(15), " % at 100 mm, ",
        100 * d.at(300) / d.at(15), " % at 300 mm; from the measurement ",
        worst(d, [](depth_dose_point const& p) { return p.measured; }),
        " % of the maximum; dose over that by bins less 1: ", 100 * (d.at(15) / bins.at(15) - 1),
        " % at 15 mm, ", 100 * (d.at(100) / bins.at(100) - 1), " % at 100 mm, ",
        100 * (d.at(300) / bins.at(300) - 1), " % at 300 mm");
  };
  tell("one kernel", plain);
  tell("one kernel, corrected for hardening", corrected);
  tell("a kernel for each bin", bins);
  // One kernel for all depths carries too little to large depths; the correction gives too much.
  for (double const depth : {100.0, 200.0, 300.0}) {
    CHECK(plain.at(depth) < 0.99 * bins.at(depth));
    CHECK(corrected.at(depth) > 1.005 * bins.at(depth));
    CHECK(corrected.at(depth) < 1.035 * bins.at(depth));
  }
}

}  // namespace

TEST_CASE("dose: the depth dose of a kernel for each bin") { check_bins(false); }

TEST_CASE("dose: the depth dose of a kernel for each bin, every row") { check_bins(true); }
