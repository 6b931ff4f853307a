// SPDX-License-Identifier: BSD-3-Clause
//! Divides the arrays of a job among the ranks that share it, and brings them together.
#pragma once

#include "rank_columns.hpp"

#include <iso/backend/communicator.hpp>
#include <iso/cases/bits.hpp>
#include <iso/cases/memory.hpp>
#include <iso/core/check.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/jobs/ranks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::jobs {

/// The parts of a volume and a scan that ranks hold: equal shares. Whole arrays lie in host memory.
class rank_parts {
 public:
  rank_parts(ct::geometry const& g, grid const& box)
      : ranks_(sharing_ranks()), plan_(g, box, share_planes(box)) {}

  [[nodiscard]] ct::rank_plan const& plan() const { return plan_; }
  [[nodiscard]] backend::communicator& ranks() const { return ranks_; }
  /// Returns what sums of parts add up by.
  [[nodiscard]] ct::detail::rank_part part() const { return {ranks_, plan_}; }

  /// Throws where a file is there for some ranks and not for others.
  void check_alike(bool exists, std::string const& file) const {
    jobs::check_alike(
        exists ? 1 : 0,
        iso::message("'{}': only some of {} processes see this file (all must read one); name a "
                     "file on a file system that all see",
                     {std::string_view(file), ranks_.size()}));
  }

  /// Returns zeros for what is here of a volume, or of readings.
  template <class T, class Exec>
  [[nodiscard]] auto volume(Exec const& exec, char const* label) const {
    return ct::make_volume_part<T>(exec, label, plan_, ranks_.rank());
  }
  template <class T, class Exec>
  [[nodiscard]] auto readings(Exec const& exec, char const* label) const {
    return ct::make_projections_part<T>(exec, label, plan_, ranks_.rank());
  }
  /// Copies what is here of whole arrays, which all ranks have alike.
  /// \throws iso::invalid_argument  on every rank: they have not
  template <class Exec, class View, class Number>
  void put_volume(Exec const& exec, View const& to, std::vector<Number> const& whole) const {
    jobs::check_alike(whole, "volumes");
    cases::put(exec, to, cut_columns(whole, plan_.grid().extent[2], planes_of(ranks_.rank())));
  }
  template <class Exec, class View, class Number>
  void put_readings(Exec const& exec, View const& to, std::vector<Number> const& whole) const {
    jobs::check_alike(whole, "readings");
    cases::put(exec, to, cut_columns(whole, plan_.scan().num_v(), rows_of(ranks_.rank())));
  }
  /// Returns the whole on rank 0, and nothing elsewhere.
  template <class Exec, class View>
  [[nodiscard]] auto gather_volume(Exec const& exec, View const& part) const {
    auto const& n = plan_.grid().extent;
    return gather_columns(ranks_, cases::fetch(exec, part), n[0] * n[1], n[2],
                          [&](int rank) { return planes_of(rank); });
  }
  template <class Exec, class View>
  [[nodiscard]] auto gather_readings(Exec const& exec, View const& part) const {
    auto const& g = plan_.scan();
    return gather_columns(ranks_, cases::fetch(exec, part), g.num_views() * g.num_u(), g.num_v(),
                          [&](int rank) { return rows_of(rank); });
  }

 private:
  [[nodiscard]] column_range planes_of(int rank) const { return range_of(plan_.planes(rank)); }
  [[nodiscard]] column_range rows_of(int rank) const {
    return {plan_.rows(rank).first, plan_.rows(rank).last};
  }

  backend::communicator& ranks_;
  ct::rank_plan plan_;
};

}  // namespace iso::jobs
