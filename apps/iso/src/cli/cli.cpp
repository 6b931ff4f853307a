// SPDX-License-Identifier: BSD-3-Clause
#include "cli.hpp"

#include "support.hpp"

#include <iso/core/error.hpp>

#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <new>
#include <span>
#include <string>

namespace iso::cli {
namespace {

constexpr char const* footer = R"(Exit codes:
  0    done; where bits were compared, they agree
  1    bits differ
  2    wrong usage, or bad input: the message says what and why
  3    out of memory: the message says how much was asked for and how much there was
  4    anything else that failed
  130  stopped by SIGINT (nothing is left half-written)

Angles are degrees, lengths mm. Geometry files: docs/formats.md.)";

int report_failure(std::exception const& failure, int code) {
  end_progress();
  spdlog::error("{}", failure.what());
  return code;
}

/// Throws iso::invalid_argument where the first argument that is not an option names no subcommand.
void check_subcommand(std::map<std::string, command> const& commands,
                      std::span<char const* const> arguments) {
  auto const first =
      std::find_if(arguments.begin(), arguments.end(), [](char const* a) { return a[0] != '-'; });
  if (first == arguments.end() || commands.contains(*first)) {
    return;
  }
  std::string known;
  for (auto const& [name, ignored] : commands) {
    known.append(known.empty() ? "" : ", ").append(name);
  }
  throw invalid_argument(fmt::format(
      "subcommand '{}' is not known (there are {}) iso --help says what they do", *first, known));
}

int guarded(command const& run_command) {
  try {
    return run_command();
  } catch (cancelled const& failure) {
    return report_failure(failure, cancelled_by_user);
  } catch (out_of_memory const& failure) {
    return report_failure(failure, memory_short);
  } catch (std::bad_alloc const& failure) {
    return report_failure(failure, memory_short);
  } catch (invalid_argument const& failure) {
    return report_failure(failure, bad_input);
  } catch (file_error const& failure) {
    return report_failure(failure, bad_input);
  } catch (std::exception const& failure) {
    return report_failure(failure, internal_failure);
  }
}

}  // namespace

int run(int argc, char const* const* argv) {
  auto const log = spdlog::stderr_color_mt("iso");
  log->set_pattern("iso: %^%l%$: %v");
  spdlog::set_default_logger(log);

  CLI::App app("X-ray projections and dose-matrix products with the same bits on every backend",
               "iso");
  app.require_subcommand(1);
  app.footer(footer);
  app.set_version_flag("--version", ISO_VERSION);
  std::map<std::string, command> commands;
  commands["info"] = add_info(app);
  commands["project"] = add_project(app);
  commands["verify"] = add_verify(app);
  commands["demo"] = add_demo(app);
  commands["matrix"] = add_matrix(app);
  int const misnamed = guarded([&] {
    check_subcommand(commands, {argv + 1, std::size_t(std::max(argc - 1, 0))});
    return int(success);
  });
  if (misnamed != success) {
    return misnamed;
  }
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& asked) {
    return app.exit(asked);
  } catch (CLI::ParseError const& failure) {
    app.exit(failure);
    return bad_input;
  }
  watch_for_interrupts();
  return guarded(commands.at(app.get_subcommands().front()->get_name()));
}

}  // namespace iso::cli
