// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/mlem.hpp
//! Reconstructs by MLEM and OSEM, which differ in the number of views of a block.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/iterate.hpp>

#include <type_traits>
#include <vector>

namespace iso::ct {

struct mlem_options {
  std::int64_t block_views = 0;  ///< 0: all views, MLEM; else OSEM
  block_order order = block_order::golden;
  projector_options projector = {};
};

/// The methods MLEM (one block) and OSEM. An iteration makes, for every block s of views,
///
///     x <- x C_s A_s^T (b_s / A_s x), C_s = 1 / (A_s^T 1),
///
/// which keeps x positive and, with one block, the sum of A x that of the readings. Column sums and
/// projections at or below 1e-6 of the largest give weight 0: a block leaves voxels that it gives
/// none, and voxels to which no block gives any become 0.
///
/// Determinism: backend_to_backend, iterates and residuals.
/// \par Method  L. A. Shepp, Y. Vardi, IEEE TMI 1(2), 1982, doi:10.1109/TMI.1982.4307558; blocks:
///              H. M. Hudson, R. S. Larkin, IEEE TMI 13(4), 1994, doi:10.1109/42.363108.
template <execution_space Exec, real T>
class mlem {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;

  /// Takes `x` as the start and works on it; a start of zeros becomes ones. Waits for `exec`.
  /// \param readings  [views, u, v], not negative
  /// \param x         [nx, ny, nz], not negative; voxels whose mask is 0 become 0
  /// \throws iso::invalid_argument  a block size outside the scan, masks that leave no
  ///                                reading or no voxel, no ray that meets a voxel, readings or a
  ///                                start that are negative or not finite, shapes that disagree;
  ///                                what projector_pair refuses
  /// \throws iso::out_of_memory     as iso::allocate
  mlem(Exec const& exec, geometry const& g,
       projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
       mlem_options const& options = {}, iterative_masks<T, space> const& masks = {},
       job const& control = {})
      : state_(options.block_views == 0 ? "iso::ct::mlem (MLEM)" : "iso::ct::mlem (OSEM)", exec, g,
               readings, x, masks,
               split_views(g.num_views(),
                           options.block_views == 0 ? g.num_views() : options.block_views,
                           options.order),
               options.projector, {.lower = 0}, true) {
    state_.mask_voxels(state_.x);
    if (!(detail::largest_of(exec, static_cast<T const*>(x.data.data()), state_.num_voxels()) >
          0)) {
      detail::for_each_number("iso::ct::mlem: ones", exec, state_.num_voxels(),
                              detail::fill<T>{T(1), x.data.data()});
      state_.mask_voxels(state_.x);
    }
    for (std::int64_t s = 0; s < state_.pair.blocks().count(); ++s) {
      columns_.push_back(state_.new_volume("iso::ct::mlem: column weights"));
      state_.add_column_sums(s, s + 1, columns_.back(), control);
      state_.invert_columns(columns_.back());
    }
    // A block leaves what it does not see; what no block sees is zero.
    auto const& seen = state_.correction;
    Kokkos::deep_copy(exec, seen.data, T(0));
    for (auto const& weights : columns_) {
      state_.raise(seen, weights);
    }
    state_.refuse_unmet(
        detail::largest_of(exec, static_cast<T const*>(seen.data.data()), state_.num_voxels()));
    detail::for_each_number("iso::ct::mlem: seen", exec, state_.num_voxels(),
                            detail::keep_where<T>{seen.data.data(), x.data.data()});
  }

  iteration step(job const& control = {}) {
    auto const& pair = state_.pair;
    auto const& exec = pair.exec();
    double squares = 0;
    for (std::int64_t s = 0; s < pair.blocks().count(); ++s) {
      auto const p = state_.block_buffer(s);
      T* const values = p.data.data();
      std::int64_t const count = std::int64_t(p.data.size());
      pair.forward(s, state_.x, p, control);
      squares += state_.square_misfit(s, p);
      double const most = detail::largest_of(exec, static_cast<T const*>(values), count);
      detail::for_each_number("iso::ct::mlem: ratio", exec, count,
                              detail::ratio<T>{state_.block_readings(s), state_.block_mask(s),
                                               T(state_.least_part * most), values});
      state_.multiply(s, p, columns_[std::size_t(s)], control);
    }
    return state_.told(squares);
  }

  /// Visits what the next iteration depends on, for a checkpoint: f(name, view) and
  /// f(name, number).
  template <class F>
  void visit(F&& f) {
    state_.visit(f);
  }

 private:
  detail::iterative_state<Exec, T> state_;
  std::vector<volume> columns_;
};

}  // namespace iso::ct
