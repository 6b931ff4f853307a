// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ceilings/ceilings.hpp
//! Measures what a machine can do at most: the figures that a kernel's speed is a share of.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/concepts.hpp>

#include <cstdint>

namespace iso::ceilings {

/// The measured rates of a machine: bytes per second (reads and writes both counted) and operations
/// per second (an fma is two). 0: not available on this backend.
struct rates {
  double read = 0;   ///< one array, from memory
  double copy = 0;   ///< out = in, in memory
  double triad = 0;  ///< out = b + s c, in memory
  double l1 = 0;     ///< reads from the first cache of all cores; 0 on a GPU
  double l2 = 0;     ///< reads from the second cache
  double fp16 = 0;   ///< fma on pairs of halves; 0 on the host
  double fp32 = 0;
  double fp64 = 0;
  double spread = 0;  ///< of the figure whose best two rounds differ most, their difference over
                      ///< the best; 0 also where one round was made
};

struct measure_options {
  std::int64_t bytes = 0;  ///< memory to use; 0: several times the last cache
  int repeats = 0;         ///< of each measurement, in one round; 0: as many as it takes to be sure
};

/// Measures the ceilings of what `exec` runs on, each by its own small kernel on that instance;
/// each figure is the fastest of several runs (on a GPU, of several launch shapes too), since
/// whatever disturbs a run makes it slower. Rounds over all figures are made until the best two of
/// every figure agree within 5 per cent, or two seconds have passed. `read` is at least two thirds
/// of `triad`, which reads two arrays for each that it writes. Waits for `exec`. Under 3 s. Nothing
/// stays allocated.
///
/// Determinism: not_guaranteed, it is a measurement.
/// \throws iso::invalid_argument  options that are negative
/// \throws iso::error             a device call failed
template <execution_space Exec>
rates measure(Exec const& exec, measure_options const& options = {});

ISO_IF_CUDA(template <> rates measure(Kokkos::Cuda const& exec, measure_options const& options);)

}  // namespace iso::ceilings
