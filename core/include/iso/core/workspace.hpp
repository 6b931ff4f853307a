// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/workspace.hpp
#pragma once

#include <iso/core/allocate.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace iso {

namespace detail {
/// Returns the bytes that a part of `bytes` takes of a workspace, so that the next part is aligned
/// for any type.
inline constexpr std::int64_t workspace_part(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}
}  // namespace detail

/// Scratch memory that the caller owns and may use again from call to call. A function `f` that
/// takes one has a function `f_bytes_needed`, which returns its size in bytes. Given less, `f`
/// throws before anything is enqueued.
template <class Space>
class workspace {
 public:
  using storage = Kokkos::View<std::byte*, Space>;

  workspace() = default;
  workspace(workspace const&) = default;
  workspace& operator=(workspace const&) = default;
  /// Leaves `other` empty. A Kokkos::View that is moved from keeps its address, not its memory.
  workspace(workspace&& other) noexcept : storage_(std::exchange(other.storage_, {})) {}
  workspace& operator=(workspace&& other) noexcept {
    storage_ = std::exchange(other.storage_, {});
    return *this;
  }
  ~workspace() = default;
  /// Takes memory that is there already; wrap_workspace (iso/core/wrap.hpp) checks it.
  explicit workspace(storage memory) : storage_(std::move(memory)) {}
  /// Allocates `bytes`.
  /// \throws iso::invalid_argument  a negative size
  /// \throws iso::out_of_memory     as iso::allocate
  explicit workspace(std::int64_t bytes) { reserve(bytes); }

  /// Grows to at least `bytes`, losing what it held; never shrinks.
  /// \throws iso::invalid_argument  a negative size
  /// \throws iso::out_of_memory     as iso::allocate; the workspace is then empty
  void reserve(std::int64_t bytes) {
    ISO_VALIDATE(bytes >= 0,
                 "iso::workspace: {} bytes (must not be negative); reserve what the function's "
                 "_bytes_needed returns",
                 bytes);
    if (bytes <= size()) {
      return;
    }
    storage_ = {};
    storage_ = allocate<storage>("iso::workspace", {bytes}, Kokkos::WithoutInitializing);
  }

  [[nodiscard]] std::int64_t size() const { return std::int64_t(storage_.extent(0)); }
  [[nodiscard]] std::byte* data() const { return storage_.data(); }

 private:
  storage storage_;
};

/// The parts of an algorithm's scratch memory, one behind the other, each aligned for any type. One
/// function takes all parts. With a `workspace_parts` that only counts, it computes the algorithm's
/// `bytes_needed`; with one on a workspace it returns the pointers.
class workspace_parts {
 public:
  /// Makes an object that only counts: every pointer is null. `function` is the name in messages.
  explicit workspace_parts(char const* function) : function_(function) {}
  /// Deals out parts of `memory`.
  template <class Space>
  workspace_parts(workspace<Space> const& memory, char const* function)
      : function_(function), base_(memory.data()) {}

  /// Returns the next part: an array of T of these extents.
  /// \throws iso::invalid_argument  a negative extent, or bytes beyond 63 bits
  template <class T>
  T* take(std::initializer_list<std::int64_t> extents) {
    std::int64_t const first = bytes_;
    add(std::int64_t(sizeof(T)), extents);
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + first);
  }

  /// Returns the bytes of all parts so far.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void add(std::int64_t element, std::initializer_list<std::int64_t> extents);

  char const* function_;
  std::byte* base_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Checks that scratch memory is large enough.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: `scratch` is smaller than `needed` bytes
template <class Space>
void validate(workspace<Space> const& scratch, std::int64_t needed, char const* function) {
  ISO_VALIDATE(scratch.size() >= needed,
               "{}: scratch of {} bytes ({} are needed); reserve what {}_bytes_needed returns",
               function, scratch.size(), needed, function);
}

}  // namespace iso
