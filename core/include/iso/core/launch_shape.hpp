// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/launch_shape.hpp
#pragma once

#include <cstdint>

namespace iso {

/// The distribution of lane groups over the machine. It changes no result.
struct launch_shape {
  std::int64_t groups_per_launch = 0;  ///< 0: all in one launch
};

}  // namespace iso
