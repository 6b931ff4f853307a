// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  iso::backend::for_each([&](auto tag) { all.emplace_back(tag.name); });
  return all;
}

// The message of the iso::error that f throws; empty where it throws none.
template <class Error, class F>
std::string thrown(F const& f) {
  try {
    f();
  } catch (Error const& failure) {
    return failure.what();
  }
  return {};
}

bool holds(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("registry: serial first, each name once, and the default backend among them") {
  auto const all = names();
  CHECK(all.size() == std::tuple_size_v<iso::backend::all>);
  REQUIRE(!all.empty());
  CHECK(all.front() == "serial");
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  bool found = false;
  iso::backend::for_each([&](auto tag) {
    found |= std::is_same_v<typename decltype(tag)::execution_space, Kokkos::DefaultExecutionSpace>;
  });
  CHECK(found);
}

TEST_CASE("registry: a name finds its own backend, once") {
  for (auto const& name : names()) {
    CAPTURE(name);
    int calls = 0;
    iso::backend::with_name(name, [&](auto tag) {
      ++calls;
      CHECK(std::string(tag.name) == name);
      CHECK(iso::backend::facts(typename decltype(tag)::execution_space()).backend == name);
    });
    CHECK(calls == 1);
  }
}

TEST_CASE("registry: an unknown name is refused with the list of the known ones") {
  for (std::string const name : {"", "gpu", "Serial", "serial ", "openm"}) {
    CAPTURE(name);
    bool called = false;
    auto const text = thrown<iso::invalid_argument>(
        [&] { iso::backend::with_name(name, [&](auto) { called = true; }); });
    CHECK(!called);
    CHECK(holds(text, "'" + name + "'"));
    for (auto const& known : names()) {
      CHECK(holds(text, known));
    }
  }
}

TEST_CASE("floating-point environment: the usual one passes") {
  CHECK_NOTHROW(iso::backend::check_floating_point_environment());
}

TEST_CASE("floating-point environment: another rounding mode is refused") {
  for (int const mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    std::fesetround(mode);
    auto const text = thrown<iso::error>([] { iso::backend::check_floating_point_environment(); });
    std::fesetround(FE_TONEAREST);
    CHECK(holds(text, "rounding mode"));
  }
}

#if defined(__x86_64__)
TEST_CASE("floating-point environment: flushed subnormals are refused") {
  for (unsigned const bit : {0x8000U, 0x0040U}) {  // results (FTZ), operands (DAZ)
    CAPTURE(bit);
    unsigned const before = _mm_getcsr();
    _mm_setcsr(before | bit);
    auto const text = thrown<iso::error>([] { iso::backend::check_floating_point_environment(); });
    _mm_setcsr(before);
    CHECK(holds(text, "subnormal"));
  }
}
#endif

TEST_CASE("device facts: what a report needs is there") {
  iso::backend::for_each([](auto tag) {
    INFO(std::string(tag.name));
    using exec = typename decltype(tag)::execution_space;
    exec const instance;
    auto const facts = iso::backend::facts(instance);
    CHECK(facts.cores > 0);
    CHECK(facts.memory_bytes > 0);
    CHECK(facts.memory_free_bytes > 0);
    CHECK(facts.memory_free_bytes <= facts.memory_bytes);
    CHECK(facts.l2_bytes > 0);
    CHECK(facts.threads > 0);
    CHECK(!facts.compiler.empty());
    CHECK(facts.kokkos_version.substr(0, 2) == "5.");
    if constexpr (iso::backend::is_device<exec>) {
      CHECK(!facts.processor.empty());
      CHECK(!facts.driver.empty());
      CHECK(facts.peak_bandwidth > 0);
      CHECK(facts.vector_bytes == 0);
    } else {
      CHECK(facts.threads == int(instance.concurrency()));
      CHECK((facts.vector_bytes == 32 || facts.vector_bytes == 64));
    }
  });
}

}  // namespace
