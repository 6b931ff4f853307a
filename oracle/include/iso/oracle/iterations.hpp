// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/iterations.hpp
//! Does iterative reconstruction in double by the plainest loops, from the formulas of its methods.
#pragma once

#include <iso/ct/geometry.hpp>
#include <iso/oracle/projections.hpp>

#include <cstdint>
#include <vector>

namespace iso::oracle {

using numbers = std::vector<double>;

/// Projection along the rays of a scan and back, linear Joseph.
struct linear_pair {
  ct::geometry scan;
  grid volume;

  [[nodiscard]] numbers forward(numbers const& x) const;
  [[nodiscard]] numbers adjoint(numbers const& p) const;
  /// Returns A_s: the rows of those views.
  [[nodiscard]] linear_pair part(std::vector<std::int64_t> const& views) const;
};

/// Returns x after `steps` passes of SART over the blocks, each of which is given by its views.
numbers exact_sart(linear_pair const& a, numbers const& b,
                   std::vector<std::vector<std::int64_t>> const& blocks, double relaxation,
                   std::int64_t steps);
/// Returns the same of OSEM, from ones. A block leaves what it does not see; what none sees is 0.
numbers exact_osem(linear_pair const& a, numbers const& b,
                   std::vector<std::vector<std::int64_t>> const& blocks, std::int64_t steps);
/// Returns what `steps` of conjugate gradients make of (A^T A + damping^2) x = A^T b: the x of CGLS
/// and LSQR.
numbers exact_normal(linear_pair const& a, numbers const& b, double damping, std::int64_t steps);
/// Returns x after `steps` of the primal-dual method of iso::ct::total_variation.
numbers exact_total_variation(linear_pair const& a, numbers const& b, double weight, double lower,
                              double upper, std::int64_t steps);

}  // namespace iso::oracle
