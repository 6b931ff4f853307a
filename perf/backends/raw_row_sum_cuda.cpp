// SPDX-License-Identifier: BSD-3-Clause
#include "row_sum.hpp"

#include <iso/backend/cuda_check.hpp>

#include <cuda_fp16.h>

namespace iso::perf {

namespace {

__device__ double widen(float x) { return double(x); }
__device__ double widen(__half x) { return double(__half2float(x)); }

template <class T>
__global__ void __launch_bounds__(256)
    row_sum(int num_rows, std::int64_t const* __restrict__ begin, int const* __restrict__ column,
            T const* __restrict__ value, double const* __restrict__ x, double* __restrict__ y) {
  int const row = int((blockIdx.x * 256U + threadIdx.x) / 32U);
  int const lane = int(threadIdx.x % 32U);
  if (row >= num_rows) {
    return;
  }
  auto const end = int(begin[row + 1]);
  double sum = 0;
  for (int i = int(begin[row]) + lane; i < end; i += 32) {
    sum = __fma_rn(widen(value[i]), x[column[i]], sum);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffU, sum, offset);
  }
  if (lane == 0) {
    y[row] = sum;
  }
}

template <class Raw, class T>
void launch(Kokkos::Cuda const& exec, row_arrays<T> const& rows) {
  auto const blocks = unsigned((rows.num_rows + 7) / 8);
  row_sum<Raw><<<blocks, 256, 0, exec.cuda_stream()>>>(int(rows.num_rows), rows.begin, rows.column,
                                                       reinterpret_cast<Raw const*>(rows.value),
                                                       rows.x, rows.y);
  ISO_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void raw_row_sum(Kokkos::Cuda const& exec, row_arrays<float> const& rows) {
  launch<float>(exec, rows);
}

void raw_row_sum(Kokkos::Cuda const& exec, row_arrays<Kokkos::Experimental::half_t> const& rows) {
  launch<__half>(exec, rows);
}

}  // namespace iso::perf
