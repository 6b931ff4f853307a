// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/total_variation.hpp
//! Reconstructs by least squares with total variation, and tells how far from the minimum it is.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/detail/total_variation_steps.hpp>
#include <iso/ct/iterate.hpp>

#include <algorithm>

namespace iso::ct {

struct total_variation_options {
  double weight = 0;  ///< lambda, at least 0; dimension of x times length^2, see below
  /// Scales the differences' rows beside the rays' (g), mm; 0: a sixth of the largest column sum,
  /// or twice the weight over the largest average along a ray, whichever is larger. It changes how
  /// fast the method is, and not the minimum.
  double gradient_scale = 0;
  value_range box = {};  ///< of voxels; a side without a bound gets one from the data
  projector_options projector = {};
};

/// Makes the x within a box of least 1/2 ||A x - b||^2 + weight TV(x), TV being the sum over voxels
/// of the length of (x - its neighbour's along x, y, z): differences, not derivatives. Neighbours
/// beyond the grid or with mask 0 count as equal.
///
/// Every iteration tells the relative gap (P - D) / P of the value P at the x that it found and a
/// lower bound D of the minimum from its dual variables: x is no further above the minimum than
/// that.
///
/// Determinism: backend_to_backend, iterates, residuals and gaps.
/// \par Method  A. Chambolle, T. Pock, JMIV 40, 2011, doi:10.1007/s10851-010-0251-1, with the
/// diagonal
///              steps of T. Pock, A. Chambolle, ICCV 2011, doi:10.1109/ICCV.2011.6126441 (alpha =
///              1): 1 / (row sum) for rays, 1 / (2 g) for differences, 1 / (column sum + 6 g) for
///              voxels; A x of each iterate by linearity from that of the extrapolated ones.
template <execution_space Exec, real T>
class total_variation {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using projections = projection_view<T, space>;

  /// Takes `x` as the start and works on it. Waits for `exec`. Voxels whose mask is 0 stay.
  /// \param readings  [views, u, v], line integrals, dimensionless; copied
  /// \param x         [nx, ny, nz], 1/mm
  /// \throws iso::invalid_argument  a backprojection that is not the adjoint, a weight or scale
  ///                                that is negative or not finite, a box that is empty or excludes
  ///                                the start, masks that leave no reading or no voxel, readings
  ///                                that are not finite, shapes that disagree
  /// \throws iso::out_of_memory     as iso::allocate
  total_variation(Exec const& exec, geometry const& g,
                  projection_view<T const, space> const& readings, volume const& x,
                  total_variation_options const& options,
                  iterative_masks<T, space> const& masks = {}, job const& control = {})
      : weight_(options.weight),
        scale_(options.gradient_scale),
        box_(options.box),
        state_("iso::ct::total_variation", exec, g, readings, x, masks,
               split_views(g.num_views(), g.num_views(), block_order::sequential),
               detail::matched(options.projector, "iso::ct::total_variation"), options.box),
        ray_dual_(state_.new_projections("iso::ct::total_variation: dual of rays")),
        projected_(state_.new_projections("iso::ct::total_variation: projection")),
        extrapolated_projection_(state_.block_buffer(0)),
        extrapolated_(state_.new_volume("iso::ct::total_variation: extrapolation")),
        voxel_step_(state_.new_volume("iso::ct::total_variation: steps of voxels")),
        duals_{state_.new_volume("iso::ct::total_variation: dual along x"),
               state_.new_volume("iso::ct::total_variation: dual along y"),
               state_.new_volume("iso::ct::total_variation: dual along z")} {
    ISO_VALIDATE(weight_ >= 0 && is_finite(weight_),
                 "iso::ct::total_variation: weight {} (must be finite and not negative)", weight_);
    ISO_VALIDATE(scale_ >= 0 && is_finite(scale_),
                 "iso::ct::total_variation: gradient scale {} (must be finite and not negative)",
                 scale_);
    state_.make_row_weights(control);
    state_.add_column_sums(0, 1, voxel_step_, control);
    double const most = detail::largest_of(exec, static_cast<T const*>(voxel_step_.data.data()),
                                           state_.num_voxels());
    double const average = largest_average();
    if (scale_ == 0) {
      // Duals of differences reach the weight by steps of g / 2 times a difference.
      scale_ = std::max(most / 6, average > 0 ? 2 * weight_ / average : 0);
    }
    bound_box(4 * average);
    detail::for_each_number("iso::ct::total_variation: steps", exec, state_.num_voxels(),
                            detail::voxel_steps<T>{T(6 * scale_), voxel_step_.data.data()});
    state_.mask_voxels(voxel_step_);
    Kokkos::deep_copy(exec, extrapolated_.data, state_.x.data);
    state_.pair.forward(0, state_.x, projected_, control);
  }

  iteration step(job const& control = {}) {
    auto const& exec = state_.pair.exec();
    std::int64_t const rays = state_.num_readings();
    std::int64_t const voxels = state_.num_voxels();
    auto const& n = state_.x.grid.extent;
    T* const x = state_.x.data.data();
    T* const correction = state_.correction.data.data();
    detail::differences<T> const gradient{
        {n[0], n[1], n[2]}, state_.voxel_mask(), extrapolated_.data.data()};

    state_.pair.forward(0, extrapolated_, extrapolated_projection_, control);
    // A (2 x - x before) and A (x before) give A x.
    if (state_.made > 0) {
      detail::for_each_number("iso::ct::total_variation: projection", exec, rays,
                              detail::combine<T>{T(0.5), extrapolated_projection_.data.data(),
                                                 T(0.5), projected_.data.data()});
    }
    double const squares = state_.square_misfit(0, projected_);
    double const variation = sum_of(
        exec, voxels, detail::variation_term<T>{{{n[0], n[1], n[2]}, state_.voxel_mask(), x}});
    double const primal = 0.5 * squares + weight_ * variation;

    detail::for_each_number(
        "iso::ct::total_variation: dual of rays", exec, rays,
        detail::ray_dual_step<T>{state_.block_readings(0), state_.block_mask(0),
                                 state_.row_weights().data.data(),
                                 extrapolated_projection_.data.data(), ray_dual_.data.data()});
    detail::for_each_number("iso::ct::total_variation: duals", exec, voxels,
                            detail::difference_dual_step<T>{
                                gradient, T(0.5), T(weight_ / scale_), duals_[0].data.data(),
                                duals_[1].data.data(), duals_[2].data.data()});
    state_.pair.adjoint(0, ray_dual_, state_.correction, onto::zero, control);
    detail::for_each_number("iso::ct::total_variation: adjoint", exec, voxels,
                            detail::add_difference_adjoint<T>{
                                gradient, T(scale_), duals_[0].data.data(), duals_[1].data.data(),
                                duals_[2].data.data(), correction});
    double const dual =
        sum_of(exec, voxels,
               detail::box_term<T>{correction, state_.voxel_mask(), x, box_.lower, box_.upper}) -
        sum_of(exec, rays,
               detail::conjugate_term<T>{state_.block_readings(0), state_.block_mask(0),
                                         ray_dual_.data.data()});
    detail::for_each_number(
        "iso::ct::total_variation: x", exec, voxels,
        detail::primal_step<T>{voxel_step_.data.data(), correction, T(box_.lower), T(box_.upper), x,
                               extrapolated_.data.data()});
    auto now = state_.told(squares);
    now.gap = primal > 0 ? (primal - dual) / primal : 0;
    return now;
  }

  /// Returns the box that the gap is taken on, which is bounded.
  [[nodiscard]] value_range const& box() const { return box_; }
  [[nodiscard]] double gradient_scale() const { return scale_; }  ///< g, mm

  /// Visits what the next iteration depends on, for a checkpoint: f(name, view) and
  /// f(name, number).
  template <class F>
  void visit(F&& f) {
    state_.visit(f);
    f("extrapolated", extrapolated_.data);
    f("projected", projected_.data);
    f("ray_dual", ray_dual_.data);
    f("dual_x", duals_[0].data);
    f("dual_y", duals_[1].data);
    f("dual_z", duals_[2].data);
  }

 private:
  /// Returns the largest average along a ray, |b| over the ray's length in the grid.
  [[nodiscard]] double largest_average() const {
    auto const& exec = state_.pair.exec();
    T* const averages = extrapolated_projection_.data.data();
    detail::for_each_number(
        "iso::ct::total_variation: averages", exec, state_.num_readings(),
        detail::size_of_average<T>{state_.block_readings(0), state_.block_mask(0),
                                   state_.row_weights().data.data(), averages});
    return detail::largest_of(exec, static_cast<T const*>(averages), state_.num_readings());
  }
  /// A side without a bound gets `most` from the data.
  void bound_box(double most) {
    box_.lower = is_finite(box_.lower) ? box_.lower : std::min(-most, box_.upper);
    box_.upper = is_finite(box_.upper) ? box_.upper : std::max(most, box_.lower);
  }

  double weight_;
  double scale_;
  value_range box_;
  detail::iterative_state<Exec, T> state_;
  projections ray_dual_;
  projections projected_;
  projections extrapolated_projection_;
  volume extrapolated_;
  volume voxel_step_;
  Kokkos::Array<volume, 3> duals_;
};

}  // namespace iso::ct
