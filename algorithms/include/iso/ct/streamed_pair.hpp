// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/streamed_pair.hpp
//! Projects volumes in host memory, and back, by a device whose memory they exceed.
//! A Kokkos space that the build has not needs detail/streamed_impl.hpp too.
#pragma once

#include <iso/core/detail/presence.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/staged_geometry.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/detail/bus.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace iso::ct {

namespace detail {
template <class Exec, class T>
struct incoming_readings;
template <class T>
struct comparison_pieces;
}  // namespace detail

/// The projection A of volumes in host memory along the rays of one scan, and its adjoint, by a
/// device that holds a batch of views and a few planes at a time. Copies run while kernels do.
///
/// Determinism: backend_to_backend, whatever the limits: forward() has the bits of forward_project
/// with `summation::reproducible`, adjoint() those of back_project (or of weighted_back_project).
template <execution_space Exec, real T>
class streamed_pair final : public detail::pair_elsewhere<T, Kokkos::HostSpace> {
 public:
  using space = typename Exec::memory_space;
  using typename detail::pair_elsewhere<T, Kokkos::HostSpace>::volume;
  using typename detail::pair_elsewhere<T, Kokkos::HostSpace>::const_volume;
  using typename detail::pair_elsewhere<T, Kokkos::HostSpace>::projections;
  using typename detail::pair_elsewhere<T, Kokkos::HostSpace>::const_projections;

  /// Allocates the device's memory and the buffers to copy from, and waits for `exec`.
  /// \throws iso::invalid_argument  options whose sum is not reproducible, texture units, what
  ///                                projector_pair refuses
  /// \throws iso::out_of_memory     the limit is below the smallest plan, or memory is wanting
  streamed_pair(Exec const& exec, geometry const& g, iso::grid const& volume,
                view_blocks const& blocks, projector_options const& options,
                streaming_options const& limits);

  // Neither copies nor moves: kernels and copies of a call know its memory.
  streamed_pair(streamed_pair const&) = delete;
  streamed_pair& operator=(streamed_pair const&) = delete;
  ~streamed_pair() override = default;

  /// Returns the division of calls for these arguments and what each of them will carry, without
  /// allocating.
  /// \throws as the constructor
  [[nodiscard]] static streaming_report plan(Exec const& exec, geometry const& g,
                                             iso::grid const& volume, view_blocks const& blocks,
                                             projector_options const& options,
                                             streaming_options const& limits);

  /// Overwrites `p` by A x of the views of a block. The result is there when it returns.
  /// \param[in]  x  [nx, ny, nz], 1/mm
  /// \param[out] p  [views, u, v], dimensionless
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
  /// \throws iso::cancelled         `p` is then incomplete
  void forward(std::int64_t block, const_volume const& x, projections const& p,
               job const& control = {}) override;
  /// Overwrites `x` by A^T p of the views of a block, or adds it (`to`), as back_project.
  /// \param[in]     p      [views, u, v], dimensionless
  /// \param[in,out] x      [nx, ny, nz], mm
  /// \param         words  the words that the sums of a scatter have at least
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
  /// \throws iso::cancelled         `x` is then incomplete
  void adjoint(std::int64_t block, const_projections const& p, volume const& x,
               onto to = onto::zero, job const& control = {}, std::int32_t words = 0) override;
  /// Does the same from integers of 16 bits, with the bits of decode_readings before it.
  /// \throws iso::invalid_argument  also where the limits do not say that such readings come
  void adjoint(std::int64_t block, stored_readings<Kokkos::HostSpace> const& p, volume const& x,
               onto to = onto::zero, job const& control = {}, std::int32_t words = 0) override;
  /// Has an array that goes through many calls copied where it lies, while this pair is there: its
  /// memory is page-locked where a View owns it and the system allows. Takes a tenth of a second a
  /// GiB, and saves the copies to and from the buffers.
  void page_lock(typename volume::data_type const& array) override;
  [[nodiscard]] streaming_report report() const;
  [[nodiscard]] std::optional<streaming_report> streaming() const override { return report(); }

 private:
  void adjoint_step(std::int64_t block, const_projections const& p, volume const& x,
                    detail::voxel_step<T> const& by, volume const& correction, job const& control,
                    std::int32_t words) override;
  void page_lock_compared(typename projections::data_type const& array, bool masked) override;
  std::optional<detail::misfit_bounds> misfit(std::int64_t block, const_volume const& x,
                                              detail::compared_rays<T> const& of,
                                              projections const& r, voxel_bounds const* known,
                                              job const& control) override;
  std::optional<voxel_bounds> weighted_step(std::int64_t block, const_projections const& r,
                                            detail::misfit_bounds const& found,
                                            T const* ray_weights, volume const& x,
                                            detail::voxel_step<T> const& by,
                                            volume const& correction, job const& control,
                                            std::int32_t words) override;
  /// The arrays of rays that projections are compared with, and what that finds.
  struct comparison {
    std::vector<T const*> arrays;  ///< [views, u, v] each: the readings, mask and weights that are
    bool masked;
    std::int64_t views;  ///< of a piece
    detail::misfit_bounds bounds = {};
  };
  /// Returns how what projections are compared with is divided.
  [[nodiscard]] detail::comparison_pieces<T> compared(bool masked) const;
  /// Projects, and compares where `to` is not null.
  void project(std::int64_t block, const_volume const& x, projections const& p,
               voxel_bounds const* known, comparison* to, job const& control);
  /// Has the pixels of `count` views from `first` on leave while the last slab is added to their
  /// sums, and compares them where `to` is not null.
  template <class Slabs>
  void leave(ray_sums<T, space> const& sums, Slabs const& slabs, std::int64_t first,
             std::int64_t count, projections const& p, comparison* to, job const& control);
  /// A step that is made of A^T p, slab by slab: of which voxels, and of what.
  struct method_step {
    volume x;
    detail::voxel_step<T> by;
    T const* ray_weights = nullptr;  ///< of p; null: none
    double largest_weighted = 0;     ///< size of a reading times its weight
    voxel_bounds made = {};          ///< of the voxels that it makes
  };
  /// Adds A^T p to `sums`, or makes a step of it; then `sums` has what batches before left.
  void go_back(std::int64_t block, detail::incoming_readings<Exec, T> const& p, volume const& sums,
               onto to, method_step* step, job const& control, std::int32_t words);
  /// Has the other slabs pass by, and makes the step of each: `add_all` adds views to one.
  template <class Memory, class Slabs, class AddAll>
  void pass_method_step(Memory const& m, Slabs const& slabs, onto now, method_step& step,
                        AddAll const& add_all);

  Exec exec_;
  iso::grid grid_;
  projector_options options_;
  bool stored_readings_;
  forward_project_options forward_;  ///< of all blocks
  std::int64_t halo_;                ///< of all blocks
  std::vector<staged_geometry<space>> scans_;
  std::vector<fdk_plan<space>> plans_;  ///< of blocks; empty: the adjoint goes back
  bool scatters_;  ///< the adjoint's unit follows from all of a block's readings
  streaming_report report_;
  workspace<space> memory_;
  iso::detail::bus<Exec> bus_;
  std::vector<std::shared_ptr<void>> locked_;
};

}  // namespace iso::ct
