// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/checkpoint_file.hpp
//! Reads and writes checkpoints, from which a long computation goes on, as HDF5: docs/formats.md.
#pragma once

#include <iso/files/atomic_file.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace iso::files {

/// The arrays of a checkpoint by name, and what they belong to.
struct checkpoint {
  using array = std::variant<std::vector<float>, std::vector<double>>;
  /// The description of the computation and its inputs, as names and values. A resumed computation
  /// compares them, in this order.
  std::vector<std::pair<std::string, std::string>> belongs;
  std::vector<std::pair<std::string, array>> arrays;

  /// Returns the array of that name.
  /// \throws iso::invalid_argument  there is none of that name, or of another precision
  template <class T>
  [[nodiscard]] std::vector<T> const& at(std::string const& name) const;
};

/// Prepares a file, which a commit puts in place, with a dataset an array, bit for bit, and an
/// attribute of the root for each of `belongs` and for the number of this format. The arrays bear
/// checksums.
/// \throws iso::file_error
[[nodiscard]] atomic_file prepare_checkpoint(std::filesystem::path const& path,
                                             checkpoint const& state);

/// Reads back the arrays of these names.
/// \throws iso::file_error     not HDF5, truncated or with other bits than were written, an array
///                             missing or no array of numbers, another format, or the file belongs
///                             to something else than `belongs`, with what that is
/// \throws iso::out_of_memory  more than this machine has
checkpoint read_checkpoint(std::filesystem::path const& path,
                           std::vector<std::pair<std::string, std::string>> const& belongs,
                           std::vector<std::string> const& names);

}  // namespace iso::files
