// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.hpp"

int main(int argc, char** argv) { return iso::cli::run(argc, argv); }
