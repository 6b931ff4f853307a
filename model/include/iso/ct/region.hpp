// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/region.hpp
#pragma once

namespace iso::ct {

/// The part of a volume in which rays are integrated.
enum class region {
  box,       ///< everywhere
  cylinder,  ///< in the largest cylinder about the volume's middle, parallel to z, that fits in x
             ///< and y: its radius is half of the smaller of nx hx and ny hy (mm)
};

}  // namespace iso::ct
