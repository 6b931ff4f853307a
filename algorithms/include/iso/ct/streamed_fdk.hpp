// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/streamed_fdk.hpp
//! Reconstructs volumes in host memory by filtered backprojection on a device whose memory they
//! exceed. A Kokkos space that the build has not needs detail/streamed_impl.hpp too.
#pragma once

#include <iso/core/workspace.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/detail/bus.hpp>

#include <cstdint>

namespace iso::ct {

namespace detail {
template <class Exec, class T>
struct incoming_readings;
}  // namespace detail

/// A reconstruction by filtered backprojection of scans of one geometry, whose projections and
/// volume lie in host memory. The device holds a batch of filtered views and a few planes at a
/// time. Copies run while kernels do.
/// Determinism: backend_to_backend, whatever the limits: the bits of iso::ct::fdk.
template <execution_space Exec, real T>
class streamed_fdk final : public detail::fdk_elsewhere<T> {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, Kokkos::HostSpace>;
  using const_projections = projection_view<T const, Kokkos::HostSpace>;

  /// Allocates the device's memory and the buffers to copy from, and waits for `exec`.
  /// \throws iso::invalid_argument  as fdk_plan; a grid as iso::validate refuses it; limits that
  ///                                are not positive
  /// \throws iso::out_of_memory     the limit is below the smallest plan, or memory is wanting
  streamed_fdk(Exec const& exec, iso::ct::geometry const& g, iso::grid const& volume,
               fdk_options const& options, streaming_options const& limits);

  // Neither copies nor moves: kernels and copies of a call know its memory.
  streamed_fdk(streamed_fdk const&) = delete;
  streamed_fdk& operator=(streamed_fdk const&) = delete;
  ~streamed_fdk() override = default;

  /// Returns the division of calls for these arguments and what each of them will carry, without
  /// memory of the device.
  /// \throws as the constructor
  [[nodiscard]] static streaming_report division(Exec const& exec, iso::ct::geometry const& g,
                                                 iso::grid const& volume,
                                                 fdk_options const& options,
                                                 streaming_options const& limits);

  /// Overwrites `x` by the reconstruction of `projections`. It is there when this returns.
  /// \param[in]  projections  [views, u, v], line integrals, dimensionless
  /// \param[out] x            [nx, ny, nz] of the grid, 1/mm
  /// \throws iso::invalid_argument  as iso::ct::fdk; a volume on another grid
  /// \throws iso::cancelled         `x` is then incomplete
  void apply(const_projections const& projections, volume const& x,
             job const& control = {}) override;

  /// Does the same from integers of 16 bits, with the bits of decode_readings before it.
  /// \throws iso::invalid_argument  also where the limits do not say that such readings come
  void apply(stored_readings<Kokkos::HostSpace> const& projections, volume const& x,
             job const& control = {}) override;

  /// Returns what was chosen from the scan.
  [[nodiscard]] fdk_plan<space> const& plan() const { return plan_; }
  [[nodiscard]] scan_arc arc() const override { return plan_.arc(); }
  [[nodiscard]] detector_placement detector() const override { return plan_.detector(); }
  [[nodiscard]] streaming_report report() const override;

 private:
  /// By a plan, which takes as much wherever it is.
  template <class Space>
  [[nodiscard]] static streaming_report division(Exec const& exec, fdk_plan<Space> const& of,
                                                 iso::ct::geometry const& g,
                                                 iso::grid const& volume,
                                                 fdk_options const& options,
                                                 streaming_options const& limits);
  void apply_to(detail::incoming_readings<Exec, T> const& readings, volume const& x,
                job const& control);

  Exec exec_;
  iso::grid grid_;
  bool stored_readings_;
  fdk_plan<space> plan_;
  streaming_report report_;
  workspace<space> memory_;
  iso::detail::bus<Exec> bus_;
};

}  // namespace iso::ct
