// SPDX-License-Identifier: BSD-3-Clause
// A vector in memory that the execution space cannot reach: the product says so.
#include <iso/sparse/spmv.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using memory = exec_space::memory_space;

/// Memory of some other machine.
struct elsewhere {
  using memory_space = elsewhere;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, elsewhere>;
  using size_type = std::size_t;
};
#ifdef ISO_RIGHT
using vector_space = memory;
#else
using vector_space = elsewhere;
#endif

}  // namespace

void multiply(exec_space const& exec,
              iso::sparse::csr_view<iso::half, std::int32_t, memory> const& a,
              Kokkos::View<double const*, Kokkos::LayoutRight, vector_space> const& x,
              Kokkos::View<double*, Kokkos::LayoutRight, memory> const& y,
              iso::sparse::spmv_plan<memory> const& plan, iso::workspace<memory> const& scratch) {
  iso::sparse::spmv(exec, 1.0, a, x, 0.0, y, plan, scratch);
}
