// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/ct/detail/rank_windows.hpp>
#include <iso/ct/detail/rows_seen.hpp>
#include <iso/ct/rank_plan.hpp>

#include <algorithm>
#include <cmath>

namespace iso::ct {
namespace {

/// Returns whether the volume's upper planes are seen in the detector's lower rows.
bool rows_run_downwards(geometry const& scan, iso::grid const& whole) {
  std::int64_t const n = whole.extent[2];
  auto const lower = slab_rays(scan, whole, {0, (n + 1) / 2});
  auto const upper = slab_rays(scan, whole, {n / 2, n});
  std::int64_t rise = 0;
  for (std::size_t view = 0; view < lower.size(); ++view) {
    if (!lower[view].empty() && !upper[view].empty()) {
      rise += upper[view].first_v + upper[view].last_v - lower[view].first_v - lower[view].last_v;
    }
  }
  return rise < 0;
}

/// Returns, for each row and one more, how many readings before it see the volume, in units of a
/// row of a view.
std::vector<std::int64_t> seen_before(geometry const& scan, iso::grid const& whole) {
  std::vector<std::int64_t> seen(std::size_t(scan.num_v()) + 1, 0);
  for (pixel_window const& w : slab_rays(scan, whole, all_planes(whole))) {
    for (std::int64_t v = w.first_v; !w.empty() && v < w.last_v; ++v) {
      ++seen[std::size_t(v) + 1];
    }
  }
  for (std::size_t v = 1; v < seen.size(); ++v) {
    seen[v] += seen[v - 1];
  }
  return seen;
}

/// Returns the row at which a share of what is seen ends.
std::int64_t row_of(std::vector<std::int64_t> const& seen, double share) {
  auto const rows = std::int64_t(seen.size()) - 1;
  if (share <= 0 || share >= 1 || seen.back() == 0) {
    return std::clamp(std::int64_t(std::floor(double(rows) * share + 0.5)), std::int64_t(0), rows);
  }
  double const wanted = share * double(seen.back());
  auto const next = std::lower_bound(seen.begin() + 1, seen.end(), wanted,
                                     [](std::int64_t x, double y) { return double(x) < y; });
  // The nearer end of the row in which the share ends.
  bool const before = wanted - double(*(next - 1)) < double(*next) - wanted;
  return std::int64_t(next - seen.begin()) - (before ? 1 : 0);
}

std::vector<row_range> divide_rows(geometry const& scan, iso::grid const& whole,
                                   std::vector<slab> const& planes) {
  auto const seen = seen_before(scan, whole);
  double const all = double(whole.extent[2]);
  bool const downwards = rows_run_downwards(scan, whole);
  std::vector<row_range> rows;
  for (slab const& s : planes) {
    rows.push_back(downwards ? row_range{row_of(seen, double(whole.extent[2] - s.last) / all),
                                         row_of(seen, double(whole.extent[2] - s.first) / all)}
                             : row_range{row_of(seen, double(s.first) / all),
                                         row_of(seen, double(s.last) / all)});
  }
  return rows;
}

}  // namespace

rank_plan::rank_plan(geometry scan, iso::grid const& whole, std::vector<slab> planes)
    : scan_(std::move(scan)), grid_(whole), planes_(std::move(planes)) {
  validate(planes_, grid_, "iso::ct::rank_plan");
  rows_ = divide_rows(scan_, grid_, planes_);
}

slab const& rank_plan::planes(int rank) const {
  ISO_VALIDATE(rank >= 0 && rank < size(),
               "iso::ct::rank_plan: rank {} (the plan is for {}, counted from 0); name one of them",
               rank, size());
  return planes_[std::size_t(rank)];
}

row_range const& rank_plan::rows(int rank) const {
  static_cast<void>(planes(rank));
  return rows_[std::size_t(rank)];
}

rank_plan rank_plan::in_order(view_blocks const& blocks) const {
  rank_plan plan = *this;
  plan.scan_ = detail::in_order(scan_, blocks);
  return plan;
}

int rank_plan::idle() const {
  return int(
      std::count_if(planes_.begin(), planes_.end(), [](slab const& s) { return s.count() == 0; }));
}

namespace detail {

rank_windows windows_of(rank_plan const& plan, std::int64_t halo) {
  rank_windows all;
  for (int rank = 0; rank < plan.size(); ++rank) {
    slab const own = plan.planes(rank);
    all.push_back(own.count() == 0 ? std::vector<pixel_window>(std::size_t(plan.scan().num_views()))
                                   : slab_rays(plan.scan(), plan.grid(),
                                               {std::max(own.first - halo, std::int64_t(0)),
                                                std::min(own.last + halo, plan.grid().extent[2])}));
  }
  return all;
}

rank_windows fdk_windows_of(rank_plan const& plan) {
  rank_windows all;
  for (int rank = 0; rank < plan.size(); ++rank) {
    auto& of_rank = all.emplace_back(std::size_t(plan.scan().num_views()));
    slab const own = plan.planes(rank);
    for (std::size_t view = 0; own.count() > 0 && view < of_rank.size(); ++view) {
      row_range const rows = rows_seen(plan.scan(), plan.grid(), own, std::int64_t(view), 1);
      of_rank[view] = {0, plan.scan().num_u(), rows.first, rows.last};
    }
  }
  return all;
}

}  // namespace detail
}  // namespace iso::ct
