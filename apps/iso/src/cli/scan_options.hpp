// SPDX-License-Identifier: BSD-3-Clause
//! Adds options that say how images of a detector become line integrals.
#pragma once

#include "support.hpp"

#include <iso/files/image_stack.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/reconstruct.hpp>
#include <iso/jobs/scan_input.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::cli {

struct scan_options {
  std::string flats;
  std::string darks;
  std::string white;
  files::pixel_type raw = files::pixel_type::uint16;
  std::string dead;
  std::string centre;
  bool line_integrals = false;
};

void add_scan_options(CLI::App& app, scan_options& options);

/// Returns true where `name` is not one HDF5 file: a folder, a pattern, an image.
bool is_image_series(std::string const& name);

/// What is known of a scan before its readings are read.
struct scan_header {
  files::geometry_file geometry;
  std::array<std::int64_t, 3>
      shape{};  ///< views, u, v: the stack's, or those that images must have
};

/// Reads the geometry, that of `geometry_file` or the stack's own where the name is empty, and the
/// shape; refuses options that do not go together.
/// \throws iso::file_error, iso::invalid_argument
scan_header read_scan_header(scan_options const& options, std::string const& projections,
                             std::string const& geometry_file);

/// Reads images, fields and the list of dead pixels, or the stack (.h5). Line integrals where
/// `mask` is 0 become 0, whatever they are. Where `keeps_stored`, line integrals that are integers
/// of 16 bits stay such, unless the axis is looked for in them.
/// \throws iso::file_error, iso::invalid_argument, iso::out_of_memory
jobs::scan_request read_scan(scan_options const& options, std::string const& projections,
                             std::string const& geometry_file, scan_header const& header,
                             std::vector<float> const& mask, bool keeps_stored);

/// Returns what reads a rank's views of a stack, counting their bytes in `bytes_read`, which must
/// outlive it. All ranks call it.
/// \param values  whether those that are not finite are refused
/// \throws iso::invalid_argument  on every rank: their headers, lengths or first views differ
jobs::views_reader read_by_views(std::string const& stack, std::array<std::int64_t, 3> const& shape,
                                 files::finite_values values, std::uint64_t& bytes_read);

/// Returns whether ranks read a scan by views: a stack, whose axis of rotation is not looked for.
bool is_read_by_views(scan_options const& options, std::string const& projections);

/// Corrects on `backend`, says what was found, and notes it in `facts`.
jobs::scan_result correct_scan(jobs::scan_request request, std::string const& backend,
                               jobs::observer const& watch, json& facts);

}  // namespace iso::cli
