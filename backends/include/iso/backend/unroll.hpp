// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/unroll.hpp
#pragma once

/// Before a loop: asks the GPU's compiler to unroll it by four, so that one turn's loads are under
/// way while the next is set up. A processor reorders by itself.
#ifdef __CUDACC__
#define ISO_DEVICE_UNROLL _Pragma("unroll 4")
#else
#define ISO_DEVICE_UNROLL
#endif
