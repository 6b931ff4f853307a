// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/carrier.hpp
//! Carries arrays in the memory of an execution space to other ranks.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/backend/event.hpp>
#include <iso/core/workspace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace iso::backend {

/// How a carrier takes arrays to other ranks.
enum class carrying {
  direct,  ///< the communicator reads and writes where they lie
  linked,  ///< from GPU to GPU, by what links the devices of all ranks
  staged,  ///< by way of page-locked memory of the host
};

/// The way of arrays in the memory of `Exec` to other ranks. Each call takes its turn behind what
/// is enqueued on its instance, `exec` unless it is given one, and what is enqueued there behind it
/// finds its result. A way that is not `linked` waits for both.
///
/// What is staged goes by chunks, so that the host's memory for it is small. All ranks have chunks
/// of the same size, whatever backends they have. All ranks make their carriers together.
/// Determinism: backend_to_backend, as communicator.
template <execution_space Exec>
class carrier final {
 public:
  /// \param chunk_bytes  that go at a time of an array or of a parcel; the same on all ranks, and a
  ///                     multiple of 8
  carrier(Exec const& exec, communicator& ranks, std::int64_t chunk_bytes = std::int64_t(1) << 24)
      : exec_(exec),
        ranks_(ranks),
        link_(ranks.link_devices(device_of(exec))),
        chunk_(chunk_bytes) {
    ISO_VALIDATE(chunk_bytes >= 8 && chunk_bytes % 8 == 0,
                 "iso::backend::carrier: chunks of {} bytes (a positive multiple of 8 is wanted); "
                 "leave the default",
                 chunk_bytes);
  }

  // Neither copies nor moves: what it stages has one place.
  carrier(carrier const&) = delete;
  carrier& operator=(carrier const&) = delete;
  ~carrier() = default;

  [[nodiscard]] communicator& ranks() const { return ranks_; }
  [[nodiscard]] carrying way() const {
    return !is_device<Exec>   ? carrying::direct
           : link_ != nullptr ? carrying::linked
                              : carrying::staged;
  }
  /// Returns how arrays go, for logs.
  [[nodiscard]] std::string_view name() const {
    return way() == carrying::linked   ? link_->name()
           : way() == carrying::direct ? "direct"
                                       : "staged through page-locked memory";
  }

  /// Overwrites `count` words by their sums over the ranks, as communicator::sum.
  template <class Word>
  void sum(Word* words, std::int64_t count) {
    if (way() == carrying::linked) {
      link_->sum({words, std::size_t(count)}, queue());
    } else {
      reduce(words, count, [&](std::span<Word> some) { ranks_.sum(some); });
    }
  }
  /// Overwrites `count` words by the largest of all ranks.
  template <class Word>
  void maximum(Word* words, std::int64_t count) {
    if (way() == carrying::linked) {
      link_->maximum({words, std::size_t(count)}, queue());
    } else {
      reduce(words, count, [&](std::span<Word> some) { ranks_.maximum(some); });
    }
  }
  /// Sends and receives at once, as communicator::exchange.
  void exchange(std::span<parcel const> out, std::span<parcel const> in) {
    begin_exchange(exec_, out, in);
    end_exchanges(exec_);
  }
  /// Begins an exchange of what is enqueued on `exec`, whose parcels must stay as they are until
  /// end_exchanges(exec). What is direct begins to go; all else goes when it is ended, so that the
  /// host enqueues other work before.
  void begin_exchange(Exec const& exec, std::span<parcel const> out, std::span<parcel const> in) {
    if (way() != carrying::direct) {
      begun_.push_back({{out.begin(), out.end()}, {in.begin(), in.end()}});
      return;
    }
    exec.fence("iso::backend::carrier: what goes is there");
    // Messages of the same lengths and order as those that are staged: ranks may differ in it.
    std::vector<parcel> from_here;
    std::vector<parcel> to_here;
    for (std::int64_t n = 0; n < num_chunks(out, in); ++n) {
      append_chunks(out, n, from_here);
      append_chunks(in, n, to_here);
    }
    ranks_.begin_exchange(from_here, to_here);
  }
  /// Ends the exchanges that were begun: what is enqueued on `exec` behind it finds what came.
  void end_exchanges(Exec const& exec) {
    std::vector<begun> all;
    all.swap(begun_);
    if (way() == carrying::direct) {
      ranks_.end_exchanges();
    } else if (way() == carrying::linked) {
      for (begun const& one : all) {
        link_->exchange(one.out, one.in, queue_of(exec));
      }
    } else if constexpr (is_device<Exec>) {
      exec.fence("iso::backend::carrier: what goes is there");
      for (begun const& one : all) {
        for (std::int64_t n = 0; n < num_chunks(one.out, one.in); ++n) {
          exchange_staged(exec, one.out, one.in, n);
        }
      }
    }
  }

 private:
  /// Returns the number of the device that `exec` computes on, -1 for a processor.
  static int device_of([[maybe_unused]] Exec const& exec) {
    if constexpr (is_device<Exec>) {
      return exec.cuda_device();
    } else {
      return -1;
    }
  }
  /// Returns where `exec` enqueues, as a link takes it.
  static void* queue_of([[maybe_unused]] Exec const& exec) {
    if constexpr (is_device<Exec>) {
      return exec.cuda_stream();
    } else {
      return nullptr;
    }
  }
  [[nodiscard]] void* queue() const { return queue_of(exec_); }

  /// An exchange that goes when it is ended.
  struct begun {
    std::vector<parcel> out;
    std::vector<parcel> in;
  };

  /// Returns the chunks of the largest parcel.
  [[nodiscard]] std::int64_t num_chunks(std::span<parcel const> out,
                                        std::span<parcel const> in) const {
    std::int64_t most = 0;
    for (auto const& parcels : {out, in}) {
      for (parcel const& p : parcels) {
        most = std::max(most, p.bytes);
      }
    }
    return (most + chunk_ - 1) / chunk_;
  }

  template <class Word, class Reduce>
  void reduce(Word* words, std::int64_t count, Reduce const& reduce_on_host) {
    exec_.fence("iso::backend::carrier: the words are there");
    std::int64_t const most = chunk_ / std::int64_t(sizeof(Word));
    for (std::int64_t first = 0; first < count; first += most) {
      std::int64_t const some = std::min(most, count - first);
      if constexpr (!is_device<Exec>) {
        reduce_on_host(std::span<Word>(words + first, std::size_t(some)));
      } else {
        std::int64_t const bytes = some * std::int64_t(sizeof(Word));
        staging_.reserve(bytes);
        auto* const there = reinterpret_cast<std::byte*>(words + first);
        copy(exec_, staging_.data(), there, bytes);
        exec_.fence("iso::backend::carrier: the words are on the host");
        reduce_on_host({reinterpret_cast<Word*>(staging_.data()), std::size_t(some)});
        copy(exec_, there, staging_.data(), bytes);
        exec_.fence("iso::backend::carrier: the words are back");
      }
    }
  }

  /// Appends chunk n of each parcel.
  void append_chunks(std::span<parcel const> parcels, std::int64_t n,
                     std::vector<parcel>& to) const {
    for (parcel const& p : parcels) {
      std::int64_t const bytes = std::clamp(p.bytes - n * chunk_, std::int64_t(0), chunk_);
      if (bytes > 0) {
        to.push_back({p.rank, p.data + n * chunk_, bytes});
      }
    }
  }

  /// Has chunk n of each parcel go.
  void exchange_staged(Exec const& exec, std::span<parcel const> out, std::span<parcel const> in,
                       std::int64_t n) {
    std::vector<parcel> here;
    append_chunks(out, n, here);
    std::size_t const sent = here.size();
    append_chunks(in, n, here);
    std::int64_t bytes = 0;
    for (parcel const& p : here) {
      bytes += p.bytes;
    }
    staging_.reserve(bytes);
    std::vector<parcel> staged;
    std::byte* place = staging_.data();
    for (parcel const& p : here) {
      staged.push_back({p.rank, place, p.bytes});
      place += p.bytes;
    }
    for (std::size_t i = 0; i < sent; ++i) {
      copy(exec, staged[i].data, here[i].data, here[i].bytes);
    }
    exec.fence("iso::backend::carrier: the chunks are on the host");
    std::span<parcel const> const all(staged);
    ranks_.exchange(all.first(sent), all.subspan(sent));
    for (std::size_t i = sent; i < here.size(); ++i) {
      copy(exec, here[i].data, staged[i].data, here[i].bytes);
    }
    exec.fence("iso::backend::carrier: the chunks are there");
  }

  static void copy(Exec const& exec, std::byte* to, std::byte* from, std::int64_t bytes) {
    if (bytes > 0) {
      copy_rows(exec, {to, bytes}, {from, bytes}, bytes, 1);
    }
  }

  Exec exec_;
  communicator& ranks_;
  device_link* link_;  ///< null: there is none
  std::int64_t chunk_;
  std::vector<begun> begun_;
  workspace<staging_space<Exec>> staging_;
};

}  // namespace iso::backend
