// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/total_variation.hpp
//! Reconstructs by least squares with total variation, and tells how far from the minimum it is.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/detail/total_variation_gap.hpp>
#include <iso/ct/detail/total_variation_scales.hpp>
#include <iso/ct/detail/total_variation_steps.hpp>
#include <iso/ct/iterate.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace iso::ct {

/// The primal-dual method for least squares with total variation. It minimises 1/2 ||A x - b||^2 +
/// weight TV(x) within a box. TV is the sum over voxels of the length of the vector (x - its
/// neighbour's along x, y, z): differences, not derivatives. Neighbours beyond the grid or with
/// mask 0 count as equal.
///
/// Every iteration tells the relative gap (P - D) / P of the value P at the x that it found and a
/// lower bound D of the minimum on box() from its dual variables: x is no further above that than
/// the gap, but for rounding, in float about 1e-5 of P. Its residual is that of the same x.
///
/// Determinism: backend_to_backend, iterates, residuals and gaps.
/// \par Method  A. Chambolle, T. Pock, JMIV 40, 2011, doi:10.1007/s10851-010-0251-1, with the
/// diagonal
///              steps of T. Pock, A. Chambolle, ICCV 2011, doi:10.1109/ICCV.2011.6126441 (alpha =
///              1), relaxed as L. Condat, JOTA 158, 2013, doi:10.1007/s10957-012-0245-9: steps
///              c / (row sum) for rays, c g / 2 for differences, 1 / (c (column sum + 6 g)) for
///              voxels. c is 8 times a voxel's side (of the three the mean) at first, so that no
///              unit of length matters. After every 100 iterations it is doubled or halved as the
///              time before, or the other way where the gap's logarithm fell by less than 0.8 of
///              what it fell the time before. D is the larger of the bounds of the duals and of
///              their averages since iteration 25, 50, 100, 200, ...
template <execution_space Exec, real T>
class total_variation {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using projections = projection_view<T, space>;

  /// Takes `x` as the start and works on it. Waits for `exec`. Voxels whose mask is 0 stay.
  /// \param readings  [views, u, v], line integrals, dimensionless; copied
  /// \param x         [nx, ny, nz], 1/mm
  /// \param through   the place of `x`, `readings` and masks: iso::ct::streamed, or
  /// iso::ct::ranked,
  ///                  on which they are what the rank has
  /// \throws iso::invalid_argument  a backprojection that is not the adjoint, a weight or scale
  ///                                that is negative or not finite, a box that is empty or excludes
  ///                                the start, masks that leave no reading or no voxel, no ray
  ///                                that meets a voxel, readings that are not finite, shapes that
  ///                                disagree
  /// \throws iso::out_of_memory     as iso::allocate
  total_variation(Exec const& exec, geometry const& g,
                  projection_view<std::type_identity_t<T> const, space> const& readings,
                  volume const& x, total_variation_options const& options,
                  iterative_masks<T, space> const& masks = {}, job const& control = {},
                  elsewhere const& through = {});

  /// Returns the bytes of the backend's memory that the method allocates, beside readings, x and
  /// masks that it is given; `masked`: with a mask of readings, which is copied. Enqueues nothing.
  /// \throws iso::invalid_argument what projector_pair refuses
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 grid const& box,
                                                 total_variation_options const& options,
                                                 bool masked = false);
  /// Returns the bytes of the arrays that visit() visits.
  [[nodiscard]] static std::int64_t bytes_visited(geometry const& g, grid const& box) {
    return detail::iterative_state<Exec, T>::bytes_of(g, box, 7, 3);
  }

  /// Does one iteration. Waits for the execution space, and does not allocate.
  iteration step(job const& control = {});

  /// Returns the box that the gap of the last iteration was taken on, which is bounded.
  [[nodiscard]] value_range const& box() const {
    state_.check_present();
    return box_.range();
  }
  /// Returns g, mm.
  [[nodiscard]] double gradient_scale() const {
    state_.check_present();
    return scale_;
  }

  /// Returns how its projections are divided, and the bytes carried so far; nothing where nothing
  /// is streamed.
  [[nodiscard]] std::optional<streaming_report> streaming() const {
    state_.check_present();
    return state_.pair.streaming();
  }

  /// Visits what the next iteration depends on, for a checkpoint: f(name, volume),
  /// f(name, projections), whose views lie in the order of blocks, and f(name, number).
  template <class F>
  void visit(F&& f) {
    state_.check_present();
    state_.visit(f);
    f("relaxed", relaxed_);
    f("slope", slope_);
    f("projected", relaxed_projection_);
    f("ray_dual", ray_dual_);
    f("dual_x", duals_[0]);
    f("dual_y", duals_[1]);
    f("dual_z", duals_[2]);
    bound_.visit(f);
    ratio_.visit(f);
  }

 private:
  static constexpr double relaxation = 1.9;  ///< below 2

  using plane = typename detail::iterative_state<Exec, T>::plane;

  /// \param above  the plane of `of` above those that are here
  [[nodiscard]] detail::differences<T> differences_of(volume const& of, plane const& above) const {
    return {state_.voxel_mask(), of.data.data(), {above.data(), mask_above_.data()}};
  }
  /// Tells of an iteration whose value is `primal`, with the duals that it found.
  iteration told(double squares, double primal) {
    detail::next_slope<T> const slope{slope_.data.data(), state_.correction.data.data(),
                                      relaxation};
    T const* const y = projected_.data.data();
    double const latest = bound_.bound(state_, box(), slope, y);
    double const dual = bound_.raise(state_, box(), slope, y, latest);
    auto now = state_.told(squares);
    ISO_VALIDATE(is_finite(primal) && is_finite(dual),
                 "iso::ct::total_variation: the gap of iteration {} is not finite (numbers too "
                 "large for the precision); scale the readings, or choose double",
                 state_.made);
    now.gap = primal > 0 ? (primal - dual) / primal : 0;
    if (state_.made % 100 == 0 && primal > latest) {
      ratio_.balance((primal - latest) / primal);
    }
    return now;
  }

  double weight_;
  double scale_;
  detail::bound_box box_;
  detail::step_ratio ratio_;
  detail::iterative_state<Exec, T> state_;
  projections ray_dual_;  ///< this and what follows goes beyond the iterates, by the relaxation
  projections relaxed_projection_;
  projections projected_;  ///< of x, then the next duals of rays
  volume relaxed_;
  volume slope_;  ///< of the duals: A^T y + D^T q
  volume voxel_step_;
  Kokkos::Array<volume, 3> duals_;
  plane x_above_;  ///< this and what follows are of other ranks
  plane relaxed_above_;
  plane dual_below_;  ///< along z
  plane mask_above_;
  plane mask_below_;
  detail::total_variation_bound<Exec, T> bound_;
};

}  // namespace iso::ct
