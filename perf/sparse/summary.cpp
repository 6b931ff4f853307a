// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/rows.hpp"

#include <cstdio>

namespace iso::perf {
namespace {

std::vector<summary_line>& lines() {
  static std::vector<summary_line> all;
  return all;
}

void print() {
  std::fprintf(stderr, "\n%-58s %9s %8s %7s %6s %8s %6s\n", "product", "ms", "GFLOP/s", "B/nnz",
               "share", "error", "ratio");
  for (auto const& line : lines()) {
    if (!line.refusal.empty()) {
      std::fprintf(stderr, "%-58s refused: %.90s\n", line.name.c_str(), line.refusal.c_str());
      continue;
    }
    std::fprintf(stderr, "%-58s %9.4f %8.1f %7.3f %6.3f %8.1e", line.name.c_str(),
                 line.milliseconds, line.gflops, line.bytes_per_nonzero, line.share, line.error);
    if (line.ratio > 0) {
      std::fprintf(stderr, " %6.3f x %s", line.ratio, line.rival.c_str());
    }
    if (line.processor_ratio > 0) {
      std::fprintf(stderr, " (processor time %.3f)", line.processor_ratio);
    }
    std::fputc('\n', stderr);
  }
}

}  // namespace

void add_to_summary(summary_line const& line) {
  if (lines().empty()) {
    Kokkos::push_finalize_hook(print);
  }
  lines().push_back(line);
}

}  // namespace iso::perf
