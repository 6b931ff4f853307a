// SPDX-License-Identifier: BSD-3-Clause
//! \file  peers/eigen_spmv.hpp
//! Runs Eigen's product of a row-major sparse matrix, without Kokkos: a CUDA build's compiler never
//! sees Eigen.
#pragma once

#include <cstdint>

namespace iso::perf {

/// A matrix by compressed rows, 32-bit offsets, in host memory.
template <class T>
struct host_csr {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t entries;
  std::int32_t const* offsets;
  std::int32_t const* indices;
  T const* values;
};

/// Computes y = A x with `threads` threads. For float and double.
template <class T>
void eigen_multiply(host_csr<T> const& a, T const* x, T* y, int threads);

}  // namespace iso::perf
