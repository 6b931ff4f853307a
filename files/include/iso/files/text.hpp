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
