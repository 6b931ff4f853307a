// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/ranked_impl.hpp>
#include <iso/ct/detail/validate_arrays.hpp>

namespace iso::ct {
namespace detail {

void fingerprint::add(geometry const& g) {
  add(std::int64_t(g.kind()));
  add(g.num_u());
  add(g.num_v());
  for (view_vectors const& w : g.views()) {
    for (vec3<double> const& x : {w.source, w.detector_origin, w.u_step, w.v_step}) {
      add(x.x);
      add(x.y);
      add(x.z);
    }
  }
}

void fingerprint::add(rank_plan const& plan) {
  add(plan.scan());
  add(plan.grid());
  for (int rank = 0; rank < plan.size(); ++rank) {
    add(plan.planes(rank).last);
    add(plan.rows(rank).first);
    add(plan.rows(rank).last);
  }
}

void validate_agreement(backend::communicator& ranks, rank_plan const& plan, fingerprint const& of,
                        char const* function) {
  iso::detail::validate_agreement(ranks, plan.size(), of, function,
                                  "scans, grids, plans or options");
}

namespace {

/// Throws unless a pair on ranks has these options.
void validate_ranked(projector_options const& options, char const* function) {
  ISO_VALIDATE(
      options.sum == summation::reproducible,
      "{}: ordered sums (sums of ranks have no order); choose reproducible sums, which have "
      "the same bits on one rank",
      function);
  ISO_VALIDATE(options.projection == projection::exact,
               "{}: a projection by texture units (they read whole volumes); choose the exact "
               "projection",
               function);
  ISO_VALIDATE(options.backprojection == backprojection::adjoint,
               "{}: FDK's backprojection (a pair on ranks has the adjoint alone); choose the "
               "adjoint, or iso::ct::ranked_fdk",
               function);
}

/// Returns the views that are computed at a time.
std::int64_t batch_of(rank_plan const& plan, std::int64_t asked, std::int64_t grain,
                      char const* function) {
  std::int64_t const views = plan.scan().num_views();
  ISO_VALIDATE(
      asked >= 0 && asked % 16 == 0,
      "{}: {} views at a time (a multiple of 16 is wanted: sums of views are made in blocks "
      "of so many); give one, or 0",
      function, asked);
  if (asked > 0) {
    return asked;
  }
  std::int64_t const share = pieces_of(views, plan.size());
  return grain * pieces_of(share, grain);
}

/// Has ranks agree on what options, blocks, batches and numbers they have.
template <class Options>
void agree(backend::communicator& ranks, rank_plan const& plan, view_blocks const& blocks,
           Options const& options, std::int64_t batch_views, std::int64_t value_bytes,
           char const* function) {
  fingerprint of;
  // Ranks that stream and ranks that do not have other messages for each other.
  for (char const* c = function; *c != 0; ++c) {
    of.add(std::int64_t(*c));
  }
  of.add(plan);
  describe(of, options);
  for (auto const* numbers : {&blocks.views, &blocks.begins}) {
    for (std::int64_t const number : *numbers) {
      of.add(number);
    }
  }
  of.add(batch_views);
  of.add(value_bytes);
  validate_agreement(ranks, plan, of, function);
}

/// Returns the batches of all blocks, by views in the order of these.
std::vector<view_range> batches_of(view_blocks const& blocks, std::int64_t batch) {
  std::vector<view_range> batches;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    for (std::int64_t first = 0; first < blocks.size(block); first += batch) {
      batches.push_back(
          {blocks.begins[std::size_t(block)] + first, std::min(batch, blocks.size(block) - first)});
    }
  }
  return batches;
}

view_blocks all_views(rank_plan const& plan) {
  std::int64_t const views = plan.scan().num_views();
  return split_views(views, views, block_order::sequential);
}

}  // namespace

ranked_preparation prepare_pair(backend::communicator& ranks, rank_plan const& plan,
                                view_blocks const& blocks, projector_options const& options,
                                std::int64_t batch_views, std::int64_t value_bytes,
                                char const* function) {
  agree(ranks, plan, blocks, options, batch_views, value_bytes, function);
  return plan_pair(plan, blocks, options, batch_views, value_bytes, function);
}

ranked_preparation plan_pair(rank_plan const& plan, view_blocks const& blocks,
                             projector_options const& options, std::int64_t batch_views,
                             std::int64_t value_bytes, char const* function) {
  validate_ranked(options, function);
  ISO_VALIDATE(std::int64_t(blocks.views.size()) == plan.scan().num_views(),
               "{}: blocks of {} views (the plan's scan has {}); split the views of that scan",
               function, blocks.views.size(), plan.scan().num_views());
  ranked_preparation by{.plan = plan.in_order(blocks)};
  by.forward = value_bytes == 4 ? streamed_forward<float>(options, plan.scan(), plan.grid())
                                : streamed_forward<double>(options, plan.scan(), plan.grid());
  by.halo = largest_halo(plan.scan(), plan.grid(), by.forward);
  divide_views(by, blocks, batch_of(plan, batch_views, 16, function));
  by.met = windows_of(by.plan, by.halo);
  by.needed = windows_of(by.plan, 0);
  return by;
}

ranked_preparation prepare_fdk(backend::communicator& ranks, rank_plan const& plan,
                               fdk_options const& options, std::int64_t batch_views,
                               std::int64_t value_bytes, char const* function) {
  agree(ranks, plan, all_views(plan), options, batch_views, value_bytes, function);
  return plan_fdk(plan, batch_views, function);
}

ranked_preparation plan_fdk(rank_plan const& plan, std::int64_t batch_views, char const* function) {
  validate_depths(plan.scan(), plan.grid(), function);
  ranked_preparation by{.plan = plan};
  divide_views(by, all_views(plan), batch_of(plan, batch_views, 32, function));
  by.needed = fdk_windows_of(plan);
  return by;
}

void divide_views(ranked_preparation& by, view_blocks const& blocks, std::int64_t batch) {
  by.batch = batch;
  by.batches = batches_of(blocks, batch);
  by.projected = by.batch;
  by.projected_batches = by.batches;
}

void divide_projected(ranked_preparation& by, view_blocks const& blocks) {
  std::int64_t const half = std::min(by.batch, blocks.max_size()) / 32 * 16;
  if (by.plan.size() > 1 && half > 0) {
    by.projected = half;
    by.projected_batches = batches_of(blocks, half);
  }
}

void validate_planned(rank_plan const& plan, geometry const& g, iso::grid const& volume) {
  fingerprint given;
  given.add(g);
  fingerprint planned;
  planned.add(plan.scan());
  ISO_VALIDATE(
      given.value() == planned.value() && volume == plan.grid(),
      "iso::ct::ranked: another scan or grid than the plan's (of {} views, for {} planes); "
      "make the plan for those of the method",
      plan.scan().num_views(), plan.grid().extent[2]);
}

slab planes_with(rank_plan const& plan, int rank, std::int64_t below, std::int64_t above) {
  slab const own = plan.planes(rank);
  return own.count() == 0 ? own
                          : slab{std::max(own.first - below, std::int64_t(0)),
                                 std::min(own.last + above, plan.grid().extent[2])};
}

namespace {

/// Returns the part of windows of views that lies in some rows.
std::vector<pixel_window> within(std::vector<pixel_window> windows, row_range const& rows) {
  for (pixel_window& w : windows) {
    w.first_v = std::max(w.first_v, rows.first);
    w.last_v = std::min(w.last_v, rows.last);
    w = w.empty() || w.first_v >= w.last_v ? pixel_window{} : w;
  }
  return windows;
}

/// Returns the planes that both have, as a window of one image.
std::vector<pixel_window> both(rank_plan const& plan, slab const& a, slab const& b) {
  auto const& n = plan.grid().extent;
  pixel_window const w{0, n[0] * n[1], std::max(a.first, b.first), std::min(a.last, b.last)};
  return {a.count() > 0 && b.count() > 0 && !w.empty() ? w : pixel_window{}};
}

}  // namespace

shared_windows windows_from_owners(rank_plan const& plan, rank_windows const& needed, int rank) {
  shared_windows all;
  for (int owner = 0; owner < plan.size(); ++owner) {
    all.push_back(within(needed[std::size_t(rank)], plan.rows(owner)));
  }
  return all;
}

shared_windows windows_of_owner(rank_plan const& plan, rank_windows const& needed, int rank) {
  shared_windows all;
  for (int other = 0; other < plan.size(); ++other) {
    all.push_back(within(needed[std::size_t(other)], plan.rows(rank)));
  }
  return all;
}

shared_windows windows_of_flags(shared_windows all) {
  for (auto& windows : all) {
    for (pixel_window& w : windows) {
      w.first_v = w.first_v / 32;
      w.last_v = (w.last_v + 31) / 32;
    }
  }
  return all;
}

shared_windows planes_that_go(rank_plan const& plan, int rank, std::int64_t below,
                              std::int64_t above) {
  shared_windows all;
  for (int other = 0; other < plan.size(); ++other) {
    all.push_back(both(plan, plan.planes(rank), planes_with(plan, other, below, above)));
  }
  return all;
}

shared_windows planes_that_come(rank_plan const& plan, int rank, std::int64_t below,
                                std::int64_t above) {
  shared_windows all;
  for (int owner = 0; owner < plan.size(); ++owner) {
    all.push_back(both(plan, planes_with(plan, rank, below, above), plan.planes(owner)));
  }
  return all;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_RANKED, )
ISO_FOR_EACH_BACKEND(ISO_CT_RANKED_ON)

}  // namespace iso::ct
