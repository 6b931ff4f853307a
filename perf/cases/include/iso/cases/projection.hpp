// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/projection.hpp
//! A scan to project: the circle of perf/peers/scan.py, voxels of 1 mm, a smooth volume made where
//! it is used, and the distance from double precision.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/cases/work.hpp>
#include <iso/ct/forward_project.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace iso::cases {

/// No value of smooth_field is larger.
inline constexpr double field_maximum = 0.0125;

/// A tilted hill that is zero outside the largest ball, the same numbers in float and double.
template <class T>
struct smooth_field {
  T* values;
  std::int64_t n;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    float const to_unit = 2.0F / float(n);
    float const middle = 0.5F * float(n - 1);
    float const x = (float(i / (n * n)) - middle) * to_unit;
    float const y = (float(i / n % n) - middle) * to_unit;
    float const z = (float(i % n) - middle) * to_unit;
    float const h = 1.0F - (x * x + y * y + z * z);
    values[i] = h > 0.0F ? T(0.01F * h * h * (1.0F + 0.3F * x - 0.2F * y + 0.4F * z * x)) : T(0);
  }
};

inline ct::geometry cone_scan(std::int64_t n, std::int64_t views) {
  double const pitch = 6.7 / 5.7;
  // A handful of views from angle 0 on would see nothing but the grid's axes and diagonals.
  double const first = views < 45 ? 0.4 : 0.0;
  return ct::circular_cone({.num_u = n, .num_v = n, .pitch_u = pitch, .pitch_v = pitch},
                           5.7 * double(n), 6.7 * double(n),
                           ct::even_angles(views, 8 * std::atan(1.0), first));
}

template <class Exec, class T>
class projection_problem {
 public:
  using space = typename Exec::memory_space;

  projection_problem(Exec const& exec, std::int64_t n, std::int64_t views,
                     ct::forward_project_options const& options)
      : exec_(exec),
        options_(options),
        g_(ct::stage(exec, cone_scan(n, views))),
        volume_(filled<T>(n)),
        projections_(make_projections<T, space>("projections", views, n, n)),
        scratch_(ct::forward_project_bytes_needed<Exec, T>(g_.host(), volume_.grid, options)) {}

  void project() const {
    ct::forward_project<Exec, T>(exec_, g_, volume_, projections_, scratch_, options_);
  }

  /// Relative l2 distance of what project() left from double precision: every eighth column of at
  /// most two views, by the general path of the same method (exact methods: by Siddon's).
  [[nodiscard]] double error() const {
    std::int64_t const every = 8;
    auto const kept = compared_views();
    auto const reference = make_reference(kept, every);
    double apart = 0;
    double size = 0;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      auto const mine = host_view_of(projections_.data, kept[k]);
      auto const exact = host_view_of(reference, std::int64_t(k));
      for (std::size_t u = 0; u < exact.extent(0); ++u) {
        for (std::size_t v = 0; v < exact.extent(1); ++v) {
          double const difference = double(mine(u * std::size_t(every), v)) - exact(u, v);
          apart += difference * difference;
          size += exact(u, v) * exact(u, v);
        }
      }
    }
    return std::sqrt(apart / size);
  }

  [[nodiscard]] double samples() const { return num_samples(g_.host(), volume_.grid, options_); }
  [[nodiscard]] least_work work() const {
    return projection_work<T>(options_.method, samples(), g_.host(), volume_.grid);
  }
  [[nodiscard]] std::int64_t num_views() const { return g_.host().num_views(); }
  [[nodiscard]] ct::staged_geometry<space> const& scan() const { return g_; }
  [[nodiscard]] volume_view<T, space> const& volume() const { return volume_; }
  [[nodiscard]] projection_view<T, space> const& projections() const { return projections_; }

 private:
  template <class U>
  volume_view<U, space> filled(std::int64_t n) const {
    auto const v =
        make_volume<U, space>("volume", grid::centred({n, n, n}, {1, 1, 1}), unit::per_mm);
    Kokkos::parallel_for(
        "iso::cases::smooth_field",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, v.grid.size()),
        smooth_field<U>{v.data.data(), n});
    exec_.fence("iso::cases: the volume is there");
    return v;
  }

  [[nodiscard]] std::vector<std::int64_t> compared_views() const {
    std::int64_t const views = num_views();
    if (views < 4) {
      return {0};
    }
    return {views / 13 + 1, 7 * views / 13 + 1};
  }

  [[nodiscard]] auto make_reference(std::vector<std::int64_t> const& kept,
                                    std::int64_t every) const {
    auto const& all = g_.host();
    std::vector<ct::view_vectors> views;
    for (auto const k : kept) {
      views.push_back(all.views()[std::size_t(k)]);
      views.back().u_step = double(every) * views.back().u_step;
    }
    ct::geometry const thin(all.kind(), all.num_u() / every, all.num_v(), std::move(views));
    auto options = options_;
    options.sum = iso::summation::ordered;
    options.path = ct::joseph_path::general;
    options.method = ct::detail::is_joseph(options.method) ? options.method : ct::projector::siddon;
    auto const exact =
        make_projections<double, space>("reference", thin.num_views(), thin.num_u(), thin.num_v());
    auto const volume = filled<double>(volume_.grid.extent[0]);
    workspace<space> const scratch(
        ct::forward_project_bytes_needed<Exec, double>(thin, volume.grid, options));
    ct::forward_project<Exec, double>(exec_, ct::stage(exec_, thin), volume, exact, scratch,
                                      options);
    exec_.fence("iso::cases: the reference is there");
    return exact.data;
  }

  template <class View>
  static auto host_view_of(View const& all, std::int64_t view) {
    return Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), Kokkos::subview(all, std::size_t(view), Kokkos::ALL, Kokkos::ALL));
  }

  Exec exec_;
  ct::forward_project_options options_;
  ct::staged_geometry<space> g_;
  volume_view<T, space> volume_;
  projection_view<T, space> projections_;
  workspace<space> scratch_;
};

}  // namespace iso::cases
