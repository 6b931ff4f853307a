// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/model/core_words.hpp
//! Has the words of enumerations in core.
#pragma once

#include <iso/core/interpolation.hpp>
#include <iso/core/summation.hpp>
#include <iso/model/word.hpp>

#include <array>

namespace iso {

constexpr auto words(summation) {
  return std::array{word{summation::ordered, "ordered"},
                    word{summation::reproducible, "reproducible"}};
}
constexpr auto words(boundary) {
  return std::array{word{boundary::zero, "zero"}, word{boundary::truncate, "truncate"}};
}

}  // namespace iso
