// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_merge.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace iso::files {
namespace {

/// With fewer there is no telling who is the slow one.
constexpr std::size_t fewest_to_compare = 4;
/// Of the median: nobody looks for a node that is slower by less.
constexpr double least_slowdown = 0.01;

/// What lies above the median by more than three interquartile ranges of `values`, or of `noise`
/// where that is more.
double limit_of(std::vector<double> const& values, double noise) {
  double const middle = median(values);
  double const range = std::max(quantile(values, 0.75) - quantile(values, 0.25), noise);
  return middle + std::max(3 * range, least_slowdown * middle);
}

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
  for (int rank = 0; rank < results.front().header.ranks; ++rank) {
    if (!files.contains(rank)) {
      report.missing_ranks.push_back(rank);
    }
  }
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

void add_round(sweep_point const& p, rank_result& to, std::vector<double>& seconds) {
  to.shares.emplace_back();
  for (double const one : p.seconds) {
    to.shares.back().push_back(p.least_seconds / one);
    seconds.push_back(one);
  }
  if (std::find(to.hashes.begin(), to.hashes.end(), p.hash) == to.hashes.end()) {
    to.hashes.push_back(p.hash);
  }
}

/// Of all samples.
double share_of(rank_result const& r) {
  std::vector<double> all;
  for (auto const& round : r.shares) {
    all.insert(all.end(), round.begin(), round.end());
  }
  return median(all);
}

void summarise(merged_point& p) {
  std::vector<double> medians;
  std::vector<double> shares;
  for (auto const& r : p.ranks) {
    medians.push_back(r.median);
    shares.push_back(share_of(r));
  }
  p.median = median(medians);
  p.fastest = std::min_element(p.ranks.begin(), p.ranks.end(), [](auto const& a, auto const& b) {
                return a.fastest < b.fastest;
              })->fastest;
  p.lower_quartile = quantile(medians, 0.25);
  p.upper_quartile = quantile(medians, 0.75);
  p.share = median(shares);
}

void add_points(std::vector<sweep_results> const& results, sweep_report& report) {
  std::map<std::pair<sweep_key, std::string>, merged_point> all;
  for (auto const& r : results) {
    std::map<merged_point*, std::vector<double>> seconds;  // of this process in all rounds
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
      add_round(p, merged.ranks.back(), seconds[&merged]);
    }
    for (auto& [merged, samples] : seconds) {
      auto& one = merged->ranks.back();
      one.median = median(samples);
      one.fastest = *std::min_element(samples.begin(), samples.end());
      one.interquartile = quantile(samples, 0.75) - quantile(samples, 0.25);
    }
  }
  for (auto& [key, merged] : all) {
    summarise(merged);
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

/// Which of the named members are slower than most.
std::vector<slow_member> slow_among(std::map<std::string, std::vector<double>> const& slowdowns) {
  std::vector<slow_member> slow;
  std::vector<double> all;
  for (auto const& [name, values] : slowdowns) {
    all.push_back(median(values));
  }
  if (all.size() < fewest_to_compare) {
    return slow;
  }
  double const limit = limit_of(all, 0);
  for (auto const& [name, values] : slowdowns) {
    if (median(values) > limit) {
      slow.push_back({name, median(values), limit});
    }
  }
  return slow;
}

void find_slow(sweep_report& report) {
  std::map<int, std::string> node_of;
  for (auto const& r : report.ranks) {
    node_of[r.rank] = r.node;
  }
  std::map<std::string, std::vector<double>> of_ranks;
  std::map<std::string, std::vector<double>> of_nodes;
  bool compared = false;
  for (auto const& p : report.points) {
    if (p.ranks.size() < fewest_to_compare) {
      continue;
    }
    compared = true;
    std::vector<double> medians;
    std::vector<double> noise;
    for (auto const& r : p.ranks) {
      medians.push_back(r.median);
      noise.push_back(r.interquartile);
    }
    double const limit = limit_of(medians, median(noise));
    for (auto const& r : p.ranks) {
      of_ranks[fmt::format("rank {} on {}", r.rank, node_of[r.rank])].push_back(r.median /
                                                                                p.median);
      of_nodes[node_of[r.rank]].push_back(r.median / p.median);
      if (r.median > limit) {
        report.slow_points.push_back({p.key, r.rank, node_of[r.rank], r.median, p.median, limit});
      }
    }
  }
  report.slow_ranks = slow_among(of_ranks);
  report.slow_nodes = slow_among(of_nodes);
  if (!compared) {
    report.notes.push_back(fmt::format(
        "no point was measured by {} processes on one kind of processor: slow ones cannot be told",
        fewest_to_compare));
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
    series[{key, p.processor}].push_back(&p);
  }
  for (auto const& [what, points] : series) {
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
    report.growth.push_back(std::move(fit));
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
  std::vector<sweep_results> results;
  std::vector<std::string> names;
  for (auto const& file : files) {
    results.push_back(read_sweep_results(file));
    names.push_back(file.string());
  }
  return merge_sweeps(results, names);
}

}  // namespace iso::files
