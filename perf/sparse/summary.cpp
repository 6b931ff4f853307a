// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/rows.hpp"

#include <cstdio>

namespace iso::perf {
namespace {

struct line {
  std::string name;
  benchmark::UserCounters counters;
  std::string beside;  ///< the rival, or why there is no product
};

std::vector<line>& lines() {
  static std::vector<line> all;
  return all;
}

void print() {
  std::fprintf(stderr, "\n%-58s %9s %8s %7s %6s %8s %6s\n", "product", "ms", "GFLOP/s", "B/nnz",
               "share", "error", "ratio");
  for (auto const& [name, counters, beside] : lines()) {
    auto const value = [&, &all = counters](char const* counter) {
      auto const found = all.find(counter);
      return found == all.end() ? 0.0 : double(found->second.value);
    };
    if (value("refused") > 0) {
      std::fprintf(stderr, "%-58s refused: %.90s\n", name.c_str(), beside.c_str());
      continue;
    }
    std::fprintf(stderr, "%-58s %9.4f %8.1f %7.3f %6.3f %8.1e", name.c_str(), value("ms"),
                 value("gflops"), value("bytes_per_nonzero"), value("share_of_ceiling"),
                 value("error"));
    if (double const times = value("ratio") + value("products"); times > 0) {
      std::fprintf(stderr, " %6.3f x %s", times, beside.c_str());
    }
    if (value("processor_ratio") > 0) {
      std::fprintf(stderr, " (processor time %.3f)", value("processor_ratio"));
    }
    std::fputc('\n', stderr);
  }
}

}  // namespace

void add_to_summary(benchmark::State const& state, row_name const& name,
                    std::string const& beside) {
  if (lines().empty()) {
    Kokkos::push_finalize_hook(print);
  }
  lines().push_back({name.text(), state.counters, beside});
}

}  // namespace iso::perf
