// SPDX-License-Identifier: BSD-3-Clause
#include <iso/gamma/gamma_options.hpp>

#include <iso/core/check.hpp>

#include <charconv>
#include <optional>
#include <system_error>

namespace iso::gamma {
namespace {

/// The number before `unit`, where that is all of `text`.
std::optional<double> number_before(std::string_view unit, std::string_view text) {
  if (!text.ends_with(unit)) {
    return {};
  }
  text.remove_suffix(unit.size());
  double number = 0;
  auto const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

criterion criterion_named(std::string_view text) {
  auto const slash = text.find('/');
  auto const percent = number_before("%", text.substr(0, slash));
  auto const mm =
      slash == std::string_view::npos ? std::nullopt : number_before("mm", text.substr(slash + 1));
  ISO_VALIDATE(percent && mm,
               "iso::gamma::criterion_named: '{}' is no criterion (a dose difference in % and a "
               "distance in mm are expected); write it as 3%/3mm",
               text);
  return {*percent / 100, *mm};
}

std::string to_string(criterion const& c) {
  return message("{:.6g}%/{:.6g}mm", {100 * c.dose_difference, c.distance});
}

}  // namespace iso::gamma
