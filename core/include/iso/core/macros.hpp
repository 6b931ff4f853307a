// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/macros.hpp
//! Marks functions that devices run too. They are KOKKOS_FUNCTION and KOKKOS_FORCEINLINE_FUNCTION
//! for headers that are compiled without Kokkos as well, such as those of model/.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define ISO_FUNCTION __host__ __device__
#define ISO_FORCEINLINE_FUNCTION __host__ __device__ __forceinline__
#else
#define ISO_FUNCTION
#define ISO_FORCEINLINE_FUNCTION inline __attribute__((always_inline))
#endif
