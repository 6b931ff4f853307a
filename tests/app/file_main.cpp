// SPDX-License-Identifier: BSD-3-Clause
// The file formats need no Kokkos, and so neither do their tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include "run_tests.hpp"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  return iso::test::run_tests(context);
}
