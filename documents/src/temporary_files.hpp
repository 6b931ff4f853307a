// SPDX-License-Identifier: BSD-3-Clause
//! Names of files that are written in place of others, and what killed runs left of them.
#pragma once

#include <filesystem>
#include <string>

namespace iso::files::detail {

/// Returns the folder that a file lies in.
std::filesystem::path folder_of(std::filesystem::path const& place);
/// Returns what the temporary names of this machine begin with. A folder may be shared by several.
std::string const& prefix_of_host();
/// Returns what a temporary name, which is longer, has room for: the end, by which writers go.
std::string end_of_name(std::string const& name);
/// Returns whether a descriptor is of the file that lies at a path.
bool is_same_file(int descriptor, std::filesystem::path const& path);
/// Removes, once in a process, what killed runs of this machine left in a folder.
void remove_leftovers_once(std::filesystem::path const& folder);

}  // namespace iso::files::detail
