// SPDX-License-Identifier: BSD-3-Clause
// main() of every benchmark program: starts Kokkos once, and writes into the context of the results
// what they were measured on.
#include "support/bench.hpp"

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

std::string number(double x) {
  std::ostringstream text;
  text.precision(6);
  text << x;
  return text.str();
}

void add_facts(iso::backend::device_facts const& facts) {
  auto const add = [&](char const* name, std::string const& value) {
    if (!value.empty() && value != "0") {
      benchmark::AddCustomContext(facts.backend + "." + name, value);
    }
  };
  add("processor", facts.processor);
  add("cores", std::to_string(facts.cores));
  add("threads", std::to_string(facts.threads));
  add("vector_isa", facts.vector_isa);
  add("clock_hz", number(facts.clock_hz));
  add("memory_bytes", std::to_string(facts.memory_bytes));
  add("l2_bytes", std::to_string(facts.l2_bytes));
  add("l3_bytes", std::to_string(facts.l3_bytes));
  add("peak_bandwidth", number(facts.peak_bandwidth));
  add("peak_fp32", number(facts.peak_fp32));
  add("peak_fp64", number(facts.peak_fp64));
  add("driver", facts.driver);
  add("runtime", facts.runtime);
}

// Many lines of "  key: value" as one.
std::string kokkos_configuration() {
  std::ostringstream text;
  Kokkos::print_configuration(text);
  std::istringstream lines(text.str());
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    auto const first = line.find_first_not_of(" \t");
    if (first != std::string::npos) {
      all += (all.empty() ? "" : "; ") + line.substr(first);
    }
  }
  return all;
}

void add_context() {
  iso::backend::device_facts last;
  iso::backend::for_each([&](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    last = iso::backend::facts(exec());
    add_facts(last);
  });
  benchmark::AddCustomContext("git_revision", last.git_revision);
  benchmark::AddCustomContext("compiler", last.compiler);
  benchmark::AddCustomContext("kokkos", last.kokkos_version);
  benchmark::AddCustomContext("kokkos_configuration", kokkos_configuration());
  for (char const* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES"}) {
    char const* const value = std::getenv(name);
    benchmark::AddCustomContext(name, value != nullptr ? value : "");
  }
  benchmark::AddCustomContext("smoke", iso::perf::smoke() ? "true" : "false");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
      return 2;
    }
    iso::backend::check_floating_point_environment();
    add_context();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    if (iso::perf::failed_rows() > 0) {
      std::fprintf(stderr, "%s: %d rows failed\n", argv[0], iso::perf::failed_rows());
      return 1;
    }
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s: %s\n", argv[0], failure.what());
    return 1;
  }
  return 0;
}
