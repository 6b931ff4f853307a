// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/raw_spmv.hpp
//! Computes products as one would write them in CUDA alone: the variants of Liu et al. 2021, and
//! the twin that the library's product of row blocks is measured by.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/sparse/plan.hpp>
#include <iso/sparse/row_block_csr.hpp>
#include <iso/sparse/spmv.hpp>

#include <cstdint>

#if ISO_HAS_CUDA
namespace iso::perf {

/// Holds a matrix by compressed rows on the device.
template <class Value>
struct raw_csr {
  std::int64_t rows;
  std::int64_t const* offsets;
  std::int32_t const* columns;
  Value const* values;
};

/// Runs listing 1: a warp a row, lanes 32 apart, in blocks of `threads`. y of rows without entries
/// is not written. (half, double) is the paper's Half/Double, (float, float) its Single.
template <class Value, class T>
void raw_listing1(Kokkos::Cuda const& exec, raw_csr<Value> const& a, T const* x, T* y, int threads);

/// Runs the baseline, a warp a column with atomic additions to the doses of its voxels: `a` holds
/// the columns of the matrix, as the clinical layout does. Writes `num_voxels` doses.
/// Determinism: not_guaranteed.
void raw_atomic_columns(Kokkos::Cuda const& exec, raw_csr<half> const& a, double const* x,
                        double* y, std::int64_t num_voxels, int threads);

/// Holds what the twin reads beside the matrix.
struct raw_blocks_call {
  sparse::spmv_plan<Kokkos::CudaSpace> plan;
  double const* max_abs_x;  ///< reproducible alone
  double const* x;
  double* y;
  double* part_sums;  ///< R for each part of the plan
  summation sum;
  int threads;
};

/// Computes the product of row blocks, a warp a block or a part of one: the library's order and so
/// its bits, for finite x.
template <int R>
void raw_blocks(Kokkos::Cuda const& exec,
                sparse::row_block_csr<half, R, Kokkos::CudaSpace> const& a,
                raw_blocks_call const& call);

}  // namespace iso::perf
#endif
