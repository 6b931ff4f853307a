// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

namespace iso::cli::detail {

std::string with_options(std::string_view says) {
  std::string text;
  bool opens = true;
  for (char const c : says) {
    if (c != '`') {
      text += c;
    } else {
      text += opens ? "--" : "";
      opens = !opens;
    }
  }
  return text;
}

std::string with_option(std::string_view option, std::string_view message) {
  auto const name = message.find(": ");
  return fmt::format("{} {}", option, message.substr(name == message.npos ? 0 : name + 2));
}

CLI::Option* add_with_unit(CLI::App& sub, double& x, field const& f) {
  auto const read = [unit = f.unit](std::string const& text, double& written) {
    auto const* const end = text.data() + text.size();
    auto const number = std::from_chars(text.data(), end, written);
    return number.ec == std::errc() && std::string_view(number.ptr, end) == unit.name;
  };
  auto const refused = [read, unit = f.unit](std::string const& text) {
    double written = 0;
    return read(text, written) ? std::string()
                               : fmt::format("{0} (a number in {1} is expected); write it as 10{1}",
                                             text, unit.name);
  };
  auto const put = [read, &x, unit = f.unit](std::string const& text) {
    double written = 0;
    read(text, written);
    x = unit.to_library(written);
  };
  return sub
      .add_option_function<std::string>("--" + std::string(f.name), put, with_options(f.says))
      ->check(CLI::Validator(refused, ""))
      ->default_str(fmt::format("{}{}", written_in(f.unit, x), f.unit.name));
}

CLI::Option* add_number(CLI::App& sub, field const& f, std::function<void(double)> const& put) {
  return sub.add_option_function<double>("--" + std::string(f.name), put, with_options(f.says))
      ->check(number_from(f.low, f.high));
}

}  // namespace iso::cli::detail

namespace iso::cli {

std::string time_text(double milliseconds) {
  return milliseconds < 1000 ? fmt::format("{:.4g} ms", milliseconds)
                             : fmt::format("{:.4g} s", milliseconds / 1000);
}

}  // namespace iso::cli
