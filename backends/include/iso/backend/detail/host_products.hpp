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

/// The sums of R rows that share their columns (4 or 8), in column chunks of 32 lanes: lane l of
/// chunk c holds values[(32 c + l) R + r] of row r at column bases[c] + offsets[32 c + l].
/// `origins` and `sums`: K numbers a row.
template <narrow Kind, lane_sums Sums, int R, int K>
void chunk_products(double const* x, std::int32_t const* bases, std::uint16_t const* offsets,
                    std::uint16_t const* values, std::int32_t chunks, double const* origins,
                    double* sums);

}  // namespace iso::backend::detail
