// SPDX-License-Identifier: BSD-3-Clause
#include "dvh_quantities.hpp"

#include <iso/core/error.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/dvh.hpp>

#include <fmt/core.h>

#include <charconv>
#include <system_error>
#include <utility>

namespace iso::cli {
namespace {

/// Returns `small`, in small letters, with the capitals of D95, V20Gy and CI60Gy.
std::string with_capitals(std::string small) {
  if (small.starts_with("ci")) {
    small.replace(0, 2, "CI");
  } else if (small.starts_with('d') || small.starts_with('v')) {
    small[0] = small[0] == 'd' ? 'D' : 'V';
  }
  auto const unit = small.find("gy");
  if (unit != std::string::npos) {
    small[unit] = 'G';
  }
  return small;
}

}  // namespace

std::string quantity_of(std::string const& text, double prescription) {
  std::pair<char const*, char const*> const words[] = {
      {"mean", "mean"},     {"dmean", "mean"},      {"min", "min"},
      {"minimum", "min"},   {"dmin", "min"},        {"max", "max"},
      {"maximum", "max"},   {"dmax", "max"},        {"hi", "homogeneity"},
      {"volume", "volume"}, {"outside", "outside"}, {"homogeneity", "homogeneity"}};
  auto const small = files::lower_case(text);
  for (auto const& [ours, librarys] : words) {
    if (small == ours) {
      return librarys;
    }
  }
  double percent = 100;
  bool is_part = small == "ci";
  if (small.starts_with('v') && small.ends_with('%')) {
    auto const end = small.data() + small.size() - 1;
    auto const read = std::from_chars(small.data() + 1, end, percent);
    is_part = read.ec == std::errc() && read.ptr == end;
  }
  if (is_part && prescription == 0) {
    throw invalid_argument(
        fmt::format("--quantity '{}' (it is of the prescription, which is not known); give "
                    "--prescription, or write the dose as in CI60Gy and V57Gy",
                    text));
  }
  auto const name =
      is_part ? fmt::format("{}{}Gy", small == "ci" ? "CI" : "V", percent / 100 * prescription)
              : with_capitals(small);
  try {
    jobs::unit_of_quantity(name);
  } catch (invalid_argument const&) {
    throw invalid_argument(fmt::format(
        "--quantity '{}' is no quantity (D95 is a dose that 95 % get, D0.1cc one that 0.1 cm3 get, "
        "V20Gy the per cent that get 20 Gy, V20Gy_cc the cm3, CI60Gy the conformity to 60 Gy); "
        "write one of those, Dmean, Dmin, Dmax, HI, volume or outside",
        text));
  }
  return name;
}

}  // namespace iso::cli
