// SPDX-License-Identifier: BSD-3-Clause
//! Turns what files say into what the library takes.
#pragma once

#include <iso/cases/memory.hpp>
#include <iso/core/wrap.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/volume_file.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace iso::jobs {

using namespace cases;

/// Throws iso::invalid_argument.
ct::geometry make_geometry(files::geometry_description const& g);
grid make_grid(files::host_volume const& volume);

/// Throws iso::invalid_argument naming the choices.
ct::projector projector_named(std::string_view name);
iso::summation summation_named(std::string_view name);

/// Copies host values onto `exec`, converted to T, and waits.
template <class T, class Exec>
volume_view<T, typename Exec::memory_space> load(Exec const& exec,
                                                 files::host_volume const& volume) {
  auto const target =
      make_volume<T, typename Exec::memory_space>(exec, "iso::jobs::volume", make_grid(volume));
  put(exec, target.data, volume.values);
  return target;
}

/// Returns `volume` where it lies; it must outlive the result.
inline volume_view<float const, Kokkos::HostSpace> view_of(files::host_volume const& volume) {
  return wrap_volume<Kokkos::HostSpace>(volume.values.data(), make_grid(volume));
}

}  // namespace iso::jobs
