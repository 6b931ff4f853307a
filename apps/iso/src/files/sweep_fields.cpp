// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_fields.hpp"

#include <iso/files/detail/refuse.hpp>

#include <fmt/core.h>

#include <cstdlib>

namespace iso::files {

using nlohmann::json;

double to_digits(double x, int digits) {
  // Not std::stod, which throws where a number is too small for all its digits.
  return std::strtod(fmt::format("{:.{}g}", x, digits).c_str(), nullptr);
}

fields::fields(json const& object, std::string const& name, char const* refusal)
    : object_(object), name_(name), refusal_(refusal) {
  if (!object.is_object()) {
    detail::refuse(name_, fmt::format("{} (it is no object)", refusal_));
  }
}

bool fields::is_null(char const* field) const { return at(field).is_null(); }

std::string fields::text(char const* field) const {
  auto const& value = at(field);
  if (!value.is_string()) {
    refuse(field, "text");
  }
  return value.get<std::string>();
}

double fields::number(char const* field, double least, double most) const {
  return within(at(field), field, least, most);
}

std::int64_t fields::whole(char const* field, double least, double most) const {
  auto const& value = at(field);
  if (!value.is_number_integer()) {
    refuse(field, "a whole number");
  }
  static_cast<void>(within(value, field, least, most));
  return value.get<std::int64_t>();
}

std::vector<double> fields::numbers(char const* field, double least, double most) const {
  return numbers_of(at(field), field, least, most);
}

std::map<std::string, double> fields::named_numbers(char const* field, double least,
                                                    double most) const {
  auto const& value = at(field);
  if (!value.is_object()) {
    refuse(field, "an object");
  }
  std::map<std::string, double> all;
  for (auto const& [name, one] : value.items()) {
    all[name] = within(one, field, least, most);
  }
  return all;
}

json const& fields::list(char const* field) const {
  auto const& value = at(field);
  if (!value.is_array()) {
    refuse(field, "a list");
  }
  return value;
}

std::vector<double> fields::numbers_of(json const& list, char const* field, double least,
                                       double most) const {
  if (!list.is_array() || list.empty()) {
    refuse(field, "a list of numbers, one at least");
  }
  std::vector<double> all;
  for (auto const& one : list) {
    all.push_back(within(one, field, least, most));
  }
  return all;
}

json const& fields::at(char const* field) const {
  auto const found = object_.find(field);
  if (found == object_.end()) {
    detail::refuse(name_, fmt::format("{} (field /{} is missing)", refusal_, field));
  }
  return *found;
}

double fields::within(json const& value, char const* field, double least, double most) const {
  if (!value.is_number()) {
    refuse(field, "a number");
  }
  auto const number = value.get<double>();
  if (!(number >= least && number <= most)) {
    detail::refuse(name_, fmt::format("field /{} is {} (expected: from {:g} to {:g})", field,
                                      value.dump(), least, most));
  }
  return number;
}

void fields::refuse(char const* field, char const* wanted) const {
  detail::refuse(name_, fmt::format("{} (field /{} is not {})", refusal_, field, wanted));
}

}  // namespace iso::files
