// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support.hpp"

#include <string>

namespace iso::cli {

/// Prints what the file or folder at `path` holds, by its ending (and of JSON and HDF5 by its
/// content), and writes it as JSON: a volume, a stack of projections, images of a detector, a
/// matrix, a vector, a geometry, a plan, a sweep; what has another ending is taken for DICOM.
/// Returns an exit code.
int run_file_info(std::string const& path, std::string const& json_file,
                  folder_options const& folder);

}  // namespace iso::cli
