// SPDX-License-Identifier: BSD-3-Clause
#include "cli/cli.hpp"
#include "cli/wait_policy.hpp"

int main(int argc, char** argv) {
  iso::cli::wait_passively_where_busy(argv);
  return iso::cli::run(argc, argv);
}
