// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/not_run.hpp
//! What tests say of a part that cannot run here, and how their programs then end.
#ifndef ISO_TEST_NOT_RUN_HPP
#define ISO_TEST_NOT_RUN_HPP

#include <cstdio>
#include <string>

namespace iso::test {

inline int parts_not_run = 0;

/// Says that a test case, or a part of it, does not run: "what (why); what to do". scripts/test.sh
/// shows these lines at its end. A program of which nothing else ran is skipped by ctest.
inline void not_run(std::string const& sentence) {
  ++parts_not_run;
  std::printf("not run: %s\n", sentence.c_str());
  std::fflush(stdout);
}

}  // namespace iso::test

#endif  // ISO_TEST_NOT_RUN_HPP
