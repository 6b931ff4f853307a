// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/sparse/exact_sums.hpp
#pragma once

#include "sparse_support.hpp"

#include <iso/oracle/products.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace sparse_support {

/// The products of every row added up by the oracle, and their magnitudes.
template <class Value>
std::pair<std::vector<long double>, std::vector<long double>> exact_sums(lists m,
                                                                         std::vector<double> x) {
  auto const sums = [&] {
    return iso::oracle::exact_product<long double>(1, csr<Value, std::int32_t>(Kokkos::Serial(), m),
                                                   x, 0, x);
  };
  auto const plain = sums();
  for (auto& row : m.rows) {
    for (auto& e : row) {
      e.value = std::abs(e.value);
    }
  }
  for (double& v : x) {
    v = std::abs(v);
  }
  return {plain, sums()};
}

}  // namespace sparse_support
