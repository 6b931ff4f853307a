// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/host_vectors.hpp
//! Describes which vector registers kernels on processors use. No bit of any result depends on it.
#pragma once

namespace iso::backend {

/// Returns the bytes of the vector registers that kernels on processors use: 64 (AVX-512), 32
/// (AVX2), or 0 where the lanes are arrays, of which the compiler makes what it can.
///
/// Never throws. At first it is the most that this processor and this build have.
int host_vector_bytes();

/// Chooses the widest form of this processor and this build whose registers have at most `bytes`;
/// where all are wider, the narrowest. A build has two forms at most:
///
/// | build | forms |
/// | --- | --- |
/// | by GCC for x86-64-v3 (the default), optimised | 32, and 64 where the processor has AVX-512 |
/// | the same by clang, or by GCC at -O0 | 32 |
/// | `ISO_X86_64_V3=OFF` and no -march | 0 |
///
/// host_vector_bytes() then returns what was chosen. The choice holds for launches that begin after
/// it, of all threads. Never throws. It is for comparing bits and for measurements.
void set_host_vector_bytes(int bytes);

}  // namespace iso::backend
