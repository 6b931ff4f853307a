// SPDX-License-Identifier: BSD-3-Clause
#include "validators.hpp"

#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
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

}  // namespace

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
          return fmt::format("{} is not known (must be {}{}); choose {}", text,
                             one ? "" : "one of ", fmt::join(words, ", "),
                             one ? "this" : "another");
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
