// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/mlem.hpp
//! Reconstructs by MLEM and OSEM, which differ in the number of views of a block.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/iterate.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace iso::ct {

/// The methods MLEM (one block) and OSEM. An iteration makes, for every block s of views,
///
///     x <- x C_s A_s^T ((b_s + e_s) / (A_s x + e_s)), C_s = 1 / (A_s^T 1),
///
/// which keeps x positive. The background e is 0 for rays of at least l in the volume, a quarter of
/// the diagonal of a cube whose side is a voxel's shortest, and for shorter ones the mean of the
/// readings over the lengths times what they lack. Where no ray is shorter and with one block, the
/// sum of A x is that of the readings. Column sums and projections at or below 1e-6 of the largest
/// give weight 0: a block leaves voxels that it gives none, and voxels to which no block gives any
/// become 0.
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
  /// \param through   the place of `x`, `readings` and masks: iso::ct::streamed, or
  /// iso::ct::ranked,
  ///                  on which they are what the rank has
  /// \throws iso::invalid_argument  a block size outside the scan, masks that leave no
  ///                                reading or no voxel, no ray that meets a voxel, readings or a
  ///                                start that are negative or not finite, shapes that disagree;
  ///                                what projector_pair refuses
  /// \throws iso::out_of_memory     as iso::allocate
  mlem(Exec const& exec, geometry const& g,
       projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
       mlem_options const& options = {}, iterative_masks<T, space> const& masks = {},
       job const& control = {}, elsewhere const& through = {});

  /// Returns the bytes of the backend's memory that the method allocates, beside readings, x and
  /// masks that it is given; `masked`: with a mask of readings, which is copied. Enqueues nothing.
  /// \throws iso::invalid_argument  a block size outside the scan, what projector_pair refuses
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 grid const& box, mlem_options const& options = {},
                                                 bool masked = false);
  /// Returns the bytes of the arrays that visit() visits.
  [[nodiscard]] static std::int64_t bytes_visited(geometry const& g, grid const& box) {
    return detail::iterative_state<Exec, T>::bytes_of(g, box, 1, 0);
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
  }

 private:
  detail::iterative_state<Exec, T> state_;
  std::vector<volume> columns_;
};

}  // namespace iso::ct
