// SPDX-License-Identifier: BSD-3-Clause
#include "peers/eigen_spmv.hpp"

#include <Eigen/SparseCore>

namespace iso::perf {

template <class T>
void eigen_multiply(host_csr<T> const& a, T const* x, T* y, int threads) {
  using matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
  using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  Eigen::setNbThreads(threads);
  Eigen::Map<matrix const> const product(a.rows, a.columns, a.entries, a.offsets, a.indices,
                                         a.values);
  Eigen::Map<vector>(y, a.rows).noalias() = product * Eigen::Map<vector const>(x, a.columns);
}

template void eigen_multiply(host_csr<float> const&, float const*, float*, int);
template void eigen_multiply(host_csr<double> const&, double const*, double*, int);

}  // namespace iso::perf
