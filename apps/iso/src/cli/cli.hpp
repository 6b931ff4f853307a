// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iso::cli {

/// Runs the tool: parses, runs one subcommand, and returns the program's exit code.
int run(int argc, char const* const* argv);

}  // namespace iso::cli
