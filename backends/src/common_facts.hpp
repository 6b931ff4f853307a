// SPDX-License-Identifier: BSD-3-Clause
// What is the same for every backend of a build.
#pragma once

#include <iso/backend/device_facts.hpp>

#include "build_facts.hpp"

#include <string>
#include <string_view>

namespace iso::backend::detail {

inline device_facts common_facts(std::string_view backend) {
  device_facts result;
  result.backend = backend;
  result.compiler = build_compiler;
#ifdef __CUDACC_VER_MAJOR__
  result.compiler +=
      ", nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__);
#endif
  result.kokkos_version = std::to_string(KOKKOS_VERSION_MAJOR) + "." +
                          std::to_string(KOKKOS_VERSION_MINOR) + "." +
                          std::to_string(KOKKOS_VERSION_PATCH);
  result.git_revision = git_revision();
  return result;
}

}  // namespace iso::backend::detail
