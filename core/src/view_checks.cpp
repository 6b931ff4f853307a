// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/view_checks.hpp>
#include <iso/core/wrap.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace iso {

void validate_memory(std::initializer_list<memory_range> arrays, char const* function) {
  for (auto const& array : arrays) {
    ISO_VALIDATE(array.data != nullptr || array.bytes == 0,
                 "{}: {} has elements but no memory (its pointer is null); allocate it first",
                 function, array.name);
  }
}

void validate_apart(memory_range const& written, std::initializer_list<memory_range> others,
                    char const* function) {
  // Of pointers into different arrays only std::less has an order.
  std::less<> const before;
  auto const end = [](memory_range const& a) {
    return static_cast<std::byte const*>(a.data) + a.bytes;
  };
  for (auto const& other : others) {
    bool const apart = written.bytes == 0 || other.bytes == 0 ||
                       !before(written.data, static_cast<void const*>(end(other))) ||
                       !before(other.data, static_cast<void const*>(end(written)));
    ISO_VALIDATE(apart,
                 "{}: {} and {} overlap (one is written while the other is read); copy one of them",
                 function, written.name, other.name);
  }
}

namespace detail {

void validate_alignment(void const* data, std::size_t bytes, char const* function) {
  ISO_VALIDATE(
      reinterpret_cast<std::uintptr_t>(data) % bytes == 0,
      "{}: pointer that is not a multiple of {} bytes (its type needs that); align the array",
      function, bytes);
}

void validate_strides(std::int64_t const (&extents)[3], std::int64_t const (&strides)[3],
                      char const* function) {
  std::int64_t wanted = 1;
  for (int axis = 2; axis >= 0; --axis) {
    // The stride of an axis of one element is never taken.
    ISO_VALIDATE(extents[axis] <= 1 || strides[axis] == wanted,
                 "{}: array of [{}, {}, {}] with strides [{}, {}, {}] (elements must follow each "
                 "other, the last index fastest); copy it into a plain view",
                 function, extents[0], extents[1], extents[2], strides[0], strides[1], strides[2]);
    wanted *= extents[axis];
  }
}

}  // namespace detail
}  // namespace iso
