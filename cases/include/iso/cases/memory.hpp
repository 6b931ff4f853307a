// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/memory.hpp
//! Moves values between the host and where a backend computes, and takes the time.
#pragma once

#include <iso/core/wrap.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace iso::cases {

template <class Exec>
auto flat_range(Exec const& exec, std::int64_t count) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count);
}

/// Returns projections of the shape of `g`, stored at `out`.
template <class T, class Space>
projection_view<T, Space> projections_at(T* out, ct::geometry const& g) {
  return wrap_projections<Space>(out, g.num_views(), g.num_u(), g.num_v());
}

/// Returns the values of a view on the host, in the order they lie; waits for `exec`.
template <class Exec, class View>
std::vector<typename View::non_const_value_type> fetch(Exec const& exec, View const& view) {
  std::vector<typename View::non_const_value_type> values(view.size());
  auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, view);
  Kokkos::deep_copy(exec, host, view);
  exec.fence("iso::cases::fetch");
  std::copy(host.data(), host.data() + view.size(), values.data());
  return values;
}

/// Copies the values of a view into `to`, which is dense and as long; waits.
template <class Exec, class View, class Values>
void put(Exec const& exec, View const& to, Values const& values) {
  auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, to);
  using T = typename View::non_const_value_type;
  std::transform(values.begin(), values.end(), host.data(), [](auto x) { return T(x); });
  Kokkos::deep_copy(exec, to, host);
  exec.fence("iso::cases::put");
}

/// Copies numbers of the host to `count` of them at `out`; waits.
template <class Exec, class T>
void put_at(Exec const& exec, T* out, std::vector<T> const& values) {
  put(exec,
      Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(out, values.size()),
      values);
}

/// Returns the seconds that a call of f takes on `exec`, of so many between two fences.
template <class Exec, class F>
double seconds_of(Exec const& exec, F&& f, int calls = 1) {
  exec.fence("iso::cases: before");
  auto const start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    f();
  }
  exec.fence("iso::cases: after");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

}  // namespace iso::cases
