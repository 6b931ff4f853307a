// SPDX-License-Identifier: BSD-3-Clause
//! Moves matrices between files, the host and where a backend computes.
#pragma once

#include "memory.hpp"

#include <iso/core/half.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/model/number_type.hpp>
#include <iso/sparse/csr.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::jobs {

/// Enqueues a copy of `from`, whose elements have the size of those of `to`, in parts between which
/// a job is asked.
template <class Exec, class View, class T>
void copy_in(Exec const& exec, View const& to, std::vector<T> const& from, job const& asked = {}) {
  static_assert(sizeof(T) == sizeof(typename View::value_type));
  using element = typename View::value_type;
  Kokkos::View<element const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(
      reinterpret_cast<element const*>(from.data()), from.size());
  iso::detail::copy_in_parts(exec, to, host, asked);
}

/// Copies the other way round; `to` takes the length of `from`.
template <class Exec, class View, class T>
void copy_out(Exec const& exec, std::vector<T>& to, View const& from, job const& asked = {}) {
  static_assert(sizeof(T) == sizeof(typename View::value_type));
  using element = typename View::non_const_value_type;
  to.resize(from.extent(0));
  Kokkos::View<element*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(
      reinterpret_cast<element*>(to.data()), to.size());
  iso::detail::copy_in_parts(exec, host, from, asked);
}

/// Is the array of a host_matrix that holds what the library calls Value.
template <class Value>
using stored = std::conditional_t<std::is_same_v<Value, half>, files::host_matrix::half_bits,
                                  std::vector<Value>>;

/// Returns the bytes of a matrix of `Value` by rows with 32-bit columns.
template <class Value>
std::int64_t bytes_of(std::int64_t entries, std::int64_t rows) {
  return entries * std::int64_t(sizeof(Value) + sizeof(std::int32_t)) + 8 * (rows + 1);
}

/// Returns a matrix of `Value` by rows, copied to where `exec` computes; waits.
template <class Value, class Exec>
sparse::csr_view<Value, std::int32_t, typename Exec::memory_space> load_matrix(
    Exec const& exec, files::host_matrix const& m, job const& asked) {
  check_free(exec, bytes_of<Value>(m.entries(), m.rows), "iso matrix");
  auto const a = sparse::make_csr<Value, std::int32_t>(exec, "iso::jobs::matrix", m.rows, m.columns,
                                                       m.entries());
  copy_in(exec, a.row_offsets, m.offsets, asked);
  copy_in(exec, a.columns, m.indices, asked);
  copy_in(exec, a.values, std::get<stored<Value>>(m.values), asked);
  exec.fence("iso::jobs::load_matrix");
  return a;
}

/// Returns a matrix on the host: itself where it lies there; waits.
template <class Value, class Exec>
sparse::csr_view<Value, std::int32_t, Kokkos::HostSpace> host_copy(
    Exec const& exec,
    sparse::csr_view<Value, std::int32_t, typename Exec::memory_space> const& from) {
  sparse::csr_view<Value, std::int32_t, Kokkos::HostSpace> to;
  if constexpr (std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>) {
    to = from;
  } else {
    to = sparse::make_csr<Value, std::int32_t>(Kokkos::Serial(), "iso::jobs::host_copy",
                                               from.num_rows, from.num_cols, from.num_entries());
    Kokkos::deep_copy(exec, to.row_offsets, from.row_offsets);
    Kokkos::deep_copy(exec, to.columns, from.columns);
    Kokkos::deep_copy(exec, to.values, from.values);
  }
  exec.fence("iso::jobs::host_copy");
  return to;
}

/// Returns f(Value{}) with that type.
template <class F>
auto with_number(number_type type, F const& f) {
  return type == number_type::f16 ? f(half{}) : type == number_type::f32 ? f(float{}) : f(double{});
}

/// Calls f(Value{}) with the type of the matrix's values.
template <class F>
void with_values_of(files::host_matrix const& m, F const& f) {
  with_number(number_type(m.values.index()), f);
}

}  // namespace iso::jobs
