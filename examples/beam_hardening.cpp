// SPDX-License-Identifier: BSD-3-Clause
// Corrects readings for beam hardening by a kernel of one's own on lane groups, and compares the
// bits of every width of vector register.
#include "beam_hardening.hpp"

#include <iso/backend/host_vectors.hpp>
#include <iso/core/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

using space = iso::space::device;

// A beam of two energies behind t mm of water: what it reads, and what one energy would.
float reading(float t) {
  return -std::log(0.5F * std::exp(-0.016F * t) + 0.5F * std::exp(-0.024F * t));
}
float wanted(float t) { return 0.02F * t; }

int main() {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Kokkos::DefaultExecutionSpace const exec;

  // Newton's polynomial through the ratio of both at 10, 150 and 300 mm.
  auto const ratio = [](float t) { return wanted(t) / reading(t); };
  float const p0 = reading(10);
  float const p1 = reading(150);
  float const p2 = reading(300);
  float const c0 = ratio(10);
  float const c1 = (ratio(150) - c0) / (p1 - p0);
  float const c2 = ((ratio(300) - ratio(150)) / (p2 - p1) - c1) / (p2 - p0);

  std::int64_t const groups = 32768;
  float const step = 300.0F / (32 * groups);
  Kokkos::View<float*, space> const readings("readings", 32 * groups);
  auto const on_host = Kokkos::create_mirror_view(readings);
  auto const corrected = [&] {
    for (std::int64_t i = 0; i < 32 * groups; ++i) {
      on_host(i) = reading(step * float(i));
    }
    Kokkos::deep_copy(exec, readings, on_host);
    iso::backend::for_each_lane_group("beam_hardening", exec, groups,
                                      example::beam_hardening{readings.data(), p0, p1, c0, c1, c2});
    Kokkos::deep_copy(exec, on_host, readings);
    exec.fence();
    return std::vector<float>(on_host.data(), on_host.data() + on_host.size());
  };

  auto const result = corrected();
  float worst = 0;
  for (std::int64_t i = 0; i < 32 * groups; ++i) {
    worst = std::max(worst, std::fabs(result[i] - wanted(step * float(i))));
  }
  int const widest = iso::backend::host_vector_bytes();
  bool same = true;
  for (int bytes : {32, 0}) {
    if (bytes < widest) {
      iso::backend::set_host_vector_bytes(bytes);
      same = same && corrected() == result;
    }
  }
  std::printf("registers of %d bytes: %.4f off at worst, of readings up to %.2f; bits agree: %s\n",
              widest, double(worst), double(wanted(300)), same ? "yes" : "no");
  return worst < 0.02F && same ? 0 : 1;
}
