// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iso::cli {

/// Returns the quantity that `text` names, in any case, as the library spells it; with a
/// prescription (Gy, 0: not known), CI and V95% are of it.
/// \throws iso::invalid_argument  there is no such quantity
std::string quantity_of(std::string const& text, double prescription);

}  // namespace iso::cli
