// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/streamed_ranked.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/carrier.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/agreement.hpp>
#include <iso/ct/detail/ranked_impl.hpp>
#include <iso/ct/detail/ranked_projector.hpp>
#include <iso/ct/detail/streamed_slabs.hpp>
#include <iso/ct/streamed_ranked.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace iso::ct {
namespace detail {

/// The execution space of what ranks hold in host memory.
using on_host = Kokkos::DefaultHostExecutionSpace;

/// The parts of the device's memory that hold what passes by. All behind them is of a batch.
template <class T>
struct passing_memory {
  slab_buffers<T> slabs;
  T* rows;  ///< of a batch, which the rank owns

  /// \param planes  of a slab, with what projections read about it
  passing_memory(workspace_parts& memory, rank_plan const& plan, int rank, std::int64_t planes,
                 std::int64_t views)
      : slabs(memory, plan.grid(), planes),
        rows(memory.take<T>({views, plan.scan().num_u(), plan.rows(rank).count()})) {}
};

/// Has the rows of a batch come from host memory: rows_here of for_each_gathered_batch.
template <class Exec, class T>
auto rows_from_host(Exec const& exec, iso::detail::bus<Exec>& by,
                    projection_view<T const, Kokkos::HostSpace> const& p, T* rows) {
  return [&exec, &by, p, rows](std::int64_t first, std::int64_t count) -> T const* {
    auto const image = std::int64_t(p.data.extent(1)) * std::int64_t(p.data.extent(2));
    by.carry(
        exec, pieces_of(count, max_chunk_views),
        [&](std::int64_t n) {
          auto const [begin, views] = views_of(count, max_chunk_views, n);
          return typename iso::detail::bus<Exec>::piece{
              reinterpret_cast<std::byte*>(rows + begin * image),
              runs_of(p, first + begin, views),
              {}};
        },
        [](std::int64_t) {});
    return rows;
  };
}

/// Divides a rank's calls within its limit, has ranks agree on the views of a batch, and sets them.
/// \param bytes_of  (by, views, planes) returns the bytes of a call's division, `by` having these
///                  views a batch; one function for each plan of `plans`
/// \throws iso::invalid_argument  on every rank
/// \throws iso::out_of_memory     on this rank; the others throw too
template <class Exec, std::size_t N>
Kokkos::Array<streaming_plan, N> divide_part(
    backend::communicator& ranks, ranked_preparation& by, view_blocks const& blocks,
    streaming_options const& limits, char const* function,
    std::function<std::int64_t(std::size_t, ranked_preparation const&, std::int64_t)> const&
        bytes_of) {
  std::int64_t const views = blocks.max_size();
  std::int64_t const depth = by.plan.planes(ranks.rank()).count();
  ranked_preparation now = by;
  auto const bytes = [&](std::size_t call) {
    return [&, call](std::int64_t v, std::int64_t planes) {
      if (now.batch != v) {
        divide_views(now, blocks, v);
      }
      return bytes_of(call, now, planes);
    };
  };
  std::int64_t batch = views;
  check_together(ranks, function, [&] {
    ISO_VALIDATE(!limits.stored_readings,
                 "{}: stored readings (ranks send numbers to each other); leave "
                 "streaming_options::stored_readings out",
                 function);
    std::int64_t const least = std::min(views, chunk_views);
    std::int64_t needed = 0;
    for (std::size_t call = 0; call < N; ++call) {
      needed = std::max(needed, bytes(call)(least, std::min<std::int64_t>(depth, 1)));
    }
    validate_limits(function, limits, least, needed);
    for (std::size_t call = 0; call < N && depth > 0; ++call) {
      batch = std::min(batch, divide(depth, views, limits, slab_grain<Exec>, bytes(call)).views);
    }
  });
  // The fewest views that a rank has memory for.
  batch = views - std::int64_t(largest_of_ranks(ranks, double(views - batch)));
  divide_views(by, blocks, batch);
  Kokkos::Array<streaming_plan, N> plans;
  for (std::size_t call = 0; call < N; ++call) {
    std::int64_t const planes =
        depth == 0 ? 0 : planes_within(depth, batch, limits, slab_grain<Exec>, bytes(call));
    plans[call] = {batch, planes, bytes(call)(batch, planes)};
  }
  return plans;
}

/// What a streamed pair on ranks has, and what it does.
template <class Exec, class T>
struct streamed_ranked_parts : ranked_projector<Exec, T> {
  using base = ranked_projector<Exec, T>;
  using host = Kokkos::HostSpace;
  using typename base::pixels_type;
  using typename base::space;
  using volume = volume_view<T, host>;
  using const_volume = volume_view<T const, host>;
  using const_projections = projection_view<T const, host>;
  using base::blocks;
  using base::held;
  using base::path;
  using base::scans;
  using base::share;
  using base::views_of;

  /// \param of_host  made by all ranks together
  streamed_ranked_parts(Exec const& exec, std::unique_ptr<backend::carrier<on_host>> of_host,
                        view_blocks const& all_blocks, projector_options const& o,
                        ranked_preparation const& by, streaming_report const& division)
      : base(exec, of_host->ranks(), all_blocks, o, by),
        report(division),
        host_carrier(std::move(of_host)),
        halo(by.halo) {
    with_halo = {by.plan.grid(), {}, held.first};
    share.memory.reserve(report.device_bytes - report.fixed_bytes);
    auto const [in, out] = staged_bytes(share.rank, by, report);
    bus = iso::detail::bus<Exec>(exec, in, out);
  }

  /// Returns the bytes of pieces that are staged in, and out.
  static std::pair<std::int64_t, std::int64_t> staged_bytes(int rank, ranked_preparation const& by,
                                                            streaming_report const& division) {
    return staging_bytes<T>(
        by.plan.grid(), std::max(division.forward.planes + 2 * by.halo, division.adjoint.planes),
        division.adjoint.planes, division.forward.views,
        by.plan.scan().num_u() * by.plan.rows(rank).count());
  }
  /// Returns the division of calls, and sets the batches of `by`.
  static streaming_report divide_calls(Exec const& exec, backend::communicator& ranks,
                                       ranked_preparation& by, view_blocks const& blocks,
                                       projector_options const& options,
                                       streaming_options const& limits);

  void forward(std::int64_t block, const_volume const& x, projection_view<T, host> const& p,
               job const& control);
  void adjoint(std::int64_t block, const_projections const& p, volume const& x, onto to,
               job const& control, std::int32_t at_least);
  void fetch(neighbour which, const_volume const& x, T* plane);
  void page_lock(typename volume::data_type const& array) {
    if (auto lock = backend::page_lock(share.exec, array)) {
      locked.push_back(std::move(lock));
      report.page_locked_bytes += std::int64_t(array.size() * sizeof(T));
    }
  }
  /// Allocates for bring_halo(), once. Adjoints need none of it.
  void reserve_halo();
  /// Returns the bytes of that.
  static std::int64_t halo_bytes(int rank, ranked_preparation const& by);
  /// Returns the rank's planes and those that a projection reads beside them, in host memory.
  const_volume bring_halo(const_volume const& x);

  streaming_report report;
  std::unique_ptr<backend::carrier<on_host>> host_carrier;
  std::int64_t halo;
  volume with_halo;  ///< without memory where no plane of another rank is read
  std::optional<window_exchange<on_host>> planes;   ///< from the first projection on
  std::optional<window_exchange<on_host>> next[2];  ///< the plane below, and that above
  iso::detail::bus<Exec> bus;
  std::vector<std::shared_ptr<void>> locked;
};

template <class Exec, class T>
streaming_report streamed_ranked_parts<Exec, T>::divide_calls(
    Exec const& exec, backend::communicator& ranks, ranked_preparation& by,
    view_blocks const& blocks, projector_options const& options, streaming_options const& limits) {
  char const* const function = "iso::ct::streamed_ranked_pair";
  int const rank = ranks.rank();
  auto const scans = scans_of(by.plan.scan(), blocks);
  slab const own = by.plan.planes(rank);
  std::int64_t const held = planes_with(by.plan, rank, by.halo, by.halo).count();
  std::int64_t const views = views_bytes(by.plan.scan());
  // What is sent and received depends on the batch alone.
  std::int64_t exchanged = 0;
  std::int64_t of_batch = -1;
  auto const fixed_of = [&](ranked_preparation const& now) {
    if (of_batch != now.batch) {
      of_batch = now.batch;
      exchanged = base::exchanged_bytes(rank, now);
    }
    return views + exchanged;
  };
  auto const bytes_of = [&](std::size_t call, ranked_preparation const& now,
                            std::int64_t slab_planes) {
    std::int64_t const fixed = fixed_of(now);
    if (own.count() == 0) {
      return fixed;
    }
    geometry const batch = base::largest_batch_of(now, now.batches);
    workspace_parts parts(function);
    passing_memory<T>(parts, by.plan, rank,
                      call == 0 ? std::min(slab_planes + 2 * by.halo, held) : slab_planes,
                      batch.num_views());
    if (call == 0) {
      parts.take<std::byte>(
          {ray_sums<T, space>::bytes_needed(exec, batch, by.plan.grid(), {0, false}, by.forward)});
      return fixed + parts.bytes();
    }
    parts.take<T>({batch.num_views(), batch.num_u(), batch.num_v()});
    return fixed + parts.bytes() +
           adjoint_scratch<Exec, T>(exec, scans, by.plan.grid(), options,
                                    slab_of(own, slab_planes, 0));
  };
  auto const plans = divide_part<Exec, 2>(ranks, by, blocks, limits, function, bytes_of);
  streaming_report report;
  report.forward = plans[0];
  report.adjoint = plans[1];
  report.device_bytes = std::max(plans[0].device_bytes, plans[1].device_bytes);
  report.fixed_bytes = fixed_of(by);
  auto const [in, out] = staged_bytes(rank, by, report);
  report.staging_bytes = iso::detail::bus<Exec>::bytes_needed(in, out);
  return report;
}

template <class Exec, class T>
std::int64_t streamed_ranked_parts<Exec, T>::halo_bytes(int rank, ranked_preparation const& by) {
  auto const& n = by.plan.grid().extent;
  std::int64_t const held = planes_with(by.plan, rank, by.halo, by.halo).count();
  return (held > by.plan.planes(rank).count() ? n[0] * n[1] * held * std::int64_t(sizeof(T)) : 0) +
         planes_bytes<on_host, T>(by.plan, rank, by.halo, by.halo) +
         planes_bytes<on_host, T>(by.plan, rank, 1, 0) +
         planes_bytes<on_host, T>(by.plan, rank, 0, 1);
}

template <class Exec, class T>
void streamed_ranked_parts<Exec, T>::reserve_halo() {
  if (planes) {
    return;
  }
  auto const& n = share.plan.grid().extent;
  if (held.count() > share.own.count()) {
    with_halo.data =
        allocate<typename volume::data_type>("iso::ct::streamed_ranked_pair: planes and their halo",
                                             {n[0], n[1], held.count()}, on_host());
    page_lock(with_halo.data);
  }
  next[0] = planes_exchange<on_host, T>({}, share.plan, share.rank, 1, 0);
  next[1] = planes_exchange<on_host, T>({}, share.plan, share.rank, 0, 1);
  planes = planes_exchange<on_host, T>({}, share.plan, share.rank, halo, halo);
}

template <class Exec, class T>
auto streamed_ranked_parts<Exec, T>::bring_halo(const_volume const& x) -> const_volume {
  auto const& n = share.plan.grid().extent;
  image_rows<T const> const mine{x.data.data(), n[0] * n[1], share.own.count(), share.own.first};
  image_rows<T> const all{with_halo.data.data(), n[0] * n[1], held.count(), held.first};
  bool const reads_others = with_halo.data.size() > 0;
  if (reads_others) {
    put_rows(on_host(), all, mine, n[0] * n[1]);
  }
  // Another rank may read this one's planes.
  planes->template run<arrival::stored>(on_host(), *host_carrier, mine, all, {0, 1});
  on_host().fence("iso::ct::streamed_ranked_pair: planes of other ranks are there");
  return reads_others ? const_volume(with_halo) : x;
}

template <class Exec, class T>
void streamed_ranked_parts<Exec, T>::forward(std::int64_t block, const_volume const& x,
                                             projection_view<T, host> const& p,
                                             job const& control) {
  char const* const function = "iso::ct::streamed_ranked_pair::forward";
  backend::communicator& ranks = share.carrier.ranks();
  Exec const& exec = share.exec;
  slab const& own = share.own;
  voxel_bounds bounds;
  check_together(ranks, function, [&] {
    validate_parts(share.plan, share.rank, blocks.size(block), x, p, function);
    bounds = own.count() > 0 ? bounds_of(on_host(), x) : voxel_bounds{};
    reserve_halo();
  });
  bounds.max_abs = largest_of_ranks(ranks, bounds.max_abs);
  bounds.all_finite = largest_of_ranks(ranks, bounds.all_finite ? 0 : 1) == 0;
  const_volume const here = bring_halo(x);

  geometry const& g = share.plan.scan();
  view_range const views = views_of(block);
  if (own.count() == 0) {
    share.for_each_batch(views, share.batch, control, [&](std::int64_t first, std::int64_t count) {
      this->join_batch(nullptr, {views.first + first, count});
    });
    return;
  }
  auto const& division = report.forward;
  workspace_parts parts(share.memory, function);
  passing_memory<T> const m(parts, share.plan, share.rank,
                            std::min(division.planes + 2 * halo, held.count()),
                            share.largest_batch);
  slab_pieces<Exec, T, T const> const slabs{m.slabs, here, own, division.planes, halo};
  auto const sums_memory = rest_of(share.memory, parts.bytes());
  std::int64_t const rows = share.rows.count();
  share.for_each_batch(views, share.batch, control, [&](std::int64_t first, std::int64_t count) {
    ray_sums<T, space> sums(exec, scans[std::size_t(block)].subset(first, count), share.plan.grid(),
                            bounds, path, sums_memory);
    bus.carry(
        exec, slabs.count(), [&](std::int64_t n) { return slabs.piece(n, true, false); },
        [&](std::int64_t n) { sums.add(exec, slabs.at(n), slabs.own(n)); });
    this->join_batch(&sums, {views.first + first, count});
    if (rows == 0) {
      return;
    }
    sums.finish(exec, {pixels_type(m.rows, count, g.num_u(), rows)}, 0, share.rows);
    bus.carry(
        exec, pieces_of(count, max_chunk_views),
        [&](std::int64_t n) {
          auto const [begin, some] = detail::views_of(count, max_chunk_views, n);
          return typename iso::detail::bus<Exec>::piece{
              reinterpret_cast<std::byte*>(m.rows + begin * g.num_u() * rows),
              {},
              runs_of(p, first + begin, some)};
        },
        [](std::int64_t) {});
  });
}

template <class Exec, class T>
void streamed_ranked_parts<Exec, T>::adjoint(std::int64_t block, const_projections const& p,
                                             volume const& x, onto to, job const& control,
                                             std::int32_t at_least) {
  char const* const function = "iso::ct::streamed_ranked_pair::adjoint";
  check_together(share.carrier.ranks(), function, [&] {
    validate_parts(share.plan, share.rank, blocks.size(block), x, p, function);
    validate(to, function);
  });
  auto const& scan = scans[std::size_t(block)];
  workspace_parts parts(share.memory, function);
  passing_memory<T> const m(parts, share.plan, share.rank, report.adjoint.planes,
                            share.largest_batch);
  slab_pieces<Exec, T, T> const slabs{m.slabs, x, share.own, report.adjoint.planes, 0};
  this->back_project_batches(
      block, rows_from_host(share.exec, bus, p, m.rows), largest_reading(on_host(), p), control,
      at_least, parts.bytes(), [&](auto const& images, auto const& scratch, auto const& by) {
        onto const now = by.first_view == 0 ? to : onto::stored;
        bus.carry(
            share.exec, slabs.count(),
            [&](std::int64_t n) { return slabs.piece(n, now == onto::stored, true); },
            [&](std::int64_t n) {
              back_project<Exec, T>(share.exec, scan, images, slabs.at(n), scratch, by, now);
            });
      });
}

template <class Exec, class T>
void streamed_ranked_parts<Exec, T>::fetch(neighbour which, const_volume const& x, T* plane) {
  auto const& n = share.plan.grid().extent;
  slab const& own = share.own;
  bool const below = which == neighbour::below;
  check_together(share.carrier.ranks(), "iso::ct::streamed_ranked_pair", [&] { reserve_halo(); });
  image_rows<T const> const mine{x.data.data(), n[0] * n[1], own.count(), own.first};
  image_rows<T> const there{plane, n[0] * n[1], 1, below ? own.first - 1 : own.last};
  next[below ? 0 : 1]->template run<arrival::stored>(on_host(), *host_carrier, mine, there, {0, 1});
}

/// What a streamed filtered backprojection on ranks has.
template <class Exec, class T>
struct streamed_ranked_fdk_parts {
  streamed_ranked_fdk_parts(Exec const& exec, backend::communicator& ranks,
                            fdk_plan<typename Exec::memory_space> of, ranked_preparation const& by,
                            streaming_report const& division)
      : share(exec, ranks, by), filter(std::move(of)), report(division) {
    share.memory.reserve(report.device_bytes - report.fixed_bytes);
    auto const [in, out] = staged_bytes(share.rank, by, report.adjoint);
    bus = iso::detail::bus<Exec>(exec, in, out);
  }

  /// Returns the bytes of pieces that are staged in, and out.
  static std::pair<std::int64_t, std::int64_t> staged_bytes(int rank, ranked_preparation const& by,
                                                            streaming_plan const& division) {
    return staging_bytes<T>(by.plan.grid(), division.planes, division.planes, division.views,
                            by.plan.scan().num_u() * by.plan.rows(rank).count());
  }
  /// Returns the division of a call, and sets the batches of `by`.
  static streaming_report divide_call(Exec const& exec, backend::communicator& ranks,
                                      ranked_preparation& by, fdk_options const& options,
                                      streaming_options const& limits, std::int64_t filter_bytes) {
    char const* const function = "iso::ct::streamed_ranked_fdk";
    int const rank = ranks.rank();
    geometry const& g = by.plan.scan();
    std::int64_t const scratch = fdk_bytes_needed<T>(exec, g, options);
    auto const fixed_of = [&](ranked_preparation const& now) {
      return filter_bytes + rank_share<Exec, T>::exchanged_bytes(rank, now);
    };
    auto const bytes_of = [&](std::size_t, ranked_preparation const& now, std::int64_t planes) {
      if (now.plan.planes(rank).count() == 0) {
        return fixed_of(now);
      }
      std::int64_t const views = std::min(now.batch, g.num_views());
      workspace_parts memory(function);
      passing_memory<T>(memory, now.plan, rank, planes, views);
      memory.take<T>({views, g.num_u(), g.num_v()});
      return fixed_of(now) + memory.bytes() + scratch;
    };
    streaming_report report;
    report.adjoint = divide_part<Exec, 1>(
        ranks, by, split_views(g.num_views(), g.num_views(), block_order::sequential), limits,
        function, bytes_of)[0];
    report.device_bytes = report.adjoint.device_bytes;
    report.fixed_bytes = fixed_of(by);
    auto const [in, out] = staged_bytes(rank, by, report.adjoint);
    report.staging_bytes = iso::detail::bus<Exec>::bytes_needed(in, out);
    return report;
  }

  // First: ranks make it together, whatever fails in one of them afterwards.
  rank_share<Exec, T> share;
  fdk_plan<typename Exec::memory_space> filter;
  streaming_report report;
  iso::detail::bus<Exec> bus;
};

}  // namespace detail

template <execution_space Exec, real T>
streamed_ranked_pair<Exec, T>::streamed_ranked_pair(Exec const& exec, backend::communicator& ranks,
                                                    rank_plan const& plan,
                                                    view_blocks const& blocks,
                                                    projector_options const& options,
                                                    streaming_options const& limits) {
  char const* const function = "iso::ct::streamed_ranked_pair";
  using parts = detail::streamed_ranked_parts<Exec, T>;
  auto by = detail::prepare_pair(ranks, plan, blocks, options, 0, sizeof(T), function);
  auto const divided = parts::divide_calls(exec, ranks, by, blocks, options, limits);
  // All ranks make it, whatever fails in one of them afterwards.
  auto host = std::make_unique<backend::carrier<detail::on_host>>(detail::on_host(), ranks);
  detail::check_together(ranks, function, [&] {
    parts_ = std::make_unique<parts>(exec, std::move(host), blocks, options, by, divided);
  });
}

template <execution_space Exec, real T>
streamed_ranked_bytes streamed_ranked_pair<Exec, T>::bytes_needed(
    Exec const& exec, backend::communicator& ranks, rank_plan const& plan,
    view_blocks const& blocks, projector_options const& options, streaming_options const& limits) {
  using parts = detail::streamed_ranked_parts<Exec, T>;
  auto by = detail::prepare_pair(ranks, plan, blocks, options, 0, sizeof(T),
                                 "iso::ct::streamed_ranked_pair");
  auto const divided = parts::divide_calls(exec, ranks, by, blocks, options, limits);
  return {divided.device_bytes, divided.staging_bytes, parts::halo_bytes(ranks.rank(), by)};
}

template <execution_space Exec, real T>
streamed_ranked_pair<Exec, T>::~streamed_ranked_pair() = default;

template <execution_space Exec, real T>
void streamed_ranked_pair<Exec, T>::forward(std::int64_t block, const_volume const& x,
                                            projections const& p, job const& control) {
  parts_->forward(block, x, p, control);
}

template <execution_space Exec, real T>
void streamed_ranked_pair<Exec, T>::adjoint(std::int64_t block, const_projections const& p,
                                            volume const& x, onto to, job const& control,
                                            std::int32_t words) {
  parts_->adjoint(block, p, x, to, control, words);
}

template <execution_space Exec, real T>
void streamed_ranked_pair<Exec, T>::adjoint_step(std::int64_t block, const_projections const& p,
                                                 volume const& x, detail::voxel_step<T> const& by,
                                                 volume const& correction, job const& control,
                                                 std::int32_t words) {
  adjoint(block, p, correction, onto::zero, control, words);
  detail::for_each_number("iso::ct::streamed_ranked: step", detail::on_host(),
                          std::int64_t(x.data.size()),
                          detail::step_voxels<T>{by, correction.data.data(), x.data.data()});
  detail::on_host().fence("iso::ct::streamed_ranked_pair: the step is made");
}

template <execution_space Exec, real T>
void streamed_ranked_pair<Exec, T>::fetch(detail::neighbour which, const_volume const& x,
                                          T* plane) {
  parts_->fetch(which, x, plane);
}

template <execution_space Exec, real T>
void streamed_ranked_pair<Exec, T>::page_lock(typename volume::data_type const& array) {
  parts_->page_lock(array);
}

template <execution_space Exec, real T>
detail::rank_part streamed_ranked_pair<Exec, T>::part() const {
  return {parts_->share.carrier.ranks(), parts_->share.plan};
}

template <execution_space Exec, real T>
rank_plan const& streamed_ranked_pair<Exec, T>::plan() const {
  return parts_->share.plan;
}

template <execution_space Exec, real T>
std::optional<streaming_report> streamed_ranked_pair<Exec, T>::streaming() const {
  return detail::with_traffic(parts_->report, parts_->bus);
}

template <execution_space Exec, real T>
ranked_report streamed_ranked_pair<Exec, T>::report() const {
  auto const& parts = *parts_;
  std::int64_t sent =
      parts.words.bytes_sent() + parts.flags.bytes_sent() + parts.share.readings.bytes_sent();
  for (auto const* shared : {&parts.planes, &parts.next[0], &parts.next[1]}) {
    sent += *shared ? (*shared)->bytes_sent() : 0;
  }
  return {sent, parts.report.device_bytes, parts.share.batch};
}

template <execution_space Exec, real T>
streamed_ranked_fdk<Exec, T>::streamed_ranked_fdk(Exec const& exec, backend::communicator& ranks,
                                                  rank_plan const& plan, fdk_options const& options,
                                                  streaming_options const& limits) {
  char const* const function = "iso::ct::streamed_ranked_fdk";
  using parts = detail::streamed_ranked_fdk_parts<Exec, T>;
  auto by = detail::prepare_fdk(ranks, plan, options, 0, sizeof(T), function);
  std::optional<fdk_plan<space>> filter;
  detail::check_together(ranks, function, [&] { filter.emplace(exec, plan.scan(), options); });
  auto const divided = parts::divide_call(exec, ranks, by, options, limits, filter->bytes_held());
  detail::check_together(ranks, function, [&] {
    parts_ = std::make_unique<parts>(exec, ranks, std::move(*filter), by, divided);
  });
}

template <execution_space Exec, real T>
streamed_ranked_bytes streamed_ranked_fdk<Exec, T>::bytes_needed(Exec const& exec,
                                                                 backend::communicator& ranks,
                                                                 rank_plan const& plan,
                                                                 fdk_options const& options,
                                                                 streaming_options const& limits) {
  char const* const function = "iso::ct::streamed_ranked_fdk";
  auto by = detail::prepare_fdk(ranks, plan, options, 0, sizeof(T), function);
  std::int64_t filter_bytes = 0;
  detail::check_together(ranks, function, [&] {
    filter_bytes =
        fdk_plan<Kokkos::HostSpace>(detail::on_host(), plan.scan(), options).bytes_held();
  });
  auto const divided = detail::streamed_ranked_fdk_parts<Exec, T>::divide_call(
      exec, ranks, by, options, limits, filter_bytes);
  return {divided.device_bytes, divided.staging_bytes, 0};
}

template <execution_space Exec, real T>
streamed_ranked_fdk<Exec, T>::~streamed_ranked_fdk() = default;

template <execution_space Exec, real T>
void streamed_ranked_fdk<Exec, T>::apply(const_projections const& p, volume const& x, onto to,
                                         job const& control) {
  char const* const function = "iso::ct::streamed_ranked_fdk";
  auto& share = parts_->share;
  auto& bus = parts_->bus;
  std::int64_t const views = share.plan.scan().num_views();
  detail::check_together(share.carrier.ranks(), function, [&] {
    detail::validate_parts(share.plan, share.rank, views, x, p, function);
    validate(to, function);
  });
  std::int64_t const planes = parts_->report.adjoint.planes;
  workspace_parts parts(share.memory, function);
  detail::passing_memory<T> const m(parts, share.plan, share.rank, planes, share.largest_batch);
  detail::slab_pieces<Exec, T, T> const slabs{m.slabs, x, share.own, planes, 0};
  share.for_each_gathered_batch(
      {0, views}, detail::rows_from_host(share.exec, bus, p, m.rows), false, control, parts.bytes(),
      [&](std::int64_t first, auto const& images, auto const& scratch) {
        onto const now = first == 0 ? to : onto::stored;
        auto const some = parts_->filter.subset(first, std::int64_t(images.data.extent(0)));
        bus.carry(
            share.exec, slabs.count(),
            [&](std::int64_t n) { return slabs.piece(n, now == onto::stored, true); },
            [&](std::int64_t n) {
              fdk<Exec, T>(share.exec, some, images, slabs.at(n), scratch, now);
            });
      });
}

template <execution_space Exec, real T>
rank_plan const& streamed_ranked_fdk<Exec, T>::plan() const {
  return parts_->share.plan;
}

template <execution_space Exec, real T>
auto streamed_ranked_fdk<Exec, T>::filter() const -> fdk_plan<space> const& {
  return parts_->filter;
}

template <execution_space Exec, real T>
streaming_report streamed_ranked_fdk<Exec, T>::streaming() const {
  return detail::with_traffic(parts_->report, parts_->bus);
}

template <execution_space Exec, real T>
ranked_report streamed_ranked_fdk<Exec, T>::report() const {
  return {parts_->share.readings.bytes_sent(), parts_->report.device_bytes, parts_->share.batch};
}

template <class Exec>
struct ranked::streamed_maker final : detail::pair_maker {
  Exec exec;
  backend::communicator* ranks;
  rank_plan plan;
  streaming_options limits;

  streamed_maker(Exec const& on, backend::communicator& of, rank_plan by,
                 streaming_options const& within)
      : exec(on), ranks(&of), plan(std::move(by)), limits(within) {}

  template <class T>
  [[nodiscard]] std::shared_ptr<detail::any_pair> make_of(geometry const& g,
                                                          iso::grid const& volume,
                                                          view_blocks const& blocks,
                                                          projector_options const& options) const {
    detail::check_together(*ranks, "iso::ct::ranked",
                           [&] { detail::validate_planned(plan, g, volume); });
    return std::make_shared<streamed_ranked_pair<Exec, T>>(exec, *ranks, plan, blocks, options,
                                                           limits);
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
               streaming_options const& limits)
    : elsewhere(std::make_shared<streamed_maker<Exec>>(exec, ranks, plan, limits)) {}

#define ISO_CT_STREAMED_RANKED_ON(Exec, ...)                                                 \
  __VA_ARGS__ template ranked::ranked(Exec const&, backend::communicator&, rank_plan const&, \
                                      streaming_options const&);
#define ISO_CT_STREAMED_RANKED(linkage, Exec, T)        \
  linkage template class streamed_ranked_pair<Exec, T>; \
  linkage template class streamed_ranked_fdk<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_CT_STREAMED_RANKED, extern)
ISO_FOR_EACH_BACKEND(ISO_CT_STREAMED_RANKED_ON, extern)

}  // namespace iso::ct
