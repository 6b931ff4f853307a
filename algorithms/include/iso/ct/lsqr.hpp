// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/lsqr.hpp
//! Reconstructs by damped least squares.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/iterate.hpp>

#include <cmath>
#include <optional>
#include <type_traits>

namespace iso::ct {

/// The method LSQR, which minimises ||b - A x||^2 + damping^2 ||x - start||^2.
///
/// Determinism: backend_to_backend, iterates and residuals. Scalar products are iso::dot's, the
/// recurrence's numbers are double.
/// \par Method  C. C. Paige, M. A. Saunders, ACM TOMS 8(1), 1982, doi:10.1145/355984.355989.
template <execution_space Exec, real T>
class lsqr {
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
  /// \throws iso::invalid_argument  a backprojection that is not the adjoint, a damping that is
  ///                                negative or whose square is not finite, masks that leave no
  ///                                reading or no voxel, no ray that meets a voxel, readings or a
  ///                                start that are not finite, shapes that disagree
  /// \throws iso::out_of_memory     as iso::allocate
  lsqr(Exec const& exec, geometry const& g,
       projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
       lsqr_options const& options = {}, iterative_masks<T, space> const& masks = {},
       job const& control = {}, elsewhere const& through = {});

  /// Returns the bytes of the backend's memory that the method allocates, beside readings, x and
  /// masks that it is given; `masked`: with a mask of readings, which is copied. Enqueues nothing.
  /// \throws iso::invalid_argument what projector_pair refuses
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 grid const& box, lsqr_options const& options = {},
                                                 bool masked = false);
  /// Returns the bytes of the arrays that visit() visits.
  [[nodiscard]] static std::int64_t bytes_visited(geometry const& g, grid const& box) {
    return detail::iterative_state<Exec, T>::bytes_of(g, box, 3, 1);
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
    f("u", u_);
    f("v", v_);
    f("direction", direction_);
    f("alpha", alpha_);
    f("rho", rho_);
    f("phi", phi_);
    f("lost", lost_);
  }

 private:
  /// Sets y to a x + b y.
  template <class Array>
  void combine(double a, Array const& x, double b, Array const& y) const {
    state_.combine(a, x.data.data(), b, y.data.data(), std::int64_t(y.data.size()));
  }
  /// Divides by the norm, which it returns.
  template <class Array>
  double normalise(Array const& x) const {
    double const norm = std::sqrt(state_.squares(x.data.data(), std::int64_t(x.data.size())));
    if (norm > 0) {
      combine(1 / norm, x, 0, x);
    }
    return norm;
  }

  double damping_;
  detail::iterative_state<Exec, T> state_;
  projections u_;
  projections projected_;
  volume v_;
  volume direction_;
  double alpha_ = 0;
  double rho_ = 0;
  double phi_ = 0;
  double lost_ = 0;  ///< what the damping keeps of the squares
};

}  // namespace iso::ct
