// SPDX-License-Identifier: BSD-3-Clause
//! Divides the arrays of a job among the ranks that share it, and brings them together.
#pragma once

#include "memory.hpp"
#include "precision.hpp"
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
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::jobs {

/// What a rank has of a scan and a volume, as a scan of fewer rows and a volume of fewer planes:
/// for what counts numbers.
class geometry_part {
 public:
  geometry_part(ct::rank_plan const& plan, int rank)
      : plan_(plan), planes_(plan.planes(rank).count()), rows_(plan.rows(rank).count()) {}
  [[nodiscard]] bool has_both() const { return planes_ > 0 && rows_ > 0; }
  [[nodiscard]] ct::geometry scan() const {
    auto const& g = plan_.scan();
    return {g.kind(), g.num_u(), rows_, g.views()};
  }
  [[nodiscard]] grid box() const {
    grid part = plan_.grid();
    part.extent[2] = planes_;
    return part;
  }
  /// Returns their numbers, which may be beyond 63 bits.
  [[nodiscard]] double voxels() const {
    auto const& n = plan_.grid().extent;
    return double(n[0]) * double(n[1]) * double(planes_);
  }
  [[nodiscard]] double readings() const {
    return double(plan_.scan().num_views()) * double(plan_.scan().num_u()) * double(rows_);
  }

 private:
  ct::rank_plan const& plan_;
  std::int64_t planes_;
  std::int64_t rows_;
};

/// The parts of a volume and a scan that ranks hold, in the shares of share_planes. Whole arrays
/// lie in host memory.
class rank_parts {
 public:
  rank_parts(ct::geometry const& g, grid const& box)
      : ranks_(sharing_ranks()), plan_(g, box, share_planes(box)) {}

  [[nodiscard]] ct::rank_plan const& plan() const { return plan_; }
  /// Returns the planes of all ranks.
  [[nodiscard]] std::vector<slab> all_planes() const {
    std::vector<slab> all;
    for (int rank = 0; rank < plan_.size(); ++rank) {
      all.push_back(plan_.planes(rank));
    }
    return all;
  }
  [[nodiscard]] backend::communicator& ranks() const { return ranks_; }
  [[nodiscard]] int rank() const { return ranks_.rank(); }
  /// Returns where projections find the parts: what `passes` makes, or where `exec` computes.
  template <class Exec>
  [[nodiscard]] ct::ranked place(Exec const& exec, pairs_on_ranks const& passes) const {
    return passes.make ? passes.make(plan_) : ct::ranked(exec, ranks_, plan_);
  }
  /// Throws on every rank, before anything is allocated, unless each has memory for its volume, its
  /// readings and so many bytes more where `exec` computes. Returns how many bytes these are here.
  /// \throws iso::out_of_memory
  template <class T, class Exec>
  std::int64_t check_memory(Exec const& exec, std::int64_t more, char const* what) const {
    geometry_part const part(plan_, rank());
    double const arrays = double(sizeof(T)) * (part.voxels() + part.readings());
    std::int64_t const bytes = whole_bytes(arrays + double(more));
    check_memory_of_ranks(exec, bytes, what);
    return bytes;
  }
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
  /// Does so on the host.
  template <class Number, class From>
  void cut_readings(std::vector<From> const& whole, std::span<Number> to) const {
    jobs::check_alike(whole, "readings");
    auto const rows = cut_columns(whole, plan_.scan().num_v(), rows_of(ranks_.rank()));
    std::copy(rows.begin(), rows.end(), to.begin());
  }
  /// Returns the whole on rank 0, and nothing elsewhere.
  template <class Exec, class View>
  [[nodiscard]] auto gather_volume(Exec const& exec, View const& part) const {
    auto const& n = plan_.grid().extent;
    return gather_columns(ranks_, cases::fetch(exec, part), n[0] * n[1], n[2],
                          [&](int rank) { return planes_of(rank); });
  }
  /// Returns some whole columns along z of a volume on rank 0, and nothing elsewhere.
  /// \param part  this rank's planes, on the host
  template <class T>
  [[nodiscard]] std::vector<T> gather_voxels(std::vector<T> const& part,
                                             column_range const& columns) const {
    std::int64_t const own = plan_.planes(ranks_.rank()).count();
    std::vector<T> const here(part.begin() + columns.first * own,
                              part.begin() + columns.second * own);
    return gather_columns(ranks_, here, columns.second - columns.first, plan_.grid().extent[2],
                          [&](int rank) { return planes_of(rank); });
  }
  template <class Exec, class View>
  [[nodiscard]] auto gather_readings(Exec const& exec, View const& part) const {
    return gather_rows(cases::fetch(exec, part));
  }
  /// Does so with rows of whole views, of which there may be any number.
  /// \param rows  [views, u, rows], on the host
  template <class T>
  [[nodiscard]] std::vector<T> gather_rows(std::vector<T> const& rows) const {
    auto const& g = plan_.scan();
    // Some rank has rows; those without know no number of columns.
    auto const own = rows_of(ranks_.rank());
    std::uint64_t columns = own.second > own.first
                                ? std::uint64_t(rows.size()) / std::uint64_t(own.second - own.first)
                                : 0;
    ranks_.maximum(std::span<std::uint64_t>(&columns, 1));
    return gather_columns(ranks_, rows, std::int64_t(columns), g.num_v(),
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
