// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>

#include <limits>

namespace iso::backend {

namespace {

// What a thread does otherwise than it should.
enum departure : int { none = 0, rounding = 1, flushing = 2 };

// By arithmetic alone, whatever the processor. volatile: the sums and products must be computed
// here and now.
int departures() {
  double volatile one = 1;
  double volatile small = std::numeric_limits<double>::epsilon() / 1024;
  bool const nearest = one + small == 1 && one - small == 1;
  double volatile least = std::numeric_limits<double>::min();
  float volatile min_float = std::numeric_limits<float>::min();
  double volatile subnormal = std::numeric_limits<double>::denorm_min();
  float volatile subnormal_float = std::numeric_limits<float>::denorm_min();
  // Results that are subnormal, and operands.
  bool const kept = least * 0.5 != 0 && min_float * 0.5F != 0 && subnormal * 0x1p100 != 0 &&
                    subnormal_float * 0x1p100F != 0;
  return (nearest ? none : rounding) | (kept ? none : flushing);
}

}  // namespace

void check_floating_point_environment() {
  int found = departures();
  if (Kokkos::is_initialized()) {
    using host = Kokkos::DefaultHostExecutionSpace;
    int others = none;
    Kokkos::parallel_reduce(
        "iso::backend::check_floating_point_environment",
        Kokkos::RangePolicy<host>(0, host().concurrency()),
        [](int, int& all) { all |= departures(); }, Kokkos::BOr<int>(others));
    found |= others;
  }
  if ((found & rounding) != 0) {
    throw floating_point_error(
        "iso::backend::check_floating_point_environment: the rounding mode is not to nearest "
        "(results would differ between backends); call std::fesetround(FE_TONEAREST) in every "
        "thread, before Kokkos is initialised");
  }
  if (found != none) {
    throw floating_point_error(
        "iso::backend::check_floating_point_environment: subnormal numbers are flushed to zero "
        "(results would differ between backends); unset FTZ and DAZ in every thread, before Kokkos "
        "is initialised, and link nothing with -ffast-math, which sets them when it is loaded");
  }
}

}  // namespace iso::backend
