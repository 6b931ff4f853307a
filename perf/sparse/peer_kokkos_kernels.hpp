// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sparse/peer.hpp"

#if ISO_BENCH_HAS_KOKKOS_KERNELS
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>

namespace iso::perf {

/// KokkosSparse::spmv with all numbers of type T and 32-bit offsets.
template <class T, class Exec>
peer make_kokkos_kernels(Exec const& exec, product_problem<Exec> const& problem) {
  using device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using matrix = KokkosSparse::CrsMatrix<T, std::int32_t, device, void, std::int32_t>;
  auto const& a = problem.matrix;
  auto const values = sparse::convert_values<T>(exec, a).matrix.values;
  Kokkos::View<T*, typename Exec::memory_space> const x = make_weights<T>(exec, a.num_cols, 1);
  Kokkos::View<T*, typename Exec::memory_space> const y = make_array<T>(exec, a.num_rows);
  matrix const crs("iso::perf", std::int32_t(a.num_rows), std::int32_t(a.num_cols),
                   std::int32_t(a.num_entries()), values, short_offsets(exec, a), a.columns);
  exec.fence("iso::perf::make_kokkos_kernels");
  peer p;
  p.name = std::string("kokkos_kernels_") + (sizeof(T) == 4 ? "float" : "double");
  p.bytes = double(a.num_rows + 1) * 4 + double(a.num_entries()) * (4 + sizeof(T)) +
            double(a.num_rows + a.num_cols) * sizeof(T);
  p.multiply = [=] { KokkosSparse::spmv(exec, "N", T(1), crs, x, T(0), y); };
  p.error = [y, exec, &problem] { return problem.error(exec, y.data()); };
  return p;
}

}  // namespace iso::perf
#endif
