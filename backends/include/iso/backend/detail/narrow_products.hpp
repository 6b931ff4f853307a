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

}  // namespace iso::backend::detail
