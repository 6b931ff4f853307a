// SPDX-License-Identifier: BSD-3-Clause
// Refused where the compiler is told -ffast-math or a part of it, as the wrong form of this test
// is.
#include <iso/core/numerics.hpp>

static_assert(iso::float_bits<float>::canonical_nan == 0x7fc00000U);
