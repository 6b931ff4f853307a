// SPDX-License-Identifier: BSD-3-Clause
#include "json_schema.hpp"

#include "json_document.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace iso::files::detail {
namespace {

using nlohmann::json;

json const& resolved(json const& schema, json const& node) {
  return node.contains("$ref")
             ? schema.at(json::json_pointer(node.at("$ref").get<std::string>().substr(1)))
             : node;
}

// Whether values fit one part of a schema. Gives no reasons: the validator would keep one for every
// fault of every value.
class judge {
 public:
  judge(json const& whole, json part) {
    part["definitions"] = whole.at("definitions");
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
  examiner(std::string const& name, json const& schema) : name_(name), schema_(schema) {}

  void check(json const& value, json const& part, std::string const& pointer) const {
    json wanted = resolved(schema_, part);
    if (value.is_object() && wanted.contains("properties")) {
      check_fields(value, wanted, pointer);
    }
    if (value.is_array() && wanted.contains("items")) {
      check_elements(value, wanted.at("items"), pointer);
    }
    for (char const* const checked : {"properties", "additionalProperties", "items"}) {
      wanted.erase(checked);
    }
    if (!judge(schema_, wanted).accepts(value)) {
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
                                          field, description(resolved(schema_, known.at(field)))));
      }
    }
  }
  void check_elements(json const& list, json const& part, std::string const& pointer) const {
    judge elements(schema_, resolved(schema_, part));
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!elements.accepts(list[i])) {
        auto const at = fmt::format("{}/{}", pointer, i);
        check(list[i], part, at);
        refuse(list[i], resolved(schema_, part), at);
      }
    }
  }
  [[noreturn]] void refuse(json const& value, json const& wanted,
                           std::string const& pointer) const {
    detail::refuse(name_, fmt::format("field {} is {} (expected: {}); correct it", pointer,
                                      shortened(value.dump(), 60), description(wanted)));
  }

  std::string const& name_;
  json const& schema_;
};

}  // namespace

std::string description(json const& schema) { return schema.value("description", schema.dump()); }

void check_schema(std::string const& name, json const& schema, json const& document) {
  examiner(name, schema).check(document, schema, "");
}

void write_integers(json& document, std::initializer_list<char const*> pointers) {
  for (char const* const pointer : pointers) {
    json::json_pointer const place(pointer);
    if (document.contains(place) && document.at(place).is_number_float()) {
      auto const number = document.at(place).get<double>();
      if (std::trunc(number) == number && std::abs(number) < 1e15) {
        document.at(place) = std::int64_t(number);
      }
    }
  }
}

}  // namespace iso::files::detail
