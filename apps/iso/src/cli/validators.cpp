// SPDX-License-Identifier: BSD-3-Clause
#include "validators.hpp"

#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <system_error>
#include <utility>

namespace iso::cli {

namespace {

/// Returns the range as `both` writes it, or its only bound; nothing where it has none.
std::string range_of(double low, double high, char const* both) {
  if (std::isfinite(low) && std::isfinite(high)) {
    return fmt::format(fmt::runtime(both), low, high);
  }
  return std::isfinite(low)    ? fmt::format(" of at least {}", low)
         : std::isfinite(high) ? fmt::format(" of at most {}", high)
                               : "";
}

/// How many letters must be put in, left out or changed to make one word of the other.
std::size_t distance_between(std::string const& a, std::string const& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_of(std::vector<std::string> const& words, std::string const& to) {
  auto const small = files::lower_case(to);
  auto const letters = small.size() - std::min(small.find_first_not_of('-'), small.size());
  std::size_t const max_wrong = std::max<std::size_t>(1, letters / 3);
  auto const distance = [&](std::string const& word) {
    return letters > 0 && word.starts_with(small) ? 1 : distance_between(word, small);
  };
  auto const found =
      std::min_element(words.begin(), words.end(),
                       [&](auto const& a, auto const& b) { return distance(a) < distance(b); });
  return found != words.end() && distance(*found) <= max_wrong ? *found : std::string();
}

CLI::Validator number_from(double low, double high) {
  return CLI::Validator(
      [low, high](std::string const& text) {
        double number = 0;
        bool const inside =
            CLI::detail::lexical_cast(text, number) && number >= low && number <= high;
        return inside ? std::string()
                      : fmt::format("{} (must be a number{}); choose another", text,
                                    range_of(low, high, " from {} to {}"));
      },
      "NUMBER" + range_of(low, high, " in [{} - {}]"));
}

CLI::Validator whole_from(std::int64_t low, std::int64_t high) {
  return CLI::Validator(
      [low, high](std::string const& text) {
        std::int64_t number = 0;
        bool const inside =
            CLI::detail::lexical_cast(text, number) && number >= low && number <= high;
        return inside ? std::string()
                      : fmt::format("{} (must be a whole number from {} to {}); choose another",
                                    text, low, high);
      },
      fmt::format("INT in [{} - {}]", low, high));
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string const& text) {
        std::uint64_t number = 0;
        auto const end = text.data() + text.size();
        auto const read = std::from_chars(text.data(), end, number);
        return read.ec == std::errc() && read.ptr == end
                   ? std::string()
                   : fmt::format("{} (must be a whole number from 0 to 2^64 - 1); choose another",
                                 text);
      },
      "WHOLE NUMBER");
}

CLI::Validator one_of(std::vector<std::string> words) {
  auto const type = fmt::format("{{{}}}", fmt::join(words, ","));
  return CLI::Validator(
      [words = std::move(words)](std::string& text) {
        auto const small = files::lower_case(text);
        auto const found = std::find_if(words.begin(), words.end(), [&](std::string const& word) {
          return files::lower_case(word) == small;
        });
        if (found == words.end()) {
          bool const one = words.size() == 1;
          auto const meant = nearest_of(words, text);
          return fmt::format("{} is not known (must be {}{}); {}", text, one ? "" : "one of ",
                             fmt::join(words, ", "),
                             !meant.empty() ? fmt::format("try '{}'", meant)
                             : one          ? "choose this"
                                            : "choose another");
        }
        text = *found;
        return std::string();
      },
      type);
}

CLI::Validator in_small_letters() {
  return CLI::Validator(
      [](std::string& text) {
        text = files::lower_case(text);
        return std::string();
      },
      "");
}

std::string sentence_of(CLI::ParseError const& failure, std::string const& command) {
  std::string const problem = failure.what();
  auto const& kind = failure.get_name();
  if (kind == "ValidationError") {
    return problem;
  }
  if (kind == "RequiresError") {
    return problem + " (it means nothing without); give both, or leave both out";
  }
  if (kind == "ExcludesError") {
    return problem + " (the one means nothing beside the other); leave one of them out";
  }
  return fmt::format("{} ({}); see {} --help", problem,
                     kind == "RequiredError"      ? "it is not given"
                     : kind == "ArgumentMismatch" ? "it takes another number of values"
                     : kind == "ConversionError"  ? "it is no value of that kind"
                                                  : "it is not understood",
                     command);
}

}  // namespace iso::cli
