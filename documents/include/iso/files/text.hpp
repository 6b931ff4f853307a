// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/text.hpp
//! Makes text from files and libraries fit for a message of one line.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

namespace iso::files {

/// Returns the text with the letters A to Z made small.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return lower;
}

/// Returns the ending of the file name in small letters; ".nii.gz" counts as one.
inline std::string ending(std::filesystem::path const& path) {
  auto const name = lower_case(path.filename().string());
  if (name.ends_with(".nii.gz")) {
    return ".nii.gz";
  }
  auto const dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(dot);
}

/// Puts text on one line: lines and blanks between words become one blank.
inline std::string one_line(std::string_view text) {
  std::string line;
  bool blank = false;
  for (char const c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      blank = !line.empty();
      continue;
    }
    line.append(blank ? " " : "").push_back(c);
    blank = false;
  }
  return line;
}

namespace detail {

/// Returns the text with replace(bytes) for each byte that is not UTF-8, each control character,
/// and each that turns the direction of writing: a terminal would do what they say.
template <class Replace>
std::string without_controls(std::string_view text, Replace const& replace) {
  auto const byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    unsigned const first = byte(at);
    // Bytes of a character, and its least number: a shorter form would do below that.
    std::size_t const bytes = first < 0x80U   ? 1
                              : first < 0xc0U ? 0
                              : first < 0xe0U ? 2
                              : first < 0xf0U ? 3
                              : first < 0xf8U ? 4
                                              : 0;
    constexpr unsigned least[] = {0, 0, 0x80U, 0x800U, 0x10000U};
    unsigned number = bytes > 1 ? first & (0x7fU >> bytes) : first;
    bool is_text = bytes > 0 && at + bytes <= text.size();
    for (std::size_t n = 1; is_text && n < bytes; ++n) {
      is_text = (byte(at + n) & 0xc0U) == 0x80U;
      number = (number << 6U) | (byte(at + n) & 0x3fU);
    }
    is_text = is_text && number >= least[bytes] && number <= 0x10ffffU &&
              (number < 0xd800U || number > 0xdfffU);
    bool const controls = number < 0x20U || (number >= 0x7fU && number <= 0x9fU);
    bool const turns = number == 0x61cU || number == 0x200eU || number == 0x200fU ||
                       (number >= 0x202aU && number <= 0x202eU) ||
                       (number >= 0x2066U && number <= 0x2069U);
    auto const piece = text.substr(at, is_text ? bytes : 1);
    line += is_text && !controls && !turns ? std::string(piece) : std::string(replace(piece));
    at += piece.size();
  }
  return line;
}

}  // namespace detail

/// Returns the text with "?" for each byte that is not UTF-8, each control character, and each that
/// turns the direction of writing.
inline std::string printable(std::string_view text) {
  return detail::without_controls(text, [](std::string_view) { return "?"; });
}

/// Returns the text with \xNN for each byte of what printable replaces.
inline std::string escaped(std::string_view text) {
  return detail::without_controls(text, [](std::string_view piece) {
    constexpr char const* digits = "0123456789abcdef";
    std::string all;
    for (char const c : piece) {
      auto const byte = static_cast<unsigned char>(c);
      all += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    }
    return all;
  });
}

/// Returns at most `most` bytes of UTF-8, no character cut; "..." stands for what is left out.
inline std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return std::string(text);
  }
  std::size_t end = most < 3 ? 0 : most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace iso::files
