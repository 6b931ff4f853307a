// SPDX-License-Identifier: BSD-3-Clause
//! Names the types that a matrix may store its values in.
#pragma once

#include <iso/core/half.hpp>
#include <iso/model/number_type.hpp>
#include <iso/sparse/matrix_options.hpp>

#include <string_view>
#include <type_traits>

namespace iso::sparse::detail {

/// Returns the word of a type of values: half, bfloat16, float or double.
template <class Value>
constexpr std::string_view value_word() {
  return std::is_same_v<Value, bfloat16> ? to_word(dose_matrix_options::value_storage::bfloat16)
                                         : to_word(number_type_of<Value>);
}

}  // namespace iso::sparse::detail
