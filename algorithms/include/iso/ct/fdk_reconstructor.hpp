// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/fdk_reconstructor.hpp
//! Reconstructs scans of one geometry, one after the other, by filtered backprojection.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/detail/presence.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/scan_weights.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::ct {

/// A reconstruction by filtered backprojection for many scans of one geometry on one grid. It owns
/// the fdk_plan and the scratch memory; what was moved from refuses every call.
/// Determinism: backend_to_backend, as iso::ct::fdk.
template <execution_space Exec, real T>
class fdk_reconstructor {
 public:
  using space = typename Exec::memory_space;

  /// Allocates the plan and the scratch, and waits for `exec`: no other instance is fenced.
  /// \param volume  the grid of the volumes
  /// \throws iso::invalid_argument  as fdk_plan; a grid as iso::validate refuses it
  /// \throws iso::out_of_memory     as iso::allocate
  fdk_reconstructor(Exec const& exec, iso::ct::geometry const& g, iso::grid const& volume,
                    fdk_options const& options = {})
      : exec_(exec),
        grid_(volume),
        plan_(exec, g, options),
        scratch_(fdk_bytes_needed<T>(exec, g, options)) {
    validate(grid_, "iso::ct::fdk_reconstructor");
  }

  /// Returns the bytes that a reconstructor of the scan takes where `exec` computes: those of the
  /// plan and of the scratch. The scan is weighed for that on the host, as for the plan.
  /// Determinism: backend_to_backend; made on the host.
  /// \throws iso::invalid_argument  as fdk_plan
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, iso::ct::geometry const& g,
                                                 fdk_options const& options = {}) {
    scan_weights const w = weigh_scan(g, options.scan);
    std::int64_t const columns = w.before + g.num_u() + w.after;
    std::int64_t const numbers =
        columns + std::int64_t(w.angles.size() + w.overlaps.size() + w.redundancy_weights.size() +
                               w.begins.size());
    return std::int64_t(sizeof(double)) * numbers +
           std::int64_t(sizeof(view_vectors)) * g.num_views() +
           fdk_bytes_needed<T>(exec, g, options);
  }

  /// Overwrites `volume` by the reconstruction of `projections`, or adds it, as iso::ct::fdk.
  /// Enqueued; does not fence and does not allocate. One call at a time: they share the scratch.
  ///
  /// \param[in]  projections  [views, u, v], line integrals, dimensionless
  /// \param[in,out] volume    [nx, ny, nz] of the grid, 1/mm
  /// \param[in]  to           whether the volume is overwritten
  /// \param[in]  control      progress and cancellation, asked between batches of views
  /// \throws iso::invalid_argument  as iso::ct::fdk; a volume on another grid
  /// \throws iso::cancelled         `volume` is then incomplete
  void apply(projection_view<std::type_identity_t<T> const, space> const& projections,
             volume_view<std::type_identity_t<T>, space> const& volume, onto to = onto::zero,
             job const& control = {}) const {
    present_.check("iso::ct::fdk_reconstructor");
    ISO_VALIDATE(volume.grid == grid_,
                 "iso::ct::fdk_reconstructor: volume of [{}, {}, {}] voxels (it must be on the "
                 "reconstructor's grid, of [{}, {}, {}]); make another reconstructor for this grid",
                 volume.grid.extent[0], volume.grid.extent[1], volume.grid.extent[2],
                 grid_.extent[0], grid_.extent[1], grid_.extent[2]);
    fdk<Exec, T>(exec_, plan_, projections, volume, scratch_, to, control);
  }

  /// Returns what was chosen from the scan.
  [[nodiscard]] fdk_plan<space> const& plan() const {
    present_.check("iso::ct::fdk_reconstructor");
    return plan_;
  }
  [[nodiscard]] iso::grid const& grid() const {
    present_.check("iso::ct::fdk_reconstructor");
    return grid_;
  }
  /// Returns the bytes of scratch.
  [[nodiscard]] std::int64_t bytes_held() const {
    present_.check("iso::ct::fdk_reconstructor");
    return scratch_.size();
  }

 private:
  Exec exec_;
  iso::grid grid_;
  fdk_plan<space> plan_;
  workspace<space> scratch_;
  iso::detail::presence present_;
};

}  // namespace iso::ct
