// SPDX-License-Identifier: BSD-3-Clause
//! Bounds the minimum of total variation from below, by duals and by their averages.
#pragma once

#include <iso/core/sum_of.hpp>
#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/detail/total_variation_steps.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace iso::ct::detail {

/// The averages of the duals' iterates, not of what goes beyond these.
template <execution_space Exec, real T>
class total_variation_bound {
 public:
  using state = iterative_state<Exec, T>;

  total_variation_bound(state const& of, job const& control)
      : slope_(of.new_volume("iso::ct::total_variation: mean slope", control)),
        ray_dual_(of.new_projections("iso::ct::total_variation: mean dual of rays", control)) {}

  /// Takes the duals of an iteration into their averages, which begin anew after iterations 25, 50,
  /// 100, 200, ...
  /// \param latest  the bound of these duals themselves
  /// \returns       the larger bound of both
  double raise(state const& of, value_range const& box, next_slope<T> const& slope,
               T const* ray_dual, double latest) {
    if (of.made % 25 == 0 && std::has_single_bit(std::uint64_t(of.made / 25))) {
      averaged_ = 0;
    }
    ++averaged_;
    T const part = T(1.0 / double(averaged_));
    of.each("iso::ct::total_variation: mean slope", of.num_voxels(),
            average<T, next_slope<T>>{slope, part, slope_.data.data()});
    of.each("iso::ct::total_variation: mean dual", of.num_readings(),
            average<T, T const*>{ray_dual, part, ray_dual_.data.data()});
    T const* const mean_slope = slope_.data.data();
    return std::max(latest, bound(of, box, mean_slope, ray_dual_.data.data()));
  }

  /// Returns the bound D of duals of rays and the slope A^T y + D^T q that belongs to them: the
  /// least of slope x over the box, less the conjugate of the misfit.
  template <class Slope>
  static double bound(state const& of, value_range const& box, Slope const& slope,
                      T const* ray_dual) {
    return of.sum(of.num_voxels(), box_term<T, Slope>{slope, of.voxel_mask(), of.x.data.data(),
                                                      box.lower, box.upper}) -
           of.sum(of.num_readings(),
                  conjugate_term<T>{of.block_readings(0), of.block_mask(0), ray_dual});
  }

  template <class F>
  void visit(F& f) {
    f("mean_slope", slope_);
    f("mean_ray_dual", ray_dual_);
    f("averaged", averaged_);
  }

 private:
  typename state::volume slope_;
  typename state::projections ray_dual_;
  std::int64_t averaged_ = 0;
};

}  // namespace iso::ct::detail
