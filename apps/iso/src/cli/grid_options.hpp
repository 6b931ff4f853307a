// SPDX-License-Identifier: BSD-3-Clause
//! Adds --extent, --spacing, --origin, --like, --isocentre, --centre: voxels of a reconstruction.
#pragma once

#include "support.hpp"

#include <iso/jobs/reconstruct.hpp>

#include <array>
#include <string>
#include <vector>

namespace iso::cli {

struct grid_options {
  std::vector<std::int64_t> extent;
  std::vector<double> spacing;
  std::vector<double> origin;
  std::vector<double> isocentre;
  std::string like;
  folder_options folder;
  bool centred = false;
};

void add_grid_options(CLI::App& app, grid_options& options);

/// The place of coordinates of a volume against those of the geometry, whose zero is the isocentre.
struct placement {
  std::array<double, 3> isocentre{};            ///< in the volume's coordinates
  std::optional<std::array<double, 3>> origin;  ///< of the volume, where it was asked for
};

/// Sets the request's extent, spacing and origin; reads the header of --like.
/// \throws iso::file_error, iso::invalid_argument
placement place_grid(grid_options const& options, jobs::reconstruct_request& request);

/// Gives the result, which is about the isocentre, the coordinates asked for.
void move_to(placement const& place, files::host_volume& volume);

}  // namespace iso::cli
