// SPDX-License-Identifier: BSD-3-Clause
//! Holds what the commands of `iso matrix` share.
#pragma once

#include "support.hpp"

#include <string>
#include <vector>

namespace iso::cli {

command add_matrix_apply(CLI::App& app);
command add_matrix_bench(CLI::App& app);

}  // namespace iso::cli
