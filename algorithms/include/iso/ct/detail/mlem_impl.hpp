// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/mlem.hpp declares.
#pragma once

#include <iso/ct/mlem.hpp>

namespace iso::ct {

template <execution_space Exec, real T>
mlem<Exec, T>::mlem(Exec const& exec, geometry const& g,
                    projection_view<std::type_identity_t<T> const, space> const& readings,
                    volume const& x, mlem_options const& options,
                    iterative_masks<T, space> const& masks, job const& control,
                    elsewhere const& through)
    : state_(
          options.block_views == 0 ? "iso::ct::mlem (MLEM)" : "iso::ct::mlem (OSEM)", exec, g,
          readings, x, masks,
          split_views(g.num_views(), options.block_views == 0 ? g.num_views() : options.block_views,
                      options.order),
          options.projector, through, control, {.lower = 0}, true) {
  state_.agree(options);
  state_.mask_voxels(state_.x);
  if (!(state_.largest(x.data.data(), state_.num_voxels()) > 0)) {
    state_.each("iso::ct::mlem: ones", state_.num_voxels(), detail::fill<T>{T(1), x.data.data()});
    state_.mask_voxels(state_.x);
  }
  for (std::int64_t s = 0; s < state_.pair.blocks().count(); ++s) {
    columns_.push_back(state_.new_volume("iso::ct::mlem: column weights", control));
    state_.add_column_sums(s, s + 1, columns_.back(), control);
    state_.invert_columns(columns_.back());
  }
  // A block leaves what it does not see; what no block sees is zero.
  auto const& seen = state_.correction;
  Kokkos::deep_copy(exec, seen.data, T(0));
  for (auto const& weights : columns_) {
    state_.raise(seen, weights);
  }
  state_.refuse_unmet(state_.largest(seen.data.data(), state_.num_voxels()));
  state_.each("iso::ct::mlem: seen", state_.num_voxels(),
              detail::keep_where<T>{seen.data.data(), x.data.data()});
  state_.make_background(control);
}

template <execution_space Exec, real T>
std::int64_t mlem<Exec, T>::bytes_needed(Exec const& exec, geometry const& g, grid const& box,
                                         mlem_options const& options, bool masked) {
  auto const blocks = split_views(
      g.num_views(), options.block_views == 0 ? g.num_views() : options.block_views, options.order);
  // The weights of voxels; the background.
  return detail::iterative_state<Exec, T>::bytes_needed(exec, g, box, blocks, options.projector,
                                                        masked, blocks.count(), 1);
}

template <execution_space Exec, real T>
iteration mlem<Exec, T>::step(job const& control) {
  state_.check_present();
  auto const& pair = state_.pair;
  double squares = 0;
  for (std::int64_t s = 0; s < pair.blocks().count(); ++s) {
    auto const p = state_.block_buffer(s);
    T* const values = p.data.data();
    std::int64_t const count = std::int64_t(p.data.size());
    pair.forward(s, state_.x, p, control);
    squares += state_.square_misfit(s, p);
    double const most = state_.largest(values, count);
    state_.each("iso::ct::mlem: ratio", count,
                detail::ratio<T>{state_.block_readings(s), state_.block_mask(s),
                                 state_.block_background(s), T(state_.min_part * most), values});
    state_.choose_words(values, count);
    state_.multiply(s, p, columns_[std::size_t(s)], control);
  }
  return state_.told(squares);
}

}  // namespace iso::ct
