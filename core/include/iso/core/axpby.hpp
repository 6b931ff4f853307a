// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/axpby.hpp
//! Adds a multiple of one array to a multiple of another.
#pragma once

#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso {
namespace detail {

/// y = a x + b y; with b = 0 whatever y holds.
template <class T>
struct axpby_kernel {
  T a;
  T const* x;
  T b;
  T* y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    y[i] = b == T(0) ? a * x[i] : Kokkos::fma(a, x[i], b * y[i]);
  }
};

}  // namespace detail

/// Enqueues y[i] = a x[i] + b y[i], i from 0 to `count`; with b = 0 whatever y holds. What a
/// program's own iterations need between iso::ct::projector_pair, iso::dot and iso::sum_of.
/// Determinism: backend_to_backend; fma(a, x[i], b y[i]), or a x[i] where b is 0.
/// \param[in]     x  in `Exec`'s memory; may be y
/// \param[in,out] y  in `Exec`'s memory
template <execution_space Exec, real T>
void axpby(Exec const& exec, std::type_identity_t<T> a, T const* x, std::type_identity_t<T> b, T* y,
           std::int64_t count) {
  Kokkos::parallel_for("iso::axpby",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
                       detail::axpby_kernel<T>{a, x, b, y});
}

}  // namespace iso
