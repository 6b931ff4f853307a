// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace iso::cli {

// What these refuse they name as `problem (reason); advice`, which CLI puts behind an option's
// name.

/// Returns the word that was meant, as far as one begins so or a third of its letters at most are
/// wrong; else none.
std::string nearest_of(std::vector<std::string> const& words, std::string const& to);

/// Checks numbers that are not whole; a NaN is none of them.
CLI::Validator number_from(double low, double high);
/// Checks whole numbers.
CLI::Validator whole_from(std::int64_t low, std::int64_t high);
/// Checks whole numbers from 0 to 2^64 - 1.
CLI::Validator whole_number();
/// Takes one of these words in any case, and makes it as it is written here; for CLI's transform.
CLI::Validator one_of(std::vector<std::string> words);
/// Makes letters small; for CLI's transform.
CLI::Validator in_small_letters();

/// Returns what CLI says of arguments that it refuses, with the reason and, where none is better,
/// the advice to see the help of `command`.
std::string sentence_of(CLI::ParseError const& failure, std::string const& command);

}  // namespace iso::cli
