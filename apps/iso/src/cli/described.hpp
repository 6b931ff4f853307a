// SPDX-License-Identifier: BSD-3-Clause
//! Makes options of types that describe their fields (iso/model/describe.hpp).
#pragma once

#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/json_fields.hpp>
#include <iso/model/describe.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace iso::cli {
namespace detail {

/// Returns a sentence in which `names` of fields in backquotes are options.
std::string with_options(std::string_view says);

/// Returns a message of the library that begins with `option`, and not with a function's name.
std::string with_option(std::string_view option, std::string_view message);

/// Adds an option whose text is a number with its unit behind it, such as 10%.
CLI::Option* add_with_unit(CLI::App& sub, double& x, field const& f);

/// Adds an option that is a number in the field's unit.
CLI::Option* add_number(CLI::App& sub, field const& f, std::function<void(double)> const& put);

}  // namespace detail

/// Adds an option that is a word of an enumeration.
template <worded E>
CLI::Option* add_words(CLI::App& sub, std::string const& name, std::optional<E>& x,
                       std::string const& says) {
  std::vector<std::string> all;
  for (auto const& w : words(E{})) {
    all.emplace_back(w.text);
  }
  return sub
      .add_option_function<std::string>(
          name, [&x](std::string const& text) { x = from_word<E>(text); }, says)
      ->transform(one_of(all));
}
template <worded E>
CLI::Option* add_words(CLI::App& sub, std::string const& name, E& x, std::string const& says) {
  std::vector<std::string> all;
  for (auto const& w : words(E{})) {
    all.emplace_back(w.text);
  }
  return sub
      .add_option_function<std::string>(
          name, [&x](std::string const& text) { x = *from_word<E>(text); }, says)
      ->transform(one_of(all))
      ->default_str(std::string(to_word(x)));
}

namespace detail {

struct option_adder {
  CLI::App& sub;
  std::vector<std::string_view> const& left_out;
  std::vector<CLI::Option*>& added;

  void operator()(auto&, hidden_field const&) const {}

  template <class T>
  void operator()(T& x, field const& f) const {
    if (std::find(left_out.begin(), left_out.end(), f.name) != left_out.end()) {
      return;
    }
    if constexpr (described<T>) {
      describe(*this, x);
    } else {
      added.push_back(add(x, f));
    }
  }

  template <class T>
  CLI::Option* add(T& x, field const& f) const {
    auto const name = "--" + std::string(f.name);
    auto const says = with_options(f.says);
    if constexpr (worded<T>) {
      return f.flag.empty()
                 ? add_words(sub, name, x, says)
                 : sub.add_flag_callback(
                       "--" + std::string(f.flag), [&x] { x = words(T{})[1].value; }, says);
    } else if constexpr (std::is_same_v<T, bool>) {
      return sub.add_flag(name, x, says);
    } else if constexpr (std::is_integral_v<T>) {
      return sub.add_option(name, x, says)
          ->check(whole_from(std::int64_t(f.low), std::int64_t(f.high)))
          ->capture_default_str();
    } else {
      auto const put = [&x, u = f.unit](double written) { x = u.to_library(written); };
      if constexpr (std::is_same_v<T, double>) {
        if (f.unit.name == "%") {
          return add_with_unit(sub, x, f);
        }
        if (!f.zero_is_none) {
          return add_number(sub, f, put)->default_str(fmt::format("{}", written_in(f.unit, x)));
        }
      }
      return add_number(sub, f, put);
    }
  }
};

}  // namespace detail

/// Calls f, whose refusals by the library name the option in place of the function.
template <class F>
auto as_option(std::string_view option, F const& f) {
  try {
    return f();
  } catch (invalid_argument const& refusal) {
    throw invalid_argument(detail::with_option(option, refusal.what()));
  }
}

/// Adds an option for each field of `x`, which must outlive the parsing, but for those that are not
/// for users and those that are `left_out` by name.
template <described T>
std::vector<CLI::Option*> add_fields(CLI::App& sub, T& x,
                                     std::vector<std::string_view> const& left_out = {}) {
  std::vector<CLI::Option*> added;
  describe(detail::option_adder{sub, left_out, added}, x);
  return added;
}

using files::put_fields;

}  // namespace iso::cli
