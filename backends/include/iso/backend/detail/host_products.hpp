// SPDX-License-Identifier: BSD-3-Clause
//! Rows of a sparse matrix times vectors, by hand for processors with AVX-512: what compilers make
//! of the lanes' loops takes half again as long, or nearly twice. The same operations in the same
//! order, so that no bit tells which of the two ran.
#pragma once

#include <iso/backend/detail/narrow_products.hpp>

#include <cstdint>

namespace iso::backend::detail {

/// The sums of a row times K vectors (1, 2 or 4), their numbers at column c being x[K c] and on:
/// lane l of 32 adds values[j] x[columns[j]] for j = l, l + 32, ... below `count` by fma, and the
/// lanes are added as group.sum does. `origins` and `sums`: K numbers. Needs AVX-512
/// (host_vector_bytes() == 64).
template <narrow Kind, lane_sums Sums, int K, class Column>
void row_products(double const* x, Column const* columns, std::uint16_t const* values,
                  std::int32_t count, double const* origins, double* sums);

/// The sums of R rows that share their columns, but for eight rows and four vectors, in slots of
/// 32: place l of slot s belongs to lane l and holds values[(32 s + l) R + r] at column bases[s] +
/// offsets[32 s + l]; with offsets of 8 bits bases[2 s] + offsets[32 s + l], and from place bases[2
/// s + 1] mod 32 on bases[2 s + 1] / 32 more. `origins` and `sums`: K numbers a row.
template <narrow Kind, lane_sums Sums, int R, int K, class Offset>
void slot_products(double const* x, std::int32_t const* bases, Offset const* offsets,
                   std::uint16_t const* values, std::int32_t slots, double const* origins,
                   double* sums);

/// The sums of eight rows and four vectors, of row r and vector k at 4 r + k: three chains of fma,
/// places ascending. Those of shared slots go to the first where l mod 8 < 4, else to the second,
/// those of pairs to the third; the first two are added, then the third. `origins` and `sums`: 32
/// numbers. Needs AVX-512.
template <narrow Kind, lane_sums Sums, class Offset>
void eight_row_products(double const* x, eight_row_slots<Offset> const& shared,
                        eight_row_slots<std::uint16_t> const& pairs, double const* origins,
                        double* sums);

}  // namespace iso::backend::detail
