// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/cgls.hpp
//! Reconstructs by conjugate gradients on the normal equations.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/iterate.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

namespace iso::ct {

/// The method of conjugate gradients for least squares (CGLS): after n iterations, the x of least
/// ||b - A x|| in their Krylov space. Ending the run early keeps noise out of x. There is no box:
/// the recurrence allows none. Where rounding lets the residual rise, the next direction is the
/// gradient alone.
///
/// Determinism: backend_to_backend, iterates and residuals. Scalar products are iso::dot's.
/// \par Method  M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 1952; as algorithm 7.4.1 of A. Bjorck,
///              Numerical Methods for Least Squares Problems, 1996.
template <execution_space Exec, real T>
class cgls {
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
  /// \throws iso::invalid_argument  a backprojection that is not the adjoint, masks that leave no
  ///                                reading or no voxel, no ray that meets a voxel, readings or a
  ///                                start that are not finite, shapes that disagree
  /// \throws iso::out_of_memory     as iso::allocate
  cgls(Exec const& exec, geometry const& g,
       projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
       cgls_options const& options = {}, iterative_masks<T, space> const& masks = {},
       job const& control = {}, elsewhere const& through = {});

  /// Returns the bytes of the backend's memory that the method allocates, beside readings, x and
  /// masks that it is given; `masked`: with a mask of readings, which is copied. Enqueues nothing.
  /// \throws iso::invalid_argument what projector_pair refuses
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 grid const& box, cgls_options const& options = {},
                                                 bool masked = false);
  /// Returns the bytes of the arrays that visit() visits.
  [[nodiscard]] static std::int64_t bytes_visited(geometry const& g, grid const& box) {
    return detail::iterative_state<Exec, T>::bytes_of(g, box, 2, 1);
  }

  /// Does one iteration. Waits for the execution space, and does not allocate.
  iteration step(job const& control = {});

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
    f("residual", residual_);
    f("direction", direction_);
    f("normal", normal_);
    f("misfit", misfit_);
  }

 private:
  /// Makes A^T r; returns its square norm.
  double gradient(job const& control) {
    state_.pair.adjoint(0, residual_, state_.correction, onto::zero, control);
    state_.mask_voxels(state_.correction);
    return state_.squares(state_.correction.data.data(), state_.num_voxels());
  }

  detail::iterative_state<Exec, T> state_;
  projections residual_;
  projections projected_;
  volume direction_;
  double normal_ = 0;
  double misfit_ = std::numeric_limits<double>::max();  ///< of the iterate
};

}  // namespace iso::ct
