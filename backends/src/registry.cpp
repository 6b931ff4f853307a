// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include <cfenv>
#include <limits>

namespace iso::backend {

namespace {

// volatile: the products must be computed here and now.
bool keeps_subnormals() {
  double volatile tiny = std::numeric_limits<double>::min();
  float volatile tiny_float = std::numeric_limits<float>::min();
  return tiny * 0.5 != 0 && tiny_float * 0.5F != 0;
}

}  // namespace

void check_floating_point_environment() {
  if (std::fegetround() != FE_TONEAREST) {
    throw error(
        "the rounding mode is not to nearest (results would differ between backends) "
        "call std::fesetround(FE_TONEAREST)");
  }
  bool kept = keeps_subnormals();
  using host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_reduce(
      "iso::backend::check_floating_point_environment",
      Kokkos::RangePolicy<host>(0, host().concurrency()),
      [](int, bool& every) { every = every && keeps_subnormals(); }, Kokkos::LAnd<bool>(kept));
  if (!(kept && keeps_subnormals())) {
    throw error(
        "subnormal numbers are flushed to zero (results would differ between backends) "
        "unset FTZ and DAZ; a library built with -ffast-math sets them when it is loaded");
  }
}

}  // namespace iso::backend
