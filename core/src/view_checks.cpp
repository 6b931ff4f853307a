// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/view_checks.hpp>

#include <cstddef>
#include <functional>

namespace iso {

void validate_memory(std::initializer_list<memory_range> arrays, char const* function) {
  for (auto const& array : arrays) {
    ISO_VALIDATE(array.data != nullptr || array.bytes == 0,
                 "{}: {} has elements but no memory (its pointer is null) allocate it first",
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
    ISO_VALIDATE(apart, "{}: {} and {} overlap (one is written while the other is read) copy one",
                 function, written.name, other.name);
  }
}

}  // namespace iso
