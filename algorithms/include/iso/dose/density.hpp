// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/density.hpp
//! Gives mass density from CT numbers, and whether a density can be one.
//! A Kokkos space that the build has not needs detail/density_impl.hpp too.
#pragma once

#include <iso/core/volume_view.hpp>
#include <iso/dose/density_table.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace iso::dose {

/// A density_table whose numbers lie in `Space`, where kernels read them.
template <class Space>
class staged_density_table {
 public:
  using segments_type = Kokkos::View<detail::density_segment*, Space>;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  staged_density_table(staged_density_table const&) = default;
  staged_density_table& operator=(staged_density_table const&) = default;
  ~staged_density_table() = default;

  /// Allocates a copy of the table, and waits for `exec`: no other instance is fenced.
  /// \throws iso::invalid_argument  what parse_density_table refuses
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  staged_density_table(Exec const& exec, density_table const& table);

  [[nodiscard]] segments_type const& segments() const { return segments_; }

 private:
  segments_type segments_;
};
template <execution_space Exec>
staged_density_table(Exec const&, density_table const&)
    -> staged_density_table<typename Exec::memory_space>;

/// Computes the density of every voxel of `hu`, by the table.
///
/// Enqueued on `exec`; does not fence and does not allocate. Overwrites `density`, which must not
/// overlap `hu`.
///
/// Determinism: backend_to_backend. One subtraction and one fma in double, rounded to T once. At a
/// point's CT number it is the point's density; a NaN gives the canonical NaN.
///
/// \param[in]  hu       Hounsfield units
/// \param[out] density  g/cm3, on a grid of as many voxels
/// \throws iso::invalid_argument  volumes of different shapes, with gaps or without memory, arrays
///                                that overlap
template <execution_space Exec, real T>
void density_from_hounsfield(
    Exec const& exec, staged_density_table<typename Exec::memory_space> const& table,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& hu,
    volume_view<T, typename Exec::memory_space> const& density);

namespace detail {

template <execution_space Exec, real T>
density_report examine_density(Exec const& exec,
                               volume_view<T const, typename Exec::memory_space> const& density);

}  // namespace detail

/// Checks every voxel of `density`. Fences `exec`. A fault is no exception: the report names it.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a volume with gaps or without memory
template <execution_space Exec, class T>
  requires real<std::remove_const_t<T>>
density_report validate(Exec const& exec,
                        volume_view<T, typename Exec::memory_space> const& density) {
  return detail::examine_density<Exec, std::remove_const_t<T>>(exec, density);
}

}  // namespace iso::dose
