// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/streamed_ranked.hpp
//! Projects and reconstructs on the ranks of a job, each of whose parts lies in host memory and
//! passes through a device whose memory it exceeds. A Kokkos space that the build has not needs
//! detail/streamed_ranked_impl.hpp too.
//!
//! A rank's slab is planes of the whole, and what passes by is planes of that slab: iso::ct::ranked
//! says which planes a rank has, iso::ct::streaming_options how many of them the device has at a
//! time.
#pragma once

#include <iso/ct/ranked.hpp>
#include <iso/ct/streaming.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace iso::ct {

namespace detail {
template <class Exec, class T>
struct streamed_ranked_parts;
template <class Exec, class T>
struct streamed_ranked_fdk_parts;
}  // namespace detail

/// What a rank holds that streams its part, in bytes.
struct streamed_ranked_bytes {
  std::int64_t device = 0;   ///< of the device
  std::int64_t staging = 0;  ///< of the host, from which the device copies
  /// Of the host, from the first projection on: the rank's planes with those of others that are
  /// read beside them, and what is sent and received of these.
  std::int64_t halo = 0;
};

/// The projection A of volumes that ranks hold in slabs in host memory, and its adjoint, by devices
/// that hold a batch of views and a few planes of a slab at a time. Ranks may have different
/// limits: they take the batches of the tightest one, and as many planes a slab as each has memory
/// for.
///
/// All ranks make their pairs and call their functions together, as ranked_pair.
/// Determinism: backend_to_backend, for any plan and any limits: forward() has the bits of
/// forward_project with `summation::reproducible`, adjoint() those of back_project.
template <execution_space Exec, real T>
class streamed_ranked_pair final : public detail::pair_elsewhere<T, Kokkos::HostSpace> {
 public:
  using base = detail::pair_elsewhere<T, Kokkos::HostSpace>;
  using base::adjoint;
  using typename base::const_projections;
  using typename base::const_volume;
  using typename base::projections;
  using typename base::volume;

  /// Allocates the device's memory and the buffers to copy from, and waits for `exec`. The first
  /// projection allocates host memory for what it reads of other ranks.
  /// \param ranks    must outlive it
  /// \param blocks   of the plan's scan
  /// \param options  `sum` and `backprojection` have no choice
  /// \param limits   of this rank; their bytes count all that the pair holds on the device
  /// \throws iso::invalid_argument  on every rank: as ranked_pair; limits that are not positive or
  ///                                for stored readings
  /// \throws iso::out_of_memory     on this rank: the limit is below the smallest plan, or memory
  ///                                is wanting; the others throw too
  streamed_ranked_pair(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
                       view_blocks const& blocks, projector_options const& options,
                       streaming_options const& limits);

  /// Returns what a pair holds for this rank beside the arrays of its calls, without allocating it.
  /// All ranks call it together.
  /// \throws as the constructor
  [[nodiscard]] static streamed_ranked_bytes bytes_needed(
      Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
      view_blocks const& blocks, projector_options const& options, streaming_options const& limits);

  // Neither copies nor moves: calls of other ranks wait for this one.
  streamed_ranked_pair(streamed_ranked_pair const&) = delete;
  streamed_ranked_pair& operator=(streamed_ranked_pair const&) = delete;
  ~streamed_ranked_pair() override;

  /// Overwrites this rank's rows of a block by A x. The result is there when it returns.
  /// \param[in]  x  [nx, ny, planes] that this rank owns, 1/mm
  /// \param[out] p  [views, u, rows] that it owns, dimensionless
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
  /// \throws iso::out_of_memory     on this rank, the first time; the others throw too
  /// \throws iso::cancelled         on every rank; `p` is then incomplete
  void forward(std::int64_t block, const_volume const& x, projections const& p,
               job const& control = {}) override;

  /// Overwrites this rank's planes by A^T p of a block, or adds it (`to`), as back_project. The
  /// result is there when it returns.
  /// \param[in]     p      [views, u, rows] that this rank owns, dimensionless
  /// \param[in,out] x      [nx, ny, planes] that it owns, mm
  /// \param         words  the words that the sums of a scatter have at least
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
  /// \throws iso::cancelled         on every rank; `x` is then incomplete
  void adjoint(std::int64_t block, const_projections const& p, volume const& x,
               onto to = onto::zero, job const& control = {}, std::int32_t words = 0) override;
  void adjoint_step(std::int64_t block, const_projections const& p, volume const& x,
                    detail::voxel_step<T> const& by, volume const& correction, job const& control,
                    std::int32_t words) override;
  void fetch(detail::neighbour which, const_volume const& x, T* plane) override;
  void page_lock(typename volume::data_type const& array) override;
  [[nodiscard]] detail::rank_part part() const override;

  /// Returns the plan; the views of its scan lie in the order of blocks.
  [[nodiscard]] rank_plan const& plan() const;
  /// Returns how this rank's calls are divided, and what they carry to its device.
  [[nodiscard]] std::optional<streaming_report> streaming() const override;
  /// Returns what this rank sent to others; `bytes_held` are those of the device.
  [[nodiscard]] ranked_report report() const;

 private:
  std::unique_ptr<detail::streamed_ranked_parts<Exec, T>> parts_;
};

/// A filtered backprojection of which each rank holds its planes and its rows in host memory, and
/// has them pass through its device, as streamed_ranked_pair. Rows are filtered where they are
/// backprojected: those that two slabs see, twice.
/// Determinism: backend_to_backend, for any plan and any limits: the bits of iso::ct::fdk.
template <execution_space Exec, real T>
class streamed_ranked_fdk final {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, Kokkos::HostSpace>;
  using const_projections = projection_view<T const, Kokkos::HostSpace>;

  /// Allocates the plan, the device's memory and the buffers to copy from, and waits for `exec`.
  /// \param ranks   must outlive it
  /// \param limits  of this rank; their bytes count all that is held on the device
  /// \throws iso::invalid_argument  on every rank: as ranked_fdk; limits that are not positive or
  ///                                for stored readings
  /// \throws iso::out_of_memory     on this rank: the limit is below the smallest plan, or memory
  ///                                is wanting; the others throw too
  streamed_ranked_fdk(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
                      fdk_options const& options, streaming_options const& limits);

  /// Returns what it holds for this rank, as streamed_ranked_pair::bytes_needed.
  [[nodiscard]] static streamed_ranked_bytes bytes_needed(Exec const& exec,
                                                          backend::communicator& ranks,
                                                          rank_plan const& plan,
                                                          fdk_options const& options,
                                                          streaming_options const& limits);

  // Neither copies nor moves: calls of other ranks wait for this one.
  streamed_ranked_fdk(streamed_ranked_fdk const&) = delete;
  streamed_ranked_fdk& operator=(streamed_ranked_fdk const&) = delete;
  ~streamed_ranked_fdk();

  /// Overwrites this rank's planes by the reconstruction, or adds it (`to`). The result is there
  /// when it returns.
  /// \param[in]     p  [views, u, rows] that this rank owns, line integrals, dimensionless
  /// \param[in,out] x  [nx, ny, planes] that it owns, 1/mm
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
  /// \throws iso::cancelled         on every rank; `x` is then incomplete
  void apply(const_projections const& p, volume const& x, onto to = onto::zero,
             job const& control = {});

  [[nodiscard]] rank_plan const& plan() const;
  /// Returns what was chosen from the scan.
  [[nodiscard]] fdk_plan<space> const& filter() const;
  /// Returns how this rank's calls are divided, and what they carry to its device.
  [[nodiscard]] streaming_report streaming() const;
  /// Returns what this rank sent to others; `bytes_held` are those of the device.
  [[nodiscard]] ranked_report report() const;

 private:
  std::unique_ptr<detail::streamed_ranked_fdk_parts<Exec, T>> parts_;
};

}  // namespace iso::ct
