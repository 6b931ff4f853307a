// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/slabs.hpp
//! Cuts volumes into slabs, and puts slabs together.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/wrap.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::cases {

/// Returns three slabs of unequal height that make up the planes of `g`, the last first; one of
/// them is a single plane.
inline std::vector<slab> three_slabs(grid const& g) {
  slab const all = all_planes(g);
  // No list of slabs in braces: g++ 12 does not read what nvcc makes of it.
  std::vector<slab> slabs(3);
  slabs[0] = {all.last / 3, all.last};
  slabs[1] = {1, all.last / 3};
  slabs[2] = {0, 1};
  return slabs;
}

/// Returns the part of an array [..., nz] of a whole volume that holds some planes.
template <class Array>
auto part_of(Array const& whole, slab const& planes) {
  auto const range = Kokkos::make_pair(planes.first, planes.last);
  if constexpr (Array::rank() == 4) {
    return Kokkos::subview(whole, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL, range);
  } else {
    return Kokkos::subview(whole, Kokkos::ALL, Kokkos::ALL, range);
  }
}

/// Returns a copy of some planes of a volume.
template <execution_space Exec, class T, class Space>
volume_view<std::remove_const_t<T>, Space> planes_of(Exec const& exec,
                                                     volume_view<T, Space> const& whole,
                                                     slab const& planes) {
  auto const some =
      make_slab<std::remove_const_t<T>, Space>(exec, "iso::cases::slab", whole.grid, planes);
  Kokkos::deep_copy(exec, some.data, part_of(whole.data, planes));
  return some;
}

/// Calls make(slab) for three slabs of an array [nx, ny, nz], and puts them together there.
template <class T, execution_space Exec, class Make>
void fill_by_slabs(Exec const& exec, T* out, grid const& whole, Make const& make) {
  using space = typename Exec::memory_space;
  auto const all = wrap_volume<space>(out, whole);
  for (slab const& planes : three_slabs(whole)) {
    auto const some = make_slab<T, space>(exec, "iso::cases::slab", whole, planes);
    make(some);
    Kokkos::deep_copy(exec, part_of(all.data, planes), some.data);
    exec.fence("iso::cases: the slab may go");
  }
}

/// The numbers of a large array in host memory that a streamed operation of a sweep gives out: one
/// of so many, in order, so that the backend's memory holds no array of all.
struct sampled {
  std::int64_t size;      ///< of the whole
  std::int64_t step = 1;  ///< an odd number
  explicit sampled(std::int64_t whole) : size(whole), step((whole >> 16) | 1) {}

  [[nodiscard]] std::int64_t count() const { return (size + step - 1) / step; }
  template <class T>
  [[nodiscard]] std::vector<T> of(T const* all) const {
    std::vector<T> some;
    for (std::int64_t i = 0; i < size; i += step) {
      some.push_back(all[i]);
    }
    return some;
  }
};

}  // namespace iso::cases
