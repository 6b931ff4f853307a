// SPDX-License-Identifier: BSD-3-Clause
//! What the commands of `iso matrix` share.
#pragma once

#include "support.hpp"

#include <string>
#include <vector>

namespace iso::cli {

/// The one backend that `choice` names; throws iso::invalid_argument where it names several.
std::string one_backend(std::string const& choice);
/// Throws iso::file_error where two of the names, of which some may be empty, are one file's.
void check_distinct(std::vector<std::string> const& files);

command add_matrix_apply(CLI::App& app);
command add_matrix_bench(CLI::App& app);

}  // namespace iso::cli
