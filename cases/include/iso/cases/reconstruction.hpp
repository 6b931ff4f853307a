// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/reconstruction.hpp
//! Runs filtered backprojection.
#pragma once

#include <iso/cases/inputs.hpp>
#include <iso/cases/operation.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/oracle/reconstruction.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace iso::cases {

/// Counts the taps of the filter that are not left out.
template <class Plan>
double filter_taps(Plan const& plan, ct::geometry const& scan) {
  auto const n = double(scan.num_u());
  double const a_pixel = plan.odd_taps_only() ? n / 2 + 1 : n;
  return double(scan.num_views()) * n * double(scan.num_v()) * a_pixel;
}

/// Returns the slices of the volume: the reference filters the rows that they see and no others.
inline std::vector<std::int64_t> compared_slices(std::int64_t n) {
  std::vector<std::int64_t> all;
  if (n > 100) {
    return {2 * n / 5, n / 2};
  }
  for (std::int64_t k = 0; k < n; k += std::max<std::int64_t>(n / 8, 1)) {
    all.push_back(k);
  }
  return all;
}

template <class T>
struct fdk_case {
  input_projections projections;
  ct::geometry scan;
  grid volume;
  ct::fdk_options options = {};

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const pixels = projections.on<T>(exec, scan);
    ct::fdk_plan<space> const plan(exec, scan, options);
    workspace<space> const work(ct::fdk_bytes_needed<T>(exec, scan, options));
    auto const with = *this;
    return {volume.size(),
            [=](Exec const& on, variant const&, T* out) {
              ct::fdk<Exec, T>(on, plan, pixels, wrap_volume<space>(out, with.volume),
                               wrap_workspace<space>(work.data(), work.size()));
            },
            reconstruction_work<T>(scan, volume, filter_taps(plan, scan)),
            [=](std::int64_t count) { return with.exact(fetch(exec, pixels.data), count); }};
  }

  [[nodiscard]] std::vector<double> exact(std::vector<T> const& pixels, std::int64_t count) const {
    auto const slices = compared_slices(volume.extent[2]);
    auto thin = volume;
    thin.extent[2] = 1;
    std::vector<double> all(std::size_t(volume.size()), std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t const k : slices) {
      thin.origin.z = volume.origin.z + double(k) * volume.spacing.z;
      auto const slice = oracle::exact_fdk<T>(
          scan, projections_at<T const, Kokkos::HostSpace>(pixels.data(), scan), thin, options,
          stride_for(thin.size(), count / std::int64_t(slices.size())));
      for (std::size_t i = 0; i < slice.size(); ++i) {
        all[i * std::size_t(volume.extent[2]) + std::size_t(k)] = slice[i];
      }
    }
    return all;
  }
};

}  // namespace iso::cases
