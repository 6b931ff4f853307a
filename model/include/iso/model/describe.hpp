// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/model/describe.hpp
//! Describes the fields of a type once: name, unit, range and a sentence. Options of a command line
//! and their help, JSON, checks of ranges and their messages are made from it.
//!
//! A described type has a function beside it, found by its argument:
//!
//!     void describe(auto&& visit, describes<gamma_options> auto& x) {
//!       visit(x.between, field{.name = "interpolation", .says = "of the evaluated dose"});
//!       visit(x.max_gamma, field{.name = "max-gamma", .says = "...", .low = 1, .high = 1e6});
//!     }
//!
//! and an enumeration has its words (iso/model/word.hpp). all_described<T> compares the fields
//! visited with the members there are.
#pragma once

#include <iso/core/check.hpp>
#include <iso/model/word.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace iso {

/// A unit in which a number is written, where the library computes in another one.
struct unit {
  std::string_view name;    ///< as in help: mm, %
  std::string_view suffix;  ///< of keys in JSON: _mm, _percent
  double (*to_library)(double) = [](double written) { return written; };
};

namespace units {
inline constexpr unit none{"", ""};
inline constexpr unit mm{"mm", "_mm"};
inline constexpr unit per_mm{"/mm", "_per_mm"};
inline constexpr unit gray{"Gy", "_gy"};
inline constexpr unit percent{"%", "_percent", [](double written) { return written / 100; }};
inline constexpr unit cm3{"cm3", "_cm3", [](double written) { return written * 1000; }};
inline constexpr unit degrees{"deg", "_deg",
                              [](double written) { return written * 0x1.921fb54442d18p+1 / 180; }};
/// Degrees of which whole turns make no difference, to the last bit.
inline constexpr unit turned_degrees{
    "deg", "_deg",
    [](double written) { return std::remainder(written, 360) * 0x1.921fb54442d18p+1 / 180; }};
}  // namespace units

/// What is told of a member.
struct field {
  std::string_view name;  ///< small letters with '-' between words, as an option has them
  std::string_view says;  ///< what it is, for help and schemas
  iso::unit unit = units::none;
  double low = -std::numeric_limits<double>::infinity();  ///< least number, in `unit`
  double high = std::numeric_limits<double>::infinity();
  /// The key in JSON, where it is not the name with '_' and the unit's suffix. The number is in the
  /// unit where the key ends in its suffix, and the library's elsewhere.
  std::string_view key = {};
  std::string_view flag = {};  ///< of an enumeration of two: the option that chooses the second
  bool zero_is_none = false;   ///< 0 stands for a number that is not given: null in JSON
  bool flat = false;  ///< of a described member: its fields stand beside those of its owner
};

/// A field that is not for users: it changes no result, or what they are given sets it. It is
/// checked, and in no list of options and no file.
struct hidden_field : field {};

template <class X, class T>
concept describes = std::same_as<std::remove_const_t<X>, T>;

namespace detail {

struct nothing_done {
  constexpr void operator()(auto&, field const&) const {}
};

}  // namespace detail

template <class T>
concept described = requires(detail::nothing_done& visit, T& x) { describe(visit, x); };

namespace detail {

struct count_fields {
  std::size_t n = 0;
  constexpr void operator()(auto&, field const&) { ++n; }
};

struct anything {
  template <class T>
  constexpr operator T() const;
};

template <class T, class... Args>
consteval std::size_t count_members() {
  if constexpr (requires { T{Args{}..., anything{}}; }) {
    return count_members<T, Args..., anything>();
  } else {
    return sizeof...(Args);
  }
}

template <described T>
constexpr std::size_t count_described() {
  count_fields count;
  T x{};
  describe(count, x);
  return count.n;
}

}  // namespace detail

/// Whether describe() visits as many fields as the aggregate has members.
template <described T>
inline constexpr bool all_described = detail::count_described<T>() == detail::count_members<T>();

/// Returns the number in `u` that stands for the library's `x`: of those that read back to `x`, one
/// that is short where there is one.
/// Determinism: backend_to_backend; made on the host.
double written_in(unit const& u, double x);

/// Returns the key of a field in JSON.
/// Determinism: backend_to_backend; made on the host.
std::string key_of(field const& f);

/// Returns whether the key's number is in the field's unit.
/// Determinism: backend_to_backend; made on the host.
inline bool key_has_unit(field const& f) {
  return f.key.empty() || (!f.unit.suffix.empty() && f.key.ends_with(f.unit.suffix));
}

namespace detail {

struct check_fields {
  char const* function;

  void operator()(auto const& value, field const& f) const {
    using type = std::remove_cvref_t<decltype(value)>;
    if constexpr (worded<type>) {
      ISO_VALIDATE(!to_word(value).empty(), "{}: {} is {} (none of its values); choose one of {}",
                   function, f.name, int(value), all_words<type>());
    } else if constexpr (requires { value.has_value(); }) {
      if (value) {
        (*this)(*value, f);
      }
    } else if constexpr (std::is_arithmetic_v<type> && !std::same_as<type, bool>) {
      double const x = written_in(f.unit, double(value));
      ISO_VALIDATE((x >= f.low && x <= f.high) || (f.zero_is_none && x == 0),
                   "{}: {} is {}{}{} (must be from {} to {}); choose another", function, f.name, x,
                   f.unit.name.empty() ? "" : " ", f.unit.name, f.low, f.high);
    } else if constexpr (described<type const>) {
      describe(*this, value);
    }
  }
};

}  // namespace detail

/// Checks every field of `x` against its range and its enumeration.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  naming `function` and the field
template <described T>
void check_fields(T const& x, char const* function) {
  detail::check_fields const check{function};
  describe(check, x);
}

}  // namespace iso
