// SPDX-License-Identifier: BSD-3-Clause
//! Holds what projections on ranks share, wherever the arrays of a rank lie.
#pragma once

#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/rank_share.hpp>
#include <iso/ct/detail/streamed_impl.hpp>
#include <iso/ct/detail/window_exchange.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/staged_geometry.hpp>
#include <iso/detail/survey.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace iso::ct::detail {

/// Returns an exchange of planes: so many below those of each rank, and above.
template <class Exec, class T>
window_exchange<Exec> planes_exchange(Exec const& exec, rank_plan const& plan, int rank,
                                      std::int64_t below, std::int64_t above) {
  return {exec,
          rank,
          planes_that_go(plan, rank, below, above),
          planes_that_come(plan, rank, below, above),
          {{0, 1}},
          sizeof(T)};
}
/// Returns the bytes that it holds, without allocating.
template <class Exec, class T>
std::int64_t planes_bytes(rank_plan const& plan, int rank, std::int64_t below, std::int64_t above) {
  return window_exchange<Exec>::bytes_needed(rank, planes_that_go(plan, rank, below, above),
                                             planes_that_come(plan, rank, below, above), {{0, 1}},
                                             sizeof(T));
}

/// Returns the largest absolute value of readings that are finite, which a scatter's unit wants; as
/// a call, since few adjoints scatter.
template <class Exec, class T, class Space>
auto largest_reading(Exec const& exec, projection_view<T const, Space> const& p) {
  return [exec, p] {
    return p.data.size() == 0 ? 0
                              : iso::detail::survey_of("iso::ct::ranked: readings", exec,
                                                       p.data.data(), std::int64_t(p.data.size()))
                                    .largest_size;
  };
}

/// The scans of a pair on ranks, and what its rays and readings share with other ranks.
template <class Exec, class T>
struct ranked_projector {
  using space = typename Exec::memory_space;
  using word = bits_of<T>;
  using pixels_type = typename projection_view<T, space>::data_type;

  ranked_projector(Exec const& exec, backend::communicator& ranks, view_blocks const& all_blocks,
                   projector_options const& o, ranked_preparation const& by)
      : share(exec, ranks, by),
        blocks(all_blocks),
        options(o),
        path(by.forward),
        held(planes_with(by.plan, share.rank, by.halo, by.halo)),
        words(exec, share.rank, windows_from_owners(by.plan, by.met, share.rank),
              windows_of_owner(by.plan, by.met, share.rank), by.projected_batches, sizeof(T)),
        flags(exec, share.rank, windows_of_flags(windows_from_owners(by.plan, by.met, share.rank)),
              windows_of_flags(windows_of_owner(by.plan, by.met, share.rank)), by.projected_batches,
              sizeof(std::uint32_t)) {
    staged_geometry<space> const all(exec, by.plan.scan());
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      scans.push_back(all.subset(views_of(block).first, views_of(block).count));
    }
  }

  /// Returns the bytes of what is sent and received, without allocating.
  static std::int64_t exchanged_bytes(int rank, ranked_preparation const& by) {
    using exchange = window_exchange<Exec>;
    auto const from = windows_from_owners(by.plan, by.met, rank);
    auto const of = windows_of_owner(by.plan, by.met, rank);
    return exchange::bytes_needed(rank, from, of, by.projected_batches, sizeof(T)) +
           exchange::bytes_needed(rank, windows_of_flags(from), windows_of_flags(of),
                                  by.projected_batches, sizeof(std::uint32_t)) +
           rank_share<Exec, T>::exchanged_bytes(rank, by);
  }
  /// Returns the largest of some batches of views.
  static geometry largest_batch_of(ranked_preparation const& by,
                                   std::vector<view_range> const& batches) {
    auto const largest = std::max_element(
        batches.begin(), batches.end(),
        [](view_range const& a, view_range const& b) { return a.count < b.count; });
    return by.plan.scan().subset(largest->first, largest->count);
  }

  [[nodiscard]] view_range views_of(std::int64_t block) const {
    return {blocks.begins[std::size_t(block)], blocks.size(block)};
  }
  /// Has the words of a batch begin to go to their owners, on `on`.
  /// \param sums  null: of a rank without planes, whose rays have no words
  void begin_to_join(Exec const& on, ray_sums<T, space> const* sums, view_range const& views);
  /// Adds the words that come, on `on`.
  void end_join(Exec const& on, ray_sums<T, space>* sums, view_range const& views);
  /// Has the words of a batch go to their owners.
  void join_batch(ray_sums<T, space>* sums, view_range const& views) {
    begin_to_join(share.exec, sums, views);
    end_join(share.exec, sums, views);
  }
  /// Calls f(images, scratch, options) for each batch of a block, where this rank has planes.
  /// \param rows_here  as for_each_gathered_batch
  /// \param largest    returns the largest reading that is here
  template <class Rows, class Largest, class F>
  void back_project_batches(std::int64_t block, Rows const& rows_here, Largest const& largest,
                            job const& control, std::int32_t at_least, std::int64_t taken,
                            F const& f);

  /// Returns the images of a batch's words, and of its flags.
  [[nodiscard]] image_rows<word> words_of(ray_sums<T, space> const* sums) const {
    geometry const& g = share.plan.scan();
    return {sums != nullptr ? sums->words().data() : nullptr, g.num_u(), g.num_v()};
  }
  [[nodiscard]] image_rows<std::uint32_t> flags_of(ray_sums<T, space> const& sums) const {
    geometry const& g = share.plan.scan();
    return {sums.flags().data(), g.num_u(), (g.num_v() + 31) / 32};
  }

  rank_share<Exec, T> share;
  view_blocks blocks;
  projector_options options;
  forward_project_options path;               ///< one for all views
  slab held;                                  ///< planes with their halo
  std::vector<staged_geometry<space>> scans;  ///< of blocks
  window_exchange<Exec> words;
  window_exchange<Exec> flags;
};

template <class Exec, class T>
void ranked_projector<Exec, T>::begin_to_join(Exec const& on, ray_sums<T, space> const* sums,
                                              view_range const& views) {
  words.template begin<word>(on, share.carrier, words_of(sums), views);
  if (sums != nullptr && sums->flags().size() > 0) {
    flags.template begin<std::uint32_t>(on, share.carrier, flags_of(*sums), views);
  }
}

template <class Exec, class T>
void ranked_projector<Exec, T>::end_join(Exec const& on, ray_sums<T, space>* sums,
                                         view_range const& views) {
  share.carrier.end_exchanges(on);
  words.template take<arrival::added>(on, words_of(sums), views);
  if (sums == nullptr) {
    return;
  }
  if (sums->flags().size() > 0) {
    flags.template take<arrival::united>(on, flags_of(*sums), views);
  }
  for (int rank = 0; rank < share.plan.size(); ++rank) {
    if (rank != share.rank && share.plan.planes(rank).count() > 0) {
      sums->count_added({share.plan.planes(rank)});
    }
  }
}

template <class Exec, class T>
template <class Rows, class Largest, class F>
void ranked_projector<Exec, T>::back_project_batches(std::int64_t block, Rows const& rows_here,
                                                     Largest const& largest, job const& control,
                                                     std::int32_t at_least, std::int64_t taken,
                                                     F const& f) {
  auto by = adjoint_options(options, at_least);
  bool const scatters =
      !gathers(scans[std::size_t(block)].host(), share.plan.grid(), sizeof(T), by);
  if (scatters) {
    // The scatter's unit is the block's, whatever rows are here.
    by.max_abs = largest_of_ranks(share.carrier.ranks(), largest());
  }
  share.for_each_gathered_batch(views_of(block), rows_here, scatters, control, taken,
                                [&](std::int64_t first, auto const& images, auto const& scratch) {
                                  by.first_view = first;
                                  f(images, scratch, by);
                                });
}

}  // namespace iso::ct::detail
