// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/reconstruction.hpp
//! The scan of projection.hpp, projected and reconstructed by filtered backprojection.
#pragma once

#include <iso/cases/projection.hpp>
#include <iso/ct/fdk_reconstructor.hpp>

#include <cmath>
#include <cstdint>

namespace iso::cases {

/// Taps of the filter that are not left out.
template <class Plan>
double filter_taps(Plan const& plan, ct::geometry const& scan) {
  auto const n = double(scan.num_u());
  double const a_pixel = plan.odd_taps_only() ? n / 2 + 1 : n;
  return double(scan.num_views()) * n * double(scan.num_v()) * a_pixel;
}

template <class Exec, class T>
class fdk_problem {
 public:
  using space = typename Exec::memory_space;

  fdk_problem(Exec const& exec, std::int64_t n, std::int64_t views, ct::fdk_options const& options)
      : exec_(exec),
        options_(options),
        scan_(cone_scan(n, views)),
        projections_(projected<T>()),
        volume_(make_volume<T, space>("volume", grid::centred({n, n, n}, {1, 1, 1}), unit::per_mm)),
        reconstructor_(exec, scan_, volume_.grid, options) {}

  void reconstruct() const { reconstructor_.apply(projections_, volume_); }

  /// Of slices 2 / 5 and 1 / 2 of the way up.
  [[nodiscard]] double error() const {
    std::int64_t const n = scan_.num_u();
    auto const exact_pixels = projected<double>();
    auto const mine = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), volume_.data);
    double apart = 0;
    double size = 0;
    for (std::int64_t const k : {2 * n / 5, n / 2}) {
      auto thin = volume_.grid;
      thin.extent[2] = 1;
      thin.origin.z += double(k) * thin.spacing.z;
      auto const slice = make_volume<double, space>("slice", thin, unit::per_mm);
      ct::fdk_reconstructor<Exec, double>(exec_, scan_, thin, options_).apply(exact_pixels, slice);
      exec_.fence("iso::cases: the reference is there");
      auto const exact = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slice.data);
      for (std::int64_t i = 0; i < n * n; ++i) {
        double const difference = double(mine.data()[i * n + k]) - exact.data()[i];
        apart += difference * difference;
        size += exact.data()[i] * exact.data()[i];
      }
    }
    return std::sqrt(apart / size);
  }

  [[nodiscard]] double taps() const { return filter_taps(reconstructor_.plan(), scan_); }
  [[nodiscard]] double updates() const {
    return double(scan_.num_views()) * double(volume_.grid.size());
  }
  [[nodiscard]] least_work work() const {
    return reconstruction_work<T>(scan_, volume_.grid, taps());
  }
  [[nodiscard]] volume_view<T, space> const& volume() const { return volume_; }

 private:
  template <class U>
  projection_view<U, space> projected() const {
    projection_problem<Exec, U> const problem(exec_, scan_.num_u(), scan_.num_views(), {});
    problem.project();
    exec_.fence("iso::cases: projections are there");
    return problem.projections();
  }

  Exec exec_;
  ct::fdk_options options_;
  ct::geometry scan_;
  projection_view<T, space> projections_;
  volume_view<T, space> volume_;
  ct::fdk_reconstructor<Exec, T> reconstructor_;
};

}  // namespace iso::cases
