// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/volume_view.hpp
//! Reads a file into a volume where kernels compute, and writes such a volume. Needs iso::iso
//! beside iso::files.
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/space.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/wrap.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/volume_file.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::files {

/// Returns the grid of a volume that was read.
/// Determinism: backend_to_backend; made on the host.
inline grid make_grid(host_volume const& from) {
  auto const& [nx, ny, nz] = from.extent;
  auto const& h = from.spacing;
  auto const& o = from.origin;
  return {{nx, ny, nz}, {h[0], h[1], h[2]}, {o[0], o[1], o[2]}};
}

/// Returns a volume on `g`, without values.
/// Determinism: backend_to_backend; made on the host.
inline host_volume make_host_volume(grid const& g) {
  auto const& n = g.extent;
  return {{n[0], n[1], n[2]},
          {g.spacing.x, g.spacing.y, g.spacing.z},
          {g.origin.x, g.origin.y, g.origin.z},
          {},
          {}};
}

/// Returns the voxels of `from`, as a copy that kernels of `exec` reach. Both have z fastest: files
/// have been turned when they were read (iso/files/reorder.hpp). Waits for `exec`: `from` may end.
/// Determinism: backend_to_backend, a copy.
/// \throws iso::invalid_argument  an invalid grid, values that are not one a voxel
/// \throws iso::out_of_memory     as iso::allocate
template <real T, execution_space Exec>
volume_view<T, typename Exec::memory_space> make_volume_view(Exec const& exec,
                                                             host_volume const& from) {
  char const* const function = "iso::files::make_volume_view";
  grid const g = make_grid(from);
  validate(g, function);
  ISO_VALIDATE(std::int64_t(from.values.size()) == g.size(),
               "{}: {} values (the grid has {} voxels); give one value a voxel", function,
               from.values.size(), g.size());
  using data_type = typename volume_view<T, typename Exec::memory_space>::data_type;
  auto const to = allocate<data_type>(function, {g.extent[0], g.extent[1], g.extent[2]}, exec,
                                      Kokkos::WithoutInitializing);
  std::vector<T> converted;
  T const* values = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    values = from.values.data();
  } else {
    converted.assign(from.values.begin(), from.values.end());
    values = converted.data();
  }
  Kokkos::deep_copy(exec, to, wrap_volume<space::host>(values, g).data);
  exec.fence("iso::files::make_volume_view: the host copy may go");
  return {g, to};
}

/// Returns the voxels of `from` on the host, rounded to float. Waits for `exec`.
/// Determinism: backend_to_backend, a copy.
/// \param unit  of a value, as host_volume has it
/// \throws iso::invalid_argument  an invalid grid; a volume of other extents, with gaps or without
///                                memory
template <execution_space Exec, class T, class Space>
  requires accesses<Exec, Space> && real<std::remove_const_t<T>>
host_volume make_host_volume(Exec const& exec, volume_view<T, Space> const& from,
                             std::string unit = {}) {
  char const* const function = "iso::files::make_host_volume";
  validate(from, function);
  validate_contiguous(from.data, "volume data", function);
  std::vector<std::remove_const_t<T>> values(std::size_t(from.grid.size()));
  Kokkos::deep_copy(exec, wrap_volume<space::host>(values.data(), from.grid).data, from.data);
  exec.fence("iso::files::make_host_volume: the values are here");
  host_volume to = make_host_volume(from.grid);
  to.unit = std::move(unit);
  if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
    to.values = std::move(values);
  } else {
    to.values.assign(values.begin(), values.end());
  }
  return to;
}

/// Reads a volume by read_volume, as one of T that kernels of `exec` reach, on the grid of the
/// file. Its unit is that of read_volume_grid. Waits for `exec`. A volume of floats that is no
/// DICOM takes no memory on the host beside the volume, where `exec` computes there. Determinism:
/// backend_to_backend, a copy.
/// \throws iso::file_error     as read_volume
/// \throws iso::out_of_memory  for the file's values or for the volume
template <real T, execution_space Exec>
volume_view<T, typename Exec::memory_space> read_volume_view(
    Exec const& exec, std::filesystem::path const& path,
    finite_values values = finite_values::required) {
  using space = typename Exec::memory_space;
  if constexpr (std::is_same_v<T, float> &&
                Kokkos::SpaceAccessibility<Kokkos::HostSpace, space>::accessible) {
    if (!is_dicom_path(path)) {
      char const* const function = "iso::files::read_volume_view";
      grid const g = make_grid(read_volume_grid(path));
      using data_type = typename volume_view<T, space>::data_type;
      auto const to = allocate<data_type>(function, {g.extent[0], g.extent[1], g.extent[2]}, exec,
                                          Kokkos::WithoutInitializing);
      exec.fence("iso::files::read_volume_view: the memory is there");
      read_voxels(path, {to.data(), to.size()}, values);
      return {g, to};
    }
  }
  return make_volume_view<T>(exec, read_volume(path, values));
}

/// Writes a volume by prepare_volume and commits it: the ending of `path` (.mha, .nrrd, .nii,
/// .nii.gz) chooses the format, whose voxels are floats. Waits for `exec`.
/// Determinism: backend_to_backend, a copy.
/// \param unit  of a value, such as "HU" or "Gy"
/// \throws iso::invalid_argument  as make_host_volume
/// \throws iso::file_error        as prepare_volume
template <execution_space Exec, class T, class Space>
  requires accesses<Exec, Space> && real<std::remove_const_t<T>>
void write_volume_view(Exec const& exec, volume_view<T, Space> const& volume,
                       std::filesystem::path const& path, std::string unit = {}) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, float> &&
                Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible) {
    char const* const function = "iso::files::write_volume_view";
    validate(volume, function);
    validate_contiguous(volume.data, "volume data", function);
    exec.fence("iso::files::write_volume_view: the values are here");
    host_volume of = make_host_volume(volume.grid);
    of.unit = std::move(unit);
    prepare_voxels(path, of, {volume.data.data(), volume.data.size()}).commit();
  } else {
    prepare_volume(path, make_host_volume(exec, volume, std::move(unit))).commit();
  }
}

}  // namespace iso::files
