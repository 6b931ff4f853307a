// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/sparse/chunk_sums.hpp
//! Ordered sums of row blocks as their definition has them, lane by lane.
#pragma once

#include "sparse_support.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sparse_support {

/// The ordered sum of a row, 64 chunks at a time: lanes, then the tree.
template <class Matrix>
double chunk_sum(Matrix const& a, std::int64_t row, std::vector<double> const& x) {
  std::int64_t const first = a.chunk_offsets()(row / a.rows);
  std::int64_t const last = a.chunk_offsets()(row / a.rows + 1);
  double total = 0;
  for (std::int64_t part = first; part < last; part += 64) {
    double lane[32] = {};
    for (std::int64_t c = part; c < std::min(part + 64, last); ++c) {
      for (std::int64_t l = 0; l < 32; ++l) {
        auto const value = a.values()((32 * c + l) * a.rows + row % a.rows);
        if (value.bits != padding.bits) {
          std::int32_t const column = a.bases()(c) + a.offsets()(32 * c + l);
          lane[l] = std::fma(double(value), x[std::size_t(column)], lane[l]);
        }
      }
    }
    for (int step = 16; step > 0; step /= 2) {
      for (int l = 0; l < step; ++l) {
        lane[l] += lane[l + step];
      }
    }
    total = part == first ? lane[0] : total + lane[0];
  }
  return total;
}

}  // namespace sparse_support
