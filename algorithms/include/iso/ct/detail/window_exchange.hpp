// SPDX-License-Identifier: BSD-3-Clause
//! Exchanges windows of images between ranks.
#pragma once

#include <iso/backend/carrier.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/slab_rays.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/for_each_in_rows.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace iso::ct::detail {

/// What becomes of a number where it leaves its image, or comes to one.
enum class arrival {
  packed,  ///< it leaves, to numbers without gaps
  stored,
  added,   ///< to a word
  united,  ///< with flags
};

/// Returns the pixels of a window.
KOKKOS_INLINE_FUNCTION std::int64_t numbers_of(pixel_window const& w) {
  return w.first_u < w.last_u && w.first_v < w.last_v
             ? (w.last_u - w.first_u) * (w.last_v - w.first_v)
             : 0;
}

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

/// A row of flags that are united with others.
template <class Number>
struct united_row {
  std::int64_t count;
  Number* to;
  Number const* from;

  KOKKOS_FUNCTION void at(std::int64_t n) const { to[n] |= from[n]; }
};

/// Moves windows of images to numbers without gaps, or from them; a row is what a column of the
/// image has of its window, and each view has the columns of the widest window.
template <class Pixel, class Number, arrival How>
struct window_rows {
  placed_window const* windows;
  image_rows<Pixel> image;
  Number* packed;
  std::int64_t first_place;
  std::int64_t widest;

  KOKKOS_FUNCTION auto operator()(std::int64_t index) const {
    std::int64_t const view = index / widest;
    std::int64_t const column = index - view * widest;
    placed_window const w = windows[view];
    std::int64_t const rows = w.of.last_v - w.of.first_v;
    std::int64_t const count = column < w.of.last_u - w.of.first_u ? rows : 0;
    Pixel* const pixels = image.data + (view * image.num_u + w.of.first_u + column) * image.num_v +
                          w.of.first_v - image.first_v;
    Number* const numbers = packed + w.place - first_place + column * rows;
    if constexpr (How == arrival::packed) {
      return iso::detail::copied_row<Number>{count, numbers, pixels};
    } else if constexpr (How == arrival::stored) {
      return iso::detail::copied_row<Number>{count, pixels, numbers};
    } else if constexpr (How == arrival::added) {
      return iso::detail::added_row<Number>{count, pixels, numbers};
    } else {
      return united_row<Number>{count, pixels, numbers};
    }
  }
};

/// Views [first, first + count).
struct view_range {
  std::int64_t first;
  std::int64_t count;
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

  /// Copies windows to where kernels read them, and allocates for these batches of views.
  /// \param out, in  windows of each rank; this rank's own are left out
  window_exchange(Exec const& exec, int here, shared_windows const& out, shared_windows const& in,
                  std::vector<view_range> const& batches, std::int64_t number_bytes)
      : out_(sides_of(exec, here, out)), in_(sides_of(exec, here, in)) {
    packed_.reserve(packed_bytes({&out_, &in_}, batches, number_bytes));
  }

  /// Returns bytes_held() of such an exchange, without allocating.
  [[nodiscard]] static std::int64_t bytes_needed(int here, shared_windows const& out,
                                                 shared_windows const& in,
                                                 std::vector<view_range> const& batches,
                                                 std::int64_t number_bytes) {
    std::vector<side> const sides[2] = {places_of(here, out), places_of(here, in)};
    return windows_bytes({&sides[0], &sides[1]}) +
           packed_bytes({&sides[0], &sides[1]}, batches, number_bytes);
  }

  /// Sends the windows of `from` and takes those that come into `to`, of some views: both images
  /// begin with the first of them. As carrier::exchange, which need not wait.
  template <arrival How, class From, class Number>
  void run(Exec const& exec, backend::carrier<Exec>& by, image_rows<From> const& from,
           image_rows<Number> const& to, view_range const& views) {
    begin<Number>(exec, by, from, views);
    by.end_exchanges(exec);
    take<How>(exec, to, views);
  }
  /// Packs the windows of `from` and begins to send them, as carrier::begin_exchange. The caller
  /// ends the carrier's exchanges, and has what came taken, before the next views are packed.
  template <class Number, class From>
  void begin(Exec const& exec, backend::carrier<Exec>& by, image_rows<From> const& from,
             view_range const& views) {
    auto const out = parcels_of<Number>(out_, packed_.data(), views);
    move<arrival::packed, Number>("iso::ct::ranked: pack", exec, from, out_, out, views);
    by.begin_exchange(exec, out, parcels_of<Number>(in_, end_of(out, packed_.data()), views));
    for (backend::parcel const& parcel : out) {
      sent_ += parcel.bytes;
    }
  }
  /// Puts what came of these views into `to`.
  template <arrival How, class Number>
  void take(Exec const& exec, image_rows<Number> const& to, view_range const& views) {
    auto const out = parcels_of<Number>(out_, packed_.data(), views);
    auto const in = parcels_of<Number>(in_, end_of(out, packed_.data()), views);
    move<How, Number>("iso::ct::ranked: unpack", exec, to, in_, in, views);
  }

  /// Returns the bytes that this rank sent to others.
  [[nodiscard]] std::int64_t bytes_sent() const { return sent_; }
  /// Returns the bytes that it holds in the memory of `space`.
  [[nodiscard]] std::int64_t bytes_held() const {
    return packed_.size() + windows_bytes({&out_, &in_});
  }

 private:
  /// What goes to one rank, or comes from it.
  struct side {
    int rank;
    std::vector<std::int64_t> places;  ///< of views, and of the end
    std::int64_t widest = 0;           ///< columns of a window
    std::int64_t longest = 0;          ///< rows of one
    Kokkos::View<placed_window*, space> windows = {};

    [[nodiscard]] std::int64_t place(std::int64_t view) const { return places[std::size_t(view)]; }
    [[nodiscard]] std::int64_t numbers(view_range const& views) const {
      return place(views.first + views.count) - place(views.first);
    }
  };

  /// Moves the numbers of each side to its parcel, or from it.
  template <arrival How, class Number, class Pixel>
  static void move(char const* label, Exec const& exec, image_rows<Pixel> const& image,
                   std::vector<side> const& sides, std::vector<backend::parcel> const& parcels,
                   view_range const& views) {
    for (std::size_t n = 0; n < sides.size(); ++n) {
      if (parcels[n].bytes > 0) {
        side const& s = sides[n];
        iso::detail::for_each_in_rows(
            label, exec, views.count * s.widest, s.longest,
            window_rows<Pixel, Number, How>{s.windows.data() + views.first, image,
                                            reinterpret_cast<Number*>(parcels[n].data),
                                            s.place(views.first), s.widest});
      }
    }
  }

  /// Returns the parcels of some views, one behind the other from `first` on.
  template <class Number>
  static std::vector<backend::parcel> parcels_of(std::vector<side> const& sides, std::byte* first,
                                                 view_range const& views) {
    std::vector<backend::parcel> parcels;
    for (side const& s : sides) {
      parcels.push_back(
          {s.rank, end_of(parcels, first), s.numbers(views) * std::int64_t(sizeof(Number))});
    }
    return parcels;
  }
  /// Returns what lies behind parcels, the first of which begins at `first`.
  static std::byte* end_of(std::vector<backend::parcel> const& parcels, std::byte* first) {
    return parcels.empty() ? first : parcels.back().data + part_bytes(parcels.back().bytes);
  }
  static std::int64_t part_bytes(std::int64_t bytes) { return iso::detail::workspace_part(bytes); }

  using both_ways = Kokkos::Array<std::vector<side> const*, 2>;

  /// Returns the bytes of the largest batch where it is packed.
  static std::int64_t packed_bytes(both_ways const& ways, std::vector<view_range> const& batches,
                                   std::int64_t number_bytes) {
    std::int64_t most = 0;
    for (view_range const& batch : batches) {
      std::int64_t bytes = 0;
      for (auto const* sides : {ways[0], ways[1]}) {
        for (side const& s : *sides) {
          bytes += part_bytes(s.numbers(batch) * number_bytes);
        }
      }
      most = std::max(most, bytes);
    }
    return most;
  }
  static std::int64_t windows_bytes(both_ways const& ways) {
    std::int64_t bytes = 0;
    for (auto const* sides : {ways[0], ways[1]}) {
      for (side const& s : *sides) {
        bytes += std::int64_t((s.places.size() - 1) * sizeof(placed_window));
      }
    }
    return bytes;
  }

  /// Returns the sides that have numbers, without their windows.
  static std::vector<side> places_of(int here, shared_windows const& all) {
    std::vector<side> sides;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      side s{int(rank), {0}};
      for (pixel_window const& w : all[rank]) {
        std::int64_t const numbers = numbers_of(w);
        s.places.push_back(s.places.back() + numbers);
        if (numbers > 0) {
          s.widest = std::max(s.widest, w.last_u - w.first_u);
          s.longest = std::max(s.longest, w.last_v - w.first_v);
        }
      }
      if (int(rank) != here && s.places.back() > 0) {
        sides.push_back(std::move(s));
      }
    }
    return sides;
  }
  static std::vector<side> sides_of(Exec const& exec, int here, shared_windows const& all) {
    auto sides = places_of(here, all);
    for (side& s : sides) {
      std::vector<placed_window> placed;
      for (pixel_window const& w : all[std::size_t(s.rank)]) {
        placed.push_back({s.places[placed.size()], w});
      }
      s.windows = iso::detail::copied<space>(exec, "iso::ct::ranked: windows", placed);
    }
    return sides;
  }

  std::vector<side> out_;
  std::vector<side> in_;
  workspace<space> packed_;
  std::int64_t sent_ = 0;
};

}  // namespace iso::ct::detail
