// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/cgls.hpp declares.
#pragma once

#include <iso/ct/cgls.hpp>

namespace iso::ct {

template <execution_space Exec, real T>
cgls<Exec, T>::cgls(Exec const& exec, geometry const& g,
                    projection_view<std::type_identity_t<T> const, space> const& readings,
                    volume const& x, cgls_options const& options,
                    iterative_masks<T, space> const& masks, job const& control,
                    elsewhere const& through)
    : state_("iso::ct::cgls", exec, g, readings, x, masks,
             split_views(g.num_views(), g.num_views(), block_order::sequential),
             detail::matched(options.projector, "iso::ct::cgls"), through, control),
      residual_(state_.new_projections("iso::ct::cgls: residual", control)),
      projected_(state_.block_buffer(0)),
      direction_(state_.new_volume("iso::ct::cgls: direction", control)) {
  state_.agree(options);
  state_.pair.forward(0, state_.x, residual_, control);
  state_.subtract_from_readings(0, residual_);
  normal_ = gradient(control);
  Kokkos::deep_copy(exec, direction_.data, state_.correction.data);
  if (normal_ == 0) {
    state_.refuse_unmet_rays(projected_, control);
  }
}

template <execution_space Exec, real T>
std::int64_t cgls<Exec, T>::bytes_needed(Exec const& exec, geometry const& g, grid const& box,
                                         cgls_options const& options, bool masked) {
  return detail::iterative_state<Exec, T>::bytes_needed(
      exec, g, box, split_views(g.num_views(), g.num_views(), block_order::sequential),
      options.projector, masked, 1, 1);
}

template <execution_space Exec, real T>
iteration cgls<Exec, T>::step(job const& control) {
  state_.check_present();
  std::int64_t const rays = state_.num_readings();
  std::int64_t const voxels = state_.num_voxels();
  T* const r = residual_.data.data();
  state_.pair.forward(0, direction_, projected_, control);
  state_.mask_readings(0, projected_);
  double const curvature = state_.squares(projected_.data.data(), rays);
  // Where nothing is left to gain x stays.
  double const alpha = curvature > 0 ? normal_ / curvature : 0;
  state_.combine(alpha, direction_.data.data(), 1, state_.x.data.data(), voxels);
  state_.combine(-alpha, projected_.data.data(), 1, r, rays);
  double const before = normal_;
  normal_ = gradient(control);
  // Misfits fall but for rounding. Where they do not, rounding has cost the directions what makes
  // them conjugate: the next one is the gradient's alone.
  double const misfit = state_.squares(r, rays);
  double const beta = before > 0 && misfit <= misfit_ ? normal_ / before : 0;
  misfit_ = misfit;
  state_.combine(1, state_.correction.data.data(), beta, direction_.data.data(), voxels);
  return state_.told(misfit_);
}

}  // namespace iso::ct
