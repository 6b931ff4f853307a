// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/sart.hpp
//! Reconstructs by SIRT, SART and OS-SART, which differ in the number of views of a block.
#pragma once

#include <iso/ct/detail/iterative_state.hpp>
#include <iso/ct/iterate.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace iso::ct {

/// The methods SIRT (one block), OS-SART and SART (one view a block). An iteration makes, for every
/// block s of views,
///
///     x <- P(x + relaxation C_s A_s^T R_s (b_s - A_s x)),
///     R_s = 1 / max(A_s 1, l), C_s = 1 / max(A_s^T 1, 1e-3 of the largest),
///
/// P being the projection onto the box and l a quarter of the diagonal of a cube whose side is a
/// voxel's shortest: noise of rays that graze the volume weighs no more than that. Sums at or below
/// 1e-6 of the largest give weight 0: so do rays and voxels whose mask is 0.
///
/// Determinism: backend_to_backend, iterates and residuals.
/// \par Method  A. H. Andersen, A. C. Kak, Ultrasonic Imaging 6, 1984,
/// doi:10.1177/016173468400600107;
///              blocks and weights: Y. Censor, T. Elfving, BIT 42, 2002 and M. Jiang, G. Wang, IEEE
///              TIP 12, 2003, doi:10.1109/TIP.2003.815295.
template <execution_space Exec, real T>
class sart {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;

  /// Takes `x` as the start and works on it: it must not be changed between steps but by visit(),
  /// as what is streamed knows its largest voxel from the step before. Waits for `exec`.
  ///
  /// \param readings  [views, u, v], line integrals, dimensionless; copied
  /// \param x         [nx, ny, nz], 1/mm
  /// \param masks     which voxels and readings count; empty: all
  /// \param through   the place of `x`, `readings` and masks: iso::ct::streamed, or
  /// iso::ct::ranked,
  ///                  on which they are what the rank has
  /// \throws iso::invalid_argument  a relaxation outside (0, 2), a block size outside the scan, a
  ///                                box that is empty or excludes the start, masks that leave no
  ///                                reading or no voxel, no ray that meets a voxel, readings that
  ///                                are not finite, shapes that disagree; what projector_pair
  ///                                refuses
  /// \throws iso::out_of_memory     as iso::allocate
  sart(Exec const& exec, geometry const& g,
       projection_view<std::type_identity_t<T> const, space> const& readings, volume const& x,
       sart_options const& options = {}, iterative_masks<T, space> const& masks = {},
       job const& control = {}, elsewhere const& through = {});

  /// Returns the bytes of the backend's memory that the method allocates, beside readings, x and
  /// masks that it is given; `masked`: with a mask of readings, which is copied. Enqueues nothing.
  /// \throws iso::invalid_argument  a block size outside the scan, what projector_pair refuses
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 grid const& box, sart_options const& options = {},
                                                 bool masked = false);
  /// Returns the bytes of the arrays that visit() visits.
  [[nodiscard]] static std::int64_t bytes_visited(geometry const& g, grid const& box) {
    return detail::iterative_state<Exec, T>::bytes_of(g, box, 1, 0);
  }

  /// Takes every block once. Waits for the execution space, and does not allocate.
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
  /// Returns what messages begin with.
  static char const* name_of(sart_options const& options) {
    return options.block_views == 0   ? "iso::ct::sart (SIRT)"
           : options.block_views == 1 ? "iso::ct::sart (SART)"
                                      : "iso::ct::sart (OS-SART)";
  }

  sart_options options_;
  detail::iterative_state<Exec, T> state_;
  /// The residual of all blocks, each of x as the block found it. With one block the weighted
  /// residual has the same memory.
  projection_view<T, space> residual_;
  std::vector<volume> columns_;
};

}  // namespace iso::ct
