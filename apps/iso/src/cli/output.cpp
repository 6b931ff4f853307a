// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace iso::cli {
namespace {

json to_json(std::vector<jobs::fact> const& facts) {
  json object = json::object();
  for (auto const& fact : facts) {
    std::visit([&](auto const& value) { object[fact.name] = value; }, fact.value);
  }
  return object;
}

template <class T>
json nullable(std::optional<T> const& value) {
  return value ? json(*value) : json(nullptr);
}

// JSON has no NaN, and null says that there is no error.
json error_of(jobs::record const& r) {
  return r.error && !std::isfinite(*r.error) ? json(fmt::format("{}", *r.error))
                                             : nullable(r.error);
}

json to_json(jobs::record const& r) {
  json object = {{"operation", r.operation},
                 {"functions", r.functions},
                 {"backend", r.backend},
                 {"precision", to_word(r.precision)},
                 {"hash", r.hash},
                 {"error", error_of(r)},
                 {"largest_error", nullable(r.largest_error)},
                 {"has_model", r.has_model},
                 {"time_ms", nullable(r.time_ms)},
                 {"share_of_ceiling", nullable(r.share_of_ceiling)},
                 {"runs", r.runs},
                 {"agrees", r.agrees}};
  json differences = json::array();
  for (auto const& d : r.disagreements) {
    differences.push_back({{"run", d.run},
                           {"index", d.where.index},
                           {"expected", d.where.expected},
                           {"found", d.where.found},
                           {"ulps", d.where.ulps},
                           {"elements", d.where.count}});
  }
  object["differences"] = std::move(differences);
  return object;
}

std::string scaled(double value, std::string const& unit) {
  char const* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (value >= 1000 && prefix < 5) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.4g} {}{}", value, prefixes[prefix], unit);
}

std::string text_of(jobs::fact const& fact) {
  if (auto const* text = std::get_if<std::string>(&fact.value)) {
    return *text;
  }
  if (auto const* number = std::get_if<std::int64_t>(&fact.value)) {
    return fact.unit.empty() ? fmt::format("{}", *number) : scaled(double(*number), fact.unit);
  }
  return scaled(std::get<double>(fact.value), fact.unit);
}

std::string figure(std::optional<double> const& value, char const* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

}  // namespace

json to_json(std::vector<jobs::backend_facts> const& machine) {
  json list = json::array();
  for (auto const& one : machine) {
    json object = {{"backend", one.backend}};
    object.update(to_json(one.facts));
    if (!one.ceilings.empty()) {
      object["ceilings"] = to_json(one.ceilings);
    }
    list.push_back(std::move(object));
  }
  return {{"backends", std::move(list)}};
}

json to_json(jobs::report const& report) {
  json records = json::array();
  for (auto const& r : report.records) {
    records.push_back(to_json(r));
  }
  return {{"isocenter", ISO_VERSION},           {"bits_agree", nullable(report.bits_agree)},
          {"machine", to_json(report.machine)}, {"records", std::move(records)},
          {"figures", report.figures},          {"notes", report.notes}};
}

void print_machine(std::vector<jobs::backend_facts> const& machine) {
  for (auto const& one : machine) {
    fmt::print("{}\n", one.backend);
    for (auto const& fact : one.facts) {
      fmt::print("  {:<20} {}\n", fact.name, text_of(fact));
    }
    if (!one.ceilings.empty()) {
      fmt::print("  measured ceilings\n");
    }
    for (auto const& fact : one.ceilings) {
      fmt::print("    {:<18} {}\n", fact.name, text_of(fact));
    }
  }
}

void print_records(jobs::report const& report) {
  if (is_quiet()) {
    return;
  }
  std::size_t width = 9;
  for (auto const& r : report.records) {
    width = std::max(width, r.operation.size());
  }
  fmt::print("{:<{}} {:<8} {:<7} {:>11} {:>11} {:>8} {:>5} {:<17} {}\n", "operation", width,
             "backend", "type", "error", "time ms", "ceiling", "runs", "hash", "bits");
  for (auto const& r : report.records) {
    std::optional<double> const percent =
        r.share_of_ceiling ? std::optional(100 * *r.share_of_ceiling) : std::nullopt;
    fmt::print("{:<{}} {:<8} {:<7} {:>11} {:>11} {:>8} {:>5} {:<17} {}\n", r.operation, width,
               r.backend, to_word(r.precision), figure(r.error, "{:.3e}"),
               figure(r.time_ms, "{:.4g}"), figure(percent, "{:.1f} %"), r.runs, r.hash,
               r.agrees ? "agree" : "DIFFER");
  }
}

void print_verdict(jobs::report const& report) {
  for (auto const& r : report.records) {
    if (r.error && !std::isfinite(*r.error)) {
      fmt::print("{} {} {}: its error is {}: some of its values are no finite numbers\n",
                 r.operation, r.backend, to_word(r.precision), *r.error);
    }
    for (auto const& d : r.disagreements) {
      fmt::print("{} {} {} ({}): element {} is {}, expected {}: {} ulp apart; {} elements differ\n",
                 r.operation, r.backend, to_word(r.precision), d.run, d.where.index, d.where.found,
                 d.where.expected, d.where.ulps, d.where.count);
    }
  }
  for (auto const& note : report.notes) {
    fmt::print("note: {}\n", note);
  }
  if (!report.bits_agree) {
    fmt::print("bits: one backend ran, and agreed with itself; nothing to compare it with\n");
  } else {
    fmt::print("bits: {}\n",
               *report.bits_agree ? "agree on every backend" : "DIFFER, or are no numbers");
  }
}

}  // namespace iso::cli
