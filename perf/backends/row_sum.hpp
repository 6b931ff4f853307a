// SPDX-License-Identifier: BSD-3-Clause
// The row reduction that the lane group is measured by, and its twins written by hand:
// y[row] = sum of value[i] x[column[i]] over the row's i, by 32 strided sums and one binary tree.
#pragma once

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::perf {

/// Rows of a sparse matrix with values of T: row r has the entries [begin[r], begin[r + 1]).
template <class T>
struct row_arrays {
  std::int64_t num_rows;
  std::int64_t const* begin;
  std::int32_t const* column;
  T const* value;
  double const* x;
  double* y;
};

/// Sums by lane group: one text for all backends.
template <class T>
struct row_sum_kernel {
  row_arrays<T> rows;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    std::int32_t const* KOKKOS_RESTRICT const column = rows.column;
    T const* KOKKOS_RESTRICT const value = rows.value;
    double const* KOKKOS_RESTRICT const x = rows.x;
    typename Group::template lane_array<double> sum(0.0);
    group.strided(rows.begin[row], rows.begin[row + 1], [&](int lane, std::int64_t i) {
      sum[lane] = Kokkos::fma(double(value[i]), x[column[i]], sum[lane]);
    });
    double const total = group.sum(sum);
    group.each([&](int lane) {
      if (lane == 0) {
        rows.y[row] = total;
      }
    });
  }
};

/// Is the loop that everybody writes first: one sum, from left to right.
struct scalar_row_sum {
  row_arrays<float> rows;

  void operator()(std::int64_t row) const {
    double sum = 0;
    for (std::int64_t i = rows.begin[row]; i < rows.begin[row + 1]; ++i) {
      sum = Kokkos::fma(double(rows.value[i]), rows.x[rows.column[i]], sum);
    }
    rows.y[row] = sum;
  }
};

/// Makes the 32 sums and the tree by hand, with the vector width chosen at run time as the lane
/// group does.
struct blocked_row_sum {
  row_arrays<float> rows;
  int vector_bytes = backend::host_vector_bytes();

  void operator()(std::int64_t row) const {
#if defined(__x86_64__) && defined(__GNUC__)
    if (vector_bytes == 64) {
      wide(rows, row);
      return;
    }
#endif
    body(rows, row);
  }

 private:
  [[gnu::always_inline]] static void body(row_arrays<float> const& rows, std::int64_t row) {
    std::int32_t const* KOKKOS_RESTRICT const column = rows.column;
    float const* KOKKOS_RESTRICT const value = rows.value;
    double const* KOKKOS_RESTRICT const x = rows.x;
    std::int64_t const end = rows.begin[row + 1];
    alignas(64) double sum[32] = {};
    std::int64_t i = rows.begin[row];
    for (; i + 32 <= end; i += 32) {
      for (std::int64_t lane = 0; lane < 32; ++lane) {
        sum[lane] = __builtin_fma(double(value[i + lane]), x[column[i + lane]], sum[lane]);
      }
    }
    for (std::int64_t lane = 0; i + lane < end; ++lane) {
      sum[lane] = __builtin_fma(double(value[i + lane]), x[column[i + lane]], sum[lane]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      for (int lane = 0; lane < offset; ++lane) {
        sum[lane] += sum[lane + offset];
      }
    }
    rows.y[row] = sum[0];
  }

#if defined(__x86_64__) && defined(__GNUC__)
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,prefer-vector-width=512"),
                 flatten)) static void
  wide(row_arrays<float> const& rows, std::int64_t row) {
    body(rows, row);
  }
#endif
};

#if ISO_HAS_CUDA
/// Runs the warp a row as one writes it in CUDA, on the stream of `exec`. In raw_row_sum_cuda.cpp.
void raw_row_sum(Kokkos::Cuda const& exec, row_arrays<float> const& rows);
void raw_row_sum(Kokkos::Cuda const& exec, row_arrays<Kokkos::Experimental::half_t> const& rows);
#endif

}  // namespace iso::perf
