// SPDX-License-Identifier: BSD-3-Clause
//! Turns views, as files have them, into the rows of all views that ranks own, and back.
#pragma once

#include "rank_columns.hpp"

#include <iso/backend/communicator.hpp>
#include <iso/cases/bits.hpp>
#include <iso/ct/rank_plan.hpp>
#include <iso/detail/agreement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace iso::jobs {

/// The shares of a stack that ranks read, or write: each some views, of which a batch is held at a
/// time. Every rank has a share, also one without rows.
class view_shares {
 public:
  /// \param piece  views that a file has as one: no share divides them
  view_shares(ct::geometry const& g, int ranks, std::int64_t number_bytes, std::int64_t piece = 1)
      : views_(g.num_views()), ranks_(ranks), piece_(piece) {
    double const bytes = double(g.num_u()) * double(g.num_v()) * double(number_bytes * piece);
    batch_ = piece * std::max<std::int64_t>(std::int64_t(batch_bytes / bytes), 1);
  }
  /// Returns the views of a rank, [first, second).
  [[nodiscard]] column_range of(int rank) const {
    std::int64_t const pieces = (views_ + piece_ - 1) / piece_;
    auto const begin = [&](std::int64_t r) {
      return std::min(pieces * r / ranks_ * piece_, views_);
    };
    return {begin(rank), begin(rank + 1)};
  }
  /// Returns the n-th batch of a rank; an empty one behind its last.
  [[nodiscard]] column_range batch(int rank, std::int64_t n) const {
    auto const [first, last] = of(rank);
    return {std::min(first + n * batch_, last), std::min(first + (n + 1) * batch_, last)};
  }
  /// Returns the batches of the rank that has most, or of one.
  [[nodiscard]] std::int64_t max_batches() const {
    std::int64_t most = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      most = std::max(most, batches(rank));
    }
    return most;
  }
  [[nodiscard]] std::int64_t batches(int rank) const {
    auto const [first, last] = of(rank);
    return (last - first + batch_ - 1) / batch_;
  }

 private:
  static constexpr double batch_bytes = double(1 << 23);

  std::int64_t views_;
  int ranks_;
  std::int64_t piece_;
  std::int64_t batch_;
};

/// Views of a scan in the hands of one rank, and its rows of all views.
template <class T>
class view_carrier {
 public:
  view_carrier(backend::communicator& ranks, ct::rank_plan const& plan, view_shares const& shares)
      : ranks_(ranks), plan_(plan), shares_(shares) {}

  /// Has each rank read its share, and gives all their rows.
  /// \param      read  read(first view, values) reads views, [views, u, v]; may throw
  /// \param[out] rows  [views, u, rows] of this rank
  template <class Read>
  void spread(Read const& read, T* rows) const {
    int const here = ranks_.rank();
    for (std::int64_t n = 0; n < shares_.max_batches(); ++n) {
      auto const mine = shares_.batch(here, n);
      std::vector<T> batch(std::size_t(count(mine) * image()));
      iso::detail::check_together(ranks_, "iso: readings of several processes", [&] {
        if (!batch.empty()) {
          read(mine.first, std::span<T>(batch));
        }
      });
      std::vector<std::vector<T>> out;
      std::vector<std::vector<T>> in;
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        out.push_back(cut_columns(batch, plan_.scan().num_v(), rows_of(rank)));
        auto const comes = count(shares_.batch(rank, n)) * columns() * width(here);
        in.emplace_back(rank == here ? 0 : std::size_t(comes));
      }
      batch = {};
      std::swap(in[std::size_t(here)], out[std::size_t(here)]);
      exchange(out, in);
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        auto const first = shares_.batch(rank, n).first;
        std::copy(in[std::size_t(rank)].begin(), in[std::size_t(rank)].end(),
                  rows + first * columns() * width(here));
      }
    }
  }

  /// Brings views to the ranks whose shares they are, one rank after the other, and returns the
  /// hash of all of them on every rank.
  /// \param rows  [views, u, rows] of this rank
  /// \param keep  keep(first view, values) takes whole views on the rank that has them; may throw
  template <class Keep>
  std::uint64_t collect(T const* rows, Keep const& keep) const {
    int const here = ranks_.rank();
    std::uint64_t hash = iso::detail::fnv1a_of_nothing;
    for (int owner = 0; owner < ranks_.size(); ++owner) {
      for (std::int64_t n = 0; n < shares_.batches(owner); ++n) {
        auto const views = shares_.batch(owner, n);
        auto const batch = collect_views(rows, views, owner);
        iso::detail::check_together(ranks_, "iso: views of several processes", [&] {
          if (owner == here) {
            hash = cases::hash_bits<T>(std::span<T const>(batch), hash);
            keep(views.first, std::span<T const>(batch));
          }
        });
      }
      ranks_.broadcast(std::as_writable_bytes(std::span(&hash, 1)), owner);
    }
    return hash;
  }

  /// Returns some views on one rank, and nothing elsewhere.
  [[nodiscard]] std::vector<T> collect_views(T const* rows, column_range const& views,
                                             int to) const {
    std::vector<T> const here(rows + views.first * columns() * width(ranks_.rank()),
                              rows + views.second * columns() * width(ranks_.rank()));
    return gather_columns(
        ranks_, here, count(views) * columns(), plan_.scan().num_v(),
        [&](int rank) { return rows_of(rank); }, to);
  }

 private:
  static std::int64_t count(column_range const& views) { return views.second - views.first; }
  [[nodiscard]] std::int64_t columns() const { return plan_.scan().num_u(); }
  [[nodiscard]] std::int64_t image() const { return columns() * plan_.scan().num_v(); }
  [[nodiscard]] column_range rows_of(int rank) const {
    return {plan_.rows(rank).first, plan_.rows(rank).last};
  }
  [[nodiscard]] std::int64_t width(int rank) const { return count(rows_of(rank)); }

  void exchange(std::vector<std::vector<T>>& out, std::vector<std::vector<T>>& in) const {
    auto const parcels = [&](std::vector<std::vector<T>>& of) {
      std::vector<backend::parcel> all;
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        auto& some = of[std::size_t(rank)];
        if (rank != ranks_.rank() && !some.empty()) {
          all.push_back({rank, reinterpret_cast<std::byte*>(some.data()),
                         std::int64_t(some.size() * sizeof(T))});
        }
      }
      return all;
    };
    ranks_.exchange(parcels(out), parcels(in));
  }

  backend::communicator& ranks_;
  ct::rank_plan const& plan_;
  view_shares shares_;
};

}  // namespace iso::jobs
