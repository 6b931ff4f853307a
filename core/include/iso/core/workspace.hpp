// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/workspace.hpp
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>

namespace iso {

namespace detail {

/// Bytes of host memory that are free now; 0 where the system does not say.
std::uint64_t free_host_bytes();

template <class Space>
std::uint64_t free_bytes() {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    return free_host_bytes();
  } else {
    return 0;
  }
}

}  // namespace detail

/// Scratch memory that the caller owns and may use again from call to call. An algorithm says how
/// much it wants by its `bytes_needed`; given less, it throws before anything is enqueued.
template <class Space>
class workspace {
 public:
  workspace() = default;
  /// Allocates; throws iso::out_of_memory with the two figures where it does not fit.
  explicit workspace(std::int64_t bytes) { reserve(bytes); }

  /// Grows to at least `bytes`, losing what it held; never shrinks. Where it throws
  /// iso::out_of_memory it is left empty.
  void reserve(std::int64_t bytes) {
    ISO_VALIDATE(bytes >= 0, "iso::workspace: {} bytes (must not be negative)", bytes);
    if (bytes <= size()) {
      return;
    }
    storage_ = {};
    try {
      storage_ = storage(Kokkos::view_alloc(Kokkos::WithoutInitializing, "iso::workspace"),
                         std::size_t(bytes));
    } catch (std::exception const&) {
      std::uint64_t const available = detail::free_bytes<Space>();
      throw out_of_memory(
          available != 0
              ? message("workspace of {} bytes does not fit {} ({} bytes are free) use fewer views "
                        "a call",
                        {std::int64_t(bytes), std::string_view(Space::name()), available})
              : message("workspace of {} bytes does not fit {} (it does not say what is free) "
                        "use fewer views a call",
                        {std::int64_t(bytes), std::string_view(Space::name())}),
          std::uint64_t(bytes), available);
    }
  }

  [[nodiscard]] std::int64_t size() const { return std::int64_t(storage_.extent(0)); }
  [[nodiscard]] std::byte* data() const { return storage_.data(); }

 private:
  using storage = Kokkos::View<std::byte*, Space>;
  storage storage_;
};

}  // namespace iso
