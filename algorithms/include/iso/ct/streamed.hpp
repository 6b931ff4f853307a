// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/streamed.hpp
//! Says that volumes and stacks in host memory are projected by a device whose memory they exceed.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/detail/voxel_step.hpp>
#include <iso/ct/fdk_options.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/ct/streaming.hpp>
#include <iso/ct/view_blocks.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>

namespace iso::ct {

namespace detail {

/// A projection and its adjoint of arrays in host memory, wherever they are computed.
template <real T>
class pair_elsewhere {
 public:
  using volume = volume_view<T, Kokkos::HostSpace>;
  using const_volume = volume_view<T const, Kokkos::HostSpace>;
  using projections = projection_view<T, Kokkos::HostSpace>;
  using const_projections = projection_view<T const, Kokkos::HostSpace>;

  virtual ~pair_elsewhere() = default;
  /// As projector_pair has them, but that they wait: the results are there when they return.
  virtual void forward(std::int64_t block, const_volume const& x, projections const& p,
                       job const& control) = 0;
  virtual void adjoint(std::int64_t block, const_projections const& p, volume const& x, onto to,
                       job const& control, std::int32_t words) = 0;
  virtual void adjoint(std::int64_t block, stored_readings<Kokkos::HostSpace> const& p,
                       volume const& x, onto to, job const& control, std::int32_t words) = 0;
  /// Makes every voxel of `x` what `by` makes of it and its sum A^T p, with the bits of adjoint()
  /// and the step behind it. `correction` may be overwritten.
  virtual void adjoint_step(std::int64_t block, const_projections const& p, volume const& x,
                            voxel_step<T> const& by, volume const& correction, job const& control,
                            std::int32_t words) = 0;
  /// Has arrays of many calls copied where they lie, as backend::page_lock.
  virtual void page_lock(typename volume::data_type const& array) = 0;
  [[nodiscard]] virtual streaming_report report() const = 0;
};

/// A filtered backprojection of arrays in host memory, wherever it is computed.
template <real T>
class fdk_elsewhere {
 public:
  virtual ~fdk_elsewhere() = default;
  /// As streamed_fdk.
  virtual void apply(projection_view<T const, Kokkos::HostSpace> const& projections,
                     volume_view<T, Kokkos::HostSpace> const& volume, job const& control) = 0;
  virtual void apply(stored_readings<Kokkos::HostSpace> const& projections,
                     volume_view<T, Kokkos::HostSpace> const& volume, job const& control) = 0;
  [[nodiscard]] virtual streaming_report report() const = 0;
  [[nodiscard]] virtual scan_arc arc() const = 0;
  [[nodiscard]] virtual detector_placement detector() const = 0;
};

}  // namespace detail

/// The place where an iterative method projects whose arrays lie in host memory: without a device,
/// that same memory. With one, volumes pass through its memory slab by slab, and the method's steps
/// between projections are done by the execution space of the method. Every iterate has the bits of
/// the same method in a device's memory with `summation::reproducible`.
class streamed {
 public:
  /// Nothing is streamed.
  streamed() = default;
  // No moves: what was moved from would stream nothing, and a copy shares its device.
  streamed(streamed const&) = default;
  streamed& operator=(streamed const&) = default;
  ~streamed() = default;
  /// Streams through `device`, which works on as many of the volume's planes as the limit allows.
  /// Allocates nothing yet, and looks at the limits when a pair is made.
  template <execution_space Device>
  streamed(Device const& device, streaming_options const& options);

  [[nodiscard]] explicit operator bool() const { return make_ != nullptr; }

  /// Makes the pair for a scan and a grid: what iso::ct::projector_pair calls.
  /// \throws iso::invalid_argument  ordered sums, texture units, a limit that is not positive, a
  ///                                negative number of planes, what projector_pair refuses
  /// \throws iso::out_of_memory     with the bytes of the smallest plan: the limit is below it
  template <real T>
  [[nodiscard]] std::shared_ptr<detail::pair_elsewhere<T>> make(
      geometry const& g, iso::grid const& volume, view_blocks const& blocks,
      projector_options const& options) const;

  /// Makes a filtered backprojection for a scan and a grid.
  /// \throws as iso::ct::streamed_fdk
  template <real T>
  [[nodiscard]] std::shared_ptr<detail::fdk_elsewhere<T>> make_fdk(
      geometry const& g, iso::grid const& volume, fdk_options const& options = {}) const;

 private:
  struct maker;
  template <class Device>
  struct maker_on;
  std::shared_ptr<maker const> make_;
};

}  // namespace iso::ct
