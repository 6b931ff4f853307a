// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/view_checks.hpp
//! Provides the checks that every function makes of its arrays: O(1), on the host.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace iso {

/// The memory behind an array, and the name of the array in messages.
struct memory_range {
  void const* data;
  std::uint64_t bytes;
  char const* name;
};

/// Returns the range from the first element of `v` to its last, gaps included.
/// Determinism: backend_to_backend; made on the host.
template <view V>
memory_range memory_of(V const& v, char const* name) {
  // Not v.size(), which is 0 where there is no memory.
  bool empty = false;
  for (std::size_t axis = 0; axis < V::rank(); ++axis) {
    empty = empty || v.extent(axis) == 0;
  }
  std::size_t const elements = empty ? 0 : v.span();
  return {v.data(), elements * sizeof(typename V::value_type), name};
}

/// Checks that arrays with elements have memory.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: an array with elements and without memory
void validate_memory(std::initializer_list<memory_range> arrays, char const* function);

/// Checks that an output shares no memory with other arrays.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: `written` shares memory with one of `others`
void validate_apart(memory_range const& written, std::initializer_list<memory_range> others,
                    char const* function);

/// Checks that the elements of a view follow each other.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: elements of `v` do not follow each other
template <view V>
void validate_contiguous(V const& v, char const* name, char const* function) {
  ISO_VALIDATE(v.span_is_contiguous(),
               "{}: {} has gaps between its rows (elements must follow each other, the last index "
               "fastest); copy it into a plain view",
               function, name);
}

}  // namespace iso
