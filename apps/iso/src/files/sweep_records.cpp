// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"

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
double rounded(double x) { return x == 0 ? 0 : std::stod(fmt::format("{:.6g}", x)); }

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
  line["error"] = p.error ? json(*p.error) : json(nullptr);
  line["hash"] = p.hash;
  line["calls"] = p.calls;
  line["seconds"] = std::move(seconds);
  return line;
}

template <class Json>
sweep_key read_key(Json const& line) {
  return {line.at("operation"), line.at("precision"), line.at("size"),
          line.at("backend"),   line.at("threads"),   line.at("groups_per_launch")};
}

template <class Json>
sweep_point read_point(Json const& line, std::string const& name) {
  sweep_point p;
  p.key = read_key(line);
  p.round = line.at("round");
  p.seconds = line.at("seconds").template get<std::vector<double>>();
  bool const timed = !p.seconds.empty() && std::all_of(p.seconds.begin(), p.seconds.end(),
                                                       [](double s) { return s > 0; });
  if (!timed) {
    detail::refuse(name, "field /seconds has a time that is not positive, or none");
  }
  p.calls = line.at("calls");
  p.bytes = line.at("bytes");
  p.cache_bytes = line.at("cache_bytes");
  p.flops = line.at("flops");
  p.bound = line.at("bound");
  p.least_seconds = line.at("least_seconds");
  if (!line.at("error").is_null()) {
    p.error = line.at("error").template get<double>();
  }
  p.hash = line.at("hash");
  return p;
}

template <class Json>
sweep_header read_header(Json const& line, std::string const& name) {
  sweep_header h;
  h.format = line.at("format");
  if (h.format != sweep_format) {
    detail::refuse(name, fmt::format("is of format {} (this program reads format {}) use the "
                                     "program that wrote it, or measure again",
                                     h.format, sweep_format));
  }
  h.isocenter = line.at("isocenter");
  h.revision = line.at("revision");
  h.sweep = line.at("sweep");
  h.rank = line.at("rank");
  h.ranks = line.at("ranks");
  h.threads = line.at("threads");
  h.node = line.at("node");
  h.device = line.at("device");
  h.points = line.at("points");
  h.rounds = line.at("rounds");
  h.exponents = line.at("exponents").template get<std::map<std::string, double>>();
  return h;
}

void read_line(std::string_view text, std::string const& name, bool first, sweep_results& to) {
  auto const line = detail::parse_json(text, name);
  try {
    std::string const record = line.at("record");
    if (first != (record == "sweep")) {
      detail::refuse(name, first ? "is not the beginning of a sweep's results (its field /record "
                                   "is not 'sweep')"
                                 : "begins a second sweep");
    }
    if (record == "sweep") {
      to.header = read_header(line, name);
    } else if (record == "ceilings") {
      to.ceilings.push_back({line.at("backend"), line.at("threads"), line.at("round"),
                             line.at("processor"),
                             line.at("rates").get<std::map<std::string, double>>()});
    } else if (record == "point") {
      to.points.push_back(read_point(line, name));
    } else if (record == "gap") {
      to.gaps.push_back({read_key(line), line.at("reason")});
    } else {
      detail::refuse(name, fmt::format("field /record is '{}' (expected: sweep, ceilings, point or "
                                       "gap)",
                                       record));
    }
  } catch (nlohmann::json::exception const& failure) {
    std::string const what = failure.what();
    detail::refuse(
        name,
        fmt::format("is not a record of a sweep ({})",
                    what.substr(what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2)));
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
  check("threads", there.threads, here.threads);
  check("points", there.points, here.points);
}

}  // namespace

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
    found_ = parse_results(read_text(path, largest_file), path.string());
    if (found_.whole_bytes > 0) {
      check_same(path, found_.header, header);
    }
    if (found_.cut_short && ::ftruncate(file_, ::off_t(found_.whole_bytes)) != 0) {
      refuse_system(path, "cannot be shortened by its last line, which is not whole");
    }
    if (found_.whole_bytes == 0) {
      append(to_json(header).dump());
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

sweep_writer::~sweep_writer() { ::close(file_); }

void sweep_writer::append(std::string const& text) {
  std::string const line = text + '\n';
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

void sweep_writer::add(sweep_ceilings const& ceilings) { append(to_json(ceilings).dump()); }
void sweep_writer::add(sweep_point const& point) { append(to_json(point).dump()); }
void sweep_writer::add(sweep_gap const& gap) {
  auto line = to_json(gap.key, "gap");
  line["reason"] = gap.reason;
  append(line.dump());
}

}  // namespace iso::files
