// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/sweep_records.hpp
//! Describes the file that one process of a sweep writes: JSON lines, one record a line. The first
//! describes the process; then, as they are measured, come the ceilings of each backend and number
//! of threads, and the points, round by round. A process that is killed loses the line that it was
//! writing.
#pragma once

#include <iso/model/number_type.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace iso::files {

/// Numbers the format of the lines; files of different formats are not read together.
inline constexpr int sweep_format = 2;

/// A launcher starts no more processes.
inline constexpr int max_ranks = 1 << 24;

/// Is a share of the time of a point's samples: where a thread waited longer for a core, the point
/// is disturbed. Kernel threads of a quiet machine take less.
inline constexpr double max_waited = 0.02;

/// Returns the date in UTC, by ISO 8601.
std::string date_now();
/// Returns the name that this machine has.
std::string host_name();

struct sweep_header {
  std::string isocenter;  ///< version
  std::string revision;   ///< of the source
  std::string sweep;      ///< sweep_description::digest
  int rank = 0;
  int ranks = 1;
  int threads = 1;  ///< of the process, on the host
  std::string node;
  std::string device;                       ///< bus address of the GPU; empty without one
  std::int64_t points = 0;                  ///< that this process is to measure
  int rounds = 1;                           ///< and how many times
  std::map<std::string, double> exponents;  ///< of time over size, by operation
  std::string host = host_name();
  std::string compiler;           ///< that built the library, nvcc too
  std::string date = date_now();  ///< of the start
};

/// Measured rates of what a backend runs on with a number of threads.
struct sweep_ceilings {
  std::string backend;
  int threads = 1;
  int round = 0;
  std::string processor;
  std::map<std::string, double> rates;  ///< as iso::ceilings::rates
};

struct sweep_key {
  std::string operation;
  number_type precision = number_type::f32;
  std::int64_t size = 0;
  std::string backend;
  int threads = 1;
  std::int64_t groups_per_launch = 0;

  friend auto operator<=>(sweep_key const&, sweep_key const&) = default;
};

/// One point in one round.
struct sweep_point {
  sweep_key key;
  int round = 0;
  std::vector<double> seconds;  ///< of one call, in the order they were measured
  std::int64_t calls = 1;       ///< that each of these is the mean of
  double bytes = 0;
  double cache_bytes = 0;
  double flops = 0;
  std::string bound;            ///< the ceiling that binds
  double min_seconds = 0;       ///< of a call, at that ceiling
  std::optional<double> error;  ///< empty: not a finite number
  std::string hash;
  std::map<std::string, double> seconds_at;  ///< of a call, at each ceiling that it has to do with
  /// Is the wait for a core by the thread that waited longest, over the time of all samples.
  double waited = 0;

  [[nodiscard]] bool disturbed() const { return waited > max_waited; }
};

/// A point that could not be measured.
struct sweep_gap {
  sweep_key key;
  std::string reason;
};

/// What a second start goes on from.
struct sweep_results {
  std::vector<sweep_ceilings> ceilings;
  std::vector<sweep_point> points;  ///< of each its key, round and error
  std::uintmax_t whole_bytes = 0;   ///< of the lines that are whole
  bool cut_short = false;           ///< the last line was not, and is left out
};

/// A process' file, written while it measures. What is there is kept: a second start goes on.
class sweep_writer {
 public:
  /// Takes the file for this process alone, and drops a last line that is cut short. Where the
  /// first line cannot be written, no file is left.
  /// \throws iso::file_error  another process writes it; it is of another version, sweep, rank or
  ///                          machine, or not of a sweep: its bytes stay; it cannot be written
  sweep_writer(std::filesystem::path const& path, sweep_header const& header);
  sweep_writer(sweep_writer const&) = delete;
  sweep_writer& operator=(sweep_writer const&) = delete;
  ~sweep_writer();

  /// Returns what the file held.
  [[nodiscard]] sweep_results const& found() const { return found_; }

  /// Adds a record; each is on the disk when the call returns.
  void add(sweep_ceilings const& ceilings);
  void add(sweep_point const& point);
  void add(sweep_gap const& gap);

 private:
  void begin(sweep_header const& header);
  void append(std::string const& line);

  std::filesystem::path path_;
  int file_ = -1;
  sweep_results found_;
};

/// Returns the median, quartiles (linear between the sorted values), of at least one.
double quantile(std::vector<double> values, double share);
inline double median(std::vector<double> const& values) { return quantile(values, 0.5); }

}  // namespace iso::files
