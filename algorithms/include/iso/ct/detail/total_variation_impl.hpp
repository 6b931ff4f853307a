// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/total_variation.hpp declares.
#pragma once

#include <iso/ct/total_variation.hpp>

namespace iso::ct {

template <execution_space Exec, real T>
total_variation<Exec, T>::total_variation(
    Exec const& exec, geometry const& g,
    projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
    total_variation_options const& options, iterative_masks<T, space> const& masks,
    job const& control, elsewhere const& through)
    : weight_(options.weight),
      scale_(options.gradient_scale),
      box_(options.box),
      ratio_((x.grid.spacing.x + x.grid.spacing.y + x.grid.spacing.z) / 3),
      state_("iso::ct::total_variation", exec, g, readings, x, masks,
             split_views(g.num_views(), g.num_views(), block_order::sequential),
             detail::matched(options.projector, "iso::ct::total_variation"), through, control,
             options.box),
      ray_dual_(state_.new_projections("iso::ct::total_variation: dual of rays", control)),
      relaxed_projection_(state_.new_projections("iso::ct::total_variation: projection", control)),
      projected_(state_.block_buffer(0)),
      relaxed_(state_.new_volume("iso::ct::total_variation: relaxed volume", control)),
      slope_(state_.new_volume("iso::ct::total_variation: slope", control)),
      voxel_step_(state_.new_volume("iso::ct::total_variation: steps of voxels", control)),
      duals_{state_.new_volume("iso::ct::total_variation: dual along x", control),
             state_.new_volume("iso::ct::total_variation: dual along y", control),
             state_.new_volume("iso::ct::total_variation: dual along z", control)},
      x_above_(state_.new_plane("iso::ct::total_variation: next plane", detail::neighbour::above)),
      relaxed_above_(
          state_.new_plane("iso::ct::total_variation: next plane", detail::neighbour::above)),
      dual_below_(
          state_.new_plane("iso::ct::total_variation: next plane", detail::neighbour::below)),
      mask_above_(state_.new_mask_plane(detail::neighbour::above)),
      mask_below_(state_.new_mask_plane(detail::neighbour::below)),
      bound_(state_, control) {
  state_.agree(options);
  ISO_VALIDATE(weight_ >= 0 && is_finite(weight_),
               "iso::ct::total_variation: weight {} (must be finite and not negative); give 0 "
               "for least squares, more for a smoother volume",
               weight_);
  ISO_VALIDATE(scale_ >= 0 && is_finite(scale_),
               "iso::ct::total_variation: gradient scale {} (must be finite and not negative); "
               "leave it at 0 to have it chosen",
               scale_);
  state_.make_row_weights(control);
  state_.add_column_sums(0, 1, voxel_step_, control);
  double const column = state_.largest(voxel_step_.data.data(), state_.num_voxels());
  state_.choose_words_by_readings(projected_.data.data());
  state_.ask(control);
  double const average = state_.average_along_rays();
  if (scale_ == 0) {
    scale_ = detail::default_gradient_scale(weight_, average, ratio_.side(), column);
  }
  box_.expect(average);
  state_.each("iso::ct::total_variation: steps", state_.num_voxels(),
              detail::voxel_steps<T>{T(6 * scale_), voxel_step_.data.data()});
  state_.mask_voxels(voxel_step_);
  Kokkos::deep_copy(exec, relaxed_.data, state_.x.data);
  state_.ask(control);
  state_.pair.forward(0, state_.x, relaxed_projection_, control);
}

template <execution_space Exec, real T>
std::int64_t total_variation<Exec, T>::bytes_needed(Exec const& exec, geometry const& g,
                                                    grid const& box,
                                                    total_variation_options const& options,
                                                    bool masked) {
  // Relaxed volume, slope and its mean, steps, three duals; the rays' weights, projection, dual and
  // its mean.
  return detail::iterative_state<Exec, T>::bytes_needed(
      exec, g, box, split_views(g.num_views(), g.num_views(), block_order::sequential),
      options.projector, masked, 7, 4);
}

template <execution_space Exec, real T>
iteration total_variation<Exec, T>::step(job const& control) {
  state_.check_present();
  std::int64_t const rays = state_.num_readings();
  std::int64_t const voxels = state_.num_voxels();
  T* const x = state_.x.data.data();
  double const c = ratio_.value();
  state_.each("iso::ct::total_variation: x", voxels,
              detail::primal_step<T>{voxel_step_.data.data(), T(1 / c), slope_.data.data(),
                                     T(box_.given().lower), T(box_.given().upper),
                                     relaxed_.data.data(), x});
  box_.enclose(state_);
  state_.pair.forward(0, state_.x, projected_, control);
  double const squares = state_.square_misfit(0, projected_);
  state_.fetch(detail::neighbour::above, state_.x, x_above_);
  state_.fetch(detail::neighbour::above, relaxed_, relaxed_above_);
  auto const differences = differences_of(state_.x, x_above_);
  detail::voxel_box const box{state_.extents()};
  double const variation = state_.sum_of_voxels(box, detail::variation_term<T>{differences});

  Kokkos::Array<T*, 3> const q{duals_[0].data.data(), duals_[1].data.data(), duals_[2].data.data()};
  state_.each("iso::ct::total_variation: dual of rays", rays,
              detail::ray_dual_step<T>{state_.block_readings(0), state_.block_mask(0),
                                       state_.row_weights().data.data(), T(c), T(relaxation),
                                       projected_.data.data(), relaxed_projection_.data.data(),
                                       ray_dual_.data.data()});
  detail::for_each_voxel(
      "iso::ct::total_variation: duals", state_.pair.exec(), box,
      detail::difference_dual_step<T>{differences, differences_of(relaxed_, relaxed_above_),
                                      T(0.5 * c * scale_), T(weight_), T(relaxation), q});
  state_.fetch(detail::neighbour::below, duals_[2], dual_below_);
  state_.pair.adjoint(0, ray_dual_, state_.correction, onto::zero, control, state_.words());
  detail::for_each_voxel(
      "iso::ct::total_variation: adjoint", state_.pair.exec(), box,
      detail::add_difference_adjoint<T>{
          differences, q, {dual_below_.data(), mask_below_.data()}, state_.correction.data.data()});
  auto const now = told(squares, 0.5 * squares + weight_ * variation);
  state_.each("iso::ct::total_variation: relaxation", voxels,
              detail::approach<T>{T(relaxation), x, relaxed_.data.data()});
  std::swap(slope_, state_.correction);
  return now;
}

}  // namespace iso::ct
