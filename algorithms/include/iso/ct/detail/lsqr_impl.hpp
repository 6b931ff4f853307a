// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/lsqr.hpp declares.
#pragma once

#include <iso/ct/lsqr.hpp>

namespace iso::ct {

template <execution_space Exec, real T>
lsqr<Exec, T>::lsqr(Exec const& exec, geometry const& g,
                    projection_view<std::type_identity_t<T> const, space> const& readings,
                    volume const& x, lsqr_options const& options,
                    iterative_masks<T, space> const& masks, job const& control,
                    elsewhere const& through)
    : damping_(options.damping),
      state_("iso::ct::lsqr", exec, g, readings, x, masks,
             split_views(g.num_views(), g.num_views(), block_order::sequential),
             detail::matched(options.projector, "iso::ct::lsqr"), through, control),
      u_(state_.new_projections("iso::ct::lsqr: u", control)),
      projected_(state_.block_buffer(0)),
      v_(state_.new_volume("iso::ct::lsqr: v", control)),
      direction_(state_.new_volume("iso::ct::lsqr: direction", control)) {
  state_.agree(options);
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

template <execution_space Exec, real T>
std::int64_t lsqr<Exec, T>::bytes_needed(Exec const& exec, geometry const& g, grid const& box,
                                         lsqr_options const& options, bool masked) {
  return detail::iterative_state<Exec, T>::bytes_needed(
      exec, g, box, split_views(g.num_views(), g.num_views(), block_order::sequential),
      options.projector, masked, 2, 1);
}

template <execution_space Exec, real T>
iteration lsqr<Exec, T>::step(job const& control) {
  state_.check_present();
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

}  // namespace iso::ct
