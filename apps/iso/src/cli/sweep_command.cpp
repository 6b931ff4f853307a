// SPDX-License-Identifier: BSD-3-Clause
#include "launcher.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/sweep_records.hpp>
#include <iso/jobs/sweep.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace iso::cli {
namespace {

namespace fs = std::filesystem;

struct sweep_options {
  std::string backend = "all";
  std::string file;
  std::string output;
  std::vector<std::string> merge;
  std::vector<std::string> scaling;
  std::string against;
  double tolerance = 0.05;
  int rank = -1;
  int ranks = 0;
  std::string node;
  double slow_down = 1;
  bool flip_a_bit = false;
  bool list = false;
};

std::string node_name(std::string const& given) {
  if (!given.empty()) {
    try {
      static_cast<void>(nlohmann::json(given).dump());
    } catch (nlohmann::json::exception const&) {
      throw invalid_argument(
          "--node is no UTF-8 text (results are JSON, which is); give another name");
    }
    return given;
  }
  return files::host_name();
}

launched processes_of(sweep_options const& options) {
  if (options.rank < 0 && options.ranks == 0) {
    return read_launcher();
  }
  if (options.rank < 0 || options.rank >= options.ranks) {
    throw invalid_argument(
        fmt::format("--rank {} --ranks {} (a rank counts from 0 and is below the number of ranks); "
                    "give both --rank and --ranks",
                    options.rank, options.ranks));
  }
  return {"--rank", options.rank, options.ranks, read_local_rank(options.ranks)};
}

/// results.jsonl of rank 3 of several is results.rank3.jsonl.
fs::path output_of(std::string const& name, launched const& process) {
  fs::path path = name;
  if (process.ranks == 1) {
    return path;
  }
  return path.replace_filename(
      fmt::format("{}.rank{}{}", path.stem().string(), process.rank, path.extension().string()));
}

std::string name_of(files::sweep_key const& key) {
  return fmt::format("{} {} {} {} x{}{}", key.operation, key.size, to_word(key.precision),
                     key.backend, key.threads,
                     key.groups_per_launch > 0
                         ? fmt::format(" in launches of {}", key.groups_per_launch)
                         : std::string());
}

std::string count_of(std::size_t count, char const* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void list_operations() {
  fmt::print("{:<29} {:<20} {:<45} {}\n", "operation", "precisions", "size", "what it does");
  for (auto const& o : jobs::sweep_operations()) {
    fmt::print("{:<29} {:<20} {:<45} {}\n", o.name, o.precisions,
               fmt::format("{}, {} to {}", o.size, o.smallest, o.largest), o.about);
  }
}

void print_medians(jobs::sweep_summary const& summary) {
  fmt::print("{:<29} {:>11} {:<7} {:<7} {:>7} {:>11} {:>9} {:>6} {:<6} {:>9}  {}\n", "operation",
             "size", "type", "backend", "threads", "median ms", "+-", "share", "bound", "error",
             "hash");
  std::map<files::sweep_key, std::vector<files::sweep_point const*>> rounds;
  for (auto const& p : summary.measured) {
    rounds[p.key].push_back(&p);
  }
  for (auto const& [key, points] : rounds) {
    std::vector<double> seconds;
    std::vector<double> shares;
    for (auto const* const p : points) {
      for (double const one : p->seconds) {
        seconds.push_back(one);
        shares.push_back(p->min_seconds / one);
      }
    }
    double const middle = files::median(seconds);
    double const spread = files::quantile(seconds, 0.75) - files::quantile(seconds, 0.25);
    auto const& last = *points.back();
    fmt::print(
        "{:<29} {:>11} {:<7} {:<7} {:>7} {:>11.4g} {:>7.1f} % {:>4.0f} % {:<6} {:>9.2e}  {}\n",
        key.operation, key.size, to_word(key.precision), key.backend, key.threads, 1e3 * middle,
        50 * spread / middle, 100 * files::median(shares), last.bound,
        last.error.value_or(std::numeric_limits<double>::quiet_NaN()), last.hash);
  }
  std::fflush(stdout);
}

void print_summary(jobs::sweep_summary const& summary, fs::path const& output) {
  if (!is_quiet()) {
    print_medians(summary);
  }
  for (auto const& note : summary.notes) {
    spdlog::warn("{}", note);
  }
  for (auto const& gap : summary.gaps) {
    spdlog::warn("left out: {}", gap.reason);
  }
  fmt::print("{} of {} measurements in {}{}\n",
             summary.kept + std::int64_t(summary.measured.size()), summary.measurements,
             output.string(),
             summary.kept > 0 ? fmt::format(", {} of them from an earlier start", summary.kept)
                              : std::string());
}

void list_points(sweep_options const& options) {
  jobs::sweep_request request;
  request.what = files::read_sweep(options.file);
  request.backends = jobs::choose_backends(options.backend);
  jobs::session const session(0);
  auto const points = jobs::sweep_points(request);
  for (auto const& key : points) {
    fmt::print("{}\n", name_of(key));
  }
  fmt::print("{}, {}\n", count_of(points.size(), "point"),
             count_of(std::size_t(request.what.rounds), "round"));
}

int run_points(sweep_options const& options) {
  if (options.output.empty()) {
    throw invalid_argument(
        "sweep: nowhere to write (--output is not given); name a file by --output");
  }
  auto const process = processes_of(options);
  jobs::sweep_request request;
  request.what = files::read_sweep(options.file);
  request.backends = jobs::choose_backends(options.backend);
  request.output = output_of(options.output, process);
  request.version = ISO_VERSION;
  request.node = node_name(options.node);
  request.rank = process.rank;
  request.ranks = process.ranks;
  request.slow_down = options.slow_down;
  request.inject = options.flip_a_bit ? jobs::fault::one_bit : jobs::fault::none;
  bool const on_gpu =
      std::find(request.backends.begin(), request.backends.end(), "cuda") != request.backends.end();
  jobs::session const session(
      0, on_gpu ? jobs::choose_device(process.local_rank, process.ranks) : std::optional<int>());
  auto const summary = jobs::sweep(request, terminal_observer());
  print_summary(summary, request.output);
  return summary.gaps.empty() ? success : memory_short;
}

/// Beside the installed documents, or else in the source that this program was built of.
fs::path find_script(char const* name) {
  std::error_code unknown;
  auto const folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  auto const installed = folder / ISO_INSTALLED_SCRIPTS / name;
  return fs::exists(installed, unknown) ? installed : folder / ISO_SOURCE_SCRIPTS / name;
}

/// Becomes a script, whose exit codes are those of this program. It ends with the files it reads.
int become(char const* name, std::vector<std::string> const& words,
           std::vector<std::string> const& files) {
  auto const script = find_script(name);
  if (!fs::exists(script)) {
    throw file_error(
        fmt::format("'{}': this file is not there (it makes the report); install the program with "
                    "its scripts",
                    script.string()));
  }
  std::vector<std::string> all = {"python3", script.string()};
  all.insert(all.end(), words.begin(), words.end());
  all.emplace_back("--");
  all.insert(all.end(), files.begin(), files.end());
  std::vector<char*> arguments(all.size() + 1);  // the last one is null
  std::transform(all.begin(), all.end(), arguments.begin(),
                 [](std::string& word) { return word.data(); });
  ::execvp("python3", arguments.data());
  throw invalid_argument(
      fmt::format("sweep: python3, which makes the report, cannot be started ({}); install Python "
                  "3.9 or later with NumPy",
                  std::error_code(errno, std::generic_category()).message()));
}

int run_merge(sweep_options const& options) {
  check_written(options.output, "", "", options.merge);
  std::vector<std::string> words = {"--tolerance", fmt::format("{}", options.tolerance)};
  auto const pass = [&](char const* option, std::string const& value) {
    if (!value.empty()) {
      words.insert(words.end(), {option, value});
    }
  };
  pass("--output", options.output);
  pass("--against", options.against);
  return become("sweep_merge.py", words, options.merge);
}

int run_scaling(sweep_options const& options) {
  check_written(options.output, "", "", options.scaling);
  std::vector<std::string> words;
  if (!options.output.empty()) {
    words = {"--output", options.output};
  }
  return become("sweep_scaling.py", words, options.scaling);
}

int run_sweep(sweep_options const& options) {
  if (!options.against.empty() && options.merge.empty()) {
    throw invalid_argument(
        "sweep: --against compares a report (only --merge makes one); measure first, then merge "
        "the results with --against");
  }
  if (options.list) {
    options.file.empty() ? list_operations() : list_points(options);
    return success;
  }
  int const asked = (options.file.empty() ? 0 : 1) + (options.merge.empty() ? 0 : 1) +
                    (options.scaling.empty() ? 0 : 1);
  if (asked != 1) {
    throw invalid_argument(
        "sweep: nothing to do, or two things at once (it takes either --file, what to measure, or "
        "--merge, results to report on, or --scaling, runs to compare); give one of them");
  }
  if (!options.file.empty()) {
    return run_points(options);
  }
  return options.merge.empty() ? run_scaling(options) : run_merge(options);
}

}  // namespace

command add_sweep(CLI::App& app) {
  auto const options = std::make_shared<sweep_options>();
  auto* const sub = app.add_subcommand(
      "sweep",
      "Measures operations over sizes, precisions, backends, threads and launch shapes against "
      "this machine's own ceilings; merges the results of many processes into one report");
  sub->add_option("--file", options->file, "what to measure: JSON, see docs/sweep.md");
  sub->add_option("--output", options->output,
                  "results as JSON lines, appended after every point: a second start goes on where "
                  "the first ended. Of several processes each writes NAME.rankR.ENDING. With "
                  "--merge and --scaling: the report, JSON");
  sub->add_option("--backend", options->backend,
                  "backends that may run, with commas between; 'all' of this build")
      ->transform(in_small_letters())
      ->capture_default_str();
  sub->add_option("--merge", options->merge,
                  "results of one sweep's processes, to report on; python3 with NumPy does it");
  sub->add_option("--scaling", options->scaling,
                  "what iso project, back-project or reconstruct wrote by --json, alone and under "
                  "mpirun: strong and weak scaling, with parallel efficiency");
  sub->add_option("--against", options->against,
                  "an earlier report: points whose share of the ceiling fell are regressions");
  sub->add_option("--tolerance", options->tolerance,
                  "how far a share may fall: a regression is one whose 95 % interval lies beyond")
      ->check(number_from(0, 1))
      ->capture_default_str();
  sub->add_option("--rank", options->rank,
                  "number of this process, where no launcher tells it (with --ranks)")
      ->check(whole_from(0, files::max_ranks - 1));
  sub->add_option("--ranks", options->ranks, "number of processes")
      ->check(whole_from(1, files::max_ranks));
  sub->add_option("--node", options->node,
                  "name of this node in the report; by default the host's");
  sub->add_option("--slow-down", options->slow_down,
                  "make every call last so many times as long, to see that --merge notices")
      ->check(number_from(1, 1000));
  sub->add_flag("--flip-a-bit", options->flip_a_bit,
                "flip one bit of every result, to see that --merge notices");
  sub->add_flag("--list", options->list,
                "the operations, and what their sizes count; with --file, the points that would be "
                "measured here");
  return [options] { return run_sweep(*options); };
}

}  // namespace iso::cli
