// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/peer.hpp
//! Other libraries' products on a problem: cuSPARSE on a GPU, Eigen on the host.
#pragma once

#include "peers/number.hpp"
#include "sparse/matrices.hpp"

#include <iso/core/check.hpp>

#include <functional>
#include <string>

namespace iso::perf {

/// Somebody else's product. Holds its own copy of the matrix.
struct peer {
  std::string name;
  std::string refusal;  ///< why it does not run; empty where it does
  double bytes = 0;
  std::function<void()> multiply;
  std::function<distance()> error;
};

/// Row offsets of 32 bits. Throws where they do not fit.
template <class Exec>
device_array<Exec, std::int32_t> short_offsets(Exec const& exec, wide_csr<Exec> const& a) {
  ISO_VALIDATE(a.num_entries() <= 0x7fffffff, "{} non-zeros (peers take 32-bit offsets)",
               a.num_entries());
  auto const to = make_array<std::int32_t>(exec, a.num_rows + 1);
  auto const from = a.row_offsets;
  Kokkos::parallel_for(
      "iso::perf::short_offsets", flat_range(exec, a.num_rows + 1),
      KOKKOS_LAMBDA(std::int64_t i) { to(i) = std::int32_t(from(i)); });
  return to;
}

/// cases::product_work's bytes of a product with all numbers of type T and 32-bit offsets.
template <class T, class Matrix>
double plain_csr_bytes(Matrix const& a) {
  std::int64_t const arrays = (a.num_rows + 1) * 4 + a.num_entries() * std::int64_t(4 + sizeof(T));
  return cases::product_work<T>({.num_rows = a.num_rows,
                                 .num_cols = a.num_cols,
                                 .num_entries = a.num_entries(),
                                 .bytes = arrays})
      .bytes;
}

/// The faster of cuSPARSE's CSR algorithms, or Eigen at as many threads as the backend has, with
/// all numbers `single` or `twice`. Its name is empty where this build has no such library.
template <class Exec>
peer make_reference_peer(Exec const& exec, product_problem<Exec> const& problem, number values);

}  // namespace iso::perf
