// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/oracle/products.hpp
//! Computes products in long double by compensated sums, and how far a result is from exact.
#pragma once

#include <iso/sparse/csr.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace iso::oracle {

/// Returns the sum of |found - exact| over the sum of |exact|, over the elements of `exact` that
/// are no NaN; 0 where `found` is `exact`, were all of it zeros.
template <class T, class Exact>
double relative_l1(std::vector<T> const& found, std::vector<Exact> const& exact) {
  long double difference = 0;
  long double size = 0;
  bool any = exact.empty();
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!std::isnan(exact[i])) {
      auto const must = static_cast<long double>(exact[i]);
      difference += std::abs(static_cast<long double>(found[i]) - must);
      size += std::abs(must);
      any = true;
    }
  }
  return any && difference == 0 ? 0 : double(difference / size);
}

/// Returns alpha A x + beta y for `vectors` vectors side by side, their number fastest.
template <class Result = double, class Value, class T>
std::vector<Result> exact_product(double alpha,
                                  sparse::csr_view<Value, std::int32_t, Kokkos::HostSpace> const& a,
                                  std::vector<T> const& x, double beta, std::vector<T> const& y,
                                  std::int64_t vectors = 1) {
  std::vector<Result> result;
  std::int64_t const* const offsets = a.row_offsets.data();
  for (std::int64_t row = 0; row < a.num_rows; ++row) {
    for (std::int64_t k = 0; k < vectors; ++k) {
      long double sum = 0;
      long double lost = 0;  // what the additions round away (Neumaier)
      for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
        auto const at = std::size_t(a.columns.data()[i] * vectors + k);
        long double const term = static_cast<long double>(double(a.values.data()[i])) * x[at];
        long double const next = sum + term;
        lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
        sum = next;
      }
      sum += lost;
      long double const before = beta == 0 ? 0 : y[std::size_t(row * vectors + k)];
      result.push_back(Result(alpha * sum + beta * before));
    }
  }
  return result;
}

}  // namespace iso::oracle
