// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/json_fields.hpp
//! Writes and reads JSON by what types say of their fields (iso/model/describe.hpp).
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/model/list_field.hpp>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace iso::files {
namespace detail {

template <class T>
concept list = requires(T& x) { x.emplace_back(); };
/// A std::array, or a std::tuple of references to members that stand in one list.
template <class T>
concept few = requires { std::tuple_size<T>::value; };
template <class T>
concept perhaps = requires(T const& x) { x.has_value(); };

struct every_field {
  constexpr bool operator()(field const&) const { return true; }
};

template <class Json, class Which>
struct json_writer {
  Json& document;
  Which const& which;

  void operator()(auto const&, hidden_field const&) const {}

  template <class T, class F>
  void operator()(T const& x, F const& f) const {
    if constexpr (described<T const>) {
      if (f.flat) {
        describe(*this, x);
        return;
      }
    } else if (!which(f)) {
      return;
    }
    if constexpr (std::is_base_of_v<list_field, F> && list<T>) {
      if (x.empty()) {
        return;  // no file may have that
      }
    }
    document[key_of(f)] = written(x, f);
  }

  template <class T>
  Json written(T const& x, field const& f) const {
    if constexpr (described<T const>) {
      Json part = Json::object();
      describe(json_writer{part, which}, x);
      return part;
    } else if constexpr (worded<T>) {
      return std::string(to_word(x));
    } else if constexpr (std::is_same_v<T, vec3<double>>) {
      return written(std::tie(x.x, x.y, x.z), f);
    } else if constexpr (perhaps<T>) {
      return x ? written(*x, f) : Json();
    } else if constexpr (list<T>) {
      Json all = Json::array();
      for (auto const& one : x) {
        all.push_back(written(one, f));
      }
      return all;
    } else if constexpr (few<T>) {
      return std::apply([&](auto const&... each) { return Json::array({written(each, f)...}); }, x);
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (f.zero_is_none && x == 0) {
        return Json();
      }
      if constexpr (std::is_floating_point_v<T>) {
        return key_has_unit(f) ? written_in(f.unit, x) : x;
      } else {
        return x;
      }
    } else {
      return x;
    }
  }
};

template <class Json>
struct json_reader {
  Json const& document;

  void operator()(auto&, hidden_field const&) const {}

  template <class T>
  void operator()(T& x, field const& f) const {
    if constexpr (described<T>) {
      if (f.flat) {
        describe(*this, x);
        return;
      }
    }
    auto const found = document.find(key_of(f));
    if (found != document.end() && !found->is_null()) {
      read(*found, x, f);
    }
  }

  template <class T>
  static void read(Json const& value, T& x, field const& f) {
    if constexpr (described<T>) {
      describe(json_reader{value}, x);
    } else if constexpr (worded<T>) {
      // A schema has refused other words.
      x = from_word<T>(value.template get_ref<std::string const&>()).value_or(x);
    } else if constexpr (std::is_same_v<T, vec3<double>>) {
      auto members = std::tie(x.x, x.y, x.z);
      read(value, members, f);
    } else if constexpr (perhaps<T>) {
      read(value, x.emplace(), f);
    } else if constexpr (list<T>) {
      x.clear();
      for (auto const& one : value) {
        read(one, x.emplace_back(), f);
      }
    } else if constexpr (few<T>) {
      std::size_t i = 0;
      std::apply([&](auto&... each) { (read(value[i++], each, f), ...); }, x);
    } else if constexpr (std::is_floating_point_v<T>) {
      auto const written = value.template get<double>();
      x = key_has_unit(f) ? f.unit.to_library(written) : written;
    } else {
      value.get_to(x);
    }
  }
};

}  // namespace detail

/// Writes every field of `x` that is for users into `document`, or those of `which`: what is not
/// given, and what is no number, is null.
template <class Json, described T, class Which = detail::every_field>
void put_fields(Json& document, T const& x, Which const& which = {}) {
  describe(detail::json_writer<Json, Which>{document, which}, x);
}

/// Reads those fields of `x` that `document`, which a schema has checked, has; the others stay.
template <class Json, described T>
void get_fields(Json const& document, T& x) {
  describe(detail::json_reader<Json>{document}, x);
}

}  // namespace iso::files
