// SPDX-License-Identifier: BSD-3-Clause
//! Checks a value of an enumeration by its words.
#pragma once

#include <iso/model/describe.hpp>

namespace iso::detail {

/// Checks that `value` is one of its enumeration; the message has the words that there are.
/// \throws iso::invalid_argument  naming `function` and what the value is
template <worded E>
void check_word(E value, char const* function, char const* name) {
  check_fields{function}(value, field{.name = name, .says = {}});
}

}  // namespace iso::detail
