// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/onto.hpp
#pragma once

#include <iso/core/check.hpp>

namespace iso {

/// The start of the sums of a call: zero, or the values that the output has. Every function that
/// can add takes it, and overwrites by default; products of matrices have the factor beta of the
/// BLAS.
enum class onto {
  zero,    ///< the result is overwritten
  stored,  ///< what the result holds, as earlier batches of views or other beams left it
};

/// Checks that `to` is one of the enumeration.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  it is not; the message begins with `function`
inline void validate(onto to, char const* function) {
  ISO_VALIDATE(to == onto::zero || to == onto::stored,
               "{}: onto {} (none of its enumeration); choose from iso/core/onto.hpp", function,
               int(to));
}

}  // namespace iso
