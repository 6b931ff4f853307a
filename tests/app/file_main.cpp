// SPDX-License-Identifier: BSD-3-Clause
// The file formats need no Kokkos, and so neither do their tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
