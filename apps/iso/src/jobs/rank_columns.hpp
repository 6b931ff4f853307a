// SPDX-License-Identifier: BSD-3-Clause
//! Cuts columns of numbers among the ranks that share a job, and brings them together.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/cases/bits.hpp>
#include <iso/core/check.hpp>
#include <iso/core/grid.hpp>
#include <iso/jobs/ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// Returns whole columns on rank 0, and nothing elsewhere.
/// \param part      what is here of them
/// \param range_of  says what a rank has of each column
template <class T, class Ranges>
std::vector<T> gather_columns(backend::communicator& ranks, std::vector<T> const& part,
                              std::int64_t columns, std::int64_t column, Ranges const& range_of) {
  auto const parcel = [](int rank, std::vector<T>& numbers) {
    return backend::parcel{rank, reinterpret_cast<std::byte*>(numbers.data()),
                           std::int64_t(numbers.size() * sizeof(T))};
  };
  auto here = part;
  if (ranks.rank() != 0) {
    auto const out = parcel(0, here);
    ranks.exchange({&out, 1}, {});
    return {};
  }
  std::vector<T> whole(std::size_t(columns * column));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    auto const [first, last] = range_of(rank);
    here.resize(std::size_t(columns * (last - first)));
    if (rank != 0) {
      auto const in = parcel(rank, here);
      ranks.exchange({}, {&in, 1});
    }
    auto from = here.begin();
    for (auto to = whole.begin(); to != whole.end(); to += column, from += last - first) {
      std::copy(from, from + (last - first), to + first);
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

}  // namespace iso::jobs
