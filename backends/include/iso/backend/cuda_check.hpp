// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/cuda_check.hpp
//! Checks calls of the CUDA runtime. Only a CUDA build can include it.
#pragma once

#include <cuda_runtime_api.h>

namespace iso::backend::detail {

[[noreturn]] void throw_cuda_error(cudaError_t status, char const* call);

}  // namespace iso::backend::detail

/// Calls the CUDA runtime; throws iso::error with the call and the runtime's own text on failure.
#define ISO_CUDA_CHECK(call)                                       \
  do {                                                             \
    cudaError_t const iso_status = (call);                         \
    if (iso_status != cudaSuccess) {                               \
      ::iso::backend::detail::throw_cuda_error(iso_status, #call); \
    }                                                              \
  } while (false)
