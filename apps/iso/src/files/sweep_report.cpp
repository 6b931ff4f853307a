// SPDX-License-Identifier: BSD-3-Clause
// A report of a sweep as JSON, and two reports side by side.
#include "json_document.hpp"
#include "sweep_fields.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_merge.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace iso::files {
namespace {

using json = nlohmann::ordered_json;

/// Four digits, which is more than times repeat to.
double rounded(double x) { return to_digits(x, 4); }

json to_json(sweep_key const& k) {
  return {{"operation", k.operation}, {"precision", k.precision},
          {"size", k.size},           {"backend", k.backend},
          {"threads", k.threads},     {"groups_per_launch", k.groups_per_launch}};
}

json to_json(merged_rank const& r) {
  json gaps = json::array();
  for (auto const& gap : r.gaps) {
    auto one = to_json(gap.key);
    one["reason"] = gap.reason;
    gaps.push_back(std::move(one));
  }
  return {{"rank", r.rank},           {"node", r.node},           {"device", r.device},
          {"file", r.file},           {"planned", r.planned},     {"measured", r.measured},
          {"disturbed", r.disturbed}, {"cut_short", r.cut_short}, {"gaps", std::move(gaps)}};
}

json to_json(rank_range const& r) { return json::array({r.first, r.last}); }

json to_json(unusable_file const& u) { return {{"file", u.file}, {"reason", u.reason}}; }

json to_json(merged_point const& p) {
  json object = to_json(p.key);
  object.update({{"processor", p.processor},
                 {"median_seconds", p.median},
                 {"lower_quartile", p.lower_quartile},
                 {"upper_quartile", p.upper_quartile},
                 {"fastest_seconds", p.fastest},
                 {"disturbed", p.disturbed},
                 {"share_of_ceiling", rounded(p.share)},
                 {"bound", p.bound},
                 {"bytes", p.bytes},
                 {"cache_bytes", p.cache_bytes},
                 {"flops", p.flops},
                 {"error", p.error ? json(*p.error) : json(nullptr)}});
  json ranks = json::array();
  for (auto const& r : p.ranks) {
    json shares = json::array();
    for (auto const& round : r.shares) {
      json samples = json::array();
      for (double const share : round) {
        samples.push_back(rounded(share));
      }
      shares.push_back(std::move(samples));
    }
    ranks.push_back({{"rank", r.rank},
                     {"median_seconds", r.median},
                     {"hashes", r.hashes},
                     {"disturbed_rounds", r.disturbed_rounds},
                     {"shares", std::move(shares)}});
  }
  object["ranks"] = std::move(ranks);
  return object;
}

json to_json(slow_point const& s) {
  json object = to_json(s.key);
  object.update({{"rank", s.rank},
                 {"node", s.node},
                 {"seconds", s.seconds},
                 {"median_seconds", s.median},
                 {"limit_seconds", s.limit}});
  return object;
}

json to_json(slow_member const& s) {
  return {{"name", s.name}, {"slowdown", rounded(s.slowdown)}, {"limit", rounded(s.limit)}};
}

json to_json(bit_difference const& d) {
  json results = json::object();
  for (auto const& [hash, where] : d.results) {
    results[hash] = where;
  }
  return {{"operation", d.operation},
          {"precision", d.precision},
          {"size", d.size},
          {"results", std::move(results)}};
}

json to_json(growth_fit const& g) {
  json object = to_json(g.key);
  object.erase("size");
  object.update({{"processor", g.processor},
                 {"sizes", g.sizes},
                 {"exponent", rounded(g.exponent)},
                 {"last_exponent", rounded(g.last)},
                 {"expected", g.expected}});
  return object;
}

json to_json(share_change const& c) {
  json object = to_json(c.key);
  object.update({{"processor", c.processor},
                 {"share_before", rounded(c.before)},
                 {"share_now", rounded(c.now)},
                 {"ratio", rounded(c.ratio)},
                 {"interval", {rounded(c.low), rounded(c.high)}}});
  return object;
}

json to_json(merged_ceilings const& c) {
  return {{"processor", c.processor},
          {"backend", c.backend},
          {"threads", c.threads},
          {"rates", c.rates}};
}

template <class T>
json list_of(std::vector<T> const& all) {
  json list = json::array();
  for (auto const& one : all) {
    list.push_back(to_json(one));
  }
  return list;
}

/// The shares of a process: of each round its samples.
using shares_of_rounds = std::vector<std::vector<double>>;
/// The shares of one point.
using shares_of_ranks = std::vector<shares_of_rounds>;

/// Numbers from nowhere but their seed (splitmix64).
class random_numbers {
 public:
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15ULL;
    auto z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return std::size_t((z ^ (z >> 31U)) % count);
  }

 private:
  std::uint64_t state_ = 1;
};

double median_of(shares_of_rounds const& rounds) {
  std::vector<double> all;
  for (auto const& samples : rounds) {
    all.insert(all.end(), samples.begin(), samples.end());
  }
  return median(all);
}

double share_of(shares_of_ranks const& ranks) {
  std::vector<double> medians;
  for (auto const& rounds : ranks) {
    medians.push_back(median_of(rounds));
  }
  return median(medians);
}

/// As many, drawn with repetition.
template <class T, class F>
std::vector<T> drawn(std::vector<T> const& from, random_numbers& random, F const& change) {
  std::vector<T> all;
  for (std::size_t i = 0; i < from.size(); ++i) {
    all.push_back(change(from[random.below(from.size())]));
  }
  return all;
}

/// The share of processes, drawn; of a few processes their rounds are drawn anew too, and the
/// samples of these; of many the medians say enough.
double drawn_share(shares_of_ranks const& ranks, random_numbers& random) {
  constexpr std::size_t many = 8;
  auto const same = [](double share) { return share; };
  if (ranks.size() >= many) {
    std::vector<double> medians;
    for (auto const& rounds : ranks) {
      medians.push_back(median_of(rounds));
    }
    return median(drawn(medians, random, same));
  }
  return share_of(drawn(ranks, random, [&](shares_of_rounds const& rounds) {
    return drawn(rounds, random,
                 [&](std::vector<double> const& samples) { return drawn(samples, random, same); });
  }));
}

share_change change_of(shares_of_ranks const& before, shares_of_ranks const& now) {
  constexpr int draws = 2000;
  share_change change;
  change.before = share_of(before);
  change.now = share_of(now);
  change.ratio = change.now / change.before;
  random_numbers random;
  std::vector<double> ratios;
  for (int i = 0; i < draws; ++i) {
    double const then = drawn_share(before, random);
    ratios.push_back(drawn_share(now, random) / then);
  }
  change.low = quantile(ratios, 0.025);
  change.high = quantile(ratios, 0.975);
  return change;
}

/// By processor.
using earlier_points = std::map<sweep_key, std::map<std::string, shares_of_ranks>>;

constexpr char const* no_report =
    "is not a report (--against takes what iso sweep --merge has written)";

nlohmann::json read_document(std::filesystem::path const& path) {
  constexpr std::size_t largest_report = std::size_t(1) << 30;
  auto const text = read_text(path, largest_report);
  try {
    return detail::parse_json(text, path.string());
  } catch (file_error const&) {
    // Results have a document a line, a report is one.
    detail::refuse(path, fmt::format("{}: it is not JSON as a whole", no_report));
  }
}

/// Of the rounds that were not disturbed; none where all were.
shares_of_rounds read_shares(fields const& rank) {
  shares_of_rounds rounds;
  for (auto const& samples : rank.list("shares")) {
    rounds.push_back(rank.numbers_of(samples, "shares", least_time, most_time));
  }
  return rounds;
}

earlier_points read_earlier(std::filesystem::path const& path) {
  auto const document = read_document(path);
  auto const name = path.string();
  fields const report(document, name, no_report);
  if (report.text("record") != "report") {
    detail::refuse(path, no_report);
  }
  if (auto const format = report.whole("format", 0, 1e6); format != sweep_format) {
    detail::refuse(path, fmt::format("is of format {} (this program reads format {}) merge its "
                                     "files anew",
                                     format, sweep_format));
  }
  earlier_points points;
  for (auto const& p : report.list("points")) {
    fields const point(p, name, no_report);
    auto& ranks = points[read_key(point)][point.text("processor")];
    if (point.list("ranks").empty()) {
      detail::refuse(path, fmt::format("{}: it has a point without ranks", no_report));
    }
    for (auto const& r : point.list("ranks")) {
      if (auto rounds = read_shares(fields(r, name, no_report)); !rounds.empty()) {
        ranks.push_back(std::move(rounds));
      }
    }
  }
  return points;
}

/// Those of the same processor or, where the earlier report has one alone, of that.
shares_of_ranks const* earlier_shares(std::map<std::string, shares_of_ranks> const& there,
                                      std::string const& processor, std::set<std::string>& others) {
  auto const same = there.find(processor);
  if (same != there.end()) {
    return &same->second;
  }
  if (there.size() > 1) {
    return nullptr;
  }
  others.insert(there.begin()->first);
  return &there.begin()->second;
}

void note_compared(sweep_report& report, std::size_t there, std::size_t found,
                   std::string const& earlier, std::set<std::string> const& others) {
  for (auto const& other : others) {
    report.notes.push_back(
        fmt::format("shares are compared with those of another processor, {}", other));
  }
  if (found < report.points.size() || found < there) {
    report.notes.push_back(
        fmt::format("{} points are in both reports ({} here, {} in '{}'): only "
                    "those are compared",
                    found, report.points.size(), there, earlier));
  }
  if (report.compared_points < found) {
    report.notes.push_back(
        fmt::format("points that were disturbed in one of the reports are not compared: {}",
                    found - report.compared_points));
  }
}

}  // namespace

void compare_with(sweep_report& report, std::filesystem::path const& earlier, double tolerance) {
  auto const before = read_earlier(earlier);
  report.compared = true;
  std::size_t found = 0;
  std::set<std::string> others;
  for (auto const& p : report.points) {
    auto const there = before.find(p.key);
    auto const* const shares =
        there == before.end() ? nullptr : earlier_shares(there->second, p.processor, others);
    if (shares == nullptr || p.share <= 0) {
      continue;
    }
    ++found;
    shares_of_ranks now;
    for (auto const& r : p.ranks) {
      if (!r.shares.empty()) {
        now.push_back(r.shares);
      }
    }
    if (shares->empty() || now.empty()) {
      continue;  // disturbed, then or now
    }
    ++report.compared_points;
    auto change = change_of(*shares, now);
    change.key = p.key;
    change.processor = p.processor;
    if (change.high < 1 - tolerance) {
      report.regressions.push_back(change);
    } else if (change.low > 1 + tolerance) {
      report.improvements.push_back(change);
    }
  }
  if (found == 0) {
    detail::refuse(earlier,
                   "has no point of this sweep (there is nothing to compare) name a report "
                   "of the same sweep file");
  }
  note_compared(report, before.size(), found, earlier.string(), others);
}

std::string to_json_text(sweep_report const& r) {
  json document = {{"record", "report"},
                   {"format", sweep_format},
                   {"isocenter", r.isocenter},
                   {"revision", r.revision},
                   {"sweep", r.sweep},
                   {"ranks", list_of(r.ranks)},
                   {"missing_ranks", list_of(r.missing_ranks)},
                   {"unusable", list_of(r.unusable)},
                   {"bits_agree", r.bits_agree ? json(*r.bits_agree) : json(nullptr)},
                   {"differences", list_of(r.differences)},
                   {"slow_ranks", list_of(r.slow_ranks)},
                   {"slow_nodes", list_of(r.slow_nodes)},
                   {"slow_points", list_of(r.slow_points)}};
  if (r.compared) {
    document["compared_points"] = r.compared_points;
    document["regressions"] = list_of(r.regressions);
    document["improvements"] = list_of(r.improvements);
  }
  document["growth"] = list_of(r.growth);
  document["ceilings"] = list_of(r.ceilings);
  document["points"] = list_of(r.points);
  document["notes"] = r.notes;
  // Names of files may be no UTF-8: what is not becomes U+FFFD.
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace iso::files
