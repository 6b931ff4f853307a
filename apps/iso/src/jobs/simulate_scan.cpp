// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "scan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/jobs/simulate_scan.hpp>
#include <iso/synthetic/detector_readings.hpp>

#include <algorithm>

namespace iso::jobs {
namespace {

/// Readings of `count` images behind `integrals`, or of an open beam where there are none.
template <class Exec>
std::vector<float> read_by(Exec const& exec, synthetic::detector const& d, std::uint64_t exposure,
                           std::array<std::int64_t, 3> const& n,
                           std::vector<float> const* integrals, job const& asked) {
  auto const p = make_projections<float, typename Exec::memory_space>(exec, "iso::jobs::readings",
                                                                      n[0], n[1], n[2]);
  if (integrals != nullptr) {
    auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, p.data);
    std::copy(integrals->begin(), integrals->end(), host.data());
    Kokkos::deep_copy(exec, p.data, host);
    exec.fence("iso::jobs::simulate_scan: line integrals in place");
  }
  synthetic::detector_readings<Exec, float>(exec, d, exposure, p, p, asked);
  return fetch(exec, p.data);
}

}  // namespace

simulated_scan simulate_scan(simulated_scan_request const& request, observer const& watch) {
  auto const& n = request.extent;
  ISO_VALIDATE(request.photons > 0,
               "simulated scan: {} photons (must be positive); give the counts of a pixel in the "
               "open beam by --photons",
               request.photons);
  ISO_VALIDATE(request.flats >= 1 && request.darks >= 1,
               "simulated scan: {} flat and {} dark images (at least one of each is needed); give "
               "more by --flats and --darks",
               request.flats, request.darks);
  synthetic::detector d;
  d.photons = request.photons;
  d.gain_spread = request.gain_spread;
  d.dead_share = request.dead_share;
  d.seed = request.seed;
  // An open beam at the highest gain reads about 58000 of 65535.
  d.level = 58000 / (d.photons * (1 + d.gain_spread));
  // Thermal counts are a thousandth of the beam's.
  d.dark_counts = 1e-3 * d.photons;
  synthetic::detector closed = d;
  closed.photons = 0;
  simulated_scan result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    auto const most = std::max({n[0], request.flats, request.darks}) * n[1] * n[2];
    guard_memory(exec, 2 * most * std::int64_t(sizeof(float)), "iso project", [&] {
      watch.step(0, "detector");
      job const asked{{}, watch.cancelled};
      result.readings = read_by(exec, d, 0, n, &request.integrals, asked);
      auto const after = std::uint64_t(n[0]);
      result.flats = read_by(exec, d, after, {request.flats, n[1], n[2]}, nullptr, asked);
      result.darks = read_by(exec, closed, after + std::uint64_t(request.flats),
                             {request.darks, n[1], n[2]}, nullptr, asked);
      return 0;
    });
  });
  watch.step(1, "detector");
  return result;
}

}  // namespace iso::jobs
