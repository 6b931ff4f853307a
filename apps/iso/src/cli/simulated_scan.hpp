// SPDX-License-Identifier: BSD-3-Clause
//! Writes projections as the files of a real scan: a folder of 16-bit TIFF images, flats and darks.
#pragma once

#include "support.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/jobs/simulate_scan.hpp>

#include <string>
#include <vector>

namespace iso::cli {

struct simulated_scan_options {
  std::string folder;
  jobs::simulated_scan_request request;
};

void add_simulated_scan_options(CLI::App& app, simulated_scan_options& options);

/// Throws iso::file_error unless the folder can be made or is empty; nothing where none is named.
void check_scan_folder(simulated_scan_options const& options);

/// Prepares the files of the folder, which is there: projection_N.tif, flat_N.tif, dark_N.tif and
/// geometry.json.
std::vector<files::atomic_file> prepare_scan(simulated_scan_options const& options,
                                             jobs::simulated_scan const& scan,
                                             std::string const& geometry);

}  // namespace iso::cli
