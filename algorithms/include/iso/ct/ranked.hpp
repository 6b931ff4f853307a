// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/ranked.hpp
//! Projects and reconstructs on the ranks of a job, each of which holds a part of the volume and of
//! the readings. A Kokkos space that the build has not needs detail/ranked_impl.hpp too.
//!
//! docs/algorithms/ranks.md has the bytes that are sent and held.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/elsewhere.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/rank_plan.hpp>
#include <iso/ct/streaming.hpp>
#include <iso/ct/view_blocks.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace iso::ct {

namespace detail {
template <class Exec, class T>
struct ranked_pair_parts;
template <class Exec, class T>
struct ranked_fdk_parts;
}  // namespace detail

/// What a rank sends and holds.
struct ranked_report {
  std::int64_t bytes_sent = 0;   ///< to other ranks so far
  std::int64_t bytes_held = 0;   ///< where its backend computes, beside the arrays of its calls
  std::int64_t batch_views = 0;  ///< views that are computed at a time; by projections half of them
};

/// Makes this rank's slab of a volume, set to zero on `exec`; does not fence. Without memory where
/// the rank has no plane.
/// Determinism: backend_to_backend, zeros.
/// \throws iso::invalid_argument  no such rank
/// \throws iso::out_of_memory     as iso::allocate
template <class T, execution_space Exec>
volume_view<T, typename Exec::memory_space> make_volume_part(Exec const& exec,
                                                             std::string const& label,
                                                             rank_plan const& plan, int rank) {
  using view = volume_view<T, typename Exec::memory_space>;
  slab const& own = plan.planes(rank);
  auto const& n = plan.grid().extent;
  return {plan.grid(), allocate<typename view::data_type>(label, {n[0], n[1], own.count()}, exec),
          own.first};
}

/// Makes this rank's rows of a stack, [views, u, rows], set to zero on `exec`; does not fence.
/// Without memory where it has no rows.
/// Determinism: backend_to_backend, zeros.
/// \throws iso::invalid_argument  no such rank
/// \throws iso::out_of_memory     as iso::allocate
template <class T, execution_space Exec>
projection_view<T, typename Exec::memory_space> make_projections_part(Exec const& exec,
                                                                      std::string const& label,
                                                                      rank_plan const& plan,
                                                                      int rank) {
  using view = projection_view<T, typename Exec::memory_space>;
  geometry const& g = plan.scan();
  return {allocate<typename view::data_type>(
      label, {g.num_views(), g.num_u(), plan.rows(rank).count()}, exec)};
}

/// The projection A of volumes that ranks hold in slabs along the rays of one scan, and its
/// adjoint.
///
/// A rank gives and gets the voxels and the readings that it owns (rank_plan). A call computes a
/// batch of views at a time: images of the whole detector, of which a rank fills the pixels that
/// its planes meet. Words of rays that several slabs share go to the owner of the reading, as
/// integers, which add exactly. Readings that another slab needs go there. So every result has the
/// bits of one rank, for any number of ranks and any slabs, on any backends.
///
/// Views may be taken in blocks, as iterative methods do. A block's readings have the order of
/// view_blocks::views, as those of projector_pair.
///
/// All ranks make their pairs and call their functions together, in the same order. A rank that
/// throws leaves the others waiting, unless all throw: it ends the job (communicator::abort).
/// Determinism: backend_to_backend, for any plan: forward() has the bits of forward_project with
/// `summation::reproducible`, adjoint() those of back_project.
template <execution_space Exec, real T>
class ranked_pair final : public detail::pair_elsewhere<T, typename Exec::memory_space> {
 public:
  using space = typename Exec::memory_space;
  using base = detail::pair_elsewhere<T, space>;
  using base::adjoint;
  using typename base::const_projections;
  using typename base::const_volume;
  using typename base::projections;
  using typename base::volume;

  /// Allocates what calls work in, and waits for `exec`.
  /// \param ranks    must outlive it
  /// \param blocks   of the plan's scan
  /// \param options  `sum` and `backprojection` have no choice
  /// \param batch_views  that are computed at a time, a multiple of 16; 0: a rank's share of them
  /// \throws iso::invalid_argument  on every rank: a plan for another number of ranks, ranks of
  ///                                other scans, plans or options, options whose sum is not
  ///                                reproducible, texture units, FDK's backprojection, a grid or an
  ///                                option as projector_pair refuses it
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  ranked_pair(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
              view_blocks const& blocks,
              projector_options const& options = {.sum = summation::reproducible},
              std::int64_t batch_views = 0);
  /// Has all views of the scan in one block, number 0, in the order of the scan.
  ranked_pair(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
              projector_options const& options = {.sum = summation::reproducible},
              std::int64_t batch_views = 0);

  // Neither copies nor moves: calls of other ranks wait for this one.
  ranked_pair(ranked_pair const&) = delete;
  ranked_pair& operator=(ranked_pair const&) = delete;
  ~ranked_pair() override;

  /// Overwrites this rank's rows of a block by A x. The result is there when it returns.
  /// \param[in]  x  [nx, ny, planes] that this rank owns, 1/mm
  /// \param[out] p  [views, u, rows] that it owns, dimensionless
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
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
  [[nodiscard]] detail::rank_part part() const override;

  /// Returns the bytes that the pair of a rank holds where `exec` computes, beside the arrays of
  /// its calls: ranked_report::bytes_held, of every rank, without allocating. A rank calls it by
  /// itself.
  /// \throws iso::invalid_argument  no such rank; what the constructor refuses of options, blocks
  ///                                and views at a time
  [[nodiscard]] static std::int64_t bytes_needed(
      Exec const& exec, int rank, rank_plan const& plan, view_blocks const& blocks,
      projector_options const& options = {.sum = summation::reproducible},
      std::int64_t batch_views = 0);

  /// Returns the plan; the views of its scan lie in the order of blocks.
  [[nodiscard]] rank_plan const& plan() const;
  [[nodiscard]] ranked_report report() const;

 private:
  std::unique_ptr<detail::ranked_pair_parts<Exec, T>> parts_;
};

/// The place of volumes and readings of which each rank of a job holds the part that it owns
/// (rank_plan). An iterative method that is given it takes the rank's planes as its volume, the
/// rank's rows as its readings, and the same parts as masks; the geometry is the whole scan's. Its
/// numbers, as residuals, are those of the whole. All ranks make their methods and call them
/// together.
class ranked : public elsewhere {
 public:
  /// Allocates nothing yet.
  /// \param exec   of the methods
  /// \param ranks  must outlive what is made
  /// \param batch_views  as ranked_pair has them
  template <execution_space Exec>
  ranked(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
         std::int64_t batch_views = 0);
  /// Has the parts lie in host memory and pass through `device`, within this rank's limits, where a
  /// part exceeds its memory: iso::ct::streamed and ranks at once. The methods compute where host
  /// memory is. Iterates have the same bits.
  template <execution_space Device>
  ranked(Device const& device, backend::communicator& ranks, rank_plan const& plan,
         streaming_options const& limits);

 private:
  template <class Exec>
  struct maker;
  template <class Device>
  struct streamed_maker;
};

/// A filtered backprojection of scans of one geometry, of which each rank holds the voxels and the
/// readings that it owns (rank_plan). A rank gets the rows that its slab is seen in, filters and
/// backprojects them, and sends no sum. All ranks call it together, as ranked_pair.
/// Determinism: backend_to_backend, for any plan: the bits of iso::ct::fdk.
template <execution_space Exec, real T>
class ranked_fdk final {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using const_projections = projection_view<T const, space>;

  /// Allocates the plan and what calls work in, and waits for `exec`.
  /// \param ranks    must outlive it
  /// \param batch_views  that are computed at a time, a multiple of 16; 0: a rank's share of them
  /// \throws iso::invalid_argument  on every rank: a plan for another number of ranks, ranks of
  ///                                other scans, plans or options, what fdk_plan and fdk refuse
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  ranked_fdk(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
             fdk_options const& options = {}, std::int64_t batch_views = 0);

  // Neither copies nor moves: calls of other ranks wait for this one.
  ranked_fdk(ranked_fdk const&) = delete;
  ranked_fdk& operator=(ranked_fdk const&) = delete;
  ~ranked_fdk();

  /// Overwrites this rank's planes by the reconstruction, or adds it (`to`). The result is there
  /// when it returns.
  /// \param[in]     p  [views, u, rows] that this rank owns, line integrals, dimensionless
  /// \param[in,out] x  [nx, ny, planes] that it owns, 1/mm
  /// \throws iso::invalid_argument  shape mismatch, data with gaps or without memory
  /// \throws iso::cancelled         on every rank; `x` is then incomplete
  void apply(const_projections const& p, volume const& x, onto to = onto::zero,
             job const& control = {});

  /// Returns the bytes that a rank's holds where `exec` computes, beside the arrays of its calls:
  /// ranked_report::bytes_held, of every rank, without allocating there. A rank calls it by itself.
  /// \throws iso::invalid_argument  no such rank; what the constructor refuses of options and views
  ///                                at a time
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, int rank, rank_plan const& plan,
                                                 fdk_options const& options = {},
                                                 std::int64_t batch_views = 0);

  [[nodiscard]] rank_plan const& plan() const;
  /// Returns what was chosen from the scan.
  [[nodiscard]] fdk_plan<space> const& filter() const;
  [[nodiscard]] ranked_report report() const;

 private:
  std::unique_ptr<detail::ranked_fdk_parts<Exec, T>> parts_;
};

}  // namespace iso::ct
