// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/detector_readings.hpp
//! What a flat-panel detector would have read: gain, dark current, noise, dead pixels, 16 bits.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/synthetic/poisson_counts.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::synthetic {

/// A detector; which pixels differ, and how, follows from the seed alone.
struct detector {
  double photons = 20000;     ///< mean counts of a pixel of gain 1 in an open beam, 0: beam off
  double level = 2.5;         ///< reading per count
  double dark_level = 100;    ///< mean reading without beam
  double dark_counts = 20;    ///< mean thermal counts an exposure, which are noise
  double gain_spread = 0.1;   ///< gains lie evenly within this of 1, in [0, 1)
  double dead_share = 0.001;  ///< of the pixels; one half read 0 always, the others 65535
  std::uint64_t seed = 1;
};

/// Makes the readings of `d` behind an object with the given line integrals.
///
/// A pixel counts a Poisson number of mean photons * gain * exp(-integral) plus one of mean
/// dark_counts; its reading is dark_level + level * (both counts), rounded to the nearest whole
/// number, ties to even, and cut off at 0 and 65535. Gains and dead pixels are the same in every
/// call; noise depends on `exposure`, the number of the first view.
///
/// Enqueued on `exec`; fences for a job alone. Overwrites `readings`, which may be `integrals`.
/// Determinism: backend_to_backend, as poisson_counts.
///
/// \param[in]  integrals  [views, u, v], dimensionless; NaN gives a reading of 0
/// \param[in]  exposure   from 0; views that follow each other have consecutive numbers
/// \param[out] readings   [views, u, v], whole numbers from 0 to 65535
/// \param      control    asked between batches of pixels
/// \throws iso::invalid_argument  shapes that disagree, data with gaps, a detector out of range
/// \throws iso::cancelled         as job::step
template <execution_space Exec, real T>
void detector_readings(
    Exec const& exec, detector const& d, std::uint64_t exposure,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& integrals,
    projection_view<T, typename Exec::memory_space> const& readings, job const& control = {});

namespace detail {

/// Throws iso::invalid_argument.
void validate(detector const& d);

template <class T>
struct reading_kernel {
  T const* integrals;
  T* readings;
  detector d;
  std::uint64_t exposure;
  std::int64_t size;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const pixel = index % size;
    auto const element = exposure * std::uint64_t(size) + std::uint64_t(index);
    // Streams: 0 and 1 are the pixel's own, 2 and 3 the exposure's.
    uniform_pair const own = uniforms(d.seed, std::uint64_t(pixel), 0, 0);
    double const dead = uniforms(d.seed, std::uint64_t(pixel), 1, 0).first;
    double const gain = 1 + d.gain_spread * (2 * own.first - 1);
    double const mean = d.photons * gain * math::exp(-double(integrals[index]));
    double const counts =
        poisson_count(mean, d.seed, element, 2) + poisson_count(d.dark_counts, d.seed, element, 3);
    double const level = d.dark_level + d.level * counts;
    double const cut = level > 0 ? (level < 65535 ? level : 65535.0) : 0.0;
    // Adding 2^52 leaves no fraction: rounded to the nearest, ties to even.
    double const whole = (cut + 0x1p52) - 0x1p52;
    readings[index] = T(dead < 0.5 * d.dead_share ? 0.0 : dead < d.dead_share ? 65535.0 : whole);
  }
};

}  // namespace detail

template <execution_space Exec, real T>
void detector_readings(
    Exec const& exec, detector const& d, std::uint64_t exposure,
    projection_view<std::type_identity_t<T> const, typename Exec::memory_space> const& integrals,
    projection_view<T, typename Exec::memory_space> const& readings, job const& control) {
  detail::validate(d);
  auto const& from = integrals.data;
  auto const views = std::int64_t(readings.data.extent(0));
  std::int64_t const size =
      std::int64_t(readings.data.extent(1)) * std::int64_t(readings.data.extent(2));
  iso::validate(
      integrals,
      {views, std::int64_t(readings.data.extent(1)), std::int64_t(readings.data.extent(2))},
      "iso::synthetic::detector_readings");
  validate_memory({memory_of(readings.data, "readings")}, "iso::synthetic::detector_readings");
  validate_contiguous(from, "integrals", "iso::synthetic::detector_readings");
  validate_contiguous(readings.data, "readings", "iso::synthetic::detector_readings");
  iso::detail::for_each_index_in_batches(
      "iso::synthetic::detector_readings", exec, views * size, control,
      detail::reading_kernel<T>{from.data(), readings.data.data(), d, exposure, size});
}

#define ISO_SYNTHETIC_DETECTOR(linkage, Exec, T)                                 \
  linkage template void detector_readings<Exec, T>(                              \
      Exec const&, detector const&, std::uint64_t,                               \
      projection_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      projection_view<T, Exec::memory_space> const&, job const&);
ISO_FOR_EACH_INSTANCE(ISO_SYNTHETIC_DETECTOR, extern)

}  // namespace iso::synthetic
