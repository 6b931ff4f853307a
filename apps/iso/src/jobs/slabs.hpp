// SPDX-License-Identifier: BSD-3-Clause
//! Cuts volumes in the machine's memory into slabs that pass through a part of the backend's.
#pragma once

#include "memory.hpp"

#include <iso/core/error.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/wrap.hpp>
#include <iso/files/volume_view.hpp>
#include <iso/jobs/slab_report.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace iso::jobs {

/// Returns slabs of `g` of so many planes, the last of what is left.
inline std::vector<slab> slabs_of(grid const& g, std::int64_t planes) {
  std::vector<slab> slabs;
  for (std::int64_t first = 0; first < g.extent[2]; first += planes) {
    slabs.push_back({first, std::min(first + planes, g.extent[2])});
  }
  return slabs;
}

/// Returns the fewest slabs of which none needs more than a limit; without one, a single slab.
/// \param bytes_of  the bytes that a slab needs; of a part of its planes no more
/// \throws iso::invalid_argument  a limit beyond what there is where `exec` computes
/// \throws iso::out_of_memory     a plane needs more
template <class Exec, class Bytes>
std::vector<slab> slabs_within(Exec const& exec, grid const& g,
                               std::optional<std::int64_t> const& limit, char const* what,
                               Bytes const& bytes_of) {
  check_limit(exec, limit);
  auto const needed = [&](std::int64_t planes) {
    std::int64_t most = 0;
    for (slab const& one : slabs_of(g, planes)) {
      most = std::max(most, bytes_of(one));
    }
    return most;
  };
  std::int64_t fit = g.extent[2];
  if (limit && needed(fit) > *limit) {
    std::int64_t const least = needed(1);
    if (least > *limit) {
      throw out_of_memory(
          message("{}: a limit of {} bytes (slabs of one plane need {}); give that or more",
                  {iso::detail::as_message_arg(what), iso::detail::as_message_arg(*limit),
                   iso::detail::as_message_arg(least)}),
          std::uint64_t(least), std::uint64_t(*limit));
    }
    std::int64_t beyond = fit;
    fit = 1;
    while (beyond - fit > 1) {
      std::int64_t const middle = fit + (beyond - fit) / 2;
      (needed(middle) <= *limit ? fit : beyond) = middle;
    }
  }
  // As high as each other.
  std::int64_t const count = (g.extent[2] + fit - 1) / fit;
  return slabs_of(g, (g.extent[2] + count - 1) / count);
}

/// Returns some planes of a volume where `exec` computes. Waits for it.
template <class Exec>
volume_view<float, typename Exec::memory_space> bring_planes(Exec const& exec, grid const& g,
                                                             float const* values,
                                                             slab const& planes,
                                                             slab_report& report) {
  using space = typename Exec::memory_space;
  using host = Kokkos::HostSpace;
  Kokkos::DefaultHostExecutionSpace const on_host;
  auto const whole = wrap_volume<host>(values, g);
  auto const packed = make_slab<float, host>(on_host, "iso::jobs::slab", g, planes);
  Kokkos::deep_copy(on_host, packed.data,
                    Kokkos::subview(whole.data, Kokkos::ALL, Kokkos::ALL,
                                    Kokkos::make_pair(planes.first, planes.last)));
  on_host.fence("iso::jobs: the planes are packed");
  report.bytes_in += std::int64_t(packed.data.size() * sizeof(float));
  if constexpr (Kokkos::SpaceAccessibility<host, space>::accessible) {
    return packed;
  } else {
    auto const there = make_slab<float, space>(exec, "iso::jobs::slab", g, planes);
    Kokkos::deep_copy(exec, there.data, packed.data);
    exec.fence("iso::jobs: the planes are there");
    return there;
  }
}

}  // namespace iso::jobs
