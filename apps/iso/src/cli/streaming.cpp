// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace iso::cli {
namespace {

/// Returns the bytes that a text such as 4GiB, 500 MB or 1000000 stands for; below 0: none.
std::int64_t bytes_of(std::string const& text) {
  constexpr std::array<std::pair<std::string_view, double>, 9> units = {{{"", 1},
                                                                         {"b", 1},
                                                                         {"kb", 1e3},
                                                                         {"mb", 1e6},
                                                                         {"gb", 1e9},
                                                                         {"tb", 1e12},
                                                                         {"mib", 0x1p20},
                                                                         {"gib", 0x1p30},
                                                                         {"tib", 0x1p40}}};
  std::size_t const end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  if (end == 0 || !CLI::detail::lexical_cast(text.substr(0, end), number)) {
    return -1;
  }
  std::size_t const unit = std::min(text.find_first_not_of(' ', end), text.size());
  for (auto const& [name, size] : units) {
    bool const whole = size > 1 || number == std::floor(number);
    if (files::lower_case(text.substr(unit)) == name && whole && number * size < 0x1p60) {
      return std::int64_t(number * size);
    }
  }
  return -1;
}

/// Adds --memory with its help.
CLI::Option* add_memory(CLI::App& app, std::optional<std::int64_t>& memory,
                        std::string const& text) {
  return app
      .add_option_function<std::string>(
          "--memory", [&memory](std::string const& size) { memory = bytes_of(size); }, text)
      ->check(CLI::Validator(
          [](std::string const& text) {
            return bytes_of(text) > 0
                       ? std::string()
                       : fmt::format(
                             "{} (must be a size such as 4GiB, 500MB or 1000000); write a "
                             "number and kB, MB, GB, TB, MiB, GiB or TiB",
                             text);
          },
          "SIZE"));
}

double gib(std::int64_t bytes) { return double(bytes) / 0x1p30; }

std::array<std::pair<char const*, ct::streaming_plan>, 3> named_plans(
    ct::streaming_report const& report) {
  return {{{"projection", report.forward},
           {"backprojection", report.adjoint},
           {"backprojection with its step", report.step}}};
}

/// Returns the division of the calls that run, and what each will carry, if that is wanted.
std::string division_of(ct::streaming_report const& report, bool carried) {
  std::string how;
  for (auto const& [name, plan] : named_plans(report)) {
    if (plan.views > 0) {
      how += fmt::format("{}{} in slabs of {} planes and batches of {} views",
                         how.empty() ? "" : ", ", name, plan.planes, plan.views);
      how += carried ? fmt::format(" ({:.4g} GiB to the backend and {:.4g} GiB from it)",
                                   gib(plan.bytes_in), gib(plan.bytes_out))
                     : "";
    }
  }
  return how;
}

}  // namespace

CLI::Option* add_memory(CLI::App& app, std::optional<std::int64_t>& memory) {
  return add_memory(
      app, memory,
      "keep volume and readings in the machine's memory, and let them pass through so much of "
      "the backend's, such as 4GiB: for volumes that are larger. Sums of rays are reproducible "
      "then; the result has the bits that these have without a limit");
}

CLI::Option* add_dose_memory(CLI::App& app, std::optional<std::int64_t>& memory) {
  return add_memory(app, memory,
                    "keep doses in the machine's memory, and let them pass through so much of the "
                    "backend's, such as 4GiB: for doses that are larger. The result has the bits "
                    "that it has without a limit");
}

void choose_reproducible_sums(std::optional<std::int64_t> const& memory, bool given,
                              summation& sum) {
  bool const on_ranks = jobs::num_ranks() > 1;
  if (!memory && !on_ranks) {
    return;
  }
  auto const what =
      on_ranks ? fmt::format("{} processes", jobs::num_ranks()) : std::string("--memory");
  if (given && sum == summation::ordered) {
    throw invalid_argument(
        fmt::format("{} with --sum ordered (sums of slabs have no order); leave out --sum, or give "
                    "--sum reproducible",
                    what));
  }
  if (!given) {
    spdlog::info("{}: rays' sums are reproducible (--sum reproducible has these bits too)", what);
  }
  sum = summation::reproducible;
}

void log_streaming(ct::streaming_report const& report, std::int64_t host_bytes) {
  end_progress();
  spdlog::info(
      "--memory: {}{}; {:.4g} GiB of the backend's memory and {:.4g} GiB of the machine's in all, "
      "of "
      "which {:.4g} GiB are to copy from",
      division_of(report, true),
      report.beside_in > 0
          ? fmt::format(", {:.4g} GiB beside them in an iteration of SIRT or OS-SART",
                        gib(report.beside_in))
          : "",
      gib(report.device_bytes), gib(host_bytes), gib(report.staging_bytes));
}

void tell_streaming(common_options const& common, std::optional<ct::streaming_report> const& report,
                    json& document) {
  if (!report) {
    return;
  }
  json streaming = {{"device_bytes", report->device_bytes},
                    {"staging_bytes", report->staging_bytes},
                    {"page_locked_bytes", report->page_locked_bytes},
                    {"bytes_in", report->bytes_in},
                    {"bytes_out", report->bytes_out}};
  for (auto const& [name, plan] : named_plans(*report)) {
    if (plan.views > 0) {
      streaming[name] = {{"views", plan.views}, {"planes", plan.planes}};
    }
  }
  document["streaming"] = streaming;
  if (common.json_file != "-") {
    fmt::print(
        "streamed: {}; {:.4g} GiB of the backend's memory, {:.4g} GiB to it and {:.4g} GiB "
        "from it\n",
        division_of(*report, false), gib(report->device_bytes), gib(report->bytes_in),
        gib(report->bytes_out));
  }
}

void tell_streaming(common_options const& common, std::optional<jobs::slab_report> const& report,
                    json& document) {
  if (!report) {
    return;
  }
  document["streaming"] = {{"device_bytes", report->device_bytes},
                           {"bytes_in", report->bytes_in},
                           {"bytes_out", report->bytes_out},
                           {"planes", report->planes}};
  if (common.json_file != "-") {
    fmt::print(
        "streamed: in slabs of {} planes; {:.4g} GiB of the backend's memory, {:.4g} GiB to it and "
        "{:.4g} GiB from it\n",
        report->planes, gib(report->device_bytes), gib(report->bytes_in), gib(report->bytes_out));
  }
}

}  // namespace iso::cli
