// SPDX-License-Identifier: BSD-3-Clause
//! Makes small matrices and vectors.
#pragma once

#include <iso/cases/inputs.hpp>

#include <iso/sparse/csr.hpp>
#include <iso/synthetic/generate.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::cases {

template <class Value, class Exec>
using csr_on = sparse::csr_view<Value, std::int32_t, typename Exec::memory_space>;
template <class Value>
using host_csr = sparse::csr_view<Value, std::int32_t, Kokkos::HostSpace>;

/// Gives figures of the matrix of the products: small, with rows of all lengths, a quarter of them
/// without jaccard_histogram to their neighbours.
synthetic::matrix_figures small_figures();
/// Makes an oblique field of few spots behind two slabs.
synthetic::pencil_beams small_field();

/// Returns the matrix with those figures.
template <class Value>
host_csr<Value> small_matrix();
/// Returns the same matrix, every row backwards.
template <class Value>
host_csr<Value> reversed(host_csr<Value> const& a);
/// Returns its columns [first, last).
template <class Value>
host_csr<Value> columns_of(host_csr<Value> const& a, std::int32_t first, std::int32_t last);
/// Returns numbers of many magnitudes and both signs.
template <class T>
std::vector<T> small_vector(std::int64_t size, std::uint64_t seed);

/// Returns a copy where `exec` computes; waits.
template <class Value, class Exec>
csr_on<Value, Exec> load_csr(Exec const& exec, host_csr<Value> const& a) {
  auto const to = sparse::make_csr<Value, std::int32_t>(exec, "iso::cases", a.num_rows, a.num_cols,
                                                        a.num_entries());
  Kokkos::deep_copy(exec, to.row_offsets, a.row_offsets);
  Kokkos::deep_copy(exec, to.columns, a.columns);
  Kokkos::deep_copy(exec, to.values, a.values);
  exec.fence("iso::cases::load_csr");
  return to;
}

}  // namespace iso::cases
