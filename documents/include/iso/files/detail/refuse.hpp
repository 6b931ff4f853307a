// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/core/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace iso::files::detail {

/// Throws iso::file_error naming the file.
[[noreturn]] inline void refuse(std::filesystem::path const& path, std::string_view sentence) {
  throw file_error("'" + path.string() + "': " + std::string(sentence));
}

}  // namespace iso::files::detail
