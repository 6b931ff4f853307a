// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/detail/added_planes.hpp>

#include <algorithm>
#include <cstdint>

namespace iso::detail {

void join_planes(std::vector<slab>& added, std::vector<slab> const& planes, char const* function) {
  for (slab const& one : planes) {
    for (slab const& other : added) {
      ISO_VALIDATE(one.last <= other.first || other.last <= one.first,
                   "{}: planes {} to {} ({} to {} were added before); give each plane to one "
                   "slab",
                   function, one.first, one.last - 1, other.first, other.last - 1);
    }
  }
  added.insert(added.end(), planes.begin(), planes.end());
  std::sort(added.begin(), added.end(),
            [](slab const& a, slab const& b) { return a.first < b.first; });
  std::vector<slab> joined;
  for (slab const& one : added) {
    if (!joined.empty() && joined.back().last == one.first) {
      joined.back().last = one.last;
    } else {
      joined.push_back(one);
    }
  }
  added = joined;
}

void validate_complete(std::vector<slab> const& added, iso::grid const& whole,
                       char const* function) {
  std::int64_t missing = 0;
  for (slab const& one : added) {
    if (one.first != missing) {
      break;
    }
    missing = one.last;
  }
  ISO_VALIDATE(missing == whole.extent[2],
               "{}: plane {} of {} was not added (the sums need all); add the slab that owns it",
               function, missing, whole.extent[2]);
}

}  // namespace iso::detail
