// SPDX-License-Identifier: BSD-3-Clause
//! Holds what calls on ranks share: whose they are, and readings that come from their owners.
#pragma once

#include <iso/backend/carrier.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/detail/agreement.hpp>
#include <iso/ct/detail/rank_windows.hpp>
#include <iso/ct/detail/streamed_slabs.hpp>
#include <iso/ct/detail/window_exchange.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/detail/for_each_in_rows.hpp>
#include <iso/detail/plane_exchange.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace iso::ct::detail {

/// What is known before anything is allocated. The windows are of all ranks.
struct ranked_preparation {
  rank_plan plan;                        ///< its views lie in the order of blocks
  forward_project_options forward = {};  ///< one path for all views
  std::int64_t halo = 0;                 ///< planes that a projection reads beyond its own
  std::int64_t batch = 0;                ///< views that are computed at a time
  std::vector<view_range> batches = {};  ///< of all blocks
  std::int64_t projected = 0;            ///< views that a projection computes at a time
  std::vector<view_range> projected_batches = {};  ///< of all blocks
  rank_windows met = {};                           ///< by the rays of projections
  rank_windows needed = {};                        ///< by an adjoint, or a reconstruction
};

/// Has ranks agree, checks options, and finds the windows. `function` is named in messages.
/// \throws iso::invalid_argument  on every rank
ranked_preparation prepare_pair(backend::communicator& ranks, rank_plan const& plan,
                                view_blocks const& blocks, projector_options const& options,
                                std::int64_t batch_views, std::int64_t value_bytes,
                                char const* function = "iso::ct::ranked_pair");
ranked_preparation prepare_fdk(backend::communicator& ranks, rank_plan const& plan,
                               fdk_options const& options, std::int64_t batch_views,
                               std::int64_t value_bytes,
                               char const* function = "iso::ct::ranked_fdk");

/// Does so without other ranks.
ranked_preparation plan_pair(rank_plan const& plan, view_blocks const& blocks,
                             projector_options const& options, std::int64_t batch_views,
                             std::int64_t value_bytes, char const* function);
ranked_preparation plan_fdk(rank_plan const& plan, std::int64_t batch_views, char const* function);

/// Has so many views computed at a time, by projections too.
void divide_views(ranked_preparation& by, view_blocks const& blocks, std::int64_t batch);
/// Has projections compute half as many, rounded down to 16, where that leaves any, so that the
/// words of one are sent while the next one is computed. Both together take the memory of a whole
/// batch at most.
void divide_projected(ranked_preparation& by, view_blocks const& blocks);

/// Returns the planes that a rank owns, with so many below and above.
slab planes_with(rank_plan const& plan, int rank, std::int64_t below, std::int64_t above);

/// Throws unless a plan is of this scan and this grid.
void validate_planned(rank_plan const& plan, geometry const& g, iso::grid const& volume);

/// Returns the pixels that a rank's planes need and another rank owns, for each other one.
shared_windows windows_from_owners(rank_plan const& plan, rank_windows const& needed, int rank);
/// Returns the pixels that a rank owns and another rank's planes need, for each other one.
shared_windows windows_of_owner(rank_plan const& plan, rank_windows const& needed, int rank);
/// Returns windows of words of 32 flags each, which hold the flags of windows of pixels.
shared_windows windows_of_flags(shared_windows all);
/// Returns the planes that a rank owns and another rank reads, so many below its own and above
/// them, as windows of one image whose u goes along columns of voxels.
shared_windows planes_that_go(rank_plan const& plan, int rank, std::int64_t below,
                              std::int64_t above);
/// Returns the planes that a rank reads and another rank owns.
shared_windows planes_that_come(rank_plan const& plan, int rank, std::int64_t below,
                                std::int64_t above);

/// Makes rows of images zero.
template <class T>
struct zero_rows {
  struct of_column {
    std::int64_t count;
    T* numbers;
    KOKKOS_FUNCTION void at(std::int64_t n) const { numbers[n] = T(0); }
  };
  image_rows<T> images;
  row_range rows;

  KOKKOS_FUNCTION of_column operator()(std::int64_t column) const {
    return {rows.last - rows.first,
            images.data + column * images.num_v + rows.first - images.first_v};
  }
};

/// Copies rows of images into images that have them and others, of so many columns.
template <class Exec, class T>
void put_rows(Exec const& exec, image_rows<T> const& all, image_rows<T const> const& some,
              std::int64_t columns) {
  if (some.num_v == 0) {
    return;
  }
  if constexpr (backend::is_device<Exec>) {
    auto const bytes = std::int64_t(sizeof(T));
    backend::copy_rows(
        exec,
        {reinterpret_cast<std::byte*>(all.data + some.first_v - all.first_v), bytes * all.num_v},
        {reinterpret_cast<std::byte*>(const_cast<T*>(some.data)), bytes * some.num_v},
        bytes * some.num_v, columns);
  } else {
    slab const rows{some.first_v, some.first_v + some.num_v};
    iso::detail::copy_planes(
        "iso::ct::ranked: rows", exec,
        iso::detail::plane_columns<T>{all.data, columns, {all.first_v, all.first_v + all.num_v}},
        iso::detail::plane_columns<T const>{some.data, columns, rows}, rows);
  }
}

/// Throws, naming `function`, unless a rank's arrays are those that it owns, of so many views.
template <class Voxel, class Pixel, class Space>
void validate_parts(rank_plan const& plan, int rank, std::int64_t views,
                    volume_view<Voxel, Space> const& x, projection_view<Pixel, Space> const& p,
                    char const* function) {
  slab const& own = plan.planes(rank);
  geometry const& g = plan.scan();
  if (own.count() > 0) {
    validate_slab(x, function);
    validate_contiguous(x.data, "volume data", function);
    ISO_VALIDATE(x.grid == plan.grid() && x.planes() == own,
                 "{}: planes {} to {} of a grid of {} (rank {} owns {} to {} of the plan's grid); "
                 "make them by iso::ct::make_volume_part",
                 function, x.planes().first, x.planes().last - 1, x.grid.extent[2], rank, own.first,
                 own.last - 1);
  }
  if (plan.rows(rank).count() > 0) {
    validate(p, {views, g.num_u(), plan.rows(rank).count()}, function);
    validate_contiguous(p.data, "projections", function);
  }
  memory_range const voxels = memory_of(x.data, "volume data");
  memory_range const pixels = memory_of(p.data, "projections");
  validate_apart(std::is_const_v<Voxel> ? pixels : voxels,
                 {std::is_const_v<Voxel> ? voxels : pixels}, function);
}

/// What calls on ranks share: whose they are, and the readings of a batch of views, which come from
/// where they are owned.
template <class Exec, class T>
struct rank_share {
  using space = typename Exec::memory_space;

  rank_share(Exec const& on, backend::communicator& ranks, ranked_preparation const& by)
      : exec(on),
        carrier(on, ranks),
        plan(by.plan),
        rank(ranks.rank()),
        own(plan.planes(rank)),
        rows(plan.rows(rank)),
        batch(by.batch),
        needed(by.needed[std::size_t(rank)]),
        readings(on, rank, windows_of_owner(plan, by.needed, rank),
                 windows_from_owners(plan, by.needed, rank), by.batches, sizeof(T)) {
    for (view_range const& views : by.batches) {
      largest_batch = std::max(largest_batch, views.count);
    }
  }

  /// Returns the bytes of the readings that are sent and received, without allocating.
  static std::int64_t exchanged_bytes(int rank, ranked_preparation const& by) {
    return window_exchange<Exec>::bytes_needed(rank, windows_of_owner(by.plan, by.needed, rank),
                                               windows_from_owners(by.plan, by.needed, rank),
                                               by.batches, sizeof(T));
  }

  /// Calls f(first, count) for each batch of so many of some views, of which `first` counts; ranks
  /// stop together. Waits for `exec`.
  template <class F>
  void for_each_batch(view_range const& views, std::int64_t size, job const& control, F const& f) {
    for (std::int64_t first = 0; first < views.count; first += size) {
      step_together(carrier.ranks(), control, double(first) / double(views.count));
      f(first, std::min(size, views.count - first));
    }
    exec.fence("iso::ct::ranked: the result is there");
    step_together(carrier.ranks(), control, 1);
  }

  /// Calls f(first, images, scratch) for each batch, where this rank has planes: images [views, u,
  /// v] of the whole detector, with all that its planes need, and zeros beside it: in all rows, or
  /// in those that have what is needed.
  /// \param rows_here  (first, count) returns the rows [count, u, rows] that it owns of a batch,
  ///                   where `exec` reads them
  /// \param taken      bytes of `memory` that are not scratch, from its beginning on
  template <class Rows, class F>
  void for_each_gathered_batch(view_range const& views, Rows const& rows_here, bool all_rows,
                               job const& control, std::int64_t taken, F const& f) {
    geometry const& g = plan.scan();
    bool const owns = g.num_u() * rows.count() > 0;
    auto const left = own.count() > 0 ? rest_of(memory, taken) : memory;
    workspace_parts parts(left, "iso::ct::ranked");
    T* const images = parts.take<T>({largest_batch, g.num_u(), g.num_v()});
    auto const scratch = own.count() > 0 ? rest_of(left, parts.bytes()) : left;
    image_rows<T> const all{images, g.num_u(), g.num_v()};
    for_each_batch(views, batch, control, [&](std::int64_t first, std::int64_t count) {
      image_rows<T const> const mine{owns ? rows_here(first, count) : nullptr, g.num_u(),
                                     rows.count(), rows.first};
      projection_view<T const, space> const stack{
          typename projection_view<T const, space>::data_type(images, count, g.num_u(), g.num_v())};
      if (own.count() > 0) {
        row_range const detector{0, g.num_v()};
        std::span<pixel_window const> const of_batch(needed.data() + views.first + first,
                                                     std::size_t(count));
        row_range const read = all_rows ? detector : rows_of(of_batch, detector);
        iso::detail::for_each_in_rows("iso::ct::ranked: zeros", exec, count * g.num_u(),
                                      read.count(), zero_rows<T>{all, read});
        put_rows(exec, all, mine, count * g.num_u());
      }
      readings.template run<arrival::stored>(exec, carrier, mine, all,
                                             {views.first + first, count});
      if (own.count() > 0) {
        f(first, stack, scratch);
      }
    });
  }

  /// Returns, for the above, the rows of stacks that lie where `exec` reads them.
  [[nodiscard]] auto rows_in(T const* stack) const {
    std::int64_t const owned = plan.scan().num_u() * rows.count();
    return [=](std::int64_t first, std::int64_t) { return stack + first * owned; };
  }

  /// Returns the bytes of the images of the largest batch, and of so much scratch.
  [[nodiscard]] std::int64_t gathered_bytes(std::int64_t scratch) const {
    workspace_parts parts("iso::ct::ranked");
    parts.take<T>({largest_batch, plan.scan().num_u(), plan.scan().num_v()});
    return parts.bytes() + scratch;
  }

  Exec exec;
  backend::carrier<Exec> carrier;
  rank_plan plan;
  int rank;
  slab own;
  row_range rows;
  std::int64_t batch;  ///< views that are computed at a time
  std::int64_t largest_batch = 0;
  std::vector<pixel_window> needed;  ///< of this rank, a view each
  window_exchange<Exec> readings;
  workspace<space> memory;
};

}  // namespace iso::ct::detail
