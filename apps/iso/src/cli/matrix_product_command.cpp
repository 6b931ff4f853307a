// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "matrix_command.hpp"
#include "ranks.hpp"

#include <iso/core/error.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace iso::cli {
namespace {

struct product_options {
  common_options common;
  std::string input;
  std::string x;
  std::string y;
  std::string output;
  bool transpose = false;
  jobs::apply_request apply;
  jobs::bench_request bench;
};

jobs::matrix_side side_of(product_options const& options) {
  return options.transpose ? jobs::matrix_side::transposed : jobs::matrix_side::forward;
}

/// How many numbers of y are not finite: sums of finite numbers overflow. Warns where any is.
std::int64_t warn_not_finite(std::vector<double> const& y) {
  auto const count = std::count_if(y.begin(), y.end(), [](double v) { return !std::isfinite(v); });
  if (count > 0) {
    spdlog::warn(
        "{} of {} numbers are not finite (the sums are too large); scale x, y or the matrix down",
        count, y.size());
  }
  return count;
}

int run_apply(product_options& options) {
  if (options.output.empty() && options.common.json_file.empty()) {
    throw invalid_argument("nothing to write (the result would be lost); give --output or --json");
  }
  if (options.apply.beta != 0 && options.y.empty()) {
    throw invalid_argument("--beta without --y (there is nothing to scale); give --y too");
  }
  if (options.apply.beta == 0 && !options.y.empty()) {
    throw invalid_argument("--y without --beta (it would not be read); give --beta too");
  }
  if (!options.output.empty()) {
    files::check_vector_ending(options.output);
  }
  check_writable(options.output);
  check_writable(options.common.json_file);
  for (auto const& input : {options.input, options.x, options.y}) {
    check_distinct({input, options.output, options.common.json_file});
  }
  jobs::session const session(options.common.threads, device_of_rank(options.common));
  auto& request = options.apply;
  request.backend = sole_backend(options.common.backend, "matrix");
  request.side = side_of(options);
  if (!options.x.empty()) {
    request.x = files::read_vector(options.x, asked_of_user());
  }
  if (!options.y.empty()) {
    request.y = files::read_vector(options.y, asked_of_user());
  }
  auto const matrix = files::read_matrix(options.input, asked_of_user());
  auto const result = jobs::apply_matrix(matrix, request, terminal_observer());
  if (!jobs::is_first_rank()) {
    return success;  // which writes and says what there is
  }
  std::vector<files::atomic_file> outputs;
  if (!options.output.empty()) {
    outputs.push_back(files::prepare_vector(options.output, result.y, asked_of_user()));
  }
  if (options.common.json_file != "-") {
    fmt::print("{} numbers by {} on {}, {}, in {}; hash {}\n", result.y.size(),
               to_word(result.format), request.backend,
               result.bytes_per_entry
                   ? fmt::format("{:.3g} bytes a non-zero", *result.bytes_per_entry)
                   : std::string("no non-zeros"),
               time_text(result.time_ms), result.hash);
  }
  json document = {
      {"isocenter", ISO_VERSION},
      {"operation", "matrix apply"},
      {"backend", request.backend},
      {"format", to_word(result.format)},
      {"sum", to_word(result.sum)},
      {"size", result.y.size()},
      {"not_finite", warn_not_finite(result.y)},
      {"bytes_per_entry", result.bytes_per_entry ? json(*result.bytes_per_entry) : json()},
      {"time_ms", result.time_ms},
      {"hash", result.hash}};
  tell_repeats(options.common, result.repeats, document);
  tell_ranks(document, options.transpose ? "its columns of the matrix" : "its rows of the matrix");
  write_json(options.common.json_file, document, std::move(outputs));
  return success;
}

std::string label(jobs::bench_row const& row) {
  return fmt::format("{} {} {}{}{}", to_word(row.values), to_word(row.format), to_word(row.sum),
                     row.vectors == number_type::f32 ? ", float vectors" : "",
                     row.count > 1 ? fmt::format(", {} vectors", row.count) : std::string());
}

void print_rows(jobs::bench_result const& result) {
  fmt::print("\n{:<39} {:<8} {:>10} {:>9} {:>8} {:>8} {:>10}  {}\n", "variant", "backend",
             "time ms", "GFLOP/s", "B/nnz", "ceiling", "error", "hash");
  for (auto const& row : result.rows) {
    fmt::print("{:<39} {:<8} {:>10.4g} {:>9.4g} {:>8.3g} {:>6.1f} % {:>10.2e}  {}{}\n", label(row),
               row.backend, row.time_ms, row.flops / row.time_ms / 1e6, row.bytes_per_entry,
               100 * row.share_of_ceiling, row.error, row.hash, row.chosen ? "  chosen" : "");
  }
  for (auto const& note : result.notes) {
    fmt::print("note: {}\n", note);
  }
}

json document_of(jobs::bench_result const& result) {
  json rows = json::array();
  for (auto const& row : result.rows) {
    json one = {{"variant", label(row)}};
    put_fields(one, row);
    rows.push_back(std::move(one));
  }
  return {{"isocenter", ISO_VERSION},        {"operation", "matrix bench"},
          {"bits_agree", result.bits_agree}, {"machine", cli::to_json(result.machine)},
          {"rows", std::move(rows)},         {"notes", result.notes}};
}

int run_bench(product_options& options) {
  check_writable(options.common.json_file);
  check_distinct({options.input, options.common.json_file});
  jobs::session const session(options.common.threads);
  options.bench.backends = jobs::choose_backends(options.common.backend);
  options.bench.side = side_of(options);
  auto const matrix = files::read_matrix(options.input, asked_of_user());
  auto const result = jobs::bench_matrix(matrix, options.bench, terminal_observer());
  if (options.common.json_file != "-") {
    if (!is_quiet()) {
      print_machine(result.machine);
      print_rows(result);
    }
    fmt::print("bits: {}\n", result.bits_agree ? "agree" : "DIFFER");
  }
  write_json(options.common.json_file, document_of(result));
  return result.bits_agree ? success : bits_differ;
}

CLI::App* add_product(CLI::App& app, product_options& options, char const* name, char const* text,
                      char const* backend) {
  auto* const sub = app.add_subcommand(name, text);
  add_common(*sub, options.common, backend);
  add_threads(*sub, options.common);
  add_share_gpus(*sub, options.common);
  sub->add_option("input", options.input, "matrix file: .h5, .hdf5 or .mtx")->required();
  sub->add_flag("--transpose", options.transpose, "with the transposed matrix");
  return sub;
}

}  // namespace

command add_matrix_apply(CLI::App& app) {
  auto const options = std::make_shared<product_options>();
  auto* const sub =
      add_product(app, *options, "apply", "y = alpha A x + beta y, of files", "default");
  sub->add_option("--x", options->x, "vector file (.h5): what to multiply; ones where absent");
  sub->add_option("--y", options->y, "vector file (.h5): what beta scales");
  sub->add_option("--output", options->output, "vector file (.h5): the result");
  add_words(*sub, "--format", options->apply.format,
            "how the matrix is stored for the product: auto, at the least cost; rows with columns "
            "of 32 or 16 bits; row blocks of 4 or 8 rows",
            "auto");
  add_words(*sub, "--sum", options->apply.sum,
            "how a row is added; automatic: reproducible for half values, else ordered",
            "automatic");
  sub->add_option("--alpha", options->apply.alpha, "factor of the product")
      ->check(number_from(-1e300, 1e300))
      ->capture_default_str();
  sub->add_option("--beta", options->apply.beta, "factor of --y")
      ->check(number_from(-1e300, 1e300))
      ->capture_default_str();
  add_repeats(*sub, options->apply.repeats,
              "the product, with matrix and vectors where it computes");
  return [options] { return run_apply(*options); };
}

command add_matrix_bench(CLI::App& app) {
  auto const options = std::make_shared<product_options>();
  auto* const sub = add_product(
      app, *options, "bench",
      "Every variant of the product on every backend, as shares of the measured ceilings "
      "(scripts/matrix_roofline.py draws the JSON)",
      "all");
  sub->add_option("--seconds", options->bench.seconds,
                  "time spent on each variant, at least; with 0, little on the ceilings too")
      ->check(number_from(0, 100))
      ->capture_default_str();
  return [options] { return run_bench(*options); };
}

}  // namespace iso::cli
