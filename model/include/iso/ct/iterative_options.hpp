// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/iterative_options.hpp
//! Holds what iterative methods may choose, and what they report.
#pragma once

#include <iso/core/check.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace iso::ct {

/// The smallest and the largest value that a voxel may have, 1/mm.
struct value_range {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// The order in which blocks of views are taken.
enum class block_order {
  sequential,
  golden,  ///< each as far from those before it as the golden angle is
};

/// The column sums by which a block's correction is divided.
enum class column_sums {
  of_blocks,  ///< each block's own; one volume a block is held
  of_scan,    ///< of each voxel the largest of all blocks'; one volume is held
};

struct sart_options {
  std::int64_t block_views = 0;  ///< 0: all views, SIRT; 1: SART; else OS-SART
  block_order order = block_order::golden;
  double relaxation = 1;  ///< in (0, 2)
  column_sums columns = column_sums::of_blocks;
  value_range box = {};
  projector_options projector = {};
};

struct mlem_options {
  std::int64_t block_views = 0;  ///< 0: all views, MLEM; else OSEM
  block_order order = block_order::golden;
  projector_options projector = {};
};

struct cgls_options {
  projector_options projector = {};
};

struct lsqr_options {
  double damping = 0;  ///< mm, at least 0: a voxel's weight beside the lengths of rays
  projector_options projector = {};
};

struct total_variation_options {
  double weight = 0;  ///< lambda, at least 0; dimension of x times length^2
  /// The factor g (mm) of the differences' rows beside the rays' rows. 0: twice the weight over the
  /// readings' average along a ray and the side of a voxel, or the root of that times a sixth of
  /// the largest column sum, whichever is larger. It changes how fast the method is, and not the
  /// minimum.
  double gradient_scale = 0;
  /// The bounds of voxel values. A side without a bound holds no voxel back.
  value_range box = {};
  projector_options projector = {};
};

/// The figures of one iteration. Those that a method does not compute are NaN.
struct iteration {
  std::int64_t number = 0;  ///< 1, 2, ...; a resumed run goes on counting
  /// The norm ||b - A x|| of the readings that count, as the iteration computes it anyway. CGLS,
  /// LSQR and TV: of the new x; the others: of x as the iteration, or each of its blocks, found it.
  /// LSQR with damping d: the root of ||b - A x||^2 + d^2 ||x - start||^2.
  double residual = std::numeric_limits<double>::quiet_NaN();
  double relative_residual = std::numeric_limits<double>::quiet_NaN();  ///< over ||b||
  double gap = std::numeric_limits<double>::quiet_NaN();  ///< TV: primal-dual gap over the primal
};

/// The rules by which a run of iterations ends. A rule that is zero, or empty, does not count.
struct stopping_rules {
  std::int64_t iterations = 20;  ///< at most, of this run
  double relative_residual = 0;  ///< at or below
  double noise = 0;              ///< discrepancy: ||b - A x|| at or below it, see noise_of_counts
  double gap = 0;                ///< TV: relative primal-dual gap at or below
  std::function<bool(iteration const&)> proceed = {};  ///< after each; false stops

  /// Returns whether a number of this iteration ends the run.
  [[nodiscard]] bool met_by(iteration const& now) const {
    return (relative_residual > 0 && now.relative_residual <= relative_residual) ||
           (noise > 0 && now.residual <= noise) || (gap > 0 && now.gap <= gap);
  }
};

constexpr auto words(block_order) {
  return std::array{word{block_order::sequential, "sequential"},
                    word{block_order::golden, "golden"}};
}
constexpr auto words(column_sums) {
  return std::array{word{column_sums::of_blocks, "blocks"}, word{column_sums::of_scan, "scan"}};
}

constexpr void describe(auto&& visit, describes<iteration> auto& x) {
  visit(x.number, field{.name = "iteration", .says = "1, 2, ..."});
  visit(x.residual, field{.name = "residual", .says = "norm of the readings' differences"});
  visit(x.relative_residual,
        field{.name = "relative-residual", .says = "over the norm of the readings"});
  visit(x.gap, field{.name = "gap", .says = "tv: primal-dual gap over the primal"});
}

}  // namespace iso::ct
