// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/sweep_merge.hpp
//! The results of a sweep's processes as one report: who is slow, whether all have the same bits,
//! how time grows, and what an earlier report had.
#pragma once

#include <iso/files/sweep_records.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace iso::files {

/// One process.
struct merged_rank {
  int rank = 0;
  std::string node;
  std::string device;  ///< bus address of its GPU
  std::string file;
  std::int64_t planned = 0;  ///< measurements: of all points in all rounds
  std::int64_t measured = 0;
  std::int64_t disturbed = 0;  ///< of the measured: sweep_point::disturbed
  bool cut_short = false;      ///< its file ends within a line
  std::vector<sweep_gap> gaps;
};

/// Rates that the processes with one processor have measured: medians over them.
struct merged_ceilings {
  std::string processor;
  std::string backend;
  int threads = 1;
  std::map<std::string, double> rates;
};

struct rank_result {
  int rank = 0;
  double median = 0;         ///< seconds of one call
  double fastest = 0;        ///< of the samples of rounds that were not disturbed, or of all
  double interquartile = 0;  ///< range of the samples
  double share = 0;          ///< median of the rounds that were not disturbed, or of all
  int disturbed_rounds = 0;
  /// Of the ceiling as it was in that round: of each round that was not disturbed its samples.
  std::vector<std::vector<double>> shares;
  std::vector<std::string> hashes;  ///< one where all rounds agree
};

/// One point on all processes with one processor.
struct merged_point {
  sweep_key key;
  std::string processor;
  double bytes = 0;
  double cache_bytes = 0;
  double flops = 0;
  std::string bound;
  double median = 0;          ///< of the processes' medians, seconds
  double lower_quartile = 0;  ///< of all calls of all processes
  double upper_quartile = 0;
  bool disturbed = false;  ///< in all rounds of all processes
  double fastest = 0;      ///< of all processes that were not disturbed, or of all
  double share = 0;        ///< median over the same processes
  std::optional<double> error;
  std::vector<rank_result> ranks;
};

/// A process that is slower at a point than the median of all by more than three times the spread:
/// the interquartile range or twice the distance from the lower quartile to the median, whichever
/// is less. As long as fewer than half are slow, they do not hide each other.
struct slow_point {
  sweep_key key;
  int rank = 0;
  std::string node;
  double seconds = 0;
  double median = 0;
  double limit = 0;
};

/// The same of a process or node over all its points: `slowdown` is the median of its times over
/// the points' medians.
struct slow_member {
  std::string name;
  double slowdown = 1;
  double limit = 1;
};

/// An operation whose results are not the same everywhere, with each hash and who has it.
struct bit_difference {
  std::string operation;
  std::string precision;
  std::int64_t size = 0;
  std::vector<std::pair<std::string, std::vector<std::string>>> results;
};

/// Slope of log time over log size, of the fastest samples: whatever disturbs one makes it slower.
/// Points that were disturbed in all rounds are left out.
struct growth_fit {
  sweep_key key;  ///< its size is the largest
  std::string processor;
  std::vector<std::int64_t> sizes;
  double exponent = 0;
  double last = 0;  ///< between the two largest: small calls cost little less than an empty launch
  double expected = 0;
};

/// Share of the ceiling now over that of the earlier report, with its interval.
struct share_change {
  sweep_key key;
  std::string processor;
  double before = 0;
  double now = 0;
  double ratio = 1;
  double low = 1;
  double high = 1;
};

/// From `first` to `last`, both included.
struct rank_range {
  int first = 0;
  int last = 0;

  friend bool operator==(rank_range const&, rank_range const&) = default;
};

/// "3 to 7, 12": a few of them, and how many ranks there are beside those.
std::string to_string(std::vector<rank_range> const& ranges);

/// A file that is no results, or is damaged.
struct unusable_file {
  std::string file;
  std::string reason;  ///< a sentence that names the file
};

struct sweep_report {
  std::string isocenter;
  std::string revision;
  std::string sweep;
  std::vector<merged_rank> ranks;
  std::vector<rank_range> missing_ranks;
  std::vector<unusable_file> unusable;
  std::vector<merged_ceilings> ceilings;
  std::vector<merged_point> points;
  std::optional<bool> bits_agree;  ///< empty: no operation ran twice
  std::vector<bit_difference> differences;
  std::vector<slow_point> slow_points;
  std::vector<slow_member> slow_ranks;
  std::vector<slow_member> slow_nodes;
  std::vector<growth_fit> growth;
  bool compared = false;            ///< with an earlier report
  std::size_t compared_points = 0;  ///< that both have, undisturbed
  std::vector<share_change> regressions;
  std::vector<share_change> improvements;
  std::vector<std::string> notes;
};

/// Files that cannot be read or are damaged are left out and named. The order of `files` changes
/// nothing.
/// \throws iso::file_error  no file is usable, one is of another format, files are of different
///                          versions or sweeps, or two of one rank
sweep_report merge_sweeps(std::vector<std::filesystem::path> const& files);

/// The same of results that have been read; `names` are their files'.
sweep_report merge_sweeps(std::vector<sweep_results> const& results,
                          std::vector<std::string> const& names);

/// Fills `regressions` and `improvements`: points whose 95 % bootstrap interval of share now over
/// share then lies below 1 - tolerance, or above 1 + tolerance. Processes are drawn anew, and of
/// fewer than eight their rounds and the samples of these too: samples of one round are alike in
/// what changes slowly, such as a clock. The same reports give the same intervals.
/// Rounds that were disturbed are left out.
/// \throws iso::file_error  `earlier` is not a report, or has none of the report's points
void compare_with(sweep_report& report, std::filesystem::path const& earlier, double tolerance);

/// The report as JSON, indented.
std::string to_json_text(sweep_report const& report);

}  // namespace iso::files
