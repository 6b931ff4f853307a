// SPDX-License-Identifier: BSD-3-Clause
//! Makes options of types that describe their fields (iso/model/describe.hpp).
#pragma once

#include "validators.hpp"

#include <iso/core/error.hpp>
#include <iso/files/json_fields.hpp>
#include <iso/model/describe.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace iso::cli {

/// Returns a time in seconds where it is one or more, else in milliseconds.
std::string time_text(double milliseconds);

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

/// Adds an option that is a word of an enumeration, or `none`, a word for nothing chosen.
template <worded E>
CLI::Option* add_words(CLI::App& sub, std::string const& name, std::optional<E>& x,
                       std::string const& says, char const* none = nullptr) {
  auto texts = texts_of<E>();
  if (none != nullptr) {
    texts.insert(texts.begin(), none);
  }
  auto* const option = sub.add_option_function<std::string>(
                              name, [&x](std::string const& text) { x = from_word<E>(text); }, says)
                           ->transform(one_of(texts));
  return none == nullptr ? option : option->default_str(none);
}
template <worded E>
CLI::Option* add_words(CLI::App& sub, std::string const& name, E& x, std::string const& says) {
  return sub
      .add_option_function<std::string>(
          name, [&x](std::string const& text) { x = *from_word<E>(text); }, says)
      ->transform(one_of(texts_of<E>()))
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
    if (leaves_out(f)) {
      return;
    }
    if constexpr (described<T>) {
      describe(*this, x);
    } else {
      added.push_back(add(x, f));
    }
  }

  [[nodiscard]] bool leaves_out(field const& f) const {
    return std::find(left_out.begin(), left_out.end(), f.name) != left_out.end();
  }
  /// Whether the sentence itself tells what stands where nothing is given.
  static bool tells_default(field const& f) { return f.says.find("(default: ") != f.says.npos; }

  template <class T>
  CLI::Option* add(T& x, field const& f) const {
    auto const name = "--" + std::string(f.name);
    auto const says = with_options(f.says);
    if constexpr (requires { requires worded<typename T::value_type>; }) {
      return add_words(sub, name, x, says);
    } else if constexpr (worded<T>) {
      return f.flag.empty()
                 ? add_words(sub, name, x, says)
                 : sub.add_flag_callback(
                       "--" + std::string(f.flag), [&x] { x = words(T{})[1].value; }, says);
    } else if constexpr (std::is_same_v<T, bool>) {
      return sub.add_flag(name, x, says);
    } else if constexpr (std::is_integral_v<T>) {
      auto* const option = sub.add_option(name, x, says)
                               ->check(whole_from(std::int64_t(f.low), std::int64_t(f.high)));
      return tells_default(f) ? option : option->capture_default_str();
    } else {
      auto const put = [&x, u = f.unit](double written) { x = u.to_library(written); };
      if constexpr (std::is_same_v<T, double>) {
        if (f.unit.name == "%") {
          return add_with_unit(sub, x, f);
        }
        if (!f.zero_is_none && !tells_default(f) && std::isfinite(x)) {
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

/// Options for the fields of several types, one for each name: a field that two types have is one
/// option. Afterwards what was given goes into one of these types.
template <described... Ts>
class shared_fields {
 public:
  using sentence = std::function<std::string(field const&)>;

  /// Starts from `defaults`, which options show.
  explicit shared_fields(Ts const&... defaults) : all_(defaults...) {}

  /// Adds the options, but for those that are `left_out` by name.
  /// \param says  text of a field's option
  void add(CLI::App& sub, std::vector<std::string_view> const& left_out, sentence const& says) {
    std::vector<CLI::Option*> added;
    detail::option_adder const by{sub, left_out, added};
    std::apply([&](auto&... each) { (add_each(by, says, each), ...); }, all_);
  }

  /// Returns the options by the names of their fields.
  [[nodiscard]] std::map<std::string, CLI::Option*, std::less<>> const& options() const {
    return options_;
  }

  /// Puts every field that was given into `x`, where it has that.
  void put_given(described auto& x) const {
    describe([&](auto& member, auto const& f) { put(member, f); }, x);
  }

 private:
  void add_each(detail::option_adder const& by, sentence const& says, described auto& x) {
    describe([&](auto& member, auto const& f) { add_one(by, says, member, f); }, x);
  }
  void add_one(detail::option_adder const&, sentence const&, auto&, hidden_field const&) {}
  template <class T>
  void add_one(detail::option_adder const& by, sentence const& says, T& x, field const& f) {
    if constexpr (described<T>) {
      add_each(by, says, x);
    } else if (!by.leaves_out(f) && options_.find(f.name) == options_.end()) {
      std::string const text = says(f);
      field told = f;
      told.says = text;
      options_.emplace(std::string(f.name), by.add(x, told));
    }
  }

  void put(auto&, hidden_field const&) const {}
  template <class T>
  void put(T& x, field const& f) const {
    if constexpr (described<T>) {
      put_given(x);
    } else if (auto const found = options_.find(f.name);
               found != options_.end() && found->second->count() > 0) {
      std::apply([&](auto const&... each) { (take(x, f.name, each) || ...); }, all_);
    }
  }
  /// Copies the field of that name, if `from` has one.
  template <class T>
  static bool take(T& x, std::string_view name, auto const& from) {
    bool taken = false;
    describe(
        [&](auto const& member, auto const& f) {
          using type = std::remove_cvref_t<decltype(member)>;
          if constexpr (described<type const>) {
            taken = taken || take(x, name, member);
          } else if constexpr (std::is_same_v<type, T>) {
            if (f.name == name && !taken) {
              x = member;
              taken = true;
            }
          }
        },
        from);
    return taken;
  }

  std::tuple<Ts...> all_;
  std::map<std::string, CLI::Option*, std::less<>> options_;
};

using files::put_fields;

}  // namespace iso::cli
