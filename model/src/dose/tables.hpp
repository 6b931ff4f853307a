// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace iso::dose::detail {

/// The text of model/data/NAME.csv.
std::string_view table_text(std::string_view name);

}  // namespace iso::dose::detail
