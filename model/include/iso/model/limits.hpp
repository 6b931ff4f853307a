// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/model/limits.hpp
//! Limits of what files and options may say, where several types have the same.
#pragma once

namespace iso {

inline constexpr double max_distance = 1e9;   ///< mm, either way
inline constexpr double max_degrees = 36000;  ///< of an angle, either way

}  // namespace iso
