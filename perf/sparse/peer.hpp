// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/peer.hpp
//! Runs other libraries' products on a problem: cuSPARSE on a GPU, Eigen on the host.
#pragma once

#include "peers/number.hpp"
#include "sparse/matrices.hpp"

#include <iso/core/check.hpp>

#include <functional>
#include <string>

namespace iso::perf {

/// Somebody else's product, with its own copy of the matrix.
struct peer {
  std::string name;
  std::string refusal;  ///< why it does not run; empty where it does
  double bytes = 0;
  std::function<void()> multiply;
  std::function<distance()> error;
};

/// Returns row offsets of 32 bits. Throws where they do not fit.
template <class Exec, class Matrix>
device_array<Exec, std::int32_t> short_offsets(Exec const& exec, Matrix const& a) {
  ISO_VALIDATE(a.num_entries() <= 0x7fffffff,
               "{} non-zeros (peers take 32-bit offsets); make it smaller", a.num_entries());
  auto const to = make_array<std::int32_t>(exec, a.num_rows + 1);
  auto const from = a.row_offsets;
  Kokkos::parallel_for(
      "iso::perf::short_offsets", flat_range(exec, a.num_rows + 1),
      KOKKOS_LAMBDA(std::int64_t i) { to(i) = std::int32_t(from(i)); });
  return to;
}

/// Returns a peer with all numbers of type T: multiply = make(its matrix, x, y).
template <class T, class Exec, class Make>
peer plain_peer(std::string const& library, Exec const& exec, product_problem<Exec> const& problem,
                Make const& make) {
  auto const a = with_values<T>(exec, problem.matrix);
  auto const x = make_weights<T>(exec, a.num_cols, 1);
  auto const y = make_array<T>(exec, a.num_rows);
  exec.fence("iso::perf::plain_peer");
  peer p;
  p.name = library + (sizeof(T) == 4 ? "_float" : "_double");
  auto shape = sparse::shape_of(a);
  shape.bytes -= (a.num_rows + 1) * 4;  // peers take 32-bit offsets
  p.bytes = product_work<T>(shape).bytes;
  p.multiply = make(a, x, y);
  p.error = [y, exec, &problem] { return problem.error(exec, y.data()); };
  return p;
}

/// Returns the faster of cuSPARSE's CSR algorithms, or Eigen at as many threads as the backend has,
/// with all numbers `single` or `twice`. Its name is empty where this build has no such library.
template <class Exec>
peer make_reference_peer(Exec const& exec, product_problem<Exec> const& problem, number values);

}  // namespace iso::perf
