// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/lsqr.hpp
//! Reconstructs by damped least squares.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/iterate.hpp>

#include <cmath>
#include <type_traits>

namespace iso::ct {

struct lsqr_options {
  double damping = 0;  ///< mm, at least 0: a voxel's weight beside the lengths of rays
  projector_options projector = {};
};

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
  /// \throws iso::invalid_argument  a backprojection that is not the adjoint, a damping that is
  ///                                negative or whose square is not finite, masks that leave no
  ///                                reading or no voxel, no ray that meets a voxel, readings or a
  ///                                start that are not finite, shapes that disagree
  /// \throws iso::out_of_memory     as iso::allocate
  lsqr(Exec const& exec, geometry const& g,
       projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
       lsqr_options const& options = {}, iterative_masks<T, space> const& masks = {},
       job const& control = {})
      : damping_(options.damping),
        state_("iso::ct::lsqr", exec, g, readings, x, masks,
               split_views(g.num_views(), g.num_views(), block_order::sequential),
               detail::matched(options.projector, "iso::ct::lsqr")),
        u_(state_.new_projections("iso::ct::lsqr: u")),
        projected_(state_.block_buffer(0)),
        v_(state_.new_volume("iso::ct::lsqr: v")),
        direction_(state_.new_volume("iso::ct::lsqr: direction")) {
    ISO_VALIDATE(damping_ >= 0 && is_finite(damping_ * damping_),
                 "iso::ct::lsqr: damping {} (must not be negative, and its square finite); leave "
                 "it at 0 for least squares",
                 damping_);
    state_.pair.forward(0, state_.x, u_, control);
    state_.subtract_from_readings(0, u_);
    phi_ = normalise(u_);
    state_.pair.adjoint(0, u_, v_, onto::zero, control);
    state_.mask_voxels(v_);
    alpha_ = normalise(v_);
    rho_ = alpha_;
    Kokkos::deep_copy(exec, direction_.data, v_.data);
    if (alpha_ == 0) {
      state_.refuse_unmet_rays(projected_, control);
    }
  }

  iteration step(job const& control = {}) {
    auto const& pair = state_.pair;
    // The next pair of Lanczos vectors.
    pair.forward(0, v_, projected_, control);
    state_.mask_readings(0, projected_);
    combine(1, projected_, -alpha_, u_);
    double const beta = normalise(u_);
    pair.adjoint(0, u_, state_.correction, onto::zero, control);
    state_.mask_voxels(state_.correction);
    combine(1, state_.correction, -beta, v_);
    alpha_ = normalise(v_);
    // One rotation takes the damping out, one the lower diagonal.
    double const damped = std::sqrt(rho_ * rho_ + damping_ * damping_);
    double const rest = damped > 0 ? damping_ / damped * phi_ : 0;
    double const kept = damped > 0 ? rho_ / damped * phi_ : phi_;
    double const rho = std::sqrt(damped * damped + beta * beta);
    double const cosine = rho > 0 ? damped / rho : 1;
    // Where nothing is left to gain x and its misfit stay.
    double const sine = rho > 0 ? beta / rho : 1;
    double const theta = sine * alpha_;
    rho_ = -cosine * alpha_;
    phi_ = sine * kept;
    lost_ += rest * rest;
    combine(rho > 0 ? cosine * kept / rho : 0, direction_, 1, state_.x);
    combine(1, v_, rho > 0 ? -theta / rho : 0, direction_);
    // With damping that of the damped problem, as iteration::residual says.
    return state_.told(phi_ * phi_ + lost_);
  }

  /// Visits what the next iteration depends on, for a checkpoint: f(name, view) and
  /// f(name, number).
  template <class F>
  void visit(F&& f) {
    state_.visit(f);
    f("u", u_.data);
    f("v", v_.data);
    f("direction", direction_.data);
    f("alpha", alpha_);
    f("rho", rho_);
    f("phi", phi_);
    f("lost", lost_);
  }

 private:
  /// y = a x + b y
  template <class Array>
  void combine(double a, Array const& x, double b, Array const& y) const {
    detail::for_each_number("iso::ct::lsqr: combine", state_.pair.exec(),
                            std::int64_t(y.data.size()),
                            detail::combine<T>{T(a), x.data.data(), T(b), y.data.data()});
  }
  /// Divides by the norm, which it returns.
  template <class Array>
  double normalise(Array const& x) const {
    T const* const values = x.data.data();
    double const norm =
        std::sqrt(dot(state_.pair.exec(), values, values, std::int64_t(x.data.size())));
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
