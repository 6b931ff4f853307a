// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sparse/peer.hpp"

#if ISO_BENCH_HAS_EIGEN
#include "peers/eigen_spmv.hpp"

namespace iso::perf {

/// Eigen's row-major product with all numbers of type T, at `exec`'s number of threads.
template <class T, class Exec>
peer make_eigen(Exec const& exec, product_problem<Exec> const& problem) {
  auto const& a = problem.matrix;
  auto const offsets = short_offsets(exec, a);
  auto const values = sparse::convert_values<T>(exec, a).matrix.values;
  auto const columns = a.columns;
  auto const x = make_weights<T>(exec, a.num_cols, 1);
  auto const y = make_array<T>(exec, a.num_rows);
  exec.fence("iso::perf::make_eigen");
  peer p;
  p.name = std::string("eigen_") + (sizeof(T) == 4 ? "float" : "double");
  p.bytes = plain_csr_bytes<T>(a);
  int const threads = exec.concurrency();
  std::int64_t const rows = a.num_rows;
  std::int64_t const cols = a.num_cols;
  p.multiply = [=] {
    eigen_multiply<T>(
        {rows, cols, std::int64_t(values.extent(0)), offsets.data(), columns.data(), values.data()},
        x.data(), y.data(), threads);
  };
  p.error = [y, exec, &problem] { return problem.error(exec, y.data()); };
  return p;
}

}  // namespace iso::perf
#endif
