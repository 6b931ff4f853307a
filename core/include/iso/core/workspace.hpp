// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/workspace.hpp
#pragma once

#include <iso/core/allocate.hpp>

#include <cstddef>
#include <cstdint>

namespace iso {

namespace detail {
/// Bytes that a part of `bytes` takes of a workspace, so that the next part is aligned for any
/// type.
inline constexpr std::int64_t workspace_part(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}
}  // namespace detail

/// Scratch memory that the caller owns and may use again from call to call. An algorithm says how
/// much it wants by its `bytes_needed`; given less, it throws before anything is enqueued.
template <class Space>
class workspace {
 public:
  workspace() = default;
  /// \throws iso::invalid_argument  a negative size
  /// \throws iso::out_of_memory     as iso::allocate
  explicit workspace(std::int64_t bytes) { reserve(bytes); }

  /// Grows to at least `bytes`, losing what it held; never shrinks.
  /// \throws iso::invalid_argument  a negative size
  /// \throws iso::out_of_memory     as iso::allocate; the workspace is then empty
  void reserve(std::int64_t bytes) {
    ISO_VALIDATE(bytes >= 0, "iso::workspace: {} bytes (must not be negative)", bytes);
    if (bytes <= size()) {
      return;
    }
    storage_ = {};
    storage_ = allocate<storage>("iso::workspace", {bytes}, Kokkos::WithoutInitializing);
  }

  [[nodiscard]] std::int64_t size() const { return std::int64_t(storage_.extent(0)); }
  [[nodiscard]] std::byte* data() const { return storage_.data(); }

 private:
  using storage = Kokkos::View<std::byte*, Space>;
  storage storage_;
};

}  // namespace iso
