// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"
#include "sweep_fields.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_records.hpp>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <system_error>

namespace iso::files {
namespace {

using json = nlohmann::ordered_json;

// A file of a hundred thousand points.
constexpr std::size_t largest_file = std::size_t(1) << 30;

/// Six digits, which is more than a clock has.
double rounded(double x) { return to_digits(x, 6); }

/// Names and reasons may be no UTF-8: what is not becomes U+FFFD.
std::string line_of(json const& record) {
  return record.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

json to_json(sweep_header const& h) {
  return {{"record", "sweep"},       {"format", h.format},   {"isocenter", h.isocenter},
          {"revision", h.revision},  {"sweep", h.sweep},     {"rank", h.rank},
          {"ranks", h.ranks},        {"threads", h.threads}, {"node", h.node},
          {"device", h.device},      {"points", h.points},   {"rounds", h.rounds},
          {"exponents", h.exponents}};
}

json to_json(sweep_ceilings const& c) {
  return {{"record", "ceilings"}, {"backend", c.backend},     {"threads", c.threads},
          {"round", c.round},     {"processor", c.processor}, {"rates", c.rates}};
}

json to_json(sweep_key const& k, char const* record) {
  return {{"record", record},
          {"operation", k.operation},
          {"precision", k.precision},
          {"size", k.size},
          {"backend", k.backend},
          {"threads", k.threads},
          {"groups_per_launch", k.groups_per_launch}};
}

json to_json(sweep_point const& p) {
  json seconds = json::array();
  for (double const s : p.seconds) {
    seconds.push_back(rounded(s));
  }
  json line = to_json(p.key, "point");
  line["round"] = p.round;
  line["median_seconds"] = rounded(median(p.seconds));
  line["lower_quartile"] = rounded(quantile(p.seconds, 0.25));
  line["upper_quartile"] = rounded(quantile(p.seconds, 0.75));
  line["share_of_ceiling"] = rounded(p.least_seconds / median(p.seconds));
  line["bound"] = p.bound;
  json shares = json::object();
  for (auto const& [ceiling, least] : p.seconds_at) {
    shares[ceiling] = rounded(least / median(p.seconds));
  }
  line["shares"] = std::move(shares);
  line["bytes"] = p.bytes;
  line["cache_bytes"] = p.cache_bytes;
  line["flops"] = p.flops;
  line["least_seconds"] = rounded(p.least_seconds);
  line["waited"] = rounded(p.waited);
  line["disturbed"] = p.disturbed();
  line["error"] = p.error ? json(*p.error) : json(nullptr);
  line["hash"] = p.hash;
  line["calls"] = p.calls;
  line["seconds"] = std::move(seconds);
  return line;
}

// No machine counts, moves or computes more in a call; what is larger is damage.
constexpr double most_points = 1e9;
constexpr double most_rounds = 1e6;
constexpr double most_work = 1e30;

sweep_point read_point(fields const& line, int rounds) {
  sweep_point p;
  p.key = read_key(line);
  p.round = int(line.whole("round", 0, rounds - 1));
  p.seconds = line.numbers("seconds", least_time, most_time);
  p.calls = line.whole("calls", 1, most_size);
  p.bytes = line.number("bytes", 0, most_work);
  p.cache_bytes = line.number("cache_bytes", 0, most_work);
  p.flops = line.number("flops", 0, most_work);
  p.bound = line.text("bound");
  p.least_seconds = line.number("least_seconds", 0, most_time);
  p.waited = line.number("waited", 0, most_threads);
  if (!line.is_null("error")) {
    p.error = line.number("error", 0, most_work);
  }
  p.hash = line.text("hash");
  return p;
}

sweep_header read_header(fields const& line, std::string const& name) {
  sweep_header h;
  h.format = int(line.whole("format", 0, most_rounds));
  if (h.format != sweep_format) {
    throw other_format(
        fmt::format("'{}': is of format {} (this program reads format {}) use the "
                    "program that wrote it, or measure again",
                    name, h.format, sweep_format));
  }
  h.isocenter = line.text("isocenter");
  h.revision = line.text("revision");
  h.sweep = line.text("sweep");
  h.ranks = int(line.whole("ranks", 1, most_ranks));
  h.rank = int(line.whole("rank", 0, h.ranks - 1));
  h.threads = int(line.whole("threads", 1, most_threads));
  h.node = line.text("node");
  h.device = line.text("device");
  h.points = line.whole("points", 0, most_points);
  h.rounds = int(line.whole("rounds", 1, most_rounds));
  h.exponents = line.named_numbers("exponents", 0, 100);
  return h;
}

/// A rate of 0 is one that the backend does not have.
sweep_ceilings read_ceilings(fields const& line, int rounds) {
  return {line.text("backend"), int(line.whole("threads", 1, most_threads)),
          int(line.whole("round", 0, rounds - 1)), line.text("processor"),
          line.named_numbers("rates", 0, most_work)};
}

void read_line(std::string_view text, std::string const& name, bool first, sweep_results& to) {
  auto const document = detail::parse_json(text, name);
  fields const line(document, name, "is not a record of a sweep");
  auto const record = line.text("record");
  if (first != (record == "sweep")) {
    detail::refuse(name, first ? "is not the beginning of a sweep's results (its field /record is "
                                 "not 'sweep')"
                               : "begins a second sweep");
  }
  if (record == "sweep") {
    to.header = read_header(line, name);
  } else if (record == "ceilings") {
    to.ceilings.push_back(read_ceilings(line, to.header.rounds));
  } else if (record == "point") {
    to.points.push_back(read_point(line, to.header.rounds));
  } else if (record == "gap") {
    to.gaps.push_back({read_key(line), line.text("reason")});
  } else {
    detail::refuse(name, fmt::format("field /record is '{}' (expected: sweep, ceilings, point or "
                                     "gap)",
                                     record));
  }
}

/// Whole lines only; a last one without its end is what a killed process left.
sweep_results parse_results(std::string_view text, std::string const& file) {
  sweep_results results;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    auto const end = text.find('\n', begin);
    if (end == std::string_view::npos) {
      results.cut_short = true;
      break;
    }
    read_line(text.substr(begin, end - begin), fmt::format("{} line {}", file, number), number == 1,
              results);
    begin = end + 1;
  }
  results.whole_bytes = begin;
  return results;
}

[[noreturn]] void refuse_system(std::filesystem::path const& path, char const* what) {
  detail::refuse(path, fmt::format("{} ({})", what,
                                   std::error_code(errno, std::generic_category()).message()));
}

/// The line that a process begins its file with.
std::string first_line(sweep_header const& header) { return line_of(to_json(header)); }

/// Throws where a file without a whole line is not what this run left when it was killed at once.
void check_begun(std::filesystem::path const& path, std::string_view text,
                 sweep_header const& header) {
  if (!first_line(header).starts_with(text)) {
    detail::refuse(path,
                   "holds no results of a sweep (it is not empty, and not the beginning of what "
                   "this run writes) choose another name by --output, or remove the file");
  }
}

/// Throws where what the file holds is not the beginning of what this process measures.
void check_same(std::filesystem::path const& path, sweep_header const& there,
                sweep_header const& here) {
  auto const check = [&](char const* what, auto const& found, auto const& wanted) {
    if (found != wanted) {
      detail::refuse(path, fmt::format("holds results of {} {} (this run has {} {}) choose another "
                                       "name by --output, or remove the file",
                                       what, found, what, wanted));
    }
  };
  check("version", there.isocenter, here.isocenter);
  check("revision", there.revision, here.revision);
  check("sweep", there.sweep, here.sweep);
  check("rank", there.rank, here.rank);
  check("ranks", there.ranks, here.ranks);
  check("node", there.node, here.node);
  check("device", there.device, here.device);
  check("threads", there.threads, here.threads);
  check("rounds", there.rounds, here.rounds);
  check("points", there.points, here.points);
}

}  // namespace

sweep_key read_key(fields const& line) {
  return {line.text("operation"),
          line.text("precision"),
          line.whole("size", 1, most_size),
          line.text("backend"),
          int(line.whole("threads", 1, most_threads)),
          line.whole("groups_per_launch", 0, most_size)};
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  double const place = share * double(values.size() - 1);
  auto const below = std::size_t(place);
  auto const above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - double(below)) * (values[above] - values[below]);
}

sweep_results read_sweep_results(std::filesystem::path const& path) {
  auto const text = read_text(path, largest_file);
  auto results = parse_results(text, path.string());
  if (results.whole_bytes == 0) {
    detail::refuse(path, "holds no whole line (a sweep's results are expected)");
  }
  return results;
}

sweep_writer::sweep_writer(std::filesystem::path const& path, sweep_header const& header)
    : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  if (file_ < 0) {
    refuse_system(path, "cannot be written");
  }
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      detail::refuse(path,
                     "is being written by another process (was this one started by a "
                     "launcher that does not tell it its rank?) give --rank and --ranks, or "
                     "another --output");
    }
    auto const text = read_text(path, largest_file);
    found_ = parse_results(text, path.string());
    if (found_.whole_bytes > 0) {
      check_same(path, found_.header, header);
    } else {
      check_begun(path, text, header);
    }
    if (found_.cut_short && ::ftruncate(file_, ::off_t(found_.whole_bytes)) != 0) {
      refuse_system(path, "cannot be shortened by its last line, which is not whole");
    }
    if (found_.whole_bytes == 0) {
      begin(header);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

sweep_writer::~sweep_writer() { ::close(file_); }

void sweep_writer::begin(sweep_header const& header) {
  try {
    append(first_line(header));
  } catch (...) {
    ::unlink(path_.c_str());
    throw;
  }
}

void sweep_writer::append(std::string const& line) {
  std::size_t written = 0;
  while (written < line.size()) {
    auto const part = ::write(file_, line.data() + written, line.size() - written);
    if (part < 0 && errno == EINTR) {
      continue;
    }
    if (part <= 0) {
      refuse_system(path_, "takes no more results; those before are kept");
    }
    written += std::size_t(part);
  }
  ::fsync(file_);
}

void sweep_writer::add(sweep_ceilings const& ceilings) { append(line_of(to_json(ceilings))); }
void sweep_writer::add(sweep_point const& point) { append(line_of(to_json(point))); }
void sweep_writer::add(sweep_gap const& gap) {
  auto line = to_json(gap.key, "gap");
  line["reason"] = gap.reason;
  append(line_of(line));
}

}  // namespace iso::files
