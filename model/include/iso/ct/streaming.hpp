// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/streaming.hpp
//! Holds the limits of calls whose arrays pass through a device, and how such calls are divided.
#pragma once

#include <cstdint>
#include <functional>

namespace iso::ct {

struct streaming_report;

/// The limits of a streamed call.
struct streaming_options {
  /// The bytes of device memory that it may allocate, for all but what Kokkos takes for the two
  /// instances of the execution space that copy: some tens of KiB on a GPU.
  std::int64_t device_bytes = 0;
  /// The most planes a slab, at least 1; 0: as many as fit and leave enough slabs for copies to
  /// hide behind kernels. Changes no bit.
  std::int64_t max_planes = 0;
  /// Whether readings that go back come as integers of 16 bits (iso::ct::stored_readings).
  bool stored_readings = false;
  /// Is told how calls will be divided and what they will carry, before memory for arrays is
  /// allocated; may be empty. What streams on ranks does not call it.
  std::function<void(streaming_report const&)> told = {};
};

/// The division of a streamed call. Views go to the device in batches; while a batch is there, the
/// volume passes by in slabs.
struct streaming_plan {
  std::int64_t views = 0;         ///< a batch: all, or a multiple of 16
  std::int64_t planes = 0;        ///< a slab, the last ones perhaps fewer
  std::int64_t device_bytes = 0;  ///< that are allocated
  /// What a call of every block will carry to the device and from it, onto zero. 0 on ranks.
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
};

/// The division of the calls of a streamed pair or reconstruction, and what they allocate.
struct streaming_report {
  streaming_plan forward;
  streaming_plan adjoint;
  streaming_plan step;             ///< of an adjoint of which a method's step is made at once
  std::int64_t device_bytes = 0;   ///< of the device's memory; the calls share most of it
  std::int64_t fixed_bytes = 0;    ///< of them, for views and plans
  std::int64_t staging_bytes = 0;  ///< of the host's memory, from which the device copies
  /// Of the host's memory in all: staging, and the device's bytes where that memory is the host's.
  /// 0 on ranks.
  std::int64_t host_bytes = 0;
  std::int64_t page_locked_bytes = 0;  ///< of a method's arrays, which are copied where they lie
  /// What comes in beside the projections and adjoints of an iteration of SIRT or OS-SART, whose
  /// residuals are made on the device: readings and weights of rays, without a mask. 0: there is no
  /// place for them, and the method's execution space makes residuals.
  std::int64_t beside_in = 0;
  std::int64_t bytes_in = 0;   ///< carried to the device so far
  std::int64_t bytes_out = 0;  ///< carried from the device so far
};

}  // namespace iso::ct
