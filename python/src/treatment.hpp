// SPDX-License-Identifier: BSD-3-Clause
//! \file  treatment.hpp
#pragma once

#include "call.hpp"

namespace iso::python {

/// Binds the gamma index.
void bind_gamma(nb::module_& m);
/// Binds structures and dose-volume histograms.
void bind_dvh(nb::module_& m);
/// Binds dose matrices.
void bind_matrix(nb::module_& m);
/// Binds beams, TERMA and dose.
void bind_dose(nb::module_& m);
void bind_verify(nb::module_& m);

}  // namespace iso::python
