// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/allocate.hpp
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Asks the system for large pages of the host where an array of so many bytes is worth it, before
/// the memory is first touched: rays across a volume of small pages wait for page tables.
void advise_large_pages(void* memory, std::uint64_t bytes);

/// Writes zeros, each worker of `exec` to its part, so that memory lies near who uses it.
template <class Exec>
void write_zeros(Exec const& exec, void* memory, std::uint64_t bytes) {
  constexpr std::uint64_t part = std::uint64_t(1) << 21;
  auto* const first = static_cast<char*>(memory);
  Kokkos::parallel_for("iso::allocate",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::uint64_t>>(
                           exec, 0, (bytes + part - 1) / part),
                       [=](std::uint64_t i) {
                         std::memset(first + i * part, 0,
                                     std::size_t(std::min(part, bytes - i * part)));
                       });
}

template <class T>
inline constexpr bool is_no_initialisation =
    std::is_same_v<T, std::remove_cv_t<decltype(Kokkos::WithoutInitializing)>>;

/// Makes the view, in large pages of the host where it is large.
template <class View, class... Properties>
View make_view(std::string const& label, typename View::array_layout const& layout,
               Properties const&... properties) {
  using value = typename View::value_type;
  constexpr bool on_host = std::is_same_v<typename View::memory_space, Kokkos::HostSpace>;
  constexpr bool has_exec = (Kokkos::is_execution_space_v<Properties> || ...);
  if constexpr (on_host && (is_no_initialisation<Properties> || ...)) {
    View const made(Kokkos::view_alloc(label, properties...), layout);
    advise_large_pages(made.data(), made.span() * sizeof(value));
    return made;
  } else if constexpr (on_host && has_exec && std::is_arithmetic_v<value>) {
    View const made(Kokkos::view_alloc(label, Kokkos::WithoutInitializing, properties...), layout);
    std::uint64_t const bytes = made.span() * sizeof(value);
    advise_large_pages(made.data(), bytes);
    auto const zero = [&]<class P>(P const& property) {
      if constexpr (Kokkos::is_execution_space_v<P>) {
        write_zeros(property, made.data(), bytes);
      }
    };
    (zero(properties), ...);
    return made;
  } else {
    return View(Kokkos::view_alloc(label, properties...), layout);
  }
}

}  // namespace detail

/// Returns a view of the given layout; `properties` are what Kokkos::view_alloc takes besides the
/// label: an execution space instance, Kokkos::WithoutInitializing. On the host an array of 4 MiB
/// or more lies in large pages where Linux has them.
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
      return detail::make_view<View>(label, layout, properties...);
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
