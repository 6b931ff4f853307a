// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/ranked.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/carrier.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/agreement.hpp>
#include <iso/ct/detail/back_project_step.hpp>
#include <iso/ct/detail/ranked_projector.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/staged_geometry.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/survey.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace iso::ct {
namespace detail {

/// The parts of memory while ranks project. Words and pixels have one place.
template <class Exec, class T>
struct ranked_forward_memory {
  using sums_type = ray_sums<T, typename Exec::memory_space>;
  T* held;
  std::int64_t sums_bytes;
  std::byte*
      sums[2];  ///< of batches in turn; the same where nothing is sent, or no block has several

  /// \param copied  the planes that are read, where some are another rank's; else none
  /// \param batch   the largest, of the views of a block
  ranked_forward_memory(Exec const& exec, workspace_parts& parts, iso::grid const& whole,
                        slab const& copied, forward_project_options const& options,
                        geometry const& batch, bool several)
      : held(parts.take<T>({whole.extent[0], whole.extent[1], copied.count()})),
        sums_bytes(sums_type::bytes_needed(exec, batch, whole, {0, false}, options)) {
    sums[0] = parts.take<std::byte>({sums_bytes});
    sums[1] = several ? parts.take<std::byte>({sums_bytes}) : sums[0];
  }
};

/// What a pair has whose arrays lie where it computes, and what it does.
template <class Exec, class T>
struct ranked_pair_parts : ranked_projector<Exec, T> {
  using base = ranked_projector<Exec, T>;
  using base::blocks;
  using base::held;
  using base::options;
  using base::path;
  using base::scans;
  using base::share;
  using base::views_of;
  using base::words;
  using typename base::pixels_type;
  using typename base::space;
  using typename base::word;

  ranked_pair_parts(Exec const& exec, backend::communicator& ranks, view_blocks const& all_blocks,
                    projector_options const& o, ranked_preparation const& by)
      : base(exec, ranks, all_blocks, o, by),
        projected(by.projected),
        beside(backend::another_instance(exec, backend::urgency::first)),
        planes(planes_exchange<Exec, T>(exec, by.plan, share.rank, by.halo, by.halo)),
        next{planes_exchange<Exec, T>(exec, by.plan, share.rank, 1, 0),
             planes_exchange<Exec, T>(exec, by.plan, share.rank, 0, 1)} {
    share.memory.reserve(memory_bytes(exec, share.rank, by, all_blocks, o));
  }

  /// Returns the planes that a projection has side by side: none where it reads the rank's alone.
  static slab copied_planes(slab const& own, slab const& read) {
    return own == read ? slab{0, 0} : read;
  }
  /// Returns the bytes of the memory that calls share.
  static std::int64_t memory_bytes(Exec const& exec, int rank, ranked_preparation const& by,
                                   view_blocks const& blocks, projector_options const& options) {
    slab const own = by.plan.planes(rank);
    if (own.count() == 0) {
      return 0;
    }
    geometry const batch = base::largest_batch_of(by, by.batches);
    workspace_parts parts("iso::ct::ranked_pair");
    ranked_forward_memory<Exec, T>(exec, parts, by.plan.grid(),
                                   copied_planes(own, planes_with(by.plan, rank, by.halo, by.halo)),
                                   by.forward, base::largest_batch_of(by, by.projected_batches),
                                   by.projected < by.batch);
    workspace_parts back("iso::ct::ranked_pair");
    back.take<T>({batch.num_views(), batch.num_u(), batch.num_v()});
    return std::max(parts.bytes(),
                    back.bytes() + adjoint_scratch<Exec, T>(exec, scans_of(by.plan.scan(), blocks),
                                                            by.plan.grid(), options, own));
  }
  /// Returns the bytes that a pair holds beside the arrays of its calls, without allocating.
  static std::int64_t bytes_needed(Exec const& exec, int rank, ranked_preparation const& by,
                                   view_blocks const& blocks, projector_options const& options) {
    return memory_bytes(exec, rank, by, blocks, options) + base::exchanged_bytes(rank, by) +
           planes_bytes<Exec, T>(by.plan, rank, by.halo, by.halo) +
           planes_bytes<Exec, T>(by.plan, rank, 1, 0) + planes_bytes<Exec, T>(by.plan, rank, 0, 1) +
           views_bytes(by.plan.scan());
  }

  [[nodiscard]] ranked_forward_memory<Exec, T> memory_to_project(workspace_parts& parts,
                                                                 std::int64_t block) const {
    geometry const& g = scans[std::size_t(block)].host();
    return {share.exec,
            parts,
            share.plan.grid(),
            copied_planes(share.own, held),
            path,
            g.subset(0, std::min(projected, g.num_views())),
            projected < share.batch};
  }

  void forward(std::int64_t block, volume_view<T const, space> const& x,
               projection_view<T, space> const& p, job const& control);
  /// Sums the rays of a block, whose words go to their owners while those of the next batch are
  /// summed, and writes the rows that are owned.
  /// \param here  this rank's planes with those that projections read beside them
  void project_batches(std::int64_t block, voxel_bounds const& bounds,
                       volume_view<T const, space> const& here,
                       ranked_forward_memory<Exec, T> const& m, projection_view<T, space> const& p,
                       job const& control);
  void fetch(neighbour which, volume_view<T const, space> const& x, T* plane);
  void adjoint(std::int64_t block, projection_view<T const, space> const& p,
               volume_view<T, space> const& x, onto to, job const& control, std::int32_t at_least);
  /// Has voxels step by their sums, where a block is so small that they are whole at once; else
  /// returns false.
  bool adjoint_step(std::int64_t block, projection_view<T const, space> const& p,
                    volume_view<T, space> const& x, voxel_step<T> const& step, job const& control,
                    std::int32_t at_least);
  template <class F>
  void validate_together(std::int64_t block, volume_view<T, space> const& x,
                         projection_view<T const, space> const& p, F const& more);
  /// Calls f(images, scratch, options) for each batch of a block, where this rank has planes.
  template <class F>
  void back_project_batches(std::int64_t block, projection_view<T const, space> const& p,
                            job const& control, std::int32_t at_least, F const& f) {
    base::back_project_batches(block, share.rows_in(p.data.data()), largest_reading(share.exec, p),
                               control, at_least, 0, f);
  }

  std::int64_t projected;         ///< views that a projection computes at a time
  Exec beside;                    ///< sends words while `share.exec` computes others
  window_exchange<Exec> planes;   ///< of a projection
  window_exchange<Exec> next[2];  ///< the plane below, and that above
};

template <class Exec, class T>
void ranked_pair_parts<Exec, T>::forward(std::int64_t block, volume_view<T const, space> const& x,
                                         projection_view<T, space> const& p, job const& control) {
  char const* const function = "iso::ct::ranked_pair::forward";
  backend::communicator& ranks = share.carrier.ranks();
  Exec const& exec = share.exec;
  slab const& own = share.own;
  voxel_bounds bounds;
  check_together(ranks, function, [&] {
    validate_parts(share.plan, share.rank, blocks.size(block), x, p, function);
    bounds = own.count() > 0 ? bounds_of(exec, x) : voxel_bounds{};
  });
  auto const& n = share.plan.grid().extent;
  bounds.max_abs = largest_of_ranks(ranks, bounds.max_abs);
  bounds.all_finite = largest_of_ranks(ranks, bounds.all_finite ? 0 : 1) == 0;

  workspace_parts parts(share.memory, function);
  auto const m = memory_to_project(parts, block);
  image_rows<T const> const mine{x.data.data(), n[0] * n[1], own.count(), own.first};
  image_rows<T> const with_halo{m.held, n[0] * n[1], held.count(), held.first};
  bool const reads_others = held != own;
  if (reads_others) {
    put_rows(exec, with_halo, mine, n[0] * n[1]);
  }
  // Another rank may read this one's planes.
  planes.template run<arrival::stored>(exec, share.carrier, mine, with_halo, {0, 1});
  using slab_data = typename volume_view<T const, space>::data_type;
  volume_view<T const, space> const slab_here{
      share.plan.grid(), slab_data(reads_others ? m.held : x.data.data(), n[0], n[1], held.count()),
      held.first};

  project_batches(block, bounds, slab_here, m, p, control);
}

template <class Exec, class T>
void ranked_pair_parts<Exec, T>::project_batches(std::int64_t block, voxel_bounds const& bounds,
                                                 volume_view<T const, space> const& here,
                                                 ranked_forward_memory<Exec, T> const& m,
                                                 projection_view<T, space> const& p,
                                                 job const& control) {
  Exec const& exec = share.exec;
  view_range const views = views_of(block);
  std::optional<ray_sums<T, space>> sums[2];  // of batches in turn
  backend::event<Exec> computed;
  backend::event<Exec> written[2];
  int turn = 0;
  view_range going{0, 0};  // of the block, their words on their way; those of the other turn
  auto const arrive = [&] {
    int const of = 1 - turn;
    auto* const here_too = sums[of] ? &*sums[of] : nullptr;
    this->end_join(beside, here_too, {views.first + going.first, going.count});
    row_range const& rows = share.rows;
    if (here_too != nullptr && rows.count() > 0) {
      std::int64_t const image = share.plan.scan().num_u() * rows.count();
      here_too->finish(beside,
                       {pixels_type(p.data.data() + going.first * image, going.count,
                                    share.plan.scan().num_u(), rows.count())},
                       0, rows);
    }
    written[of].record(beside);
    going.count = 0;
  };
  try {
    share.for_each_batch(views, projected, control, [&](std::int64_t first, std::int64_t count) {
      if (share.own.count() > 0) {
        written[turn].hold(exec);
        sums[turn].emplace(exec, scans[std::size_t(block)].subset(first, count), share.plan.grid(),
                           bounds, path, part_of_memory<space>(m.sums[turn], m.sums_bytes));
        sums[turn]->add(exec, here, share.own);
        computed.record(exec);
      }
      if (going.count > 0) {
        arrive();
      }
      computed.hold(beside);
      // Before: what fails on the way is ended too.
      going = {first, count};
      turn = 1 - turn;
      auto const& goes = sums[1 - turn];
      this->begin_to_join(beside, goes ? &*goes : nullptr, {views.first + first, count});
      if (first + count == views.count || m.sums[0] == m.sums[1]) {
        arrive();
        written[1 - turn].hold(exec);
      }
    });
  } catch (...) {
    // Other ranks end what they began, and memory must stay until messages are there.
    if (going.count > 0) {
      share.carrier.end_exchanges(beside);
    }
    beside.fence("iso::ct::ranked_pair: nothing is on its way");
    throw;
  }
}

template <class Exec, class T>
void ranked_pair_parts<Exec, T>::fetch(neighbour which, volume_view<T const, space> const& x,
                                       T* plane) {
  auto const& n = share.plan.grid().extent;
  slab const& own = share.own;
  bool const below = which == neighbour::below;
  image_rows<T const> const mine{x.data.data(), n[0] * n[1], own.count(), own.first};
  image_rows<T> const there{plane, n[0] * n[1], 1, below ? own.first - 1 : own.last};
  next[below ? 0 : 1].template run<arrival::stored>(share.exec, share.carrier, mine, there, {0, 1});
}

template <class Exec, class T>
void ranked_pair_parts<Exec, T>::adjoint(std::int64_t block,
                                         projection_view<T const, space> const& p,
                                         volume_view<T, space> const& x, onto to,
                                         job const& control, std::int32_t at_least) {
  validate_together(block, x, p, [&] { validate(to, "iso::ct::ranked_pair::adjoint"); });
  auto const& scan = scans[std::size_t(block)];
  back_project_batches(block, p, control, at_least,
                       [&](auto const& images, auto const& scratch, auto const& by) {
                         back_project<Exec, T>(share.exec, scan, images, x, scratch, by,
                                               by.first_view == 0 ? to : onto::stored);
                       });
}

template <class Exec, class T>
bool ranked_pair_parts<Exec, T>::adjoint_step(std::int64_t block,
                                              projection_view<T const, space> const& p,
                                              volume_view<T, space> const& x,
                                              voxel_step<T> const& step, job const& control,
                                              std::int32_t at_least) {
  if (!steps_at_once(blocks.size(block), adjoint_options(options, at_least))) {
    return false;
  }
  validate_together(block, x, p, [] {});
  auto const& scan = scans[std::size_t(block)];
  // A batch has as many views at least.
  back_project_batches(
      block, p, control, at_least, [&](auto const& images, auto const& scratch, auto const& by) {
        back_project_step<Exec, T>(share.exec, scan, images, x, scratch, by, step, {});
      });
  return true;
}

template <class Exec, class T>
template <class F>
void ranked_pair_parts<Exec, T>::validate_together(std::int64_t block,
                                                   volume_view<T, space> const& x,
                                                   projection_view<T const, space> const& p,
                                                   F const& more) {
  char const* const function = "iso::ct::ranked_pair::adjoint";
  check_together(share.carrier.ranks(), function, [&] {
    validate_parts(share.plan, share.rank, blocks.size(block), x, p, function);
    more();
  });
}

template <class Exec, class T>
struct ranked_fdk_parts {
  ranked_fdk_parts(Exec const& exec, backend::communicator& ranks, fdk_options const& options,
                   ranked_preparation const& by)
      : share(exec, ranks, by), filter(exec, by.plan.scan(), options) {
    if (share.own.count() > 0) {
      share.memory.reserve(
          share.gathered_bytes(fdk_bytes_needed<T>(exec, by.plan.scan(), options)));
    }
  }

  // First: ranks make it together, whatever fails in one of them afterwards.
  rank_share<Exec, T> share;
  fdk_plan<typename Exec::memory_space> filter;
};

}  // namespace detail

template <execution_space Exec, real T>
ranked_pair<Exec, T>::ranked_pair(Exec const& exec, backend::communicator& ranks,
                                  rank_plan const& plan, view_blocks const& blocks,
                                  projector_options const& options, std::int64_t batch_views) {
  auto by = detail::prepare_pair(ranks, plan, blocks, options, batch_views, sizeof(T));
  detail::divide_projected(by, blocks);
  detail::check_together(ranks, "iso::ct::ranked_pair", [&] {
    parts_ = std::make_unique<detail::ranked_pair_parts<Exec, T>>(exec, ranks, blocks, options, by);
  });
}

template <execution_space Exec, real T>
ranked_pair<Exec, T>::ranked_pair(Exec const& exec, backend::communicator& ranks,
                                  rank_plan const& plan, projector_options const& options,
                                  std::int64_t batch_views)
    : ranked_pair(
          exec, ranks, plan,
          split_views(plan.scan().num_views(), plan.scan().num_views(), block_order::sequential),
          options, batch_views) {}

template <execution_space Exec, real T>
ranked_pair<Exec, T>::~ranked_pair() = default;

template <execution_space Exec, real T>
void ranked_pair<Exec, T>::forward(std::int64_t block, const_volume const& x, projections const& p,
                                   job const& control) {
  parts_->forward(block, x, p, control);
}

template <execution_space Exec, real T>
void ranked_pair<Exec, T>::adjoint(std::int64_t block, const_projections const& p, volume const& x,
                                   onto to, job const& control, std::int32_t words) {
  parts_->adjoint(block, p, x, to, control, words);
}

template <execution_space Exec, real T>
void ranked_pair<Exec, T>::adjoint_step(std::int64_t block, const_projections const& p,
                                        volume const& x, detail::voxel_step<T> const& by,
                                        volume const& correction, job const& control,
                                        std::int32_t words) {
  if (parts_->adjoint_step(block, p, x, by, control, words)) {
    return;
  }
  adjoint(block, p, correction, onto::zero, control, words);
  Exec const& exec = parts_->share.exec;
  detail::for_each_number("iso::ct::ranked: step", exec, std::int64_t(x.data.size()),
                          detail::step_voxels<T>{by, correction.data.data(), x.data.data()});
  exec.fence("iso::ct::ranked_pair: the step is made");
}

template <execution_space Exec, real T>
void ranked_pair<Exec, T>::fetch(detail::neighbour which, const_volume const& x, T* plane) {
  parts_->fetch(which, x, plane);
}

template <execution_space Exec, real T>
detail::rank_part ranked_pair<Exec, T>::part() const {
  return {parts_->share.carrier.ranks(), parts_->share.plan};
}

template <execution_space Exec, real T>
std::int64_t ranked_pair<Exec, T>::bytes_needed(Exec const& exec, int rank, rank_plan const& plan,
                                                view_blocks const& blocks,
                                                projector_options const& options,
                                                std::int64_t batch_views) {
  auto by =
      detail::plan_pair(plan, blocks, options, batch_views, sizeof(T), "iso::ct::ranked_pair");
  detail::divide_projected(by, blocks);
  return detail::ranked_pair_parts<Exec, T>::bytes_needed(exec, rank, by, blocks, options);
}

template <execution_space Exec, real T>
rank_plan const& ranked_pair<Exec, T>::plan() const {
  return parts_->share.plan;
}

template <execution_space Exec, real T>
ranked_report ranked_pair<Exec, T>::report() const {
  auto const& share = parts_->share;
  ranked_report r;
  r.batch_views = share.batch;
  r.bytes_held =
      share.memory.size() + std::int64_t(sizeof(view_vectors)) * share.plan.scan().num_views();
  detail::ranked_pair_parts<Exec, T> const& parts = *parts_;
  for (auto const* shared : {&parts.planes, &parts.next[0], &parts.next[1], &parts.words,
                             &parts.flags, &share.readings}) {
    r.bytes_sent += shared->bytes_sent();
    r.bytes_held += shared->bytes_held();
  }
  return r;
}

template <execution_space Exec, real T>
ranked_fdk<Exec, T>::ranked_fdk(Exec const& exec, backend::communicator& ranks,
                                rank_plan const& plan, fdk_options const& options,
                                std::int64_t batch_views) {
  auto const by = detail::prepare_fdk(ranks, plan, options, batch_views, sizeof(T));
  detail::check_together(ranks, "iso::ct::ranked_fdk", [&] {
    parts_ = std::make_unique<detail::ranked_fdk_parts<Exec, T>>(exec, ranks, options, by);
  });
}

template <execution_space Exec, real T>
ranked_fdk<Exec, T>::~ranked_fdk() = default;

template <execution_space Exec, real T>
void ranked_fdk<Exec, T>::apply(const_projections const& p, volume const& x, onto to,
                                job const& control) {
  char const* const function = "iso::ct::ranked_fdk";
  auto& share = parts_->share;
  std::int64_t const views = share.plan.scan().num_views();
  detail::check_together(share.carrier.ranks(), function, [&] {
    detail::validate_parts(share.plan, share.rank, views, x, p, function);
    validate(to, function);
  });
  share.for_each_gathered_batch(
      {0, views}, share.rows_in(p.data.data()), false, control, 0,
      [&](std::int64_t first, const_projections const& images, workspace<space> const& scratch) {
        fdk<Exec, T>(share.exec, parts_->filter.subset(first, std::int64_t(images.data.extent(0))),
                     images, x, scratch, first == 0 ? to : onto::stored);
      });
}

template <execution_space Exec, real T>
std::int64_t ranked_fdk<Exec, T>::bytes_needed(Exec const& exec, int rank, rank_plan const& plan,
                                               fdk_options const& options,
                                               std::int64_t batch_views) {
  auto const by = detail::plan_fdk(plan, batch_views, "iso::ct::ranked_fdk");
  geometry const& g = plan.scan();
  std::int64_t bytes =
      detail::rank_share<Exec, T>::exchanged_bytes(rank, by) +
      fdk_plan<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace(), g, options).bytes_held();
  if (plan.planes(rank).count() > 0) {
    workspace_parts parts("iso::ct::ranked_fdk");
    parts.take<T>({std::min(by.batch, g.num_views()), g.num_u(), g.num_v()});
    bytes += parts.bytes() + fdk_bytes_needed<T>(exec, g, options);
  }
  return bytes;
}

template <execution_space Exec, real T>
rank_plan const& ranked_fdk<Exec, T>::plan() const {
  return parts_->share.plan;
}

template <execution_space Exec, real T>
fdk_plan<typename Exec::memory_space> const& ranked_fdk<Exec, T>::filter() const {
  return parts_->filter;
}

template <execution_space Exec, real T>
ranked_report ranked_fdk<Exec, T>::report() const {
  auto const& share = parts_->share;
  return {share.readings.bytes_sent(),
          share.memory.size() + parts_->filter.bytes_held() + share.readings.bytes_held(),
          share.batch};
}

template <class Exec>
struct ranked::maker final : detail::pair_maker {
  Exec exec;
  backend::communicator* ranks;
  rank_plan plan;
  std::int64_t batch_views;

  maker(Exec const& on, backend::communicator& of, rank_plan by, std::int64_t batch)
      : exec(on), ranks(&of), plan(std::move(by)), batch_views(batch) {}

  template <class T>
  [[nodiscard]] std::shared_ptr<detail::any_pair> make_of(geometry const& g,
                                                          iso::grid const& volume,
                                                          view_blocks const& blocks,
                                                          projector_options const& options) const {
    detail::check_together(*ranks, "iso::ct::ranked",
                           [&] { detail::validate_planned(plan, g, volume); });
    return std::make_shared<ranked_pair<Exec, T>>(exec, *ranks, plan, blocks, options, batch_views);
  }
  [[nodiscard]] std::shared_ptr<detail::any_pair> make(
      float, geometry const& g, iso::grid const& volume, view_blocks const& blocks,
      projector_options const& options) const override {
    return make_of<float>(g, volume, blocks, options);
  }
  [[nodiscard]] std::shared_ptr<detail::any_pair> make(
      double, geometry const& g, iso::grid const& volume, view_blocks const& blocks,
      projector_options const& options) const override {
    return make_of<double>(g, volume, blocks, options);
  }
};

template <execution_space Exec>
ranked::ranked(Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
               std::int64_t batch_views)
    : elsewhere(std::make_shared<maker<Exec>>(exec, ranks, plan, batch_views)) {}

#define ISO_CT_RANKED_ON(Exec, ...)                                                          \
  __VA_ARGS__ template ranked::ranked(Exec const&, backend::communicator&, rank_plan const&, \
                                      std::int64_t);
#define ISO_CT_RANKED(linkage, Exec, T)        \
  linkage template class ranked_pair<Exec, T>; \
  linkage template class ranked_fdk<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_CT_RANKED, extern)
ISO_FOR_EACH_BACKEND(ISO_CT_RANKED_ON, extern)

}  // namespace iso::ct
