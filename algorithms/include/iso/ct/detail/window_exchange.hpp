// SPDX-License-Identifier: BSD-3-Clause
//! Exchanges windows of images between ranks.
#pragma once

#include <iso/backend/carrier.hpp>
#include <iso/backend/for_each_index.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/slab_rays.hpp>
#include <iso/detail/copied.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace iso::ct::detail {

/// What becomes of a number that comes.
enum class arrival {
  stored,
  added,   ///< to a word
  united,  ///< with flags
};

/// Images of a number of views where they lie: some rows of a detector, from `first_v` on.
template <class Number>
struct image_rows {
  Number* data;
  std::int64_t num_u;
  std::int64_t num_v;
  std::int64_t first_v = 0;
};

/// The window of an image that goes, and the place of its first number among all that go.
struct placed_window {
  std::int64_t place;
  pixel_window of;
};

/// Copies windows of images to numbers without gaps; index (view, u, v) of the images.
template <class Number>
struct pack_windows_kernel {
  placed_window const* windows;
  image_rows<Number> image;
  std::remove_const_t<Number>* packed;
  std::int64_t first_place;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / image.num_v;
    std::int64_t const v = index - column * image.num_v + image.first_v;
    std::int64_t const view = column / image.num_u;
    std::int64_t const u = column - view * image.num_u;
    placed_window const w = windows[view];
    if (u >= w.of.first_u && u < w.of.last_u && v >= w.of.first_v && v < w.of.last_v) {
      packed[w.place - first_place + (u - w.of.first_u) * (w.of.last_v - w.of.first_v) + v -
             w.of.first_v] = image.data[index];
    }
  }
};

/// Does the reverse.
template <class Number, arrival How>
struct unpack_windows_kernel {
  placed_window const* windows;
  Number const* packed;
  image_rows<Number> image;
  std::int64_t first_place;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / image.num_v;
    std::int64_t const v = index - column * image.num_v + image.first_v;
    std::int64_t const view = column / image.num_u;
    std::int64_t const u = column - view * image.num_u;
    placed_window const w = windows[view];
    if (u >= w.of.first_u && u < w.of.last_u && v >= w.of.first_v && v < w.of.last_v) {
      Number const x = packed[w.place - first_place +
                              (u - w.of.first_u) * (w.of.last_v - w.of.first_v) + v - w.of.first_v];
      if constexpr (How == arrival::stored) {
        image.data[index] = x;
      } else if constexpr (How == arrival::added) {
        image.data[index] += x;
      } else {
        image.data[index] |= x;
      }
    }
  }
};

/// Windows [rank][view] of images: what a rank shares with each other one.
using shared_windows = std::vector<std::vector<pixel_window>>;

/// The windows of images that go from this rank to others, and those that come. What goes is packed
/// and what comes unpacked where the images lie; a batch of views at a time.
/// Both sides know all windows: they follow from the plan.
template <class Exec>
class window_exchange {
 public:
  using space = typename Exec::memory_space;

  /// Copies windows to where kernels read them, and allocates for batches of so many views.
  /// \param out, in  windows of each rank; this rank's own are left out
  window_exchange(Exec const& exec, int here, shared_windows const& out, shared_windows const& in,
                  std::int64_t batch, std::int64_t number_bytes)
      : out_(sides_of(exec, here, out)), in_(sides_of(exec, here, in)) {
    std::int64_t const views = std::int64_t(out.front().size());
    std::int64_t most = 0;
    for (std::int64_t first = 0; first < views; first += batch) {
      std::int64_t bytes = 0;
      for (auto const* sides : {&out_, &in_}) {
        for (side const& s : *sides) {
          bytes += part_bytes(s.numbers(first, std::min(batch, views - first)) * number_bytes);
        }
      }
      most = std::max(most, bytes);
    }
    packed_.reserve(most);
  }

  /// Sends the windows of `from` and takes those that come into `to`, of views [first, first +
  /// count): both images begin with view `first`. Waits for all.
  template <arrival How, class From, class Number>
  void run(Exec const& exec, backend::carrier<Exec>& by, image_rows<From> const& from,
           image_rows<Number> const& to, std::int64_t first, std::int64_t count) {
    std::byte* place = packed_.data();
    std::vector<backend::parcel> out;
    std::vector<backend::parcel> in;
    for (side const& s : out_) {
      std::int64_t const bytes = s.numbers(first, count) * std::int64_t(sizeof(Number));
      if (bytes > 0) {
        backend::for_each_index(
            "iso::ct::ranked: pack", exec, count * from.num_u * from.num_v,
            pack_windows_kernel<From>{s.windows.data() + first, from,
                                      reinterpret_cast<Number*>(place), s.place(first)});
      }
      out.push_back({s.rank, place, bytes});
      sent_ += bytes;
      place += part_bytes(bytes);
    }
    for (side const& s : in_) {
      std::int64_t const bytes = s.numbers(first, count) * std::int64_t(sizeof(Number));
      in.push_back({s.rank, place, bytes});
      place += part_bytes(bytes);
    }
    by.exchange(out, in);
    for (std::size_t n = 0; n < in_.size(); ++n) {
      if (in[n].bytes > 0) {
        backend::for_each_index(
            "iso::ct::ranked: unpack", exec, count * to.num_u * to.num_v,
            unpack_windows_kernel<Number, How>{in_[n].windows.data() + first,
                                               reinterpret_cast<Number const*>(in[n].data), to,
                                               in_[n].place(first)});
      }
    }
  }

  /// Returns the bytes that this rank sent to others.
  [[nodiscard]] std::int64_t bytes_sent() const { return sent_; }
  /// Returns the bytes that it holds in the memory of `space`.
  [[nodiscard]] std::int64_t bytes_held() const {
    std::int64_t bytes = packed_.size();
    for (auto const* sides : {&out_, &in_}) {
      for (side const& s : *sides) {
        bytes += std::int64_t(s.windows.size() * sizeof(placed_window));
      }
    }
    return bytes;
  }

 private:
  /// What goes to one rank, or comes from it.
  struct side {
    int rank;
    Kokkos::View<placed_window*, space> windows;
    std::vector<std::int64_t> places;  ///< of views, and of the end

    [[nodiscard]] std::int64_t place(std::int64_t view) const { return places[std::size_t(view)]; }
    [[nodiscard]] std::int64_t numbers(std::int64_t first, std::int64_t count) const {
      return place(first + count) - place(first);
    }
  };

  static std::int64_t part_bytes(std::int64_t bytes) { return iso::detail::workspace_part(bytes); }

  static std::vector<side> sides_of(Exec const& exec, int here, shared_windows const& all) {
    std::vector<side> sides;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      std::vector<placed_window> placed;
      std::vector<std::int64_t> places{0};
      for (pixel_window const& w : all[rank]) {
        placed.push_back({places.back(), w});
        places.push_back(places.back() +
                         (w.empty() ? 0 : (w.last_u - w.first_u) * (w.last_v - w.first_v)));
      }
      if (int(rank) != here && places.back() > 0) {
        sides.push_back({int(rank),
                         iso::detail::copied<space>(exec, "iso::ct::ranked: windows", placed),
                         std::move(places)});
      }
    }
    return sides;
  }

  std::vector<side> out_;
  std::vector<side> in_;
  workspace<space> packed_;
  std::int64_t sent_ = 0;
};

}  // namespace iso::ct::detail
