// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_records.hpp>
#include <iso/files/text.hpp>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace iso::files {
namespace {

using json = nlohmann::ordered_json;

// A file of a hundred thousand points.
constexpr std::size_t largest_file = std::size_t(1) << 30;

/// Six digits, which is more than a clock has.
double rounded(double x) {
  // Not std::stod, which throws where a number is too small for all its digits.
  return std::strtod(fmt::format("{:.6g}", x).c_str(), nullptr);
}

/// Names and reasons may be no UTF-8: what is not becomes U+FFFD.
std::string line_of(json const& record) {
  return record.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

json to_json(sweep_header const& h) {
  return {{"record", "sweep"},        {"format", sweep_format},
          {"isocenter", h.isocenter}, {"revision", h.revision},
          {"sweep", h.sweep},         {"rank", h.rank},
          {"ranks", h.ranks},         {"threads", h.threads},
          {"node", h.node},           {"device", h.device},
          {"points", h.points},       {"rounds", h.rounds},
          {"exponents", h.exponents}, {"host", h.host},
          {"compiler", h.compiler},   {"date", h.date}};
}

json to_json(sweep_ceilings const& c) {
  return {{"record", "ceilings"}, {"backend", c.backend},     {"threads", c.threads},
          {"round", c.round},     {"processor", c.processor}, {"rates", c.rates}};
}

json to_json(sweep_key const& k, char const* record) {
  return {{"record", record},
          {"operation", k.operation},
          {"precision", to_word(k.precision)},
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
  line["share_of_ceiling"] = rounded(p.min_seconds / median(p.seconds));
  line["bound"] = p.bound;
  json shares = json::object();
  for (auto const& [ceiling, least] : p.seconds_at) {
    shares[ceiling] = rounded(least / median(p.seconds));
  }
  line["shares"] = std::move(shares);
  line["bytes"] = p.bytes;
  line["cache_bytes"] = p.cache_bytes;
  line["flops"] = p.flops;
  line["min_seconds"] = rounded(p.min_seconds);
  line["waited"] = rounded(p.waited);
  line["disturbed"] = p.disturbed();
  line["error"] = p.error ? json(*p.error) : json(nullptr);
  line["hash"] = p.hash;
  line["calls"] = p.calls;
  line["seconds"] = std::move(seconds);
  return line;
}

[[noreturn]] void refuse_field(std::string const& name, char const* field) {
  detail::refuse(name, fmt::format("is not a record of a sweep (its field /{} is missing or of "
                                   "another kind); remove the line",
                                   field));
}

/// Throws iso::file_error, with `name` as the line's, where the field is missing or of another
/// kind. Whether a figure is one that a machine can have, scripts/sweep_merge.py checks.
template <class T>
T field(nlohmann::json const& line, std::string const& name, char const* field) {
  auto const found = line.find(field);
  if (found == line.end() || (std::is_integral_v<T> && !found->is_number_integer())) {
    refuse_field(name, field);
  }
  try {
    return found->get<T>();
  } catch (nlohmann::json::type_error const&) {
    refuse_field(name, field);
  }
}

void read_line(std::string_view text, std::string const& name, bool first, sweep_results& to) {
  auto const line = detail::parse_json(text, name);
  auto const whole = [&](char const* what) { return field<std::int64_t>(line, name, what); };
  auto const words = [&](char const* what) { return field<std::string>(line, name, what); };
  auto const record = words("record");
  if (first != (record == "sweep")) {
    detail::refuse(
        name,
        first ? "is not the beginning of a sweep's results (its field /record is not 'sweep'); "
                "name a file that iso sweep wrote"
              : "begins a second sweep (a file holds one); write each sweep to a file of its own");
  }
  if (record == "ceilings") {
    to.ceilings.push_back({words("backend"), int(whole("threads")), int(whole("round")),
                           words("processor"),
                           field<std::map<std::string, double>>(line, name, "rates")});
  } else if (record == "point") {
    sweep_point p;
    auto const type = from_word<number_type>(words("precision"));
    if (!type) {
      refuse_field(name, "precision");
    }
    p.key = {words("operation"),    *type,
             whole("size"),         words("backend"),
             int(whole("threads")), whole("groups_per_launch")};
    p.round = int(whole("round"));
    if (!line.value("error", nlohmann::json()).is_null()) {
      p.error = field<double>(line, name, "error");
    }
    to.points.push_back(std::move(p));
  } else if (record != "sweep" && record != "gap") {
    detail::refuse(
        name,
        fmt::format(
            "field /record is '{}' (expected: sweep, ceilings, point or gap); remove the line",
            shortened(record, 60)));
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

[[noreturn]] void refuse_system(std::filesystem::path const& path, char const* what,
                                char const* advice) {
  detail::refuse(path,
                 fmt::format("{} ({}); {}", what,
                             std::error_code(errno, std::generic_category()).message(), advice));
}

/// The line that a process begins its file with; it ends with the date.
std::string first_line(sweep_header const& header) { return line_of(to_json(header)); }

/// Throws where a file without a whole line is not what this run left when it was killed at once.
void check_begun(std::filesystem::path const& path, std::string_view text,
                 sweep_header const& header) {
  auto const line = first_line(header);
  auto const undated = line.substr(0, line.rfind(header.date));
  bool const begins_alike = undated.starts_with(text.substr(0, undated.size()));
  bool const dated =
      text.size() < line.size() &&
      text.find_first_not_of("0123456789-T:Z\"}", undated.size()) == std::string_view::npos;
  if (!begins_alike || !dated) {
    detail::refuse(path,
                   "holds no results of a sweep (it is not empty, and not the beginning of what "
                   "this run writes); choose another name by --output, or remove the file");
  }
}

/// Throws where what the file holds, by its first line, is not the beginning of what this process
/// measures.
void check_same(std::filesystem::path const& path, std::string_view text,
                sweep_header const& header) {
  auto const there = json::parse(text.substr(0, text.find('\n')));
  auto const here = to_json(header);
  auto const words = [](json const& value) {
    return shortened(value.is_string() ? value.get<std::string>() : value.dump(), 60);
  };
  for (std::string const field : {"format", "isocenter", "revision", "sweep", "rank", "ranks",
                                  "node", "device", "threads", "rounds", "points"}) {
    auto const found = there.value(field, json());
    if (found != here.at(field)) {
      auto const what = field == "isocenter" ? "version" : field;
      detail::refuse(path, fmt::format("holds results of {} {} (this run has {} {}); choose "
                                       "another name by --output, or remove the file",
                                       what, words(found), what, words(here.at(field))));
    }
  }
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  double const place = share * double(values.size() - 1);
  auto const below = std::size_t(place);
  auto const above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - double(below)) * (values[above] - values[below]);
}

std::string date_now() { return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

sweep_writer::sweep_writer(std::filesystem::path const& path, sweep_header const& header)
    : path_(path) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  if (file_ < 0) {
    refuse_system(path, "cannot be written", "check that its folder exists and is yours");
  }
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      detail::refuse(path,
                     "is being written by another process (was this one started by a launcher that "
                     "does not tell it its rank?); give --rank and --ranks, or another --output");
    }
    auto const text = read_text(path, largest_file);
    found_ = parse_results(text, path.string());
    if (found_.whole_bytes > 0) {
      check_same(path, text, header);
    } else {
      check_begun(path, text, header);
    }
    if (found_.cut_short && ::ftruncate(file_, ::off_t(found_.whole_bytes)) != 0) {
      refuse_system(path, "cannot be shortened by its last line, which is not whole",
                    "remove that line");
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
      refuse_system(path_, "takes no more results",
                    "make room on its disk, and start again: results before are kept");
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
