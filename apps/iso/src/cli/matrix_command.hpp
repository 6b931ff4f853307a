// SPDX-License-Identifier: BSD-3-Clause
//! What the commands of `iso matrix` share.
#pragma once

#include "support.hpp"

#include <string>
#include <vector>

namespace iso::cli {

/// The one backend that `choice` names; throws iso::invalid_argument where it names several.
std::string one_backend(std::string const& choice);

command add_matrix_apply(CLI::App& app);
command add_matrix_bench(CLI::App& app);

}  // namespace iso::cli
