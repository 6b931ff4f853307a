// SPDX-License-Identifier: BSD-3-Clause
//! \file  reconstruction.hpp
#pragma once

#include "call.hpp"

namespace iso::python {

/// Binds filtered backprojection, its halves and what it plans.
void bind_fdk(nb::module_& m);
/// Binds the iterative methods.
void bind_iterative(nb::module_& m);
/// Binds ellipsoids, what becomes of readings, and rays.
void bind_readings(nb::module_& m);

}  // namespace iso::python
