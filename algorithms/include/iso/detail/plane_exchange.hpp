// SPDX-License-Identifier: BSD-3-Clause
//! Exchanges planes of volumes between ranks, one block at a time.
#pragma once

#include <iso/backend/carrier.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/workspace.hpp>
#include <iso/detail/for_each_in_rows.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace iso::detail {

/// Columns of voxels along z, of which some planes are here, side by side in memory.
template <class Number>
struct plane_columns {
  Number* data;
  std::int64_t columns;
  slab planes;
};

/// Copies planes that both have, or adds them; a row is what a column has of these planes.
template <class Number, bool Added>
struct plane_copy_rows {
  plane_columns<Number> to;
  plane_columns<Number const> from;
  slab planes;

  KOKKOS_FUNCTION std::conditional_t<Added, added_row<Number>, copied_row<Number>> operator()(
      std::int64_t column) const {
    return {planes.last - planes.first,
            to.data + column * (to.planes.last - to.planes.first) + planes.first - to.planes.first,
            from.data + column * (from.planes.last - from.planes.first) + planes.first -
                from.planes.first};
  }
};

/// Returns the planes that both have; none, where these are none.
inline slab common_planes(slab const& a, slab const& b) {
  slab const both{std::max(a.first, b.first), std::min(a.last, b.last)};
  return both.count() > 0 ? both : slab{0, 0};
}

/// Enqueues copies of planes that both hold, or additions.
template <bool Added = false, class Exec, class Number>
void copy_planes(char const* label, Exec const& exec, plane_columns<Number> const& to,
                 plane_columns<Number const> const& from, slab const& planes) {
  if (planes.count() > 0) {
    for_each_in_rows(label, exec, to.columns, planes.count(),
                     plane_copy_rows<Number, Added>{to, from, planes});
  }
}

/// What a rank sends to others and gets from them: planes of columns. In each of as many rounds as
/// there are other ranks it sends to one and gets from one, so that it holds two blocks beside its
/// arrays.
template <class Exec>
class plane_exchange {
 public:
  using space = typename Exec::memory_space;

  /// Has memory for an exchange. Throws as iso::allocate.
  /// \param out, in  planes for each rank, and of each
  void reserve(std::int64_t columns, std::vector<slab> const& out, std::vector<slab> const& in,
               std::int64_t number_bytes, int here) {
    bytes_out_ = bytes_of(columns, out, number_bytes, here);
    packed_.reserve(bytes_out_ + bytes_of(columns, in, number_bytes, here));
  }

  /// Sends planes of `from`, and stores in `to` those that come, or adds them. All ranks call it
  /// together, after reserve(). It takes its turn on `exec`, as the carrier does.
  template <bool Added = false, class Number>
  void run(Exec const& exec, backend::carrier<Exec>& by, plane_columns<Number const> const& from,
           std::vector<slab> const& out, plane_columns<Number> const& to,
           std::vector<slab> const& in) {
    int const size = by.ranks().size();
    int const here = by.ranks().rank();
    auto const block = [&](std::int64_t columns, slab const& planes, std::byte* place) {
      return plane_columns<Number>{reinterpret_cast<Number*>(place), columns, planes};
    };
    auto const parcel = [](int rank, plane_columns<Number> const& b) {
      return backend::parcel{rank, reinterpret_cast<std::byte*>(b.data),
                             b.columns * b.planes.count() * std::int64_t(sizeof(Number))};
    };
    for (int round = 1; round < size; ++round) {
      int const next = (here + round) % size;
      int const before = (here - round + size) % size;
      auto const goes = block(from.columns, out[std::size_t(next)], packed_.data());
      auto const comes = block(to.columns, in[std::size_t(before)], packed_.data() + bytes_out_);
      copy_planes("iso::detail::plane_exchange: pack", exec, goes, from, goes.planes);
      auto const sent = parcel(next, goes);
      auto const got = parcel(before, comes);
      by.exchange(std::span<backend::parcel const>(&sent, sent.bytes > 0 ? 1 : 0),
                  std::span<backend::parcel const>(&got, got.bytes > 0 ? 1 : 0));
      copy_planes<Added>("iso::detail::plane_exchange: unpack", exec, to,
                         plane_columns<Number const>{comes.data, comes.columns, comes.planes},
                         comes.planes);
      sent_ += sent.bytes;
    }
  }

  /// Returns the bytes that this rank sent to others.
  [[nodiscard]] std::int64_t bytes_sent() const { return sent_; }
  [[nodiscard]] std::int64_t bytes_held() const { return packed_.size(); }

 private:
  static std::int64_t bytes_of(std::int64_t columns, std::vector<slab> const& planes,
                               std::int64_t number_bytes, int here) {
    std::int64_t most = 0;
    for (std::size_t rank = 0; rank < planes.size(); ++rank) {
      most = std::max(most, int(rank) == here ? 0 : planes[rank].count());
    }
    return workspace_part(most * columns * number_bytes);
  }

  workspace<space> packed_;
  std::int64_t bytes_out_ = 0;
  std::int64_t sent_ = 0;
};

}  // namespace iso::detail
