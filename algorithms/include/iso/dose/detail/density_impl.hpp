// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/dose/density.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/survey.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/detail/density_kernels.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace iso::dose {
namespace detail {

/// Returns a fault without the value of its first voxel.
density_fault fault_of(iso::detail::found_numbers const& found, iso::grid const& g);

template <execution_space Exec, real T>
density_report examine_density(Exec const& exec,
                               volume_view<T const, typename Exec::memory_space> const& density) {
  iso::validate(density, "iso::dose::validate");
  validate_contiguous(density.data, "density", "iso::dose::validate");
  auto const found = iso::detail::survey_of("iso::dose::validate", exec, density.data.data(),
                                            density.grid.size(), {0, max_density});
  auto const fault = [&](iso::detail::found_numbers const& numbers) {
    density_fault of = fault_of(numbers, density.grid);
    if (numbers.count > 0) {
      T value{};
      using one = Kokkos::MemoryUnmanaged;
      Kokkos::deep_copy(exec, Kokkos::View<T, Kokkos::HostSpace, one>(&value),
                        Kokkos::View<T const, typename Exec::memory_space, one>(
                            density.data.data() + numbers.first));
      exec.fence("iso::dose::validate: the first voxel is here");
      of.value = double(value);
    }
    return of;
  };
  return {density.grid.size(), fault(found.not_finite), fault(found.below), fault(found.above)};
}

}  // namespace detail

template <class Space>
template <execution_space Exec>
staged_density_table<Space>::staged_density_table(Exec const& exec, density_table const& table)
    : segments_(iso::detail::copied<Space>(exec, "iso::dose::staged_density_table",
                                           detail::segments_of(table))) {}

template <execution_space Exec, real T>
void density_from_hounsfield(
    Exec const& exec, staged_density_table<typename Exec::memory_space> const& table,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& hu,
    volume_view<T, typename Exec::memory_space> const& density) {
  char const* const function = "iso::dose::density_from_hounsfield";
  iso::validate(hu, function);
  iso::validate(density, function);
  auto const& n = hu.grid.extent;
  auto const& m = density.grid.extent;
  ISO_VALIDATE(
      n[0] == m[0] && n[1] == m[1] && n[2] == m[2],
      "{}: density of [{}, {}, {}] voxels (hu has [{}, {}, {}]); give both the same extents",
      function, m[0], m[1], m[2], n[0], n[1], n[2]);
  validate_contiguous(hu.data, "hu", function);
  validate_contiguous(density.data, "density", function);
  validate_apart(memory_of(density.data, "density"),
                 {memory_of(hu.data, "hu"), memory_of(table.segments(), "table")}, function);
  Kokkos::Profiling::ScopedRegion const region("iso::dose::density_from_hounsfield");
  backend::for_each_index(
      "iso::dose::density_from_hounsfield", exec, hu.grid.size(),
      detail::density_kernel<T>{table.segments().data(), std::int32_t(table.segments().extent(0)),
                                hu.data.data(), density.data.data()});
}

#define ISO_DOSE_DENSITY(linkage, Exec, T)                                   \
  linkage template void density_from_hounsfield<Exec, T>(                    \
      Exec const&, staged_density_table<Exec::memory_space> const&,          \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      volume_view<T, Exec::memory_space> const&);                            \
  linkage template density_report detail::examine_density<Exec, T>(          \
      Exec const&, volume_view<T const, Exec::memory_space> const&);
#define ISO_DOSE_STAGED_DENSITY_TABLE(Exec, ...)                                       \
  __VA_ARGS__ template staged_density_table<Exec::memory_space>::staged_density_table( \
      Exec const&, density_table const&);
ISO_FOR_EACH_INSTANCE(ISO_DOSE_DENSITY, extern)
ISO_FOR_EACH_BACKEND(ISO_DOSE_STAGED_DENSITY_TABLE, extern)

}  // namespace iso::dose
