// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/residuals.hpp
//! Repeats the experiment of J. Graetz, arXiv:1609.00958, section IV-A and figure 2: projections of
//! the rasterised Shepp-Logan head against its own line integrals.
#pragma once

#include <iso/core/workspace.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/shepp_logan.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace iso::oracle {

/// Returns a circle of a cone of 10 degrees through a cube of voxels of 1 mm.
inline ct::geometry ten_degree_cone(std::int64_t pixels, std::int64_t views) {
  double const focal_widths = 0.5 / std::tan(5 * std::numbers::pi / 180);
  double const source_axis = focal_widths * double(pixels);
  double const source_detector = source_axis + 100;
  double const pitch = source_detector / focal_widths / double(pixels);
  return ct::circular_cone({pixels, pixels, pitch, pitch}, source_axis, source_detector,
                           ct::even_angles(views, 2 * std::numbers::pi));
}

/// The head on size^3 voxels, 5^3 samples each, its line integrals over 8^2 rays a pixel, and what
/// projectors make of the voxels, in float.
template <class Exec>
class residual_experiment {
 public:
  using space = typename Exec::memory_space;

  residual_experiment(Exec const& exec, std::int64_t size, std::int64_t views)
      : exec_(exec),
        pixels_(size * size),
        geometry_(ct::stage(exec, ten_degree_cone(size, views))),
        volume_(
            make_volume<float, space>(exec, "head", grid::centred({size, size, size}, {1, 1, 1}))),
        projections_(make_projections<float, space>(exec, "projections", views, size, size)) {
    auto const head = ct::shepp_logan(0.5 * double(size));
    ct::rasterise_ellipsoids(exec, head, volume_, {.samples = 5});
    ct::project_ellipsoids(exec, head, geometry_, projections_, {.subsamples = 8});
    exact_ = on_host();
  }

  [[nodiscard]] ct::staged_geometry<space> const& geometry() const { return geometry_; }
  [[nodiscard]] volume_view<float, space> const& volume() const { return volume_; }
  [[nodiscard]] projection_view<float, space> const& projections() const { return projections_; }

  void project(ct::forward_project_options const& options) {
    workspace<space> const scratch(
        ct::forward_project_bytes_needed<float>(exec_, geometry_.host(), volume_.grid, options));
    ct::forward_project<Exec, float>(exec_, geometry_, volume_, projections_, scratch, options);
    exec_.fence("iso::oracle::residual_experiment");
  }

  /// Returns a view's l1 of the difference over l1 of the line integrals, for projections().
  [[nodiscard]] std::vector<double> residuals() const {
    auto const found = on_host();
    std::vector<double> result;
    for (std::size_t view = 0; view < found.size(); view += std::size_t(pixels_)) {
      double difference = 0;
      double total = 0;
      for (std::size_t i = view; i < view + std::size_t(pixels_); ++i) {
        difference += std::abs(double(found[i]) - double(exact_[i]));
        total += std::abs(double(exact_[i]));
      }
      result.push_back(difference / total);
    }
    return result;
  }
  /// Returns the difference itself in one view, [u, v].
  [[nodiscard]] std::vector<float> difference(std::int64_t view) const {
    auto const found = on_host();
    std::vector<float> result;
    for (std::int64_t i = view * pixels_; i < (view + 1) * pixels_; ++i) {
      result.push_back(found[std::size_t(i)] - exact_[std::size_t(i)]);
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<float> on_host() const {
    std::vector<float> numbers(projections_.data.size());
    Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const to(numbers.data(),
                                                                              numbers.size());
    Kokkos::View<float const*, space, Kokkos::MemoryUnmanaged> const from(projections_.data.data(),
                                                                          numbers.size());
    Kokkos::deep_copy(exec_, to, from);
    exec_.fence("iso::oracle::residual_experiment");
    return numbers;
  }

  Exec exec_;
  std::int64_t pixels_;  ///< of a view
  ct::staged_geometry<space> geometry_;
  volume_view<float, space> volume_;
  projection_view<float, space> projections_;
  std::vector<float> exact_;
};

}  // namespace iso::oracle
