// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/model/number_type.hpp
//! Names types of floating-point numbers.
#pragma once

#include <iso/model/word.hpp>

#include <array>

namespace iso {

/// The type in which arithmetic is done.
enum class precision { f32, f64 };

/// The type in which numbers are stored.
enum class number_type { f16, f32, f64 };

constexpr auto words(precision) {
  return std::array{word{precision::f32, "float"}, word{precision::f64, "double"}};
}
constexpr auto words(number_type) {
  return std::array{word{number_type::f16, "half"}, word{number_type::f32, "float"},
                    word{number_type::f64, "double"}};
}

template <class T>
inline constexpr precision precision_of = sizeof(T) == 4 ? precision::f32 : precision::f64;

template <class T>
inline constexpr number_type number_type_of = sizeof(T) == 2   ? number_type::f16
                                              : sizeof(T) == 4 ? number_type::f32
                                                               : number_type::f64;

}  // namespace iso
