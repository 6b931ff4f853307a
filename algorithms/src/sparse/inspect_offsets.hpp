// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/sparse/validate.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>

namespace iso::sparse::detail {

/// What a reduction over rows carries: how many are bad, and the first with what is wrong there.
struct first_bad {
  std::int64_t count;
  std::int64_t first;
  fault what;
};

inline constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t longest_allowed = std::numeric_limits<std::int32_t>::max() - 63;

struct first_bad_reducer {
  using value_type = first_bad;

  KOKKOS_FUNCTION void init(first_bad& b) const { b = {0, no_row, fault::none}; }
  KOKKOS_FUNCTION void join(first_bad& into, first_bad const& from) const {
    into.count += from.count;
    if (from.first < into.first) {
      into.first = from.first;
      into.what = from.what;
    }
  }
};

/// What is wrong with row offset i.
struct offsets_kernel : first_bad_reducer {
  std::int64_t const* offsets;
  std::int64_t rows;
  std::int64_t entries;

  KOKKOS_FUNCTION fault wrong_with(std::int64_t i) const {
    std::int64_t const at = offsets[i];
    if (i == 0 && at != 0) {
      return fault::first_row_offset;
    }
    if (at < 0) {
      return fault::negative_row_offset;
    }
    if (i > 0 && at < offsets[i - 1]) {
      return fault::falling_row_offset;
    }
    if (at > entries) {
      return fault::row_offset_beyond;
    }
    if (i == rows && at != entries) {
      return fault::last_row_offset;
    }
    if (i > 0 && offsets[i - 1] >= 0 && at - offsets[i - 1] > longest_allowed) {
      return fault::row_too_long;
    }
    return fault::none;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, first_bad& b) const {
    fault const what = wrong_with(i);
    if (what != fault::none) {
      join(b, {1, i, what});
    }
  }
};

/// A normal power of two above zero; no scales: all are good.
KOKKOS_INLINE_FUNCTION bool good_scale(double const* scales, std::int64_t row) {
  if (scales == nullptr) {
    return true;
  }
  auto const bits = Kokkos::bit_cast<std::uint64_t>(scales[row]);
  return (bits & 0x000fffffffffffffULL) == 0 && bits > 0 && bits < 0x7ff0000000000000ULL;
}

}  // namespace iso::sparse::detail
