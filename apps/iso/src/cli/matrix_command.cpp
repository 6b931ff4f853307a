// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_command.hpp"

#include "described.hpp"

#include <iso/core/error.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/matrix.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

namespace iso::cli {
namespace {

namespace fs = std::filesystem;

struct matrix_options {
  common_options common;
  std::string input;
  std::string output;
  std::optional<number_type> values;  ///< to convert to; absent: as they are
  std::int64_t size = 100;            ///< voxels along each side
  double spacing = 3;                 ///< mm
  std::vector<double> slabs;          ///< pairs of numbers
  jobs::matrix_request request;
  CLI::App* tables = nullptr;  ///< options of these kinds alone
  CLI::App* beams = nullptr;
};

constexpr std::string_view pencil_beams = "pencil-beams";

/// Returns the word for what is made.
std::string_view kind_of(jobs::matrix_request const& request) {
  return request.table ? to_word(*request.table) : pencil_beams;
}

std::string_view values_of(files::host_matrix const& matrix) {
  return to_word(number_type(matrix.values.index()));
}

json histogram(synthetic::matrix_statistics::histogram const& counts) {
  json result = json::object();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] != 0) {
      result[std::to_string(std::int64_t(1) << k)] = counts[k];
    }
  }
  return result;
}

json to_json(jobs::matrix_facts const& facts) {
  auto const& f = facts.counts;
  json document = {{"rows", f.rows},
                   {"columns", f.columns},
                   {"nonzeros", f.nonzeros},
                   {"stored_zeros", facts.stored_zeros},
                   {"ascending", facts.ascending},
                   {"empty_rows", f.empty_share()},
                   {"rows_below_32", f.short_share()},
                   {"mean_length", f.mean_length()},
                   {"longest", f.longest},
                   {"row_lengths", histogram(f.row_lengths)}};
  if (facts.ascending) {
    document["mean_run"] = f.mean_run();
    document["gaps_over_255"] = f.wide_share();
    document["jaccard"] = f.jaccard();
    document["fill"] = {{"2", f.fill(0)}, {"4", f.fill(1)}, {"8", f.fill(2)}};
    document["runs"] = histogram(f.run_lengths);
    for (std::size_t k = 0; k < f.jaccard_histogram.size(); ++k) {
      document["jaccard_histogram"][std::to_string(10 * k)] = f.jaccard_histogram[k];
    }
  }
  return document;
}

void print_histograms(jobs::matrix_facts const& facts) {
  auto const& f = facts.counts;
  fmt::print("\n{:>16} {:>14} {:>14}\n", "size", "rows", facts.ascending ? "runs" : "");
  std::size_t last = f.row_lengths.size();
  while (last > 0 && f.row_lengths[last - 1] == 0 && f.run_lengths[last - 1] == 0) {
    --last;
  }
  for (std::size_t k = 0; k < last; ++k) {
    auto const low = std::int64_t(1) << k;
    fmt::print("{:>16} {:>14} {:>14}\n", fmt::format("{} to {}", low, 2 * low - 1),
               f.row_lengths[k],
               facts.ascending ? fmt::format("{}", f.run_lengths[k]) : std::string());
  }
  if (facts.ascending) {
    fmt::print("\n{:>16} {:>14}\n", "% in common", "neighbours");
    for (std::size_t k = 0; k < f.jaccard_histogram.size(); ++k) {
      fmt::print("{:>16} {:>14}\n",
                 k < 10 ? fmt::format("{} to {}", 10 * k, 10 * k + 9) : std::string("100"),
                 f.jaccard_histogram[k]);
    }
  }
}

void print_facts(jobs::matrix_facts const& facts) {
  auto const& f = facts.counts;
  fmt::print("{} rows x {} columns, {} non-zeros\n", f.rows, f.columns, f.nonzeros);
  fmt::print("rows: {:.2f} % empty; of the others {:.2f} % below 32, mean {:.1f}, longest {}\n",
             100 * f.empty_share(), 100 * f.short_share(), f.mean_length(), f.longest);
  if (facts.ascending) {
    fmt::print("runs of consecutive columns: mean {:.1f}; {:.2f} % of the gaps exceed 255\n",
               f.mean_run(), 100 * f.wide_share());
    fmt::print(
        "neighbouring rows share {:.1f} % of their columns; fill of blocks of 2, 4, 8 rows: "
        "{:.3f}, {:.3f}, {:.3f}\n",
        100 * f.jaccard(), f.fill(0), f.fill(1), f.fill(2));
  } else {
    fmt::print("columns of a row do not ascend, or stand twice: no runs, no similarity of rows\n");
  }
  if (facts.stored_zeros > 0) {
    fmt::print("{} of the non-zeros are stored zeros\n", facts.stored_zeros);
  }
  if (!is_quiet()) {
    print_histograms(facts);
  }
}

void check_files(matrix_options const& options, bool output_needed) {
  if (output_needed && options.output.empty() && options.common.json_file.empty()) {
    throw invalid_argument("nothing to write (the result would be lost); give --output or --json");
  }
  if (!options.output.empty()) {
    files::check_matrix_ending(options.output);
  }
  check_writable(options.output);
  check_writable(options.common.json_file);
  check_distinct({options.input, options.output, options.common.json_file});
}

void check_kind(matrix_options const& options) {
  auto const* const others = options.request.table ? options.beams : options.tables;
  for (auto const* const option : others->get_options()) {
    if (option->count() > 0) {
      throw invalid_argument(fmt::format("{} is of {} ({} has no such thing); leave it out",
                                         option->get_name(), others->get_group(),
                                         kind_of(options.request)));
    }
  }
}

int run_generate(matrix_options& options) {
  check_kind(options);
  check_files(options, true);
  auto& request = options.request;
  if (options.slabs.size() % 2 != 0) {
    throw invalid_argument(
        fmt::format("--slabs has {} numbers (it takes pairs); give a thickness in mm and a "
                    "stopping power for each slab",
                    options.slabs.size()));
  }
  auto& field = request.field;
  for (std::size_t i = 0; i < options.slabs.size(); i += 2) {
    field.slabs.push_back({options.slabs[i], options.slabs[i + 1]});
  }
  auto const [n, mm] = std::pair(options.size, options.spacing);
  field.voxels = grid::centred({n, n, n}, {mm, mm, mm});
  field.margin = field.spot_spacing;
  jobs::session const session(options.common.threads);
  request.backend = sole_backend(options.common.backend, "matrix");
  auto const result = jobs::generate_matrix(request, terminal_observer());
  std::vector<files::atomic_file> outputs;
  if (!options.output.empty()) {
    outputs.push_back(files::prepare_matrix(options.output, result.matrix, asked_of_user()));
  }
  if (result.facts.counts.nonzeros == 0) {
    spdlog::warn("the matrix has no non-zeros ({}); check the input",
                 request.table ? "--factor leaves none of the table's"
                               : "no dose reaches the middle of a voxel");
  }
  if (options.common.json_file != "-") {
    fmt::print("{} on {} in {}; hash {}\n", kind_of(request), request.backend,
               time_text(result.time_ms), result.hash);
    double const cut_radius = std::sqrt(-2 * std::log(field.lateral_loss));
    if (!request.table && cut_radius > 0 && !is_quiet()) {
      fmt::print(
          "cut off: beyond {:.3f} standard deviations ({:.3g} % of a spot's dose), behind "
          "the peak below {:.3g} % of it\n",
          cut_radius, 100 * field.lateral_loss, 100 * field.distal_cut);
    }
    if (!is_quiet()) {
      print_facts(result.facts);
    }
  }
  json document = {{"isocenter", ISO_VERSION},          {"operation", "matrix generate"},
                   {"kind", kind_of(request)},          {"backend", request.backend},
                   {"values", to_word(request.values)}, {"hash", result.hash},
                   {"time_ms", result.time_ms}};
  document["matrix"] = to_json(result.facts);
  write_json(options.common.json_file, document, std::move(outputs));
  return success;
}

int run_info(matrix_options const& options) {
  check_files(options, false);
  jobs::session const session(options.common.threads);
  auto const backend = sole_backend(options.common.backend, "matrix");
  auto const matrix = files::read_matrix(options.input, asked_of_user());
  auto const facts = jobs::inspect_matrix(backend, matrix, terminal_observer());
  auto const hash = jobs::hash_matrix(matrix, asked_of_user());
  if (options.common.json_file != "-") {
    fmt::print("'{}': {} values; hash {}\n", options.input, values_of(matrix), hash);
    for (auto const& [name, text] : matrix.notes) {
      fmt::print("{}: {}\n", name, text);
    }
    print_facts(facts);
  }
  json document = {{"isocenter", ISO_VERSION},
                   {"operation", "matrix info"},
                   {"backend", backend},
                   {"values", values_of(matrix)},
                   {"hash", hash},
                   {"notes", matrix.notes}};
  document["matrix"] = to_json(facts);
  write_json(options.common.json_file, document);
  return success;
}

int run_convert(matrix_options const& options) {
  check_files(options, true);
  auto const watch = terminal_observer();
  watch.step(0, "reading");
  auto matrix = files::read_matrix(options.input, asked_of_user());
  watch.step(0.4, "converting");
  jobs::conversion_counts counts;
  if (options.values) {
    counts = jobs::convert_values(matrix, *options.values, asked_of_user());
  }
  watch.step(0.6, "writing");
  std::vector<files::atomic_file> outputs;
  outputs.push_back(files::prepare_matrix(options.output, matrix, asked_of_user()));
  watch.step(1, "done");
  if (files::ending(options.output) == ".mtx" && !matrix.notes.empty()) {
    spdlog::warn(
        "'{}' lacks the attributes of '{}' (Matrix Market has none); write .h5 to keep them",
        options.output, options.input);
  }
  if (counts.lost > 0) {
    spdlog::warn(
        "{} non-zeros were dropped (they became zero in this format); choose a wider format",
        counts.lost);
  }
  if (counts.subnormal > 0) {
    spdlog::warn(
        "{} values lost digits (they are below the least normal number of this format); choose a "
        "wider format",
        counts.subnormal);
  }
  auto const hash = jobs::hash_matrix(matrix, asked_of_user());
  if (options.common.json_file != "-") {
    fmt::print("'{}': {} rows x {} columns, {} non-zeros, {} values; hash {}\n", options.output,
               matrix.rows, matrix.columns, matrix.entries(), values_of(matrix), hash);
  }
  write_json(options.common.json_file,
             {{"isocenter", ISO_VERSION},
              {"operation", "matrix convert"},
              {"values", values_of(matrix)},
              {"hash", hash},
              {"lost", counts.lost},
              {"subnormal", counts.subnormal}},
             std::move(outputs));
  return success;
}

void add_table_options(CLI::App& sub, jobs::matrix_request& request) {
  sub.add_option("--factor", request.factor, "scales rows and non-zeros")
      ->check(number_from(1e-6, 100))
      ->capture_default_str();
  sub.add_option("--similarity", request.similarity, "share of rows that are like their neighbours")
      ->check(number_from(0, 1))
      ->capture_default_str();
  sub.add_option("--seed", request.seed, "of the random numbers (0: the table's own)")
      ->check(whole_number())
      ->capture_default_str();
}

void add_field_options(CLI::App& sub, matrix_options& options) {
  auto& field = options.request.field;
  auto const mm = [&](char const* name, double& value, char const* text) {
    sub.add_option(name, value, text)->check(number_from(0, 1e6))->capture_default_str();
  };
  sub.add_option("--size", options.size, "voxels along each side")
      ->check(whole_from(1, 1290))
      ->capture_default_str();
  sub.add_option("--spacing", options.spacing, "of the voxels, mm")
      ->check(number_from(1e-6, 1e6))
      ->capture_default_str();
  sub.add_option_function<double>(
         "--angle", [&field](double degrees) { field.angle = degrees / 180 * std::numbers::pi; },
         "direction, degrees from x to y")
      ->check(number_from(-360, 360))
      ->default_str("0");
  mm("--entrance", field.entrance, "mm of phantom before the isocentre");
  mm("--radius", field.radius, "of the spherical target, mm");
  mm("--spot-spacing", field.spot_spacing, "mm");
  mm("--layer-spacing", field.layer_spacing, "mm of water");
  mm("--sigma", field.initial_sigma, "lateral sigma at the entrance, mm");
  mm("--lateral-loss", field.lateral_loss, "share of a spot's dose that is cut off");
  mm("--distal-cut", field.distal_cut, "least dose behind the peak, over the peak");
  sub.add_option("--slabs", options.slabs,
                 "slabs from the entrance on, each its thickness in mm and its "
                 "stopping power over water's");
}

command add_generate(CLI::App& app) {
  auto const options = std::make_shared<matrix_options>();
  auto* const sub = app.add_subcommand(
      "generate", "A synthetic dose matrix, after a published table or of proton pencil beams");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  auto kinds = texts_of<synthetic::plan_case>();
  kinds.emplace_back(pencil_beams);
  sub->add_option_function<std::string>(
         "kind",
         [&request = options->request](std::string const& text) {
           request.table = from_word<synthetic::plan_case>(text);
         },
         "what to make")
      ->transform(one_of(kinds))
      ->required();
  sub->add_option("--output", options->output, "matrix file: .h5 (HDF5) or .mtx (Matrix Market)");
  add_words(*sub, "--values", options->request.values, "how values are stored");
  options->tables = sub->add_option_group("Published tables");
  add_table_options(*options->tables, options->request);
  options->beams = sub->add_option_group("Pencil beams");
  add_field_options(*options->beams, *options);
  return [options] { return run_generate(*options); };
}

command add_convert(CLI::App& app) {
  auto const options = std::make_shared<matrix_options>();
  auto* const sub = app.add_subcommand("convert", "Another format, or other stored values");
  sub->add_option("input", options->input, "matrix file: .h5, .hdf5 or .mtx")->required();
  sub->add_option("output", options->output, "matrix file: .h5, .hdf5 or .mtx")->required();
  add_words(*sub, "--values", options->values, "how values are stored; keep: as they are", "keep");
  sub->add_option("--json", options->common.json_file,
                  "also write the results as JSON to this file ('-': here)");
  return [options] { return run_convert(*options); };
}

command add_matrix_info(CLI::App& app) {
  auto const options = std::make_shared<matrix_options>();
  auto* const sub =
      app.add_subcommand("info", "Checks a matrix; histograms of rows, runs and similarity");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  sub->add_option("input", options->input, "matrix file: .h5, .hdf5 or .mtx")->required();
  return [options] { return run_info(*options); };
}

}  // namespace

command add_matrix(CLI::App& app) {
  auto* const sub = app.add_subcommand("matrix", "Dose-deposition matrices");
  sub->require_subcommand(1);
  auto const commands = std::make_shared<std::map<std::string, command>>();
  (*commands)["generate"] = add_generate(*sub);
  (*commands)["convert"] = add_convert(*sub);
  (*commands)["info"] = add_matrix_info(*sub);
  (*commands)["apply"] = add_matrix_apply(*sub);
  (*commands)["bench"] = add_matrix_bench(*sub);
  return [sub, commands] { return commands->at(sub->get_subcommands().front()->get_name())(); };
}

}  // namespace iso::cli
