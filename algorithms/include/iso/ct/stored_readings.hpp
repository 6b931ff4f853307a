// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/stored_readings.hpp
//! Holds readings as files of 16 bits store them, and turns them into numbers.
//! A Kokkos space that the build has not needs detail/stored_readings_impl.hpp too.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/projection_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct {

/// Readings of 16 bits, each of which stands for offset + scale times the integer. Half the memory
/// of floats, and half their way to a device.
template <class Space>
struct stored_readings {
  typename projection_view<std::uint16_t const, Space>::data_type data;  ///< [views, u, v]
  double scale = 1;
  double offset = 0;

  /// Returns the number that an integer stands for: one fma in double, rounded once to T.
  template <real T>
  [[nodiscard]] KOKKOS_FUNCTION T number(std::uint16_t stored) const {
    return T(Kokkos::fma(scale, double(stored), offset));
  }
};

/// Overwrites `readings` by the numbers that `stored` stands for.
///
/// Enqueued on `exec`; does not fence. Determinism: backend_to_backend, by
/// stored_readings::number.
/// \param[in]  stored    [views, u, v]
/// \param[out] readings  [views, u, v]
/// \throws iso::invalid_argument  shapes that disagree, data with gaps or without memory, arrays
///                                that overlap, a scale or an offset that is not finite
template <execution_space Exec, real T>
void decode_readings(Exec const& exec, stored_readings<typename Exec::memory_space> const& stored,
                     projection_view<T, typename Exec::memory_space> const& readings);

}  // namespace iso::ct
