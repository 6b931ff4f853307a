// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/raw_spmv.hpp"

#include <iso/backend/cuda_check.hpp>
#include <iso/sparse/detail/product_kernel.hpp>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

namespace iso::perf {
namespace {

namespace cg = cooperative_groups;
using iso::backend::pack;

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

/// Sums of R numbers a lane, by the tree that adds lanes 16, 8, 4, 2, 1 apart: sum r ends on the
/// lane whose highest bits are those of r.
template <int R>
__device__ __forceinline__ double tree_sums(double (&sum)[R], int lane) {
  int offset = 16;
#pragma unroll
  for (int n = R / 2; n > 0; n /= 2) {
    bool const upper = (lane & offset) != 0;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      double const away = upper ? sum[i] : sum[i + n];
      double const kept = upper ? sum[i + n] : sum[i];
      sum[i] = kept + __shfl_xor_sync(0xffffffffU, away, offset);
    }
    offset /= 2;
  }
  double total = sum[0];
#pragma unroll
  for (int step = 16 / R; step > 0; step /= 2) {
    total += __shfl_xor_sync(0xffffffffU, total, step);
  }
  return total;
}

/// raw_blocks_call as a kernel takes it.
struct twin_arrays {
  sparse::row_segment const* segments;
  std::int64_t const* first_part;
  std::int64_t num_long;
  std::int64_t num_parts;
  std::int64_t num_segments;
  std::uint32_t const* empty;
  std::int64_t num_empty_words;
  std::int16_t const* exponents;
  double const* max_abs_x;
  double const* x;
  double* y;
  double* part_sums;

  explicit twin_arrays(raw_blocks_call const& call)
      : segments(call.plan.segments.data()),
        first_part(call.plan.first_part.data()),
        num_long(call.plan.num_long),
        num_parts(call.plan.num_parts),
        num_segments(call.plan.num_segments),
        empty(call.plan.empty.data()),
        num_empty_words(std::int64_t(call.plan.empty.extent(0))),
        exponents(call.plan.exponents.data()),
        max_abs_x(call.max_abs_x),
        x(call.x),
        y(call.y),
        part_sums(call.part_sums) {}
};

struct plain_sum {
  __device__ static double origin(twin_arrays const&, std::int64_t) { return 0; }
  __device__ static double prepared(double x) { return x; }
};
struct rounded_sum {
  __device__ static double origin(twin_arrays const& call, std::int64_t row) {
    return sparse::detail::reproducible_sum::origin(call.exponents[row], *call.max_abs_x);
  }
  __device__ static double prepared(double x) {
    return sparse::detail::reproducible_sum::prepared(x);
  }
};

/// Some chunks of a block; the sum of row lane / (32 / R).
template <class Sum, int R>
__device__ __forceinline__ double chunks_sum(sparse::detail::row_block_rows<half, R> const& a,
                                             twin_arrays const& call,
                                             sparse::row_segment const& segment, int lane) {
  std::int32_t const* __restrict__ const base = a.bases + segment.first;
  std::uint16_t const* __restrict__ const offset = a.offsets + 32 * segment.first + lane;
  pack<half, R> const* __restrict__ const value = a.values + 32 * segment.first + lane;
  double const* __restrict__ const x = call.x;
  double sum[R];
  double origin[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    sum[r] = origin[r] = Sum::origin(call, std::int64_t(segment.block) * R + r);
  }
#pragma unroll 4
  for (int chunk = 0; chunk < segment.count; ++chunk) {
    pack<half, R> const v = value[32 * chunk];
    double const at = Sum::prepared(x[base[chunk] + offset[32 * chunk]]);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      sum[r] = fma(double(widened(v[r])), at, sum[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    sum[r] -= origin[r];
  }
  return tree_sums(sum, lane);
}

/// Parts of long blocks, then the other blocks with entries, then a lane for every empty one.
template <class Sum, int R>
__global__ void row_blocks(sparse::detail::row_block_rows<half, R> const a,
                           twin_arrays const call) {
  std::int64_t const warp = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  int const lane = int(threadIdx.x % 32);
  if (warp >= call.num_segments) {
    std::int64_t const word = warp - call.num_segments;
    bool const none = word < call.num_empty_words && (call.empty[word] >> lane & 1U) != 0;
    for (int r = 0; none && r < R; ++r) {
      std::int64_t const row = (32 * word + lane) * R + r;
      if (row < a.num_rows) {
        call.y[row] = 0;
      }
    }
    return;
  }
  sparse::row_segment const segment = call.segments[warp];
  double const total = chunks_sum<Sum>(a, call, segment, lane);
  int const r = lane / (32 / R);
  if (lane % (32 / R) != 0) {
    return;
  }
  std::int64_t const row = std::int64_t(segment.block) * R + r;
  if (warp < call.num_parts) {
    call.part_sums[warp * R + r] = total;
  } else if (row < a.num_rows) {
    call.y[row] = total;
  }
}

template <int R>
__global__ void add_parts(twin_arrays const call, std::int64_t num_rows) {
  std::int64_t const index = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  std::int64_t const owner = index / R;
  int const r = int(index % R);
  if (owner >= call.num_long) {
    return;
  }
  std::int64_t const row = std::int64_t(call.segments[call.first_part[owner]].block) * R + r;
  double sum = call.part_sums[call.first_part[owner] * R + r];
  for (std::int64_t p = call.first_part[owner] + 1; p < call.first_part[owner + 1]; ++p) {
    sum += call.part_sums[p * R + r];
  }
  if (row < num_rows) {
    call.y[row] = sum;
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

template <int R>
void raw_blocks(Kokkos::Cuda const& exec,
                sparse::row_block_csr<half, R, Kokkos::CudaSpace> const& a,
                raw_blocks_call const& call) {
  auto const rows = sparse::detail::rows_of(a);
  twin_arrays const arrays(call);
  std::int64_t const warps = arrays.num_segments + arrays.num_empty_words;
  unsigned const blocks = blocks_for(warps, call.threads);
  auto const threads = unsigned(call.threads);
  if (call.sum == summation::reproducible) {
    row_blocks<rounded_sum><<<blocks, threads, 0, exec.cuda_stream()>>>(rows, arrays);
  } else {
    row_blocks<plain_sum><<<blocks, threads, 0, exec.cuda_stream()>>>(rows, arrays);
  }
  if (arrays.num_long > 0) {
    unsigned const more = unsigned((arrays.num_long * R + 127) / 128);
    add_parts<R><<<more, 128, 0, exec.cuda_stream()>>>(arrays, a.num_rows());
  }
  ISO_CUDA_CHECK(cudaGetLastError());
}

template void raw_listing1(Kokkos::Cuda const&, raw_csr<half> const&, double const*, double*, int);
template void raw_listing1(Kokkos::Cuda const&, raw_csr<float> const&, float const*, float*, int);
#define ISO_INSTANTIATE_TWIN(R)                                                      \
  template void raw_blocks(Kokkos::Cuda const&,                                      \
                           sparse::row_block_csr<half, R, Kokkos::CudaSpace> const&, \
                           raw_blocks_call const&);
ISO_INSTANTIATE_TWIN(4)
ISO_INSTANTIATE_TWIN(8)
#undef ISO_INSTANTIATE_TWIN

}  // namespace iso::perf
