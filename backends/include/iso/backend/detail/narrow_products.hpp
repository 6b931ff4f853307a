// SPDX-License-Identifier: BSD-3-Clause
//! What products of 16-bit values that are written for one kind of processor have in common.
#pragma once

#include <cstdint>

namespace iso::backend::detail {

/// What sixteen bits of a matrix are.
enum class narrow { half, bfloat16 };

/// How the sums of a row begin and end: plainly at zero; or, `exact`, at an origin, of which the
/// power of two and a half is taken off at the end, x having the last bit of its significand set.
enum class lane_sums { plain, exact };

/// Slots of eight rows that share their columns: place l of slot s, 0 <= l < 32, holds values[(32 s
/// + l) 8 + r] of row r at column bases[s] + offsets[32 s + l]; with offsets of 8 bits bases[2 s] +
/// offsets[32 s + l], and from place bases[2 s + 1] mod 32 on bases[2 s + 1] / 32 more. Of pairs,
/// rows 0 to 3 and 4 to 7 have columns of their own: bases and offsets are two and two.
template <class Offset>
struct eight_row_slots {
  std::int32_t const* bases = nullptr;
  Offset const* offsets = nullptr;
  std::uint16_t const* values = nullptr;
  /// Which of them the piece at hand has: where it says so, for who reads it when it is wanted.
  std::int64_t const* first = nullptr;
  std::int32_t const* count = nullptr;
};

}  // namespace iso::backend::detail
