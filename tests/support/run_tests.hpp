// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/run_tests.hpp
//! What the main() of test programs calls. DOCTEST_CONFIG_IMPLEMENT is defined before it is
//! included.
#ifndef ISO_TEST_RUN_TESTS_HPP
#define ISO_TEST_RUN_TESTS_HPP

#include "not_run.hpp"

#include <doctest/doctest.h>

namespace iso::test {

inline int assertions_made = 0;

struct assertion_counter : doctest::IReporter {
  explicit assertion_counter(doctest::ContextOptions const& /*options*/) {}
  void report_query(doctest::QueryData const& /*query*/) override {}
  void test_run_start() override {}
  void test_run_end(doctest::TestRunStats const& all) override { assertions_made = all.numAsserts; }
  void test_case_start(doctest::TestCaseData const& /*test*/) override {}
  void test_case_reenter(doctest::TestCaseData const& /*test*/) override {}
  void test_case_end(doctest::CurrentTestCaseStats const& /*test*/) override {}
  void test_case_exception(doctest::TestCaseException const& /*thrown*/) override {}
  void subcase_start(doctest::SubcaseSignature const& /*name*/) override {}
  void subcase_end() override {}
  void log_assert(doctest::AssertData const& /*made*/) override {}
  void log_message(doctest::MessageData const& /*said*/) override {}
  void test_case_skipped(doctest::TestCaseData const& /*test*/) override {}
};
REGISTER_LISTENER("assertion_counter", 1, assertion_counter);

/// Runs them. Returns the program's exit code: 77, which ctest knows, where parts did not run and
/// nothing else was checked.
inline int run_tests(doctest::Context& context) {
  int const result = context.run();
  return result == 0 && parts_not_run > 0 && assertions_made == 0 ? 77 : result;
}

}  // namespace iso::test

#endif  // ISO_TEST_RUN_TESTS_HPP
