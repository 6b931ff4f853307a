// SPDX-License-Identifier: BSD-3-Clause
#include "csv.hpp"

#include <iso/core/check.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>

namespace iso::dose::detail {
namespace {

std::string_view trimmed(std::string_view s) {
  auto const first = s.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

/// What stands before the next `separator`, taken off `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  auto const end = rest.find(separator);
  std::string_view const part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

bool is_number(std::string_view field, double& value) {
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size() && std::isfinite(value);
}

/// Whether no field begins as a number does: a typo in the first line is not taken for names.
bool is_line_of_names(std::string_view line) {
  while (!line.empty()) {
    std::string_view const field = trimmed(next_part(line, ','));
    if (!field.empty() && field.find_first_of("0123456789+-.") == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<csv_row> read_csv(std::string_view text, std::string_view name) {
  std::vector<csv_row> rows;
  bool named = false;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view rest = trimmed(next_part(text, '\n'));
    if (rest.empty() || rest.front() == '#') {
      continue;
    }
    if (rows.empty() && !named && is_line_of_names(rest)) {
      named = true;
      continue;
    }
    csv_row row{line, {}};
    while (!rest.empty()) {
      std::string_view const field = trimmed(next_part(rest, ','));
      double value = 0;
      ISO_VALIDATE(is_number(field, value),
                   "{}, line {}: \"{}\" (is no finite number); write numbers with commas between",
                   name, std::int64_t(line), field);
      row.numbers.push_back(value);
    }
    rows.push_back(row);
  }
  ISO_VALIDATE(!rows.empty(),
               "{}: no line of numbers (the table is empty); check that the right text was read",
               name);
  return rows;
}

}  // namespace iso::dose::detail
