// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dvh/quantity.hpp>

#include <iso/core/check.hpp>

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

namespace iso::dvh {
namespace {

using kind = quantity::kind;

/// What has no number; some have several words.
constexpr word<kind> plain_words[] = {
    {kind::mean, "mean"},       {kind::mean, "dmean"},      {kind::minimum, "min"},
    {kind::minimum, "minimum"}, {kind::minimum, "dmin"},    {kind::maximum, "max"},
    {kind::maximum, "maximum"}, {kind::maximum, "dmax"},    {kind::homogeneity, "hi"},
    {kind::volume, "volume"},   {kind::outside, "outside"}, {kind::homogeneity, "homogeneity"}};

/// Takes a number off the front of `text`.
std::pair<double, bool> take_number(std::string_view& text) {
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const found = error == std::errc() && std::isfinite(value);
  text.remove_prefix(found ? std::size_t(end - text.data()) : 0);
  return {value, found};
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  }
  return small;
}

/// Reads what is of the prescription: V95%, CI.
std::pair<kind, double> of_prescription(std::string_view small) {
  if (small == "ci") {
    return {kind::conformity, 100};
  }
  std::string_view rest = small.substr(small.empty() ? 0 : 1);
  auto const [percent, found] = take_number(rest);
  bool const is_part = small.starts_with('v') && found && rest == "%" && percent >= 0;
  return {kind::volume_at_dose, is_part ? percent : -1};
}

}  // namespace

quantity quantity_named(std::string_view name, double prescription) {
  std::string const small = in_small_letters(name);
  for (auto const& [what, text] : plain_words) {
    if (small == text) {
      return {what, 0};
    }
  }
  if (auto const [what, percent] = of_prescription(small); percent >= 0) {
    ISO_VALIDATE(prescription > 0,
                 "iso::dvh::quantity_named: '{}' is of the prescription (which is not known); give "
                 "it, or write the dose as in CI60Gy and V57Gy",
                 name);
    return {what, percent / 100 * prescription};
  }
  bool const is_conformity = small.starts_with("ci");
  char const first = small.empty() ? ' ' : small.front();
  std::string_view rest = std::string_view(small).substr(small.empty() ? 0 : is_conformity ? 2 : 1);
  auto const [value, found] = take_number(rest);
  if (is_conformity && found && value > 0 && rest == "gy") {
    return {kind::conformity, value};
  }
  if (first == 'd' && found && (rest.empty() || rest == "%") && value > 0 && value <= 100) {
    return {kind::dose_at_percent, value};
  }
  if (first == 'd' && found && rest == "cc" && value > 0) {
    return {kind::dose_at_volume, value};
  }
  if (first == 'v' && found && value >= 0 && (rest == "gy" || rest == "gy_cc")) {
    return {rest == "gy" ? kind::volume_at_dose : kind::absolute_at_dose, value};
  }
  fail_argument(
      "iso::dvh::quantity_named: '{}' is no quantity (D95 is a dose that 95 % get, D0.1cc one that "
      "0.1 cm3 get, V20Gy the per cent that get 20 Gy, V20Gy_cc the cm3, CI60Gy the conformity to "
      "60 Gy); write one of those, Dmean, Dmin, Dmax, HI, volume or outside",
      name);
}

std::string_view unit_of(quantity const& q) {
  switch (q.what) {
    case kind::volume_at_dose:
      return "%";
    case kind::absolute_at_dose:
    case kind::volume:
    case kind::outside:
      return "cm3";
    case kind::homogeneity:
    case kind::conformity:
      return "1";
    default:
      return "Gy";
  }
}

}  // namespace iso::dvh
