// SPDX-License-Identifier: BSD-3-Clause
//! From what files say to what the library takes.
#pragma once

#include <iso/core/wrap.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/volume_file.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace iso::jobs {

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
  auto const target = make_volume<T, typename Exec::memory_space>(exec, "iso::jobs::volume",
                                                                  make_grid(volume), unit::per_mm);
  auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, target.data);
  std::copy(volume.values.begin(), volume.values.end(), host.data());
  Kokkos::deep_copy(exec, target.data, host);
  exec.fence("iso::jobs::load");
  return target;
}

/// Projections of the shape of `g`, stored at `out`.
template <class T, class Space>
projection_view<T, Space> projections_at(T* out, ct::geometry const& g) {
  return wrap_projections<Space>(out, g.num_views(), g.num_u(), g.num_v());
}

/// `volume` where it lies; it must outlive the result.
inline volume_view<float const, Kokkos::HostSpace> view_of(files::host_volume const& volume) {
  return wrap_volume<Kokkos::HostSpace>(volume.values.data(), make_grid(volume));
}

/// The values of a view on the host, in the order they lie; waits for `exec`.
template <class Exec, class View>
std::vector<typename View::non_const_value_type> fetch(Exec const& exec, View const& view) {
  std::vector<typename View::non_const_value_type> values(view.size());
  auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, view);
  Kokkos::deep_copy(exec, host, view);
  exec.fence("iso::jobs::fetch");
  std::copy(host.data(), host.data() + view.size(), values.data());
  return values;
}

/// Seconds that f takes on `exec`, from fence to fence.
template <class Exec, class F>
double seconds_of(Exec const& exec, F&& f) {
  exec.fence("iso::jobs: before");
  auto const start = std::chrono::steady_clock::now();
  f();
  exec.fence("iso::jobs: after");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace iso::jobs
