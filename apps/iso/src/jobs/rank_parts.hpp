// SPDX-License-Identifier: BSD-3-Clause
//! Divides the arrays of a job among the ranks that share it, and brings them together.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/cases/bits.hpp>
#include <iso/cases/memory.hpp>
#include <iso/core/check.hpp>
#include <iso/core/divide_planes.hpp>
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
      : ranks_(sharing_ranks()), plan_(g, box, divide_planes(box, ranks_.size())) {}

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
    check_alike(whole, "volumes");
    cases::put(exec, to, cut(whole, plan_.grid().extent[2], planes_of(ranks_.rank())));
  }
  template <class Exec, class View, class Number>
  void put_readings(Exec const& exec, View const& to, std::vector<Number> const& whole) const {
    check_alike(whole, "readings");
    cases::put(exec, to, cut(whole, plan_.scan().num_v(), rows_of(ranks_.rank())));
  }
  /// Returns the whole on rank 0, and nothing elsewhere.
  template <class Exec, class View>
  [[nodiscard]] auto gather_volume(Exec const& exec, View const& part) const {
    auto const& n = plan_.grid().extent;
    return gather(cases::fetch(exec, part), n[0] * n[1], n[2],
                  [&](int rank) { return planes_of(rank); });
  }
  template <class Exec, class View>
  [[nodiscard]] auto gather_readings(Exec const& exec, View const& part) const {
    auto const& g = plan_.scan();
    return gather(cases::fetch(exec, part), g.num_views() * g.num_u(), g.num_v(),
                  [&](int rank) { return rows_of(rank); });
  }

 private:
  using range = std::pair<std::int64_t, std::int64_t>;

  [[nodiscard]] range planes_of(int rank) const {
    return {plan_.planes(rank).first, plan_.planes(rank).last};
  }
  [[nodiscard]] range rows_of(int rank) const {
    return {plan_.rows(rank).first, plan_.rows(rank).last};
  }

  /// Throws on every rank, unless all have read the same numbers.
  template <class Number>
  void check_alike(std::vector<Number> const& whole, char const* what) const {
    jobs::check_alike(cases::hash_bits(std::span<Number const>(whole)),
                      iso::message("processes with different {} (each reads the files itself); "
                                   "name files on a file system that all see",
                                   {std::string_view(what)}));
  }

  /// Returns some numbers of each column of so many.
  template <class Number>
  static std::vector<Number> cut(std::vector<Number> const& whole, std::int64_t column,
                                 range const& some) {
    std::vector<Number> part;
    part.reserve(whole.size() / std::size_t(column) * std::size_t(some.second - some.first));
    for (auto at = whole.begin(); at != whole.end(); at += column) {
      part.insert(part.end(), at + some.first, at + some.second);
    }
    return part;
  }

  template <class T, class Ranges>
  std::vector<T> gather(std::vector<T> const& part, std::int64_t columns, std::int64_t column,
                        Ranges const& range_of) const {
    auto const parcel = [](int rank, std::vector<T>& numbers) {
      return backend::parcel{rank, reinterpret_cast<std::byte*>(numbers.data()),
                             std::int64_t(numbers.size() * sizeof(T))};
    };
    auto here = part;
    if (ranks_.rank() != 0) {
      auto const out = parcel(0, here);
      ranks_.exchange({&out, 1}, {});
      return {};
    }
    std::vector<T> whole(std::size_t(columns * column));
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      auto const [first, last] = range_of(rank);
      here.resize(std::size_t(columns * (last - first)));
      if (rank != 0) {
        auto const in = parcel(rank, here);
        ranks_.exchange({}, {&in, 1});
      }
      auto from = here.begin();
      for (auto to = whole.begin(); to != whole.end(); to += column, from += last - first) {
        std::copy(from, from + (last - first), to + first);
      }
    }
    return whole;
  }

  backend::communicator& ranks_;
  ct::rank_plan plan_;
};

}  // namespace iso::jobs
