// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/allocate.hpp
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace iso {

namespace detail {

/// Returns the bytes of host memory that are free now; 0 where the system does not say.
std::uint64_t free_host_bytes();

/// Returns whether the host has so many bytes, as far as it says: an allocator that promises more
/// than there is would have the process killed where they are first touched.
bool host_has(std::uint64_t bytes);

template <class Space>
std::uint64_t free_bytes() {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    return free_host_bytes();
  } else {
    return 0;
  }
}

[[noreturn]] void throw_out_of_memory(std::string_view label, std::uint64_t bytes,
                                      std::string_view space, std::uint64_t available);

/// Returns whether an allocator's exception says that there is no memory, and not that a device has
/// failed.
bool is_want_of_memory(std::exception const& failure);

/// Returns the bytes of an array; the largest number where they do not fit 64 bits.
template <class View>
std::uint64_t bytes_of(typename View::array_layout const& layout) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = sizeof(typename View::value_type);
  for (std::size_t axis = 0; axis < View::rank(); ++axis) {
    std::uint64_t const n = layout.dimension[axis];
    bytes = n == 0 || bytes <= most / n ? bytes * n : most;
  }
  return bytes;
}

}  // namespace detail

/// Returns a view of the given layout; `properties` are what Kokkos::view_alloc takes besides the
/// label: an execution space instance, Kokkos::WithoutInitializing.
/// Determinism: backend_to_backend, zeros unless told otherwise.
/// \throws iso::out_of_memory  with the label, the bytes asked for and those that were free
/// \throws iso::invalid_argument  extents that are negative, or not one for each of the view
template <class View, class... Properties>
[[gnu::noinline]] View allocate(std::string const& label, typename View::array_layout const& layout,
                                Properties const&... properties) {
  using space = typename View::memory_space;
  std::uint64_t const bytes = detail::bytes_of<View>(layout);
  // More than a pointer difference can hold would wrap around inside an allocator.
  bool const possible = bytes <= std::uint64_t(std::numeric_limits<std::ptrdiff_t>::max()) / 2 &&
                        (!std::is_same_v<space, Kokkos::HostSpace> || detail::host_has(bytes));
  try {
    if (possible) {
      return View(Kokkos::view_alloc(label, properties...), layout);
    }
  } catch (std::exception const& failure) {
    if (!detail::is_want_of_memory(failure)) {
      throw;
    }
  }
  detail::throw_out_of_memory(label, bytes, space::name(), detail::free_bytes<space>());
}

/// Does the same for the given extents.
template <class View, class... Properties>
[[gnu::noinline]] View allocate(std::string const& label,
                                std::initializer_list<std::int64_t> extents,
                                Properties const&... properties) {
  ISO_VALIDATE(extents.size() == View::rank(),
               "{}: {} extents for a view of rank {} (each index has one extent); give as many "
               "extents as the view has indices",
               label, extents.size(), View::rank());
  typename View::array_layout layout;
  std::size_t axis = 0;
  for (std::int64_t const n : extents) {
    ISO_VALIDATE(n >= 0, "{}: an extent of {} (none may be negative); give 0 or more", label, n);
    layout.dimension[axis++] = std::size_t(n);
  }
  return allocate<View>(label, layout, properties...);
}

}  // namespace iso
