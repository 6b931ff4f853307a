// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/noise_of_counts.hpp
//! Estimates how large the noise of counted photons is in line integrals.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/detail/job_parts.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace iso::ct {
namespace detail {

/// The variance of ln(photons / count), in units of 1 / photons, where the count is a Poisson
/// number of mean photons exp(-b). None where that is below one photon: no count is but 0, whose
/// logarithm was replaced.
template <class T>
struct variance_of_counts {
  T const* readings;
  T const* mask;  ///< not read where all count, but not null: QEMU faults there in masked loads
  bool all_count;
  double most;  ///< of exp(b): one photon's, but for the rounding of its logarithm
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    if (!all_count && mask[i] == T(0)) {
      return 0;
    }
    double const b = double(readings[i]);
    // exp(-infinity) is 0, and would pass for a count.
    double const variance = is_finite(b) ? math::exp(b) : Kokkos::Experimental::quiet_NaN_v<double>;
    return variance > most && is_finite(variance) ? 0.0 : variance;
  }
};

/// Returns sum_of the terms of `from(0)`, whose n-th is the first of `from(n)`. On a processor it
/// is made in parts, between which the job is asked.
template <class Exec, class From>
double sum_in_parts(Exec const& exec, std::int64_t count, From const& from, job const& control) {
  constexpr std::int64_t terms = std::int64_t(1) << 22;
  bool const divides = !backend::is_device<Exec> && control.cancelled;
  std::int64_t const step = divides ? terms : std::max<std::int64_t>(count, 1);
  job const asked = iso::detail::asked_only(control);
  term_bounds bounds;
  for (std::int64_t n = 0; n < count; n += step) {
    bounds = bounds.joined(bounds_of_terms(exec, std::min(step, count - n), from(n)));
    asked.step(0);
  }
  partial_sum sum(bounds);
  for (std::int64_t n = 0; n < count; n += step) {
    sum.add(exec, std::min(step, count - n), from(n));
    asked.step(1);
  }
  return sum.value();
}

}  // namespace detail

/// Returns the norm that the noise of `photons` counted in the open beam of each ray is expected to
/// have: the root of the sum of exp(b) / photons over the readings b. Where ||b - A x|| falls to it
/// an iteration begins to fit noise (discrepancy principle; stopping_rules::noise). Readings above
/// ln(photons) add nothing: they stand for rays that no photon came through. Their differences from
/// a volume's projections are no noise; a mask leaves them out of those too. A reading of
/// ln(photons) counts as one photon, and so does a count of nothing that was put to one. NaN where
/// a reading that counts is not finite, or above 709. Waits for `exec`.
///
/// Determinism: backend_to_backend.
/// \param readings  [views, u, v], line integrals, dimensionless
/// \param photons   expected in the open beam, of each pixel and view
/// \param mask      [views, u, v], 0 where a reading does not count; without memory: all do
/// \param control   asked several times a second, on a processor; no progress is told
/// \throws iso::invalid_argument  photons that are not above 0 and finite; arrays with gaps or of
///                                different shapes
/// \throws iso::cancelled         as job::step
/// \par Method  First order in 1 / count; V. A. Morozov, Soviet Math. Dokl. 7, 1966.
template <execution_space Exec, real T>
double noise_of_counts(
    Exec const& exec, projection_view<T const, typename Exec::memory_space> const& readings,
    double photons,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& mask = {},
    job const& control = {}) {
  auto const& p = readings.data;
  validate_contiguous(p, "readings", "iso::ct::noise_of_counts");
  ISO_VALIDATE(photons > 0 && is_finite(photons),
               "iso::ct::noise_of_counts: {} photons (must be above 0 and finite); give the mean "
               "count of a pixel in the open beam",
               photons);
  if (mask.data.size() > 0) {
    validate_contiguous(mask.data, "mask", "iso::ct::noise_of_counts");
    validate(mask,
             {std::int64_t(p.extent(0)), std::int64_t(p.extent(1)), std::int64_t(p.extent(2))},
             "iso::ct::noise_of_counts");
  }
  bool const all_count = mask.data.size() == 0;
  auto const variances_from = [&](std::int64_t n) {
    return detail::variance_of_counts<T>{p.data() + n,
                                         (all_count ? p.data() : mask.data.data()) + n, all_count,
                                         photons * (1 + 1e-6)};
  };
  return std::sqrt(detail::sum_in_parts(exec, std::int64_t(p.size()), variances_from, control) /
                   photons);
}

/// Does the same for readings that are not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
double noise_of_counts(
    Exec const& exec, projection_view<T, Space> const& readings, double photons,
    projection_view<std::type_identity_t<T> const, std::type_identity_t<Space>> const& mask = {},
    job const& control = {}) {
  return noise_of_counts<Exec, T>(exec, projection_view<T const, Space>(readings), photons, mask,
                                  control);
}

}  // namespace iso::ct
