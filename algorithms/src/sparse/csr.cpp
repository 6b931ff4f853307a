// SPDX-License-Identifier: BSD-3-Clause
#include <iso/sparse/csr.hpp>

#include <limits>

namespace iso::sparse::detail {

void validate_extents(char const* function, std::int64_t rows, std::int64_t cols,
                      std::int64_t entries) {
  ISO_VALIDATE(rows >= 0 && cols >= 0 && entries >= 0,
               "{}: {} x {} with {} entries (none may be negative)", function, rows, cols, entries);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  ISO_VALIDATE(rows <= most && cols <= most,
               "{}: {} x {} (at most {} rows and columns) split the matrix", function, rows, cols,
               most);
}

}  // namespace iso::sparse::detail
