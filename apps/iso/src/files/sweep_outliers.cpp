// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_outliers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace iso::files {
namespace {

/// With fewer there is no telling who is the slow one.
constexpr std::size_t fewest_to_compare = 4;
/// Of the median: nobody looks for a node that is slower by less.
constexpr double least_slowdown = 0.01;

/// What lies above the median by more than three times the spread of `values`, or `noise` where
/// that is more. The slow ones are above the median: where they are more than a quarter they
/// stretch the interquartile range, but never what lies below the median.
double limit_of(std::vector<double> const& values, double noise) {
  double const middle = median(values);
  double const lower = quantile(values, 0.25);
  double const range = std::min(quantile(values, 0.75) - lower, 2 * (middle - lower));
  return middle + std::max(3 * std::max(range, noise), least_slowdown * middle);
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

}  // namespace

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
  bool const few_nodes = of_nodes.size() > 1 && of_nodes.size() < fewest_to_compare;
  if (compared && few_nodes) {
    report.notes.push_back(
        fmt::format("{} nodes are too few to compare ({} are wanted): a slow one cannot be told",
                    of_nodes.size(), fewest_to_compare));
  }
  if (!compared) {
    report.notes.push_back(fmt::format(
        "no point was measured by {} processes on one kind of processor: slow ones cannot be told",
        fewest_to_compare));
  }
}

}  // namespace iso::files
