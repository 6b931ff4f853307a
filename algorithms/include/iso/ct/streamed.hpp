// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/streamed.hpp
//! Says that volumes and stacks in host memory are projected by a device whose memory they exceed.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/elsewhere.hpp>
#include <iso/ct/fdk_options.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/ct/streaming.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>

namespace iso::ct {

namespace detail {

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

/// The place of volumes and readings that lie in host memory: without a device, that same memory.
/// With one, volumes pass through its memory slab by slab. Steps that follow a projection or an
/// adjoint at once are made there where they fit (of rays SIRT's and OS-SART's, of voxels those of
/// MLEM and OSEM too), all others by the execution space of the method. Every iterate has the bits
/// of the same method in a device's memory with `summation::reproducible`.
class streamed : public elsewhere {
 public:
  /// Nothing is streamed.
  streamed() = default;
  /// Streams through `device`, which works on as many of the volume's planes as the limit allows.
  /// Allocates nothing yet, and looks at the limits when a pair is made.
  template <execution_space Device>
  streamed(Device const& device, streaming_options const& options);

  /// Makes a filtered backprojection for a scan and a grid.
  /// \throws as iso::ct::streamed_fdk
  template <real T>
  [[nodiscard]] std::shared_ptr<detail::fdk_elsewhere<T>> make_fdk(
      geometry const& g, iso::grid const& volume, fdk_options const& options = {}) const;

  /// Returns how the calls of a pair that make() makes will be divided and what they take and
  /// carry, and of what make_fdk() makes, without memory for arrays.
  /// \throws as iso::ct::streamed_pair, iso::ct::streamed_fdk
  template <real T>
  [[nodiscard]] streaming_report plan(geometry const& g, iso::grid const& volume,
                                      view_blocks const& blocks,
                                      projector_options const& options) const;
  template <real T>
  [[nodiscard]] streaming_report plan_fdk(geometry const& g, iso::grid const& volume,
                                          fdk_options const& options = {}) const;

 private:
  struct maker;
  template <class Device>
  struct maker_on;
  explicit streamed(std::shared_ptr<maker const> const& make);
  std::shared_ptr<maker const> make_;
};

}  // namespace iso::ct
