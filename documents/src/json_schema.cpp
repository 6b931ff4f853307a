// SPDX-License-Identifier: BSD-3-Clause
#include "json_schema.hpp"

#include "json_document.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::files::detail {
namespace {

// Whether values fit one part of a schema. Gives no reasons: the validator would keep one for every
// fault of every value.
class judge {
 public:
  explicit judge(json const& part) {
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(part), schema_);
  }
  [[nodiscard]] bool accepts(json const& value) {
    return validator_.validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), nullptr);
  }

 private:
  valijson::Schema schema_;
  valijson::Validator validator_;
};

std::string known_fields(json const& schema) {
  std::string names;
  for (auto const& [name, ignored] : schema.at("properties").items()) {
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

// The search for the first place of a document that does not fit the schema.
class examiner {
 public:
  explicit examiner(std::string const& name) : name_(name) {}

  void check(json const& value, json wanted, std::string const& pointer) const {
    if (value.is_object() && wanted.contains("properties")) {
      check_fields(value, wanted, pointer);
    }
    if (value.is_array() && wanted.contains("items")) {
      check_elements(value, wanted.at("items"), pointer);
    }
    for (char const* const checked : {"properties", "additionalProperties", "items"}) {
      wanted.erase(checked);
    }
    if (!judge(wanted).accepts(value)) {
      refuse(value, wanted, pointer);
    }
  }

 private:
  void check_fields(json const& object, json const& wanted, std::string const& pointer) const {
    auto const& known = wanted.at("properties");
    for (auto const& [field, value] : object.items()) {
      auto const at = pointer_to(pointer, field);
      if (!known.contains(field)) {
        detail::refuse(
            name_, fmt::format(
                       "field {} is not known (known there: {}); correct its name, or leave it out",
                       shortened(at, 200), known_fields(wanted)));
      }
      check(value, known.at(field), at);
    }
    for (std::string const field : wanted.value("required", json::array())) {
      if (!object.contains(field)) {
        detail::refuse(name_, fmt::format("field {}/{} is missing (expected: {}); add it", pointer,
                                          field, description_of(known.at(field))));
      }
    }
  }
  void check_elements(json const& list, json const& part, std::string const& pointer) const {
    judge elements(part);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!elements.accepts(list[i])) {
        auto const at = fmt::format("{}/{}", pointer, i);
        check(list[i], part, at);
        refuse(list[i], part, at);
      }
    }
  }
  [[noreturn]] void refuse(json const& value, json const& wanted,
                           std::string const& pointer) const {
    detail::refuse(name_, fmt::format("field {} is {} (expected: {}); correct it", pointer,
                                      shortened(value.dump(), 60), description_of(wanted)));
  }

  std::string const& name_;
};

// As people write it: 1e-6, 65536, 0.5.
std::string text_of(json const& value) {
  if (value.is_array()) {
    std::string all;
    for (auto const& one : value) {
      all.append(all.empty() ? "" : ", ").append(text_of(one));
    }
    return "[" + all + "]";
  }
  if (!value.is_number()) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  auto const number = value.get<double>();
  if (std::trunc(number) == number && std::abs(number) < 1e7) {
    return std::to_string(std::int64_t(number));
  }
  auto text = fmt::format("{:g}", number);
  if (auto const at = text.find('e'); at != std::string::npos) {
    text = fmt::format("{}e{}", text.substr(0, at), std::stoi(text.substr(at + 1)));
  }
  return text;
}

std::string joined(std::vector<std::string> const& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string fields_of(json const& schema) {
  auto const must = schema.value("required", std::vector<std::string>());
  std::vector<std::string> may;
  for (auto const& [name, ignored] : schema.at("properties").items()) {
    if (std::find(must.begin(), must.end(), name) == must.end()) {
      may.push_back(name);
    }
  }
  return fmt::format("{}{}{}{}", joined(must), must.empty() || may.empty() ? "" : " and ",
                     may.empty() ? "" : "perhaps ", joined(may));
}

std::string range_of(json const& schema, unit const& u) {
  auto const low = schema.value("minimum", json());
  auto const high = schema.value("maximum", json());
  std::string text;
  if (!u.name.empty()) {
    text = fmt::format(" in {}{}", u.name == "deg" ? "degrees" : u.name, low.is_null() ? "" : ",");
  }
  if (low.is_null() || high.is_null()) {
    return text;
  }
  bool const even = low.get<double>() == -high.get<double>();
  return fmt::format("{} {} {} {} {}", text, even ? "between" : "from", text_of(low),
                     even ? "and" : "to", text_of(high));
}

// What a value is, one or, in the plural, some.
std::string kind_of(json const& schema, unit const& u, bool some) {
  if (schema.contains("enum")) {
    return (some ? "words: " : "") + joined(schema.at("enum"));
  }
  std::string const type = schema.at("type");
  if (type == "boolean") {
    return "true or false";
  }
  if (type == "string") {
    return some ? "names" : "";
  }
  if (type == "object") {
    return some ? "objects" : "an object with " + fields_of(schema);
  }
  if (type == "array") {
    auto const least = schema.at("minItems").get<int>();
    auto const most = schema.at("maxItems").get<int>();
    auto const each = kind_of(schema.at("items"), u, true);
    if (least < most) {
      return fmt::format("{} of {} to {} {}", some ? "lists" : "a list", least, most, each);
    }
    auto const count = most == 2   ? std::string("two")
                       : most == 3 ? std::string("three")
                                   : std::to_string(most);
    return fmt::format("{}{} {}", some ? "lists of " : "", count, each);
  }
  bool const length = u.suffix == "_mm" && schema.value("minimum", 0.0) > 0;
  auto const* const noun = type == "integer" ? "whole number" : length ? "length" : "number";
  return fmt::format("{}{}{}{}", some ? "" : "a ", noun, some ? "s" : "", range_of(schema, u));
}

}  // namespace

std::string description_of(json const& schema) {
  return schema.value("description", schema.dump());
}

std::string sentence(json const& schema, std::string_view says, unit const& u, json const& absent) {
  auto text = kind_of(schema, u, false);
  text.append(text.empty() || says.empty() ? "" : ": ").append(says);
  return absent.is_null() || absent.empty() || absent == ""
             ? text
             : text + "; " + text_of(absent) + " when absent";
}

void check_schema(std::string const& name, json const& schema, json const& document) {
  examiner(name).check(document, schema, "");
}

void write_integers(json& document, json const& schema) {
  if (document.is_number_float() && schema.value("type", "") == "integer") {
    auto const number = document.get<double>();
    if (std::trunc(number) == number && std::abs(number) < 1e15) {
      document = std::int64_t(number);
    }
  } else if (document.is_array() && schema.contains("items")) {
    for (auto& one : document) {
      write_integers(one, schema.at("items"));
    }
  } else if (document.is_object() && schema.contains("properties")) {
    for (auto const& [name, part] : schema.at("properties").items()) {
      if (document.contains(name)) {
        write_integers(document.at(name), part);
      }
    }
  }
}

}  // namespace iso::files::detail
