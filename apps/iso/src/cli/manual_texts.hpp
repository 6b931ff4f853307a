// SPDX-License-Identifier: BSD-3-Clause
//! Holds what the manual says of a command beside its options.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace iso::cli {

struct named_text {
  std::string_view name;
  std::string_view text;
};

struct manual_text {
  std::string_view command;      ///< its full name: "iso matrix apply"
  std::string_view description;  ///< paragraphs, each a line
  std::string_view examples;     ///< commands, each a line
  std::span<named_text const> files;
};

/// Returns the text of a command by its full name.
manual_text const& manual_text_of(std::string_view command);

/// Returns exit codes and what they mean.
std::span<named_text const> exit_codes();

/// Returns the environment variables that the program, Kokkos and OpenMP read.
std::span<named_text const> environment_variables();

}  // namespace iso::cli
