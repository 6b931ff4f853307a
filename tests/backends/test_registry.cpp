// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include <doctest/doctest.h>
#include <pthread.h>

#include <cfenv>
#include <limits>
#include <set>
#include <string>
#include <thread>
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

// Kokkos::Threads launches from the thread that initialised Kokkos alone.
#if !ISO_HAS_THREADS
TEST_CASE("device facts: the least stack is that of the calling thread where others have more") {
  CHECK(iso::backend::min_stack() >= iso::backend::enough_stack);
  pthread_attr_t small;
  REQUIRE(::pthread_attr_init(&small) == 0);
  REQUIRE(::pthread_attr_setstacksize(&small, 128 << 10) == 0);
  std::int64_t found = 0;
  pthread_t thread{};
  REQUIRE(::pthread_create(
              &thread, &small,
              [](void* to) -> void* {
                *static_cast<std::int64_t*>(to) = iso::backend::min_stack();
                return nullptr;
              },
              &found) == 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&small);
  CHECK(found >= 128 << 10);
  CHECK(found < iso::backend::enough_stack);
}
#endif

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

using iso::backend::floating_point_error;

// Calls f on each of the threads that Kokkos has on the host, but not on this one.
template <class F>
void on_other_threads(F const& f) {
  using host = Kokkos::DefaultHostExecutionSpace;
  auto const here = std::this_thread::get_id();
  Kokkos::parallel_for(Kokkos::RangePolicy<host>(0, host().concurrency()), [&](int) {
    if (std::this_thread::get_id() != here) {
      f();
    }
  });
}

// What the registry says, by each of its ways to a backend.
std::vector<std::string> complaints() {
  return {thrown<floating_point_error>([] { iso::backend::check_floating_point_environment(); }),
          thrown<floating_point_error>([] { iso::backend::with_name("serial", [](auto) {}); }),
          thrown<floating_point_error>([] { iso::backend::for_each([](auto) {}); })};
}

TEST_CASE("floating-point environment: another rounding mode is refused, and what to do is said") {
  for (int const mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    std::fesetround(mode);
    auto const here = complaints();
    std::fesetround(FE_TONEAREST);
    on_other_threads([&] { std::fesetround(mode); });
    auto const others = complaints();
    on_other_threads([&] { std::fesetround(FE_TONEAREST); });
    for (std::size_t way = 0; way < here.size(); ++way) {
      CAPTURE(way);
      CHECK(holds(here[way], "rounding mode"));
      CHECK(holds(here[way], "std::fesetround(FE_TONEAREST)"));
      if (Kokkos::DefaultHostExecutionSpace().concurrency() > 1) {
        CHECK(others[way] == here[way]);
      }
    }
  }
  CHECK(complaints() == std::vector<std::string>(3));
}

#if defined(__x86_64__)
TEST_CASE("floating-point environment: flushed subnormals are refused, and what to do is said") {
  unsigned const usual = _mm_getcsr();
  for (unsigned const bit : {0x8000U, 0x0040U}) {  // results (FTZ), operands (DAZ)
    CAPTURE(bit);
    _mm_setcsr(usual | bit);
    auto const here = complaints();
    _mm_setcsr(usual);
    on_other_threads([&] { _mm_setcsr(usual | bit); });
    auto const others = complaints();
    on_other_threads([&] { _mm_setcsr(usual); });
    for (std::size_t way = 0; way < here.size(); ++way) {
      CAPTURE(way);
      CHECK(holds(here[way], "subnormal"));
      CHECK(holds(here[way], "FTZ and DAZ"));
      if (Kokkos::DefaultHostExecutionSpace().concurrency() > 1) {
        CHECK(others[way] == here[way]);
      }
    }
  }
  CHECK(complaints() == std::vector<std::string>(3));
}
#endif

TEST_CASE("floating-point environment: no backend is handed out where it is not the usual one") {
  bool called = false;
  std::fesetround(FE_UPWARD);
  thrown<floating_point_error>([&] { iso::backend::for_each([&](auto) { called = true; }); });
  std::fesetround(FE_TONEAREST);
  CHECK(!called);
}

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
      CHECK(facts.vector_bytes == iso::backend::host_vector_bytes());
    }
  });
}

}  // namespace
