// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sparse/peer.hpp"

#if ISO_BENCH_HAS_KOKKOS_KERNELS
#include <iso/sparse/kokkos_kernels.hpp>

#include <KokkosSparse_spmv.hpp>

#include <memory>

namespace iso::perf {

/// KokkosSparse::spmv with all numbers of type T and 32-bit offsets, by a handle that is used
/// again.
template <class T, class Exec>
peer make_kokkos_kernels(Exec const& exec, product_problem<Exec> const& problem) {
  using array = device_array<Exec, T>;
  using matrix = sparse::crs_matrix<T, std::int32_t, Exec>;
  auto const& a = problem.matrix;
  matrix const crs = sparse::to_crs_matrix(exec, sparse::convert_values<T>(exec, a).matrix);
  array const x = make_weights<T>(exec, a.num_cols, 1);
  array const y = make_array<T>(exec, a.num_rows);
  exec.fence("iso::perf::make_kokkos_kernels");
  peer p;
  p.name = std::string("kokkos_kernels_") + (sizeof(T) == 4 ? "float" : "double");
  p.bytes = plain_csr_bytes<T>(a);
  auto const handle = std::make_shared<KokkosSparse::SPMVHandle<Exec, matrix, array, array>>();
  p.multiply = [=] { KokkosSparse::spmv(exec, handle.get(), "N", T(1), crs, x, T(0), y); };
  p.error = [y, exec, &problem] { return problem.error(exec, y.data()); };
  return p;
}

}  // namespace iso::perf
#endif
