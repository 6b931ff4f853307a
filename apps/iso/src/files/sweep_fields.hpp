// SPDX-License-Identifier: BSD-3-Clause
//! Fields of a sweep's records and reports, refused by name where they are missing, of another kind
//! or out of range.
#pragma once

#include <iso/files/sweep_records.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace iso::files {

/// Seconds of a call that a clock may give.
inline constexpr double least_time = 1e-15;
inline constexpr double most_time = 1e15;
// No machine has more; what is larger is damage.
inline constexpr double most_size = 1e15;
inline constexpr double most_threads = 1e6;

/// To that many significant digits; any double.
double to_digits(double x, int digits);

/// One object of a file. Every function throws iso::file_error, with `name` as the file's, where
/// the field is not there or is not what is asked for.
class fields {
 public:
  /// `refusal` begins a sentence about a field that is missing or of another kind, such as "is not
  /// a report".
  fields(nlohmann::json const& object, std::string const& name, char const* refusal);

  [[nodiscard]] bool is_null(char const* field) const;
  [[nodiscard]] std::string text(char const* field) const;
  /// From `least` to `most`, both included.
  [[nodiscard]] double number(char const* field, double least, double most) const;
  [[nodiscard]] std::int64_t whole(char const* field, double least, double most) const;
  /// One at least.
  [[nodiscard]] std::vector<double> numbers(char const* field, double least, double most) const;
  [[nodiscard]] std::map<std::string, double> named_numbers(char const* field, double least,
                                                            double most) const;
  /// For `fields` or `numbers_of`, element by element.
  [[nodiscard]] nlohmann::json const& list(char const* field) const;

  /// One at least.
  [[nodiscard]] std::vector<double> numbers_of(nlohmann::json const& list, char const* field,
                                               double least, double most) const;

 private:
  [[nodiscard]] nlohmann::json const& at(char const* field) const;
  [[nodiscard]] double within(nlohmann::json const& value, char const* field, double least,
                              double most) const;
  [[noreturn]] void refuse(char const* field, char const* wanted) const;

  nlohmann::json const& object_;
  std::string const& name_;
  char const* refusal_;
};

/// Which point a record of results, or an element of a report, is of.
sweep_key read_key(fields const& line);

}  // namespace iso::files
