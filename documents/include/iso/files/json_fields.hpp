// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/json_fields.hpp
//! Writes and reads JSON by what types say of their fields (iso/model/describe.hpp).
#pragma once

#include <iso/core/vec3.hpp>
#include <iso/model/describe.hpp>

#include <array>
#include <optional>
#include <string>
#include <type_traits>

namespace iso::files {
namespace detail {

struct every_field {
  constexpr bool operator()(field const&) const { return true; }
};

template <class Json, class Which>
struct json_writer {
  Json& document;
  Which const& which;

  void operator()(auto const&, hidden_field const&) const {}

  template <class T>
  void operator()(T const& x, field const& f) const {
    if constexpr (described<T const>) {
      if (f.flat) {
        describe(*this, x);
      } else {
        Json part = Json::object();
        describe(json_writer{part, which}, x);
        document[key_of(f)] = std::move(part);
      }
    } else if (!which(f)) {
      return;
    } else if constexpr (worded<T>) {
      document[key_of(f)] = std::string(to_word(x));
    } else if constexpr (std::is_same_v<T, vec3<double>>) {
      document[key_of(f)] = {x.x, x.y, x.z};
    } else if constexpr (requires { x.has_value(); }) {
      if (x) {
        (*this)(*x, f);
      } else {
        document[key_of(f)];  // null
      }
    } else if constexpr (std::is_floating_point_v<T>) {
      auto& value = document[key_of(f)];  // null
      if (!(f.zero_is_none && x == 0)) {
        value = key_has_unit(f) ? written_in(f.unit, x) : x;
      }
    } else if constexpr (std::is_integral_v<T>) {
      auto& value = document[key_of(f)];  // null
      if (!(f.zero_is_none && x == 0)) {
        value = x;
      }
    } else {
      document[key_of(f)] = x;
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
    if (found == document.end() || found->is_null()) {
      return;
    }
    if constexpr (described<T>) {
      describe(json_reader{*found}, x);
    } else if constexpr (worded<T>) {
      // A schema has refused other words.
      x = from_word<T>(found->template get_ref<std::string const&>()).value_or(x);
    } else if constexpr (std::is_same_v<T, vec3<double>>) {
      auto const point = found->template get<std::array<double, 3>>();
      x = {point[0], point[1], point[2]};
    } else if constexpr (requires { x.has_value(); }) {
      (*this)(x.emplace(), f);
    } else if constexpr (std::is_floating_point_v<T>) {
      auto const written = found->template get<double>();
      x = key_has_unit(f) ? f.unit.to_library(written) : written;
    } else {
      found->get_to(x);
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
