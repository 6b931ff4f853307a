// SPDX-License-Identifier: BSD-3-Clause
//! Holds what total variation takes from the data: its box, and how its steps share.
#pragma once

#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/detail/total_variation_steps.hpp>

#include <algorithm>
#include <cmath>

namespace iso::ct::detail {

/// Returns the g by which duals of differences reach the weight: their steps are c g / 2 times a
/// difference.
/// \param average  of the readings along their rays
/// \param column   the largest column sum
inline double default_gradient_scale(double weight, double average, double side, double column) {
  double const reaching = average > 0 ? 2 * weight / (average * side) : weight > 0 ? column / 6 : 0;
  return std::max(reaching, std::sqrt(reaching * column / 6));
}

/// The box that a bound of the minimum is taken on: the one given, and where that has no side, a
/// side that no voxel comes near. Any box bounds the minimum on itself, so that each iteration has
/// its own, and no voxel is held within it.
class bound_box {
 public:
  explicit bound_box(value_range const& given) : box_(given), given_(given) {}

  [[nodiscard]] value_range const& range() const { return box_; }
  [[nodiscard]] value_range const& given() const { return given_; }

  /// Says what size of a voxel the readings suggest.
  void expect(double size) { expected_ = size; }
  /// Gives the sides without a bound four times that, or twice the largest |voxel| where that is
  /// more.
  template <execution_space Exec, real T>
  void enclose(iterative_state<Exec, T> const& of) {
    if (is_finite(given_.lower) && is_finite(given_.upper)) {
      return;
    }
    T const* const voxels = of.x.data.data();
    double const size =
        std::max(4 * expected_, 2 * of.template largest<true>(voxels, of.num_voxels()));
    box_.lower = is_finite(given_.lower) ? given_.lower : std::min(-size, given_.upper);
    box_.upper = is_finite(given_.upper) ? given_.upper : std::max(size, given_.lower);
  }

 private:
  value_range box_;
  value_range given_;
  double expected_ = 0;
};

/// c, by which steps of duals are longer and those of voxels shorter.
class step_ratio {
 public:
  explicit step_ratio(double side) : side_(side), ratio_(8 * side) {}

  [[nodiscard]] double side() const { return side_; }    ///< of a voxel, mm
  [[nodiscard]] double value() const { return ratio_; }  ///< mm

  /// Changes c by how fast the gap of the duals themselves has fallen since it was last asked.
  void balance(double gap) {
    if (gap_ > 0) {
      double const fall = math::log(gap_ / gap);
      factor_ = fall < 0.8 * fall_ ? 1 / factor_ : factor_;
      fall_ = fall;
      ratio_ = std::clamp(factor_ * ratio_, 0.5 * side_, 256 * side_);
    }
    gap_ = gap;
  }

  template <class F>
  void visit(F& f) {
    f("ratio", ratio_);
    f("factor", factor_);
    f("gap", gap_);
    f("fall", fall_);
  }

 private:
  double side_;
  double ratio_;
  double factor_ = 2;  ///< by which c changes next
  double gap_ = 0;     ///< when it was last asked
  double fall_ = 0;    ///< of its logarithm, then
};

}  // namespace iso::ct::detail
