// SPDX-License-Identifier: BSD-3-Clause
//! Cuts columns of numbers among the ranks that share a job, and brings them together.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/cases/bits.hpp>
#include <iso/core/check.hpp>
#include <iso/core/grid.hpp>
#include <iso/jobs/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::jobs {

/// Some numbers of a column, [first, second).
using column_range = std::pair<std::int64_t, std::int64_t>;

inline column_range range_of(slab const& planes) { return {planes.first, planes.last}; }

/// Throws on every rank, unless all have read the same numbers.
template <class Number>
void check_alike(std::vector<Number> const& whole, char const* what) {
  check_alike(cases::hash_bits(std::span<Number const>(whole)),
              iso::message("processes with different {} (each reads the files itself); "
                           "name files on a file system that all see",
                           {std::string_view(what)}));
}

/// Returns some numbers of each column of so many.
template <class Number>
std::vector<Number> cut_columns(std::vector<Number> const& whole, std::int64_t column,
                                column_range const& some) {
  std::vector<Number> part;
  part.reserve(whole.size() / std::size_t(column) * std::size_t(some.second - some.first));
  for (auto at = whole.begin(); at != whole.end(); at += column) {
    part.insert(part.end(), at + some.first, at + some.second);
  }
  return part;
}

/// Returns whole columns on one rank, and nothing elsewhere.
/// \param part      what is here of them
/// \param range_of  says what a rank has of each column
template <class T, class Ranges>
std::vector<T> gather_columns(backend::communicator& ranks, std::vector<T> const& part,
                              std::int64_t columns, std::int64_t column, Ranges const& range_of,
                              int to = 0) {
  auto const parcel = [](int rank, std::vector<T>& numbers) {
    return backend::parcel{rank, reinterpret_cast<std::byte*>(numbers.data()),
                           std::int64_t(numbers.size() * sizeof(T))};
  };
  auto here = part;
  if (ranks.rank() != to) {
    auto const out = parcel(to, here);
    ranks.exchange({&out, 1}, {});
    return {};
  }
  std::vector<T> whole(std::size_t(columns * column));
  std::vector<T> there;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    auto const [first, last] = range_of(rank);
    auto& some = rank == to ? here : there;
    if (rank != to) {
      there.resize(std::size_t(columns * (last - first)));
      auto const in = parcel(rank, there);
      ranks.exchange({}, {&in, 1});
    }
    auto from = some.begin();
    for (auto at = whole.begin(); at != whole.end(); at += column, from += last - first) {
      std::copy(from, from + (last - first), at + first);
    }
  }
  return whole;
}

/// Does the same with planes of volumes of so many columns.
template <class T>
std::vector<T> gather_planes(backend::communicator& ranks, std::vector<T> const& part,
                             std::int64_t columns, std::vector<slab> const& planes) {
  return gather_columns(ranks, part, columns, planes.back().last,
                        [&](int rank) { return range_of(planes[std::size_t(rank)]); });
}

/// Calls f(values) on rank 0 with columns of a volume, or of several, in their order, some at a
/// time, so that no rank holds them all. All ranks call it.
/// \param part    this rank's planes
/// \param planes  of all ranks
template <class T, class F>
void for_columns(backend::communicator& ranks, std::vector<T> const& part, std::int64_t columns,
                 std::vector<slab> const& planes, F const& f) {
  std::int64_t const own = planes[std::size_t(ranks.rank())].count();
  std::int64_t const step = std::max<std::int64_t>((std::int64_t(1) << 21) / planes.back().last, 1);
  for (std::int64_t first = 0; first < columns; first += step) {
    std::int64_t const last = std::min(first + step, columns);
    std::vector<T> const here(part.begin() + first * own, part.begin() + last * own);
    auto const some = gather_planes(ranks, here, last - first, planes);
    if (ranks.rank() == 0) {
      f(some);
    }
  }
}

/// Returns the hash of them, on every rank.
template <class T>
std::uint64_t hash_of_planes(backend::communicator& ranks, std::vector<T> const& part,
                             std::int64_t columns, std::vector<slab> const& planes) {
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  for_columns(ranks, part, columns, planes, [&](std::vector<T> const& some) {
    hash = cases::hash_bits(std::span<T const>(some), hash);
  });
  ranks.broadcast(std::as_writable_bytes(std::span(&hash, 1)), 0);
  return hash;
}

/// The largest value of a volume, and the first place where it is.
struct largest_value {
  float value = -std::numeric_limits<float>::infinity();
  std::int64_t at = 0;           ///< among the values of the whole
  std::uint64_t not_finite = 0;  ///< values that are not, which do not count

  /// Looks at some planes of columns of so many values.
  static largest_value of(std::vector<float> const& part, slab const& planes, std::int64_t column) {
    largest_value found;
    for (std::size_t i = 0; i < part.size(); ++i) {
      found.not_finite += std::isfinite(part[i]) ? 0 : 1;
      if (std::isfinite(part[i]) && part[i] > found.value) {
        found.value = part[i];
        auto const n = std::int64_t(i);
        found.at = n / planes.count() * column + planes.first + n % planes.count();
      }
    }
    return found;
  }
  /// Returns that of all ranks, on every rank.
  [[nodiscard]] largest_value joined(backend::communicator& ranks) const {
    std::vector<largest_value> all(ranks.rank() == 0 ? std::size_t(ranks.size()) : 0);
    ranks.gather(std::as_bytes(std::span(this, 1)), std::as_writable_bytes(std::span(all)), 0);
    largest_value most = *this;
    if (ranks.rank() == 0) {
      most.not_finite = 0;
      for (largest_value const& one : all) {
        bool const before = one.value == most.value && one.at < most.at;
        most.not_finite += one.not_finite;
        if (one.value > most.value || before) {
          most.value = one.value;
          most.at = one.at;
        }
      }
    }
    ranks.broadcast(std::as_writable_bytes(std::span(&most, 1)), 0);
    return most;
  }
};

}  // namespace iso::jobs
