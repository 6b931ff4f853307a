// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/volume_view.hpp
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/view_checks.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace iso {

/// A volume: voxel values with their grid. The shape is [nx, ny, nz], z fastest. It is cheap to
/// copy, and owns what its Kokkos::View owns. `T` may be const. The functions that take a volume
/// state its unit.
///
/// A slab is a volume whose data are some planes along z of its grid: as many as the data have,
/// from `first_plane` on. Its grid is the whole's, and so are the coordinates of its voxels, to the
/// bit. Functions that take slabs say so; all others refuse them.
template <class T, class Space>
struct volume_view {
  using value_type = std::remove_const_t<T>;
  using memory_space = Space;
  using data_type = Kokkos::View<T***, Kokkos::LayoutRight, Space>;

  iso::grid grid;
  data_type data;
  std::int64_t first_plane = 0;

  /// Returns the planes that are held.
  [[nodiscard]] slab planes() const {
    return {first_plane, first_plane + std::int64_t(data.extent(2))};
  }

  template <class U = T>
    requires(!std::is_const_v<U>)
  operator volume_view<U const, Space>() const {
    return {grid, data, first_plane};
  }
};

/// Checks a volume that may be a slab: its grid, its planes and its storage.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: an invalid grid, planes that the grid has not,
///                                or storage of other extents or without memory
template <class T, class Space>
void validate_slab(volume_view<T, Space> const& v, char const* function) {
  validate(v.grid, function);
  auto const& n = v.grid.extent;
  ISO_VALIDATE(std::int64_t(v.data.extent(0)) == n[0] && std::int64_t(v.data.extent(1)) == n[1],
               "{}: volume data of [{}, {}, {}] (its grid has [{}, {}, {}] voxels); give both the "
               "same extents along x and y",
               function, v.data.extent(0), v.data.extent(1), v.data.extent(2), n[0], n[1], n[2]);
  validate(v.planes(), v.grid, function);
  validate_memory({memory_of(v.data, "volume data")}, function);
}

/// Checks a whole volume: its grid and its storage.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: an invalid grid, or storage of other extents
///                                or without memory
template <class T, class Space>
void validate(volume_view<T, Space> const& v, char const* function) {
  validate(v.grid, function);
  auto const& n = v.grid.extent;
  ISO_VALIDATE(std::int64_t(v.data.extent(0)) == n[0] && std::int64_t(v.data.extent(1)) == n[1] &&
                   std::int64_t(v.data.extent(2)) == n[2],
               "{}: volume data of [{}, {}, {}] (its grid has [{}, {}, {}] voxels); give both the "
               "same extents",
               function, v.data.extent(0), v.data.extent(1), v.data.extent(2), n[0], n[1], n[2]);
  ISO_VALIDATE(v.first_plane == 0,
               "{}: volume data from plane {} on (only whole volumes are taken); let them begin at "
               "plane 0",
               function, v.first_plane);
  validate_memory({memory_of(v.data, "volume data")}, function);
}

/// Makes a volume on `g`, set to zero on `exec`; does not fence.
/// Determinism: backend_to_backend, zeros.
/// \throws iso::invalid_argument  the grid is not valid
/// \throws iso::out_of_memory     as iso::allocate
template <class T, class Space, execution_space Exec>
  requires accesses<Exec, Space>
volume_view<T, Space> make_volume(Exec const& exec, std::string const& label, iso::grid const& g) {
  validate(g, "iso::make_volume");
  using data_type = typename volume_view<T, Space>::data_type;
  return {g, allocate<data_type>(label, {g.extent[0], g.extent[1], g.extent[2]}, exec)};
}

/// Makes a slab of planes of `g`, set to zero on `exec`; does not fence.
/// Determinism: backend_to_backend, zeros.
/// \throws iso::invalid_argument  the grid is not valid, or has not these planes
/// \throws iso::out_of_memory     as iso::allocate
template <class T, class Space, execution_space Exec>
  requires accesses<Exec, Space>
volume_view<T, Space> make_slab(Exec const& exec, std::string const& label, iso::grid const& g,
                                slab const& planes) {
  validate(g, "iso::make_slab");
  validate(planes, g, "iso::make_slab");
  using data_type = typename volume_view<T, Space>::data_type;
  return {g, allocate<data_type>(label, {g.extent[0], g.extent[1], planes.count()}, exec),
          planes.first};
}

/// Makes a zeroed volume on `g`. Kokkos fences every instance when it sets the voxels: where an
/// instance is at hand, the overload with it does not. Throws as that one.
template <class T, class Space>
volume_view<T, Space> make_volume(std::string const& label, iso::grid const& g) {
  validate(g, "iso::make_volume");
  using data_type = typename volume_view<T, Space>::data_type;
  return {g, allocate<data_type>(label, {g.extent[0], g.extent[1], g.extent[2]})};
}

}  // namespace iso
