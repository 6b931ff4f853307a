// SPDX-License-Identifier: BSD-3-Clause
//! Says what a pair's projections, adjoints and blocks take of its options, wherever it lies.
#pragma once

#include <iso/ct/iterative_options.hpp>
#include <iso/ct/projector_options.hpp>

#include <algorithm>
#include <cstdint>

namespace iso::ct::detail {

/// Returns the options of a pair's projections.
inline forward_project_options forward_options(projector_options const& o) {
  return {.method = o.method,
          .sum = o.sum,
          .edge = o.edge,
          .within = o.within,
          .oversampling = o.oversampling,
          .shape = o.shape};
}

/// Returns the options of its adjoints.
/// \param words  that the sums of a scatter have at least
inline back_project_options adjoint_options(projector_options const& o, std::int32_t words = 0) {
  return {.method = o.method,
          .edge = o.edge,
          .within = o.within,
          .oversampling = o.oversampling,
          .words = std::max(words, o.words),
          .shape = o.shape};
}

}  // namespace iso::ct::detail
