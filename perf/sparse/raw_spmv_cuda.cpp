// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/raw_spmv.hpp"

#include <iso/backend/cuda_check.hpp>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

namespace iso::perf {
namespace {

namespace cg = cooperative_groups;

__device__ __forceinline__ float widened(float x) { return x; }
__device__ __forceinline__ float widened(half x) { return __half2float(__ushort_as_half(x.bits)); }

unsigned blocks_for(std::int64_t warps, int threads) {
  std::int64_t const per_block = threads / 32;
  return unsigned((warps + per_block - 1) / per_block);
}

template <class Value, class T>
__global__ void listing1(raw_csr<Value> const a, T const* __restrict__ x, T* __restrict__ y) {
  auto const warp = cg::tiled_partition<32>(cg::this_thread_block());
  std::int64_t const first =
      std::int64_t(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank();
  std::int64_t const warps = std::int64_t(gridDim.x) * warp.meta_group_size();
  for (std::int64_t row = first; row < a.rows; row += warps) {
    std::int64_t const begin = a.offsets[row];
    std::int64_t const end = a.offsets[row + 1];
    if (begin == end) {
      continue;
    }
    // From the row's start on, in 32 bits, as the paper has it.
    Value const* __restrict__ const values = a.values + begin;
    std::int32_t const* __restrict__ const columns = a.columns + begin;
    int const length = int(end - begin);
    T sum = 0;
#pragma unroll 4
    for (int j = int(warp.thread_rank()); j < length; j += 32) {
      sum = fma(T(widened(values[j])), x[columns[j]], sum);
    }
    sum = cg::reduce(warp, sum, cg::plus<T>());
    if (warp.thread_rank() == 0) {
      y[row] = sum;
    }
  }
}

__global__ void atomic_columns(raw_csr<half> const a, double const* __restrict__ x, double* y) {
  std::int64_t const column = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (column >= a.rows) {
    return;
  }
  double const weight = x[column];
  std::int64_t const end = a.offsets[column + 1];
  for (std::int64_t j = a.offsets[column] + threadIdx.x % 32; j < end; j += 32) {
    atomicAdd(y + a.columns[j], double(widened(a.values[j])) * weight);
  }
}

}  // namespace

template <class Value, class T>
void raw_listing1(Kokkos::Cuda const& exec, raw_csr<Value> const& a, T const* x, T* y,
                  int threads) {
  listing1<<<blocks_for(a.rows, threads), unsigned(threads), 0, exec.cuda_stream()>>>(a, x, y);
  ISO_CUDA_CHECK(cudaGetLastError());
}

void raw_atomic_columns(Kokkos::Cuda const& exec, raw_csr<half> const& a, double const* x,
                        double* y, std::int64_t num_voxels, int threads) {
  ISO_CUDA_CHECK(
      cudaMemsetAsync(y, 0, std::size_t(num_voxels) * sizeof(double), exec.cuda_stream()));
  atomic_columns<<<blocks_for(a.rows, threads), unsigned(threads), 0, exec.cuda_stream()>>>(a, x,
                                                                                            y);
  ISO_CUDA_CHECK(cudaGetLastError());
}

template void raw_listing1(Kokkos::Cuda const&, raw_csr<half> const&, double const*, double*, int);
template void raw_listing1(Kokkos::Cuda const&, raw_csr<float> const&, float const*, float*, int);

}  // namespace iso::perf
