// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/back_projection.hpp
//! The scan of projection.hpp and its adjoint: a volume and projections, and both operators between
//! them.
#pragma once

#include <iso/cases/projection.hpp>
#include <iso/ct/back_project.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace iso::cases {

/// `pixels` a voxel, each way.
inline ct::geometry scan_of(std::int64_t n, double pixels, std::int64_t views) {
  auto const count = std::int64_t(double(n) * pixels);
  double const pitch = 6.7 / 5.7 / pixels;
  double const first = views < 45 ? 0.4 : 0.0;
  return ct::circular_cone({.num_u = count, .num_v = count, .pitch_u = pitch, .pitch_v = pitch},
                           5.7 * double(n), 6.7 * double(n),
                           ct::even_angles(views, 8 * std::atan(1.0), first));
}

template <class T>
struct volume_difference {
  T const* found;
  double const* exact;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& apart, double& size) const {
    double const d = double(found[i]) - exact[i];
    apart += d * d;
    size += exact[i] * exact[i];
  }
};

template <class Exec, class T>
class pair_problem {
 public:
  using space = typename Exec::memory_space;

  pair_problem(Exec const& exec, std::int64_t n, double pixels, std::int64_t views,
               ct::back_project_options const& options)
      : exec_(exec),
        options_(options),
        g_(ct::stage(exec, scan_of(n, pixels, views))),
        volume_(make_volume<T, space>("volume", grid::centred({n, n, n}, {1, 1, 1}))),
        result_(make_volume<T, space>("result", volume_.grid)),
        projections_(
            make_projections<T, space>("projections", views, g_.host().num_u(), g_.host().num_v())),
        scratch_(std::max(
            ct::forward_project_bytes_needed<Exec, T>(g_.host(), volume_.grid, forward_options()),
            ct::back_project_bytes_needed<Exec, T>(g_.host(), volume_.grid, options_))) {
    Kokkos::parallel_for(
        "iso::cases::smooth_field",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, volume_.grid.size()),
        smooth_field<T>{volume_.data.data(), n});
    exec_.fence("iso::cases: the volume is there");
  }

  void project() const {
    ct::forward_project<Exec, T>(exec_, g_, volume_, projections_, scratch_, forward_options());
  }
  void back_project() const {
    ct::back_project<Exec, T>(exec_, g_, projections_, result_, scratch_, options_);
  }

  /// Of what back_project() left.
  [[nodiscard]] double error() const {
    if constexpr (sizeof(T) == 8) {
      return 0;
    } else {
      using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
      auto const& scan = g_.host();
      auto const pixels = make_projections<double, space>("pixels in double", scan.num_views(),
                                                          scan.num_u(), scan.num_v());
      Kokkos::deep_copy(exec_, pixels.data, projections_.data);
      auto const exact = make_volume<double, space>("volume in double", volume_.grid);
      workspace<space> const scratch(
          ct::back_project_bytes_needed<Exec, double>(scan, volume_.grid, options_));
      ct::back_project<Exec, double>(exec_, g_, pixels, exact, scratch, options_);
      double apart = 0;
      double size = 0;
      Kokkos::parallel_reduce("iso::cases::difference", policy(exec_, 0, volume_.grid.size()),
                              volume_difference<T>{result_.data.data(), exact.data.data()}, apart,
                              size);
      return std::sqrt(apart / size);
    }
  }
  [[nodiscard]] double samples() const {
    return num_samples(g_.host(), volume_.grid, forward_options());
  }
  [[nodiscard]] least_work work() const {
    return projection_work<T>(options_.method, samples(), g_.host(), volume_.grid);
  }
  [[nodiscard]] volume_view<T, space> const& result() const { return result_; }

 private:
  [[nodiscard]] ct::forward_project_options forward_options() const {
    return {.method = options_.method, .path = options_.path};
  }

  Exec exec_;
  ct::back_project_options options_;
  ct::staged_geometry<space> g_;
  volume_view<T, space> volume_;
  volume_view<T, space> result_;
  projection_view<T, space> projections_;
  workspace<space> scratch_;
};

}  // namespace iso::cases
