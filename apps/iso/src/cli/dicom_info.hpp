// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support.hpp"

#include <string>

namespace iso::cli {

/// Prints what the DICOM file or the folder of a CT series at `path` holds, and writes it as JSON;
/// never a patient's name or number. Returns an exit code.
int run_dicom_info(std::string const& path, std::string const& json_file,
                   folder_options const& folder);

}  // namespace iso::cli
