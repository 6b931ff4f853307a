// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"
#include "record.hpp"

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/jobs/info.hpp>

namespace iso::jobs {
namespace {

// A figure that nobody could tell is left out.
void add(std::vector<fact>& to, std::string const& name, std::string const& value) {
  if (!value.empty()) {
    to.push_back({name, value, ""});
  }
}
void add(std::vector<fact>& to, std::string const& name, std::int64_t value,
         std::string const& unit) {
  if (value > 0) {
    to.push_back({name, value, unit});
  }
}
void add_rate(std::vector<fact>& to, std::string const& name, double value,
              std::string const& unit) {
  if (value > 0) {
    to.push_back({name, value, unit});
  }
}

std::vector<fact> list(backend::device_facts const& f) {
  std::vector<fact> all;
  add(all, "processor", f.processor);
  add(all, "memory_bytes", f.memory_bytes, "B");
  add(all, "memory_free_bytes", f.memory_free_bytes, "B");
  add(all, "l1_bytes", f.l1_bytes, "B");
  add(all, "l2_bytes", f.l2_bytes, "B");
  add(all, "l3_bytes", f.l3_bytes, "B");
  add(all, "cores", f.cores, "");
  add(all, "threads", f.threads, "");
  add(all, "vector_bytes", f.vector_bytes, "B");
  add(all, "vector_isa", f.vector_isa);
  add_rate(all, "clock_hz", f.clock_hz, "Hz");
  add_rate(all, "peak_bandwidth", f.peak_bandwidth, "B/s");
  add_rate(all, "peak_fp32", f.peak_fp32, "flop/s");
  add_rate(all, "peak_fp64", f.peak_fp64, "flop/s");
  add(all, "driver", f.driver);
  add(all, "runtime", f.runtime);
  add(all, "compiler", f.compiler);
  add(all, "kokkos_version", f.kokkos_version);
  add(all, "git_revision", f.git_revision);
  return all;
}

}  // namespace

std::string source_revision() { return backend::source_revision(); }

std::vector<fact> list_ceilings(ceilings::rates const& c) {
  std::vector<fact> all;
  add_rate(all, "read", c.read, "B/s");
  add_rate(all, "copy", c.copy, "B/s");
  add_rate(all, "triad", c.triad, "B/s");
  add_rate(all, "l1", c.l1, "B/s");
  add_rate(all, "l2", c.l2, "B/s");
  add_rate(all, "fp16", c.fp16, "flop/s");
  add_rate(all, "fp32", c.fp32, "flop/s");
  add_rate(all, "fp64", c.fp64, "flop/s");
  add_rate(all, "spread", c.spread, "");
  return all;
}

std::vector<backend_facts> info(std::vector<std::string> const& backends, ceilings_wanted ceilings,
                                observer const& watch) {
  std::vector<backend_facts> machine;
  for (auto const& name : backends) {
    watch.step(0, name);
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      machine.push_back({name, list(backend::facts(exec)), {}});
    });
  }
  if (ceilings == ceilings_wanted::yes) {
    measure_ceilings(machine, watch);
  }
  watch.step(1, "done");
  return machine;
}

}  // namespace iso::jobs
