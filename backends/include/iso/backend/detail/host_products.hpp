// SPDX-License-Identifier: BSD-3-Clause
//! Rows of a sparse matrix times vectors, by hand for processors with AVX-512: what compilers make
//! of the lanes' loops takes half again as long, or nearly twice. The same operations in the same
//! order, so that no bit tells which of the two ran.
#pragma once

#include <cstdint>

namespace iso::backend::detail {

/// What sixteen bits of a matrix are.
enum class narrow { half, bfloat16 };

/// How the sums of a row's lanes begin and end: plainly at zero; or, `exact`, at `origin`, of which
/// the power of two and a half is taken off at the end, x having the last bit of its significand
/// set.
enum class lane_sums { plain, exact };

/// The sums of a row times K vectors (1, 2 or 4), their numbers at column c being x[K c] and on:
/// lane l of 32 adds values[j] x[columns[j]] for j = l, l + 32, ... below `count` by fma, and the
/// lanes are added as group.sum does. `origins` and `sums`: K numbers. Needs AVX-512
/// (host_vector_bytes() == 64).
template <narrow Kind, lane_sums Sums, int K, class Column>
void row_products(double const* x, Column const* columns, std::uint16_t const* values,
                  std::int32_t count, double const* origins, double* sums);

/// The sums of R rows that share their columns, in slots of 32: place l of slot s belongs to lane l
/// and holds values[(32 s + l) R + r] at column bases[s] + offsets[32 s + l]; with offsets of 8
/// bits bases[2 s] + offsets[32 s + l], and from place bases[2 s + 1] mod 32 on bases[2 s + 1] / 32
/// more. `origins` and `sums`: K numbers a row.
template <narrow Kind, lane_sums Sums, int R, int K, class Offset>
void slot_products(double const* x, std::int32_t const* bases, Offset const* offsets,
                   std::uint16_t const* values, std::int32_t slots, double const* origins,
                   double* sums);

}  // namespace iso::backend::detail
