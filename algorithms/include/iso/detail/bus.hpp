// SPDX-License-Identifier: BSD-3-Clause
//! Carries pieces of host arrays to a device and back, while kernels work on the pieces before.
#pragma once

#include <iso/backend/event.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace iso::detail {

/// The runs of numbers of which a part of a host array consists: `count` of them, `length` bytes
/// each, `stride` bytes apart.
struct strided_runs {
  std::byte* first;
  std::int64_t count;
  std::int64_t length;
  std::int64_t stride;

  [[nodiscard]] std::int64_t bytes() const { return count * length; }
  [[nodiscard]] std::byte const* last_byte() const {
    return first + (count - 1) * stride + length - 1;
  }
};

/// Copies runs to memory without gaps, or back, by the threads of the host.
inline void copy_runs(char const* label, strided_runs const& runs, std::byte* packed, bool pack) {
  using host = Kokkos::DefaultHostExecutionSpace;
  // A thread takes stretches of no less than this, also where there is one run.
  constexpr std::int64_t stretch = 1 << 20;
  std::int64_t const parts = (runs.length + stretch - 1) / stretch;
  host const exec;
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<host, Kokkos::IndexType<std::int64_t>>(exec, 0, runs.count * parts),
      [=](std::int64_t i) {
        std::int64_t const run = i / parts;
        std::int64_t const begin = (i - run * parts) * stretch;
        auto const length =
            std::size_t(runs.length - begin < stretch ? runs.length - begin : stretch);
        std::byte* const here = packed + run * runs.length + begin;
        std::byte* const there = runs.first + run * runs.stride + begin;
        std::memcpy(pack ? here : there, pack ? there : here, length);
      });
  exec.fence(label);
}

/// The way between host and device: an instance each way beside the one that computes. Page-locked
/// arrays are copied where they lie; of others, the host's threads pack and unpack pieces in
/// buffers, two each way, while copies and kernels of other pieces run.
template <execution_space Exec>
class bus {
 public:
  using space = typename Exec::memory_space;
  using staging = Kokkos::View<std::byte*, backend::staging_space<Exec>>;

  /// Part of another host array that comes in with a piece, and its place on the device.
  struct companion {
    std::byte* device = nullptr;
    strided_runs in = {};
  };
  /// A piece of a host array, and its place on the device; without runs nothing is carried.
  struct piece {
    std::byte* device = nullptr;
    strided_runs in = {};
    strided_runs out = {};
    std::array<companion, 3> beside = {};  ///< with `in` no more bytes than a buffer has
    bool leaves_directly = false;          ///< for page-locked memory; set on the way
  };

  bus() = default;
  /// Allocates buffers for pieces of so many bytes, on the way in and on the way out.
  /// \throws iso::out_of_memory  as iso::allocate
  bus(Exec const& exec, std::int64_t bytes_in, std::int64_t bytes_out)
      : in_(backend::another_instance(exec)), out_(backend::another_instance(exec)) {
    for (std::size_t b = 0; b < 2; ++b) {
      in_buffers_[b] =
          allocate<staging>("iso::ct::streamed: buffers", {bytes_in}, Kokkos::WithoutInitializing);
      out_buffers_[b] =
          allocate<staging>("iso::ct::streamed: buffers", {bytes_out}, Kokkos::WithoutInitializing);
    }
  }

  /// For every n from 0 to `count`: carries piece_of(n) in, calls work(n), which enqueues on
  /// `exec`, and carries it out. Piece n + 2 may have the place of piece n. What came out is in
  /// host memory when it returns; kernels may still run.
  template <class PieceOf, class Work>
  void carry(Exec const& exec, std::int64_t count, PieceOf const& piece_of, Work const& work) {
    try {
      // What was enqueued before may use the places of these pieces.
      begun_.record(exec);
      begun_.hold(in_);
      std::array<piece, 2> pieces;
      for (std::int64_t n = 0; n < count; ++n) {
        auto const b = std::size_t(n % 2);
        pieces[b] = piece_of(n);
        if (n >= 2) {
          computed_[b].hold(in_);
          left_[b].hold(in_);
          left_[b].hold(exec);
        }
        bring(exec, pieces[b], b);
        work(n);
        computed_[b].record(exec);
        send(pieces[b], b);
        if (n >= 1) {
          unpack(pieces[1 - b], 1 - b);
        }
      }
      if (count > 0) {
        auto const b = std::size_t((count - 1) % 2);
        unpack(pieces[b], b);
      }
    } catch (...) {
      // Nothing may read or write buffers that their owner is about to free.
      exec.fence("iso::ct::streamed: stopped");
      in_.fence("iso::ct::streamed: stopped");
      out_.fence("iso::ct::streamed: stopped");
      throw;
    }
  }

  /// The bytes carried so far.
  [[nodiscard]] std::int64_t bytes_in() const { return bytes_in_; }
  [[nodiscard]] std::int64_t bytes_out() const { return bytes_out_; }
  /// Returns the bytes of host memory that the buffers of such a bus take.
  [[nodiscard]] static std::int64_t bytes_needed(std::int64_t bytes_in, std::int64_t bytes_out) {
    return 2 * (bytes_in + bytes_out);
  }

 private:
  /// Enqueues a piece's copies to the device, which `exec` waits for.
  void bring(Exec const& exec, piece const& p, std::size_t b) {
    std::int64_t const before = bytes_in_;
    std::int64_t packed = 0;
    bring(exec, p.device, p.in, b, packed);
    for (companion const& other : p.beside) {
      bring(exec, other.device, other.in, b, packed);
    }
    if (bytes_in_ > before) {
      arrived_[b].record(in_);
      arrived_[b].hold(exec);
    }
  }
  /// Enqueues the copy of runs, from the buffer behind what is `packed` in it already.
  void bring(Exec const& exec, std::byte* device, strided_runs const& r, std::size_t b,
             std::int64_t& packed) {
    if (r.bytes() == 0) {
      return;
    }
    if (backend::is_page_locked(exec, r.first, r.last_byte())) {
      backend::copy_rows(in_, {device, r.length}, {r.first, r.stride}, r.length, r.count);
    } else {
      if (packed == 0) {
        arrived_[b].wait();
      }
      ISO_VALIDATE(packed + r.bytes() <= std::int64_t(in_buffers_[b].size()),
                   "iso::ct::streamed: a piece of {} bytes with {} beside it (a buffer has {}); "
                   "give the bus larger ones",
                   r.bytes(), packed, in_buffers_[b].size());
      std::byte* const buffer = in_buffers_[b].data() + packed;
      copy_runs("iso::ct::streamed: pack", r, buffer, true);
      backend::copy_rows(in_, {device, r.bytes()}, {buffer, r.bytes()}, r.bytes(), 1);
      packed += r.bytes();
    }
    bytes_in_ += r.bytes();
  }
  /// Enqueues a piece's copy from the device, behind what was computed.
  void send(piece& p, std::size_t b) {
    strided_runs const& r = p.out;
    if (r.bytes() == 0) {
      return;
    }
    computed_[b].hold(out_);
    p.leaves_directly = backend::is_page_locked(out_, r.first, r.last_byte());
    if (p.leaves_directly) {
      backend::copy_rows(out_, {r.first, r.stride}, {p.device, r.length}, r.length, r.count);
    } else {
      backend::copy_rows(out_, {out_buffers_[b].data(), r.bytes()}, {p.device, r.bytes()},
                         r.bytes(), 1);
    }
    left_[b].record(out_);
    bytes_out_ += r.bytes();
  }
  /// Waits until a piece has left the device, and puts it where it belongs.
  void unpack(piece const& p, std::size_t b) {
    if (p.out.bytes() == 0) {
      return;
    }
    left_[b].wait();
    if (!p.leaves_directly) {
      copy_runs("iso::ct::streamed: unpack", p.out, out_buffers_[b].data(), false);
    }
  }

  Exec in_;
  Exec out_;
  std::array<staging, 2> in_buffers_;
  std::array<staging, 2> out_buffers_;
  backend::event<Exec> begun_;
  std::array<backend::event<Exec>, 2> arrived_;
  std::array<backend::event<Exec>, 2> computed_;
  std::array<backend::event<Exec>, 2> left_;
  std::int64_t bytes_in_ = 0;
  std::int64_t bytes_out_ = 0;
};

}  // namespace iso::detail
