// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/main.cpp
//! The main() of every test program: Kokkos lives as long as doctest runs.
#define DOCTEST_CONFIG_IMPLEMENT
#include "run_tests.hpp"

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return iso::test::run_tests(context);
}
