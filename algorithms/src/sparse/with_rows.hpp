// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

namespace iso::sparse::detail {

/// f(R) with the number of rows a group as a type.
template <class F>
void with_rows(int rows, F const& f) {
  if (rows == 2) {
    f(std::integral_constant<int, 2>());
  } else if (rows == 4) {
    f(std::integral_constant<int, 4>());
  } else {
    f(std::integral_constant<int, 8>());
  }
}

}  // namespace iso::sparse::detail
