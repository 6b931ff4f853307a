// SPDX-License-Identifier: BSD-3-Clause
//! Holds what total variation takes from the data: its box, and how its steps share.
#pragma once

#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/detail/total_variation_steps.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace iso::ct::detail {

/// Returns the largest average along a ray, |b| over the ray's length in the grid; `averages` is
/// overwritten.
template <execution_space Exec, real T>
double largest_average(iterative_state<Exec, T> const& of, T* averages) {
  auto const& exec = of.pair.exec();
  for_each_number("iso::ct::total_variation: averages", exec, of.num_readings(),
                  size_of_average<T>{of.block_readings(0), of.block_mask(0),
                                     of.row_weights().data.data(), averages});
  return largest_of(exec, static_cast<T const*>(averages), of.num_readings());
}

/// Returns the g by which duals of differences reach the weight: their steps are c g / 2 times a
/// difference.
/// \param average  the largest along a ray
/// \param column   the largest column sum
inline double default_gradient_scale(double weight, double average, double side, double column) {
  double const reaching = average > 0 ? 2 * weight / (average * side) : weight > 0 ? column / 6 : 0;
  return std::max(reaching, std::sqrt(reaching * column / 6));
}

/// A box that is bounded, and grows where no bound was given.
class growing_box {
 public:
  explicit growing_box(value_range const& given) : box_(given), given_(given) {}

  [[nodiscard]] value_range const& range() const { return box_; }

  /// Gives a side without a bound `most`, or `otherwise` where that is 0: readings that are all 0
  /// say nothing of a size, and 0 cannot be doubled.
  void bound(double most, double otherwise) {
    most = most > 0 ? most : otherwise;
    box_.lower = is_finite(box_.lower) ? box_.lower : std::min(-most, box_.upper);
    box_.upper = is_finite(box_.upper) ? box_.upper : std::max(most, box_.lower);
  }
  /// Doubles the bounds that are not given where a voxel that has a step has come to one.
  template <execution_space Exec, real T>
  void widen(iterative_state<Exec, T> const& of, T const* steps) {
    if (is_finite(given_.lower) && is_finite(given_.upper)) {
      return;
    }
    double const infinite = std::numeric_limits<double>::infinity();
    at_bound<T> const touching{steps, of.x.data.data(),
                               T(is_finite(given_.lower) ? -infinite : box_.lower),
                               T(is_finite(given_.upper) ? infinite : box_.upper)};
    if (count_of(of.pair.exec(), of.num_voxels(), touching) > 0) {
      box_.lower = is_finite(given_.lower) ? box_.lower : 2 * box_.lower;
      box_.upper = is_finite(given_.upper) ? box_.upper : 2 * box_.upper;
    }
  }

  template <class F>
  void visit(F& f) {
    f("lower", box_.lower);
    f("upper", box_.upper);
  }

 private:
  value_range box_;
  value_range given_;
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
