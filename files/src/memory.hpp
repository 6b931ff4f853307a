// SPDX-License-Identifier: BSD-3-Clause
//! Gets memory for what a file holds.
#pragma once

#include <iso/core/detail/host_memory.hpp>
#include <iso/core/error.hpp>

#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>

namespace iso::files::detail {

/// Runs `take`, which takes `bytes` for `what` of the file; throws iso::out_of_memory with both
/// figures before that, where fewer are free, and where it fails for want of memory.
template <class Take>
void with_memory(std::filesystem::path const& path, std::string_view what, std::uint64_t bytes,
                 Take&& take) {
  auto const memory = iso::detail::read_array_memory();
  auto const free = memory.available;
  auto const shortage = [&](char const* more) {
    return out_of_memory(fmt::format("'{}': {} bytes{} are needed for {} ({} bytes are free{}); "
                                     "use less data, or a larger machine or limit",
                                     path.string(), bytes, more, what, free, memory.bound),
                         bytes, free);
  };
  if (free > 0 && bytes > free) {
    throw shortage("");
  }
  char const* const more = " and what its library takes besides";
  try {
    take();
  } catch (std::bad_alloc const&) {
    throw shortage(more);
  } catch (std::length_error const&) {
    throw shortage(more);
  }
}

}  // namespace iso::files::detail
