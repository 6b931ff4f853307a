// SPDX-License-Identifier: BSD-3-Clause
// The noise that counts leave in line integrals, against closed forms and against counts.
#include <iso/ct/noise_of_counts.hpp>
#include <iso/synthetic/poisson_counts.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace {

using exec_space = Kokkos::DefaultHostExecutionSpace;
using stack = iso::projection_view<double, Kokkos::HostSpace>;
using const_stack = iso::projection_view<double const, Kokkos::HostSpace>;

double noise(stack const& p, double photons, stack const& mask = {}) {
  return iso::ct::noise_of_counts<exec_space, double>(exec_space(), const_stack(p), photons,
                                                      const_stack(mask));
}

stack filled(double value) {
  auto const p = iso::make_projections<double, Kokkos::HostSpace>("p", 30, 40, 50);
  Kokkos::deep_copy(p.data, value);
  return p;
}

}  // namespace

TEST_CASE("readings that are alike have the noise of one, times the root of their number") {
  CHECK(noise(filled(0), 100) == doctest::Approx(std::sqrt(60000 / 100.0)).epsilon(1e-14));
  CHECK(noise(filled(std::log(4.0)), 100) ==
        doctest::Approx(std::sqrt(60000 / 25.0)).epsilon(1e-14));
  auto const p = filled(1);
  auto const mask = filled(0);
  p.data(2, 3, 4) = std::nan("");
  p.data(5, 6, 7) = 0;
  CHECK(std::isnan(noise(p, 100)));
  mask.data(5, 6, 7) = 1;
  CHECK(noise(p, 100, mask) == doctest::Approx(0.1).epsilon(1e-14));
}

TEST_CASE("counts leave as much noise as is expected of them") {
  double const photons = 1e4;
  auto const truth = filled(0);
  for (std::size_t i = 0; i < truth.data.size(); ++i) {
    truth.data.data()[i] = 3 * double(i) / double(truth.data.size());
  }
  using flat = Kokkos::View<double*, Kokkos::HostSpace>;
  flat const means("means", truth.data.size());
  flat const counts("counts", truth.data.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    means(i) = photons * std::exp(-truth.data.data()[i]);
  }
  iso::synthetic::poisson_counts<exec_space, double>(exec_space(), means, counts);
  exec_space().fence();
  double squares = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    double const d = std::log(photons / counts(i)) - truth.data.data()[i];
    squares += d * d;
  }
  // 60000 squares have a relative standard deviation of 0.6 %, their root 0.3 %.
  CHECK(noise(truth, photons) == doctest::Approx(std::sqrt(squares)).epsilon(0.015));
}

TEST_CASE("rays that no photon came through add nothing, whatever their readings were clipped to") {
  double const photons = 100;
  auto const p = filled(1);
  double const seen = noise(p, photons);
  p.data(1, 2, 3) = std::log(1e6);
  p.data(4, 5, 6) = std::log(200.0);
  CHECK(noise(p, photons) == doctest::Approx(seen).epsilon(1e-4));
  // One photon is a count.
  p.data(1, 2, 3) = double(float(std::log(photons)));
  CHECK(noise(p, photons) > std::sqrt(seen * seen + 0.9));

  // A body of which one ray in nine is dark: the estimate of its counts against what they are off.
  auto const truth = filled(0);
  using flat = Kokkos::View<double*, Kokkos::HostSpace>;
  flat const means("means", truth.data.size());
  flat const counts("counts", truth.data.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    truth.data.data()[i] = 5.5 * double(i) / double(means.size());
    means(i) = photons * std::exp(-truth.data.data()[i]);
  }
  iso::synthetic::poisson_counts<exec_space, double>(exec_space(), means, counts);
  exec_space().fence();
  auto const readings = filled(0);
  double squares = 0;
  int dark = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    bool const is_dark = counts(i) == 0;
    readings.data.data()[i] = is_dark ? std::log(1e6) : std::log(photons / counts(i));
    double const d = readings.data.data()[i] - truth.data.data()[i];
    squares += is_dark ? 0 : d * d;
    dark += is_dark ? 1 : 0;
  }
  CHECK(dark > 6000);
  CHECK(noise(readings, photons) / std::sqrt(squares) == doctest::Approx(1).epsilon(0.4));
}

TEST_CASE("what cannot be is refused in a sentence") {
  for (double const photons : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    try {
      noise(filled(0), photons);
      FAIL("taken");
    } catch (iso::invalid_argument const& refused) {
      CHECK(std::string(refused.what()).find("photons (must be above 0 and finite)") !=
            std::string::npos);
    }
  }
  auto const few = iso::make_projections<double, Kokkos::HostSpace>("mask", 1, 2, 3);
  CHECK_THROWS_AS(noise(filled(0), 1, few), iso::invalid_argument);
}
