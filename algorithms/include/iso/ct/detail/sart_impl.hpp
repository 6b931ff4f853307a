// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/sart.hpp declares.
#pragma once

#include <iso/ct/sart.hpp>

#include <algorithm>

namespace iso::ct {

template <execution_space Exec, real T>
sart<Exec, T>::sart(Exec const& exec, geometry const& g,
                    projection_view<std::type_identity_t<T> const, space> const& readings,
                    volume const& x, sart_options const& options,
                    iterative_masks<T, space> const& masks, job const& control,
                    elsewhere const& through)
    : options_(options),
      state_(
          name_of(options), exec, g, readings, x, masks,
          split_views(g.num_views(), options.block_views == 0 ? g.num_views() : options.block_views,
                      options.order),
          options.projector, through, control, options.box) {
  state_.agree(options);
  ISO_VALIDATE(T(options.relaxation) > 0 && T(options.relaxation) < 2,
               "{}: relaxation {} (must lie in (0, 2)); use 1, or less where readings are noisy",
               name_of(options), options.relaxation);
  auto const& pair = state_.pair;
  std::int64_t const blocks = pair.blocks().count();
  state_.make_row_weights(control);
  residual_ = blocks == 1 ? state_.block_buffer(0)
                          : state_.new_projections("iso::ct::sart: residual", control);
  state_.choose_words_by_readings(residual_.data.data());
  state_.carry_readings();
  std::int64_t const held = options.columns == column_sums::of_blocks ? blocks : 1;
  for (std::int64_t c = 0; c < held; ++c) {
    columns_.push_back(state_.new_volume("iso::ct::sart: column weights", control));
    state_.add_column_sums(c, c + 1, columns_.back(), control);
    // A share of the scan's sum would be no bound: few views may see a voxel, and SART diverges.
    for (std::int64_t s = 1; held != blocks && s < blocks; ++s) {
      state_.add_column_sums(s, s + 1, state_.correction, control);
      state_.raise(columns_.back(), state_.correction);
    }
    state_.invert_columns(columns_.back(), state_.capped_part);
  }
}

template <execution_space Exec, real T>
std::int64_t sart<Exec, T>::bytes_needed(Exec const& exec, geometry const& g, grid const& box,
                                         sart_options const& options, bool masked) {
  auto const blocks = split_views(
      g.num_views(), options.block_views == 0 ? g.num_views() : options.block_views, options.order);
  // The weights of voxels; those of rays, and of several blocks the residual.
  bool const one = blocks.count() == 1;
  return detail::iterative_state<Exec, T>::bytes_needed(
      exec, g, box, blocks, options.projector, masked,
      options.columns == column_sums::of_blocks ? blocks.count() : 1, one ? 1 : 2);
}

template <execution_space Exec, real T>
iteration sart<Exec, T>::step(job const& control) {
  state_.check_present();
  auto const& pair = state_.pair;
  std::int64_t const blocks = pair.blocks().count();
  double squares = 0;
  double largest = 0;  // size of a residual, where all blocks tell
  bool told = true;
  auto const norm_of = [&](auto const& r) {
    return told ? state_.square_norm(r, largest) : state_.square_norm(r);
  };
  for (std::int64_t s = 0; s < blocks; ++s) {
    auto const r = pair.part(residual_, s);
    auto const found = state_.make_residual(s, r, control);
    told = told && found;
    largest = found ? std::max(largest, found->residual) : largest;
    if (blocks == 1) {
      // Before the step, which may weigh it where it lies.
      squares = norm_of(r);
    }
    state_.step(s, r, found, state_.block_buffer(s), options_.relaxation,
                columns_[columns_.size() == 1 ? 0 : std::size_t(s)], control);
  }
  // Of several once, as the host waits for it.
  return state_.told(blocks == 1 ? squares : norm_of(residual_));
}

}  // namespace iso::ct
