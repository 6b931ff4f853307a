// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/back_project_onto.hpp
#pragma once

namespace iso::ct {

/// Specifies what a backprojection's sums are added to.
enum class back_project_onto {
  zero,    ///< the volume is overwritten
  stored,  ///< what the volume holds, as earlier batches of views left it
};

}  // namespace iso::ct
