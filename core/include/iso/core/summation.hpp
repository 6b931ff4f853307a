// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/summation.hpp
#pragma once

namespace iso {

/// The way in which a sum is made: of the samples of a ray, of the products of a matrix row.
enum class summation {
  ordered,       ///< in one order, which the algorithm defines
  reproducible,  ///< of terms rounded to a common grid first: exact, in any order and partition
};

}  // namespace iso
