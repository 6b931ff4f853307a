// SPDX-License-Identifier: BSD-3-Clause
//! Holds what every reader asks before it opens a file.
#pragma once

#include <iso/files/detail/refuse.hpp>

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace iso::files::detail {

/// Throws iso::file_error unless the file is there, a regular one (a pipe may never end, or never
/// begin) and readable.
inline void check_regular(std::filesystem::path const& path) {
  std::error_code failure;
  auto const status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    refuse(path, "cannot be opened (no such file); check its name");
  }
  if (!std::filesystem::is_regular_file(status)) {
    refuse(path, "cannot be opened (not a regular file); name a file");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    refuse(path, fmt::format("cannot be opened ({}); check its permissions", std::strerror(errno)));
  }
}

}  // namespace iso::files::detail
