// SPDX-License-Identifier: BSD-3-Clause
//! What the sources of this folder launch alike.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::sparse::detail {

template <class Exec>
using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// offsets[i + 1], counts, become running totals.
struct running_total {
  std::int64_t* offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& total, bool last_pass) const {
    total += offsets[i + 1];
    if (last_pass) {
      offsets[i + 1] = total;
    }
  }
};

}  // namespace iso::sparse::detail
