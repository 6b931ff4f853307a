// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/allocate.hpp
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace iso {

namespace detail {

/// Returns whether a memory may hold so many bytes; of the host, as far as the system says.
bool may_hold(std::uint64_t bytes, bool on_host);

[[noreturn]] void throw_out_of_memory(std::string_view label, std::uint64_t bytes,
                                      std::string_view space, std::uint64_t available = 0);

/// Returns whether an allocator's exception says that memory is lacking, not that a device failed.
bool is_want_of_memory(std::exception const& failure);

/// Returns the bytes of an array; the largest number where they do not fit 64 bits.
std::uint64_t bytes_of(std::size_t const* extents, std::size_t rank, std::size_t value_bytes);

/// Throws unless there is one extent for each index of a view, and none is negative.
void check_extents(std::string const& label, std::initializer_list<std::int64_t> extents,
                   std::size_t rank);

/// Asks for large pages before they are touched: rays across small ones wait for page tables.
void advise_large_pages(void* memory, std::uint64_t bytes);

template <class View, class... Properties>
View make_view(std::string const& label, typename View::array_layout const& layout,
               Properties const&... properties) {
  using none = std::remove_cv_t<decltype(Kokkos::WithoutInitializing)>;
  using value = typename View::value_type;
  constexpr bool on_host = std::is_same_v<typename View::memory_space, Kokkos::HostSpace>;
  if constexpr (on_host && std::is_arithmetic_v<value> &&
                !(std::is_same_v<Properties, none> || ...) &&
                (Kokkos::is_execution_space_v<Properties> || ...)) {
    View const made = make_view<View>(label, layout, Kokkos::WithoutInitializing, properties...);
    auto const clear = [&](auto const& exec) {
      if constexpr (Kokkos::is_execution_space_v<std::decay_t<decltype(exec)>>) {
        using bytes = Kokkos::View<char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
        Kokkos::deep_copy(
            exec, bytes(reinterpret_cast<char*>(made.data()), made.span() * sizeof(value)), 0);
      }
    };
    (clear(properties), ...);
    return made;
  } else {
    View const made(Kokkos::view_alloc(label, properties...), layout);
    if constexpr (on_host) {
      advise_large_pages(made.data(), made.span() * sizeof(value));
    }
    return made;
  }
}

}  // namespace detail

/// Returns a view of the given layout; `properties` are what Kokkos::view_alloc takes besides the
/// label: an execution space instance, Kokkos::WithoutInitializing. With one of them an array of
/// 4 MiB or more on the host lies in large pages where Linux has them.
/// Determinism: backend_to_backend, zeros unless told otherwise.
/// \throws iso::out_of_memory  with the label, the bytes asked for and those that were free
/// \throws iso::invalid_argument  extents that are negative, or not one for each of the view
template <class View, class... Properties>
[[gnu::noinline]] View allocate(std::string const& label, typename View::array_layout const& layout,
                                Properties const&... properties) {
  using space = typename View::memory_space;
  std::uint64_t const bytes =
      detail::bytes_of(layout.dimension, View::rank(), sizeof(typename View::value_type));
  try {
    if (detail::may_hold(bytes, std::is_same_v<space, Kokkos::HostSpace>)) {
      return detail::make_view<View>(label, layout, properties...);
    }
  } catch (std::exception const& failure) {
    if (!detail::is_want_of_memory(failure)) {
      throw;
    }
  }
  detail::throw_out_of_memory(label, bytes, space::name());
}

/// Does the same for the given extents.
template <class View, class... Properties>
[[gnu::noinline]] View allocate(std::string const& label,
                                std::initializer_list<std::int64_t> extents,
                                Properties const&... properties) {
  detail::check_extents(label, extents, View::rank());
  typename View::array_layout layout;
  std::copy(extents.begin(), extents.end(), layout.dimension);
  return allocate<View>(label, layout, properties...);
}

}  // namespace iso
