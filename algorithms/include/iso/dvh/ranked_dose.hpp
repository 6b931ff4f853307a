// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dvh/ranked_dose.hpp
//! Holds a dose of which the ranks of a job own planes, for histograms of structures.
//! A Kokkos space that the build has not needs detail/ranked_dose_impl.hpp too.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/rank_report.hpp>
#include <iso/core/vec3.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/dvh/dose_volume.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace iso::dvh {

/// The planes of a dose that a rank owns, and those above that its slab reads, which it gets from
/// their owners. Sources of structures refer to them: `histogrammer` takes these on ranks.
/// Determinism: backend_to_backend; planes are copied.
template <execution_space Exec, real T>
class ranked_dose final {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T const, space>;

  /// Exchanges planes. All ranks make it together. Waits for `exec`, and allocates the planes that
  /// are needed, unless this rank owns all of them: it then keeps the dose.
  /// \param ranks   must outlive it
  /// \param dose    planes that this rank owns; the grid is that of the whole. Without memory where
  ///                the rank has no plane
  /// \param planes  of each rank, as iso::divide_planes returns them
  /// \param shares  the grids of the structures' shares that it is for
  /// \throws iso::invalid_argument  on every rank: planes for another number of ranks, or that do
  ///                                not cover the grid; ranks of other grids or planes; a dose of
  ///                                other planes
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  ranked_dose(Exec const& exec, backend::communicator& ranks, volume const& dose,
              std::vector<slab> planes, std::vector<grid> const& shares);

  /// Returns the source of a structure for a histogrammer on ranks. It keeps the planes.
  /// \param shares           the grid of the structure's shares, one of those it was made for
  /// \param fraction_planes  is asked for what planes_needed says of the planes that this rank owns
  /// \param surface          whole, as of a region
  [[nodiscard]] slab_source<T, space> source(
      grid const& shares, typename slab_source<T, space>::planes_of fraction_planes,
      Kokkos::View<vec3<double> const*, space> const& surface = {}) const {
    return {held_.grid,
            shares,
            planes_,
            [held = held_](slab const&) { return held; },
            std::move(fraction_planes),
            surface};
  }

  /// Returns the planes that this rank owns.
  [[nodiscard]] slab const& planes() const { return planes_[std::size_t(here_)]; }
  [[nodiscard]] rank_report report() const { return report_; }

 private:
  std::vector<slab> planes_;
  int here_;
  volume held_;
  rank_report report_;
};

}  // namespace iso::dvh
