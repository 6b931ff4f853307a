// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/jobs/vectors.hpp>

#include <fmt/core.h>

namespace iso::cli {
namespace {

json to_json(jobs::run_time const& took) {
  return {{"seconds", took.seconds}, {"processor_seconds", took.processor_seconds}};
}

}  // namespace

void add_vector_bytes(CLI::App& app) {
  app.add_option_function<int>(
         "--vector-bytes", jobs::choose_vectors,
         "registers that kernels on processors use: 64 (AVX-512), 32 (AVX2) or 0 (the portable "
         "form); default: the most that this processor has")
      ->transform(one_of({"0", "32", "64"}));
}

CLI::Option* add_repeats(CLI::App& app, jobs::repeats_request& request,
                         std::string const& operation) {
  auto* const repeats =
      app.add_option("--repeats", request.count,
                     fmt::format("run the operation so many times more, and tell the seconds of "
                                 "each of these runs: {}. Results are those of the first run",
                                 operation))
          ->check(whole_from(1, 1000000));
  app.add_flag("--by-kernel", request.by_kernel,
               "run it once more with a wait before and after each kernel, and tell the seconds of "
               "each");
  add_vector_bytes(app);
  return repeats;
}

void tell_repeats(common_options const& common, jobs::repeats_result const& result,
                  json& document) {
  bool const prints = common.json_file != "-";
  for (auto const& took : result.runs) {
    document["repeats"].push_back(to_json(took));
    if (prints) {
      fmt::print("repeat {}: {:.4g} s, {:.4g} s of processors\n", document["repeats"].size(),
                 took.seconds, took.processor_seconds);
    }
  }
  for (auto const& [label, took] : result.kernels) {
    document["kernel_times"][label] = to_json(took);
    if (prints) {
      fmt::print("kernel {}: {:.4g} s, {:.4g} s of processors\n", label, took.seconds,
                 took.processor_seconds);
    }
  }
}

}  // namespace iso::cli
