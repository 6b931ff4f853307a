// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace iso::dose::detail {

/// The numbers of one line of a table.
struct csv_row {
  std::size_t line;  ///< of the text, from 1
  std::vector<double> numbers;
};

/// The lines of numbers of a table of comma-separated values. Lines that begin with # are left out,
/// and one line of names before the numbers.
/// \throws iso::invalid_argument  a field that is no finite number, a table without numbers
std::vector<csv_row> read_csv(std::string_view text, std::string_view name);

}  // namespace iso::dose::detail
