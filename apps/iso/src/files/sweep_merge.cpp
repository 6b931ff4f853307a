// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_outliers.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_merge.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace iso::files {
namespace {

/// How far the exponent of the two largest sizes may lie above the expected one. Below it lie all
/// whose calls do not fill the machine.
constexpr double most_above_expected = 0.15;

void check_alike(sweep_header const& first, std::string const& first_name, sweep_header const& h,
                 std::string const& name) {
  auto const check = [&](char const* what, auto const& one, auto const& other) {
    if (one != other) {
      detail::refuse(name, fmt::format("is of {} {}, '{}' of {} {} (one report is of one) merge "
                                       "them apart",
                                       what, other, first_name, what, one));
    }
  };
  check("version", first.isocenter, h.isocenter);
  check("revision", first.revision, h.revision);
  check("sweep", first.sweep, h.sweep);
  check("number of ranks", first.ranks, h.ranks);
}

void add_ranks(std::vector<sweep_results> const& results, std::vector<std::string> const& names,
               sweep_report& report) {
  std::map<int, std::string> files;
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto const& h = results[i].header;
    check_alike(results.front().header, names.front(), h, names[i]);
    auto const [found, is_new] = files.try_emplace(h.rank, names[i]);
    if (!is_new) {
      detail::refuse(names[i], fmt::format("is of rank {}, as '{}' (each rank counts once) name "
                                           "one of them, or give each process its --rank",
                                           h.rank, found->second));
    }
    report.ranks.push_back({h.rank,
                            h.node,
                            h.device,
                            names[i],
                            h.points * h.rounds,
                            std::int64_t(results[i].points.size()),
                            std::count_if(results[i].points.begin(), results[i].points.end(),
                                          [](sweep_point const& p) { return p.disturbed(); }),
                            results[i].cut_short,
                            {}});
    for (auto const& gap : results[i].gaps) {
      auto const measured = std::any_of(results[i].points.begin(), results[i].points.end(),
                                        [&](sweep_point const& p) { return p.key == gap.key; });
      auto& gaps = report.ranks.back().gaps;
      bool const told = std::any_of(gaps.begin(), gaps.end(),
                                    [&](sweep_gap const& g) { return g.key == gap.key; });
      if (!measured && !told) {
        gaps.push_back(gap);
      }
    }
  }
  int next = 0;
  auto const miss_until = [&](int rank) {
    if (rank > next) {
      report.missing_ranks.push_back({next, rank - 1});
    }
    next = rank + 1;
  };
  for (auto const& [rank, name] : files) {
    miss_until(rank);
  }
  miss_until(results.front().header.ranks);
  std::sort(report.ranks.begin(), report.ranks.end(),
            [](merged_rank const& a, merged_rank const& b) { return a.rank < b.rank; });
}

void note_shared_devices(sweep_report& report) {
  std::map<std::pair<std::string, std::string>, std::vector<int>> by_device;
  for (auto const& r : report.ranks) {
    if (!r.device.empty()) {
      by_device[{r.node, r.device}].push_back(r.rank);
    }
  }
  for (auto const& [place, ranks] : by_device) {
    if (ranks.size() > 1) {
      std::string list;
      for (int const rank : ranks) {
        list += fmt::format("{}{}", list.empty() ? "" : ", ", rank);
      }
      report.notes.push_back(
          fmt::format("ranks {} of node {} computed on one GPU ({}): their "
                      "times are not those of a GPU each",
                      list, place.first, place.second));
    }
  }
}

std::string processor_of(sweep_results const& r, sweep_key const& key) {
  auto const found = std::find_if(r.ceilings.begin(), r.ceilings.end(), [&](auto const& c) {
    return c.backend == key.backend && c.threads == key.threads;
  });
  return found == r.ceilings.end() ? "unknown" : found->processor;
}

void add_ceilings(std::vector<sweep_results> const& results, sweep_report& report) {
  std::map<std::tuple<std::string, std::string, int>, std::map<std::string, std::vector<double>>>
      all;
  for (auto const& r : results) {
    for (auto const& c : r.ceilings) {
      for (auto const& [name, rate] : c.rates) {
        all[{c.processor, c.backend, c.threads}][name].push_back(rate);
      }
    }
  }
  for (auto const& [where, rates] : all) {
    merged_ceilings merged{std::get<0>(where), std::get<1>(where), std::get<2>(where), {}};
    for (auto const& [name, values] : rates) {
      merged.rates[name] = median(values);
    }
    report.ceilings.push_back(std::move(merged));
  }
}

/// Of one process at one point.
struct samples {
  std::vector<double> seconds;
  std::vector<double> shares;
  std::vector<double> quiet_seconds;  ///< of rounds that were not disturbed
  std::vector<double> quiet_shares;
};

void append(std::vector<double>& some, std::vector<double> const& more) {
  some.insert(some.end(), more.begin(), more.end());
}

void add_round(sweep_point const& p, rank_result& to, samples& all) {
  std::vector<double> shares;
  for (double const one : p.seconds) {
    shares.push_back(p.least_seconds / one);
  }
  append(all.seconds, p.seconds);
  append(all.shares, shares);
  if (p.disturbed()) {
    ++to.disturbed_rounds;
  } else {
    append(all.quiet_seconds, p.seconds);
    append(all.quiet_shares, shares);
    to.shares.push_back(std::move(shares));
  }
  if (std::find(to.hashes.begin(), to.hashes.end(), p.hash) == to.hashes.end()) {
    to.hashes.push_back(p.hash);
  }
}

void summarise(samples const& all, rank_result& to) {
  bool const quiet = !all.quiet_seconds.empty();
  auto const& seconds = quiet ? all.quiet_seconds : all.seconds;
  to.median = median(all.seconds);
  to.fastest = *std::min_element(seconds.begin(), seconds.end());
  to.interquartile = quantile(all.seconds, 0.75) - quantile(all.seconds, 0.25);
  to.share = median(quiet ? all.quiet_shares : all.shares);
}

/// `seconds` are of all calls of all processes.
void summarise(merged_point& p, std::vector<double> const& seconds) {
  std::vector<double> medians;
  std::vector<double> shares;
  std::vector<double> fastest;
  p.disturbed = std::all_of(p.ranks.begin(), p.ranks.end(),
                            [](rank_result const& r) { return r.shares.empty(); });
  for (auto const& r : p.ranks) {
    medians.push_back(r.median);
    if (p.disturbed || !r.shares.empty()) {
      shares.push_back(r.share);
      fastest.push_back(r.fastest);
    }
  }
  p.median = median(medians);
  p.fastest = *std::min_element(fastest.begin(), fastest.end());
  p.lower_quartile = quantile(seconds, 0.25);
  p.upper_quartile = quantile(seconds, 0.75);
  p.share = median(shares);
}

void add_points(std::vector<sweep_results> const& results, sweep_report& report) {
  std::map<std::pair<sweep_key, std::string>, merged_point> all;
  std::map<merged_point const*, std::vector<double>> seconds;
  for (auto const& r : results) {
    std::map<merged_point*, samples> measured;  // of this process in all rounds
    for (auto const& p : r.points) {
      auto const processor = processor_of(r, p.key);
      auto& merged = all[{p.key, processor}];
      if (merged.ranks.empty()) {
        merged.key = p.key;
        merged.processor = processor;
        merged.bytes = p.bytes;
        merged.cache_bytes = p.cache_bytes;
        merged.flops = p.flops;
        merged.bound = p.bound;
        merged.error = p.error;
      }
      if (merged.ranks.empty() || merged.ranks.back().rank != r.header.rank) {
        merged.ranks.push_back({});
        merged.ranks.back().rank = r.header.rank;
      }
      add_round(p, merged.ranks.back(), measured[&merged]);
    }
    for (auto& [merged, its_samples] : measured) {
      summarise(its_samples, merged->ranks.back());
      append(seconds[merged], its_samples.seconds);
    }
  }
  for (auto& [key, merged] : all) {
    summarise(merged, seconds.at(&merged));
    report.points.push_back(std::move(merged));
  }
}

void compare_bits(sweep_report& report) {
  std::map<std::tuple<std::string, std::string, std::int64_t>,
           std::map<std::string, std::vector<std::string>>>
      all;
  for (auto const& p : report.points) {
    auto& results = all[{p.key.operation, p.key.precision, p.key.size}];
    for (auto const& r : p.ranks) {
      auto const where = fmt::format(
          "rank {} {} x{}{}", r.rank, p.key.backend, p.key.threads,
          p.key.groups_per_launch > 0 ? fmt::format(" in launches of {}", p.key.groups_per_launch)
                                      : std::string());
      for (auto const& hash : r.hashes) {
        results[hash].push_back(where);
      }
    }
  }
  for (auto& [what, results] : all) {
    bool const several = results.size() > 1 || results.begin()->second.size() > 1;
    if (several) {
      report.bits_agree = report.bits_agree.value_or(true) && results.size() == 1;
    }
    if (results.size() > 1) {
      report.differences.push_back({std::get<0>(what),
                                    std::get<1>(what),
                                    std::get<2>(what),
                                    {results.begin(), results.end()}});
    }
  }
}

/// By least squares.
double slope_of(std::vector<std::pair<double, double>> const& points) {
  double x_mean = 0;
  double y_mean = 0;
  for (auto const& [x, y] : points) {
    x_mean += x / double(points.size());
    y_mean += y / double(points.size());
  }
  double above = 0;
  double below = 0;
  for (auto const& [x, y] : points) {
    above += (x - x_mean) * (y - y_mean);
    below += (x - x_mean) * (x - x_mean);
  }
  return above / below;
}

void fit_growth(std::vector<sweep_results> const& results, sweep_report& report) {
  std::map<std::pair<sweep_key, std::string>, std::vector<merged_point const*>> series;
  for (auto const& p : report.points) {
    auto key = p.key;
    key.size = 0;
    if (!p.disturbed) {
      series[{key, p.processor}].push_back(&p);
    }
  }
  std::set<std::string> of_two_sizes;
  for (auto const& [what, points] : series) {
    if (points.size() == 2) {
      of_two_sizes.insert(what.first.operation);
    }
    if (points.size() < 3) {
      continue;
    }
    growth_fit fit;
    fit.key = points.back()->key;  // they ascend, as keys do
    fit.processor = what.second;
    std::vector<std::pair<double, double>> logs;
    for (auto const* const p : points) {
      fit.sizes.push_back(p->key.size);
      logs.emplace_back(std::log(double(p->key.size)), std::log(p->fastest));
    }
    fit.exponent = slope_of(logs);
    fit.last = slope_of({logs.end() - 2, logs.end()});
    for (auto const& r : results) {
      auto const found = r.header.exponents.find(fit.key.operation);
      fit.expected = found == r.header.exponents.end() ? fit.expected : found->second;
    }
    // Past the end of a cache the larger one may cost more: another ceiling binds it, or the
    // smaller one passes the ceiling.
    auto const& smaller = *points[points.size() - 2];
    bool const alike = points.back()->bound == smaller.bound && smaller.share <= 1;
    if (alike && fit.expected > 0 && fit.last > fit.expected + most_above_expected) {
      report.notes.push_back(fmt::format(
          "{} {} {} x{} grows too fast: with the power {:.2f} of its size from {} to {} (expected: "
          "{:g})",
          fit.key.operation, fit.key.precision, fit.key.backend, fit.key.threads, fit.last,
          fit.sizes[fit.sizes.size() - 2], fit.sizes.back(), fit.expected));
    }
    report.growth.push_back(std::move(fit));
  }
  if (!of_two_sizes.empty()) {
    report.notes.push_back(fmt::format("growth needs three sizes; measured at two: {}",
                                       fmt::join(of_two_sizes, ", ")));
  }
}

}  // namespace

sweep_report merge_sweeps(std::vector<sweep_results> const& results,
                          std::vector<std::string> const& names) {
  sweep_report report;
  auto const& first = results.front().header;
  report.isocenter = first.isocenter;
  report.revision = first.revision;
  report.sweep = first.sweep;
  add_ranks(results, names, report);
  note_shared_devices(report);
  add_ceilings(results, report);
  add_points(results, report);
  compare_bits(report);
  find_slow(report);
  fit_growth(results, report);
  return report;
}

sweep_report merge_sweeps(std::vector<std::filesystem::path> const& files) {
  // By rank, so that the order in which files are named changes nothing.
  std::multimap<std::pair<int, std::string>, sweep_results> of_rank;
  std::vector<unusable_file> unusable;
  for (auto const& file : files) {
    try {
      auto read = read_sweep_results(file);
      of_rank.emplace(std::pair(read.header.rank, file.string()), std::move(read));
    } catch (other_format const&) {
      throw;
    } catch (file_error const& failure) {
      unusable.push_back({file.string(), failure.what()});
    }
  }
  std::sort(unusable.begin(), unusable.end(),
            [](unusable_file const& a, unusable_file const& b) { return a.file < b.file; });
  if (of_rank.empty()) {
    throw file_error(unusable.front().reason +
                     (files.size() > 1
                          ? fmt::format(" (none of the {} files is usable)", files.size())
                          : std::string()));
  }
  std::vector<sweep_results> results;
  std::vector<std::string> names;
  for (auto& [rank_and_name, read] : of_rank) {
    results.push_back(std::move(read));
    names.push_back(rank_and_name.second);
  }
  auto report = merge_sweeps(results, names);
  report.unusable = std::move(unusable);
  return report;
}

std::string to_string(std::vector<rank_range> const& ranges) {
  constexpr std::size_t most_named = 5;
  std::string text;
  std::int64_t others = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto const& [first, last] = ranges[i];
    if (i >= most_named) {
      others += std::int64_t(last) - first + 1;
      continue;
    }
    text += fmt::format("{}{}", i == 0 ? "" : ", ", first);
    text += last > first ? fmt::format(" to {}", last) : std::string();
  }
  return others > 0 ? fmt::format("{} and {} more", text, others) : text;
}

}  // namespace iso::files
