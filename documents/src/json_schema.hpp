// SPDX-License-Identifier: BSD-3-Clause
//! Makes JSON schemas of what types say of their fields, and checks documents against them, with
//! errors that name the field.
#pragma once

#include <iso/files/json_fields.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace iso::files::detail {

using nlohmann::json;

/// Returns what is expected where `schema` holds: of which kind, what it `says`, and what stands
/// for it when it is absent, unless that is null.
std::string sentence(json const& schema, std::string_view says, unit const& u, json const& absent);

struct schema_maker {
  json& object;

  void operator()(auto const&, hidden_field const&) const {}

  template <class T, class F>
  void operator()(T const& x, F const& f) const {
    if constexpr (described<T const>) {
      if (f.flat) {
        describe(*this, x);
        return;
      }
    }
    auto const key = key_of(f);
    bool const must =
        std::is_base_of_v<required<field>, F> || std::is_base_of_v<required<list_field>, F>;
    json part = schema_of(x, f);
    json absent;
    if constexpr (!described<T const>) {
      absent = must ? json() : json_writer<json, every_field>{absent, {}}.written(x, f);
    }
    part["description"] = sentence(part, f.says, f.unit, absent);
    object["properties"][key] = std::move(part);
    if (must) {
      object["required"].push_back(key);
    }
  }

  template <class T, class F>
  static json schema_of(T const& x, F const& f) {
    if constexpr (described<T const>) {
      json part = {{"type", "object"}, {"additionalProperties", false}};
      describe(schema_maker{part}, x);
      return part;
    } else if constexpr (worded<T>) {
      return {{"enum", texts_of<T>()}};
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_arithmetic_v<T>) {
      json part = {{"type", std::is_integral_v<T> ? "integer" : "number"}};
      if (std::isfinite(f.low)) {
        part["minimum"] = T(f.low);
      }
      if (std::isfinite(f.high)) {
        part["maximum"] = T(f.high);
      }
      return part;
    } else if constexpr (std::is_same_v<T, vec3<double>>) {
      return schema_of(std::tie(x.x, x.y, x.z), f);
    } else if constexpr (perhaps<T>) {
      return schema_of(typename T::value_type{}, f);
    } else if constexpr (list<T>) {
      return list_of(typename T::value_type{}, f, f.min_size, f.max_size, f.each);
    } else if constexpr (few<T>) {
      return list_of(std::get<0>(x), f, std::tuple_size_v<T>, std::tuple_size_v<T>);
    } else {
      return {{"type", "string"}};
    }
  }

  template <class T, class F>
  static json list_of(T const& one, F const& f, std::size_t least, std::size_t most,
                      std::string_view each = {}) {
    json items = schema_of(one, f);
    items["description"] = sentence(items, each, f.unit, json());
    return {{"type", "array"}, {"minItems", least}, {"maxItems", most}, {"items", items}};
  }
};

/// Returns the schema of documents that say what `x` is.
template <described T>
json make_schema(T const& x, std::string_view title, std::string_view says) {
  json schema = schema_maker::schema_of(x, field{});
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  schema["description"] = says;
  return schema;
}

/// Returns what a part of a schema says of itself.
std::string description_of(json const& schema);

/// Throws iso::file_error, with `name` as the file's, at the first place of `document` that does
/// not fit: its field, what stands there, and the schema's description of what was expected.
void check_schema(std::string const& name, json const& schema, json const& document);

/// Makes 4.0 an integer where `schema` asks for one, as it is to JSON Schema but not to the
/// validator.
void write_integers(json& document, json const& schema);

}  // namespace iso::files::detail
