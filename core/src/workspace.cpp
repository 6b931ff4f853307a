// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/workspace.hpp>

#include <limits>

namespace iso {

void workspace_parts::add(std::int64_t element, std::initializer_list<std::int64_t> extents) {
  // A part is rounded up, and the sum of two must not wrap around either.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2 - 256;
  std::int64_t bytes = element;
  for (std::int64_t const n : extents) {
    ISO_VALIDATE(n >= 0, "{}: scratch of {} elements (must not be negative); check the extents",
                 function_, n);
    ISO_VALIDATE(n == 0 || bytes <= most / n,
                 "{}: scratch of {} x {} bytes (they do not fit 63 bits); call the function for a "
                 "part at a time",
                 function_, bytes, n);
    bytes *= n;
  }
  bytes = detail::workspace_part(bytes);
  ISO_VALIDATE(bytes_ <= most - bytes,
               "{}: scratch of {} + {} bytes (they do not fit 63 bits); call the function for a "
               "part at a time",
               function_, bytes_, bytes);
  bytes_ += bytes;
}

}  // namespace iso
