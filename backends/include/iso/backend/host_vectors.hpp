// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/host_vectors.hpp
//! Describes which vector registers kernels on processors use. No kernel's bits depend on it.
#pragma once

namespace iso::backend {

/// Returns the bytes of the vector registers that kernels on processors use: 64 (AVX-512), 32
/// (AVX2), or 0 where the lanes are arrays, of which the compiler makes what it can. Never throws.
/// At first it is the most that this processor has. Functions that choose a format for the
/// processor where they run choose by it, and the order of sums may depend on the format.
int host_vector_bytes();

/// Chooses the widest form of this processor whose registers have at most `bytes`; where all are
/// wider, the narrowest. Kernels are compiled in all forms, whatever compiler and options a build
/// has:
/// | processor | forms |
/// | --- | --- |
/// | x86-64 with AVX-512 (F, VL, BW, DQ) | 64, 32 and 0 |
/// | x86-64 with AVX2, fma and BMI2 | 32 and 0 |
/// | any other | 0 |
///
/// host_vector_bytes() then returns what was chosen. The choice holds for launches that begin after
/// it, of all threads. Never throws. It is for comparing bits and for measurements.
void set_host_vector_bytes(int bytes);

}  // namespace iso::backend
