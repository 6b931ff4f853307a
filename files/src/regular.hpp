// SPDX-License-Identifier: BSD-3-Clause
//! Holds what every reader asks before it opens a file, and after it has read it.
#pragma once

#include <iso/files/detail/refuse.hpp>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

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

/// Runs `read`, which reads a file; throws iso::file_error where the file has another size or time
/// stamp afterwards, or is another, whatever `read` found in it.
template <class Read>
void read_unchanged(std::filesystem::path const& path, Read&& read) {
  struct stat before{};
  bool const known = ::stat(path.c_str(), &before) == 0;
  auto const check = [&] {
    struct stat now{};
    bool const same = ::stat(path.c_str(), &now) == 0 && now.st_dev == before.st_dev &&
                      now.st_ino == before.st_ino && now.st_size == before.st_size &&
                      now.st_mtim.tv_sec == before.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
    if (known && !same) {
      refuse(path,
             "was changed while it was read (another program writes it, and what was read may be "
             "of two states); read it again when that program has ended");
    }
  };
  try {
    std::forward<Read>(read)();
  } catch (file_error const&) {
    check();
    throw;
  }
  check();
}

}  // namespace iso::files::detail
