// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/sparse/kokkos_kernels.hpp>

TEST_CASE("matrices of Kokkos Kernels") {
  using namespace calls;
  exec_space const exec;
  auto const a = iso::sparse::make_csr<double, std::int32_t>(exec, "empty", 2, 2, 0);
  CHECK(iso::sparse::as_csr(exec, iso::sparse::as_crs_matrix(exec, a)).num_rows == 2);
  CHECK(iso::sparse::to_csr(exec, iso::sparse::to_crs_matrix(exec, a)).num_rows == 2);
}
