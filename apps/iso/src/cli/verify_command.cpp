// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/jobs/vectors.hpp>
#include <iso/jobs/verify.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace iso::cli {
namespace {

struct verify_options {
  common_options common;
  jobs::verify_request request;
  bool list = false;
};

void print_operations() {
  auto const all = jobs::verify_operations();
  std::size_t width = 0;
  for (auto const& one : all) {
    width = std::max(width, one.name.size());
  }
  fmt::print("{:<{}} {}\n", "operation", width, "functions that it runs");
  for (auto const& one : all) {
    fmt::print("{:<{}} {}\n", one.name, width, fmt::join(one.functions, ", "));
  }
}

int run_verify(verify_options& options) {
  if (options.list) {
    print_operations();
    return success;
  }
  auto& request = options.request;
  if (request.inject == jobs::fault::one_bit && request.repeats < 2) {
    throw invalid_argument(
        "--flip-a-bit with --repeats 1 (an operation that runs once has no other run to differ "
        "from); ask for 2 or more");
  }
  check_writable(options.common.json_file);
  jobs::session const session(0);
  request.backends = jobs::choose_backends(options.common.backend);
  auto const report = jobs::verify(request, terminal_observer());
  if (options.common.json_file != "-") {
    print_records(report);
    if (!is_quiet()) {
      fmt::print("vectors on processors: {}\n", jobs::vectors_in_words(jobs::vector_bytes()));
    }
    print_verdict(report);
  }
  json document = cli::to_json(report);
  document["vector_bytes"] = jobs::vector_bytes();
  write_json(options.common.json_file, document);
  return report.bits_agree.value_or(true) ? success : bits_differ;
}

}  // namespace

command add_verify(CLI::App& app) {
  auto const options = std::make_shared<verify_options>();
  auto* const sub = app.add_subcommand(
      "verify",
      "Do all backends give the same bits, with any number of threads and any launch shape?");
  auto& request = options->request;
  add_common(*sub, options->common, "all");
  sub->add_option("--threads", request.threads, "numbers of OpenMP threads to try, commas between")
      ->delimiter(',')
      ->check(whole_from(1, jobs::max_threads))
      ->capture_default_str();
  sub->add_option("--operations", request.operations,
                  "run only these operations, with commas between (default: all)")
      ->delimiter(',');
  sub->add_flag("--list", options->list, "print the operations, and the functions that each runs");
  sub->add_flag_callback(
      "--no-ceilings", [&request] { request.ceilings = jobs::ceilings_wanted::no; },
      "do not measure this machine's ceilings (about 2 s a backend)");
  sub->add_option("--repeats", request.repeats, "runs of each")
      ->check(whole_from(1, 1000))
      ->capture_default_str();
  add_vector_bytes(*sub);
  sub->add_flag_callback(
      "--flip-a-bit", [&request] { request.inject = jobs::fault::one_bit; },
      "flip one bit of one run of each operation, to see that verify notices: must exit with 1; "
      "wants two repeats or more");
  return [options] { return run_verify(*options); };
}

}  // namespace iso::cli
