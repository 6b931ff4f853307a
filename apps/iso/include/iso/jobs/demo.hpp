// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/demo.hpp
#pragma once

#include <iso/files/atomic_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

struct demo_request {
  std::vector<std::string> backends;
  std::filesystem::path folder;          ///< for the figures; must exist
  std::optional<files::host_volume> ct;  ///< 1/mm, centred on the isocentre
  std::int64_t size = 128;               ///< voxels of the phantom along each side
  std::int64_t views = 60;
};

struct demo_result {
  report findings;
  std::vector<files::atomic_file> figures;  ///< that a commit puts in place
};

/// Computes projections of the Shepp-Logan phantom by every method on every backend against the
/// analytic answer, and of the CT where there is one; both reconstructed by FDK, and the
/// phantom from few views by FDK and total variation; the dose of a
/// photon field on the slab phantom, and dose-volume histograms of it; a matrix of proton pencil
/// beams times spot weights, in half against double; figures as PNG for the folder.
demo_result demo(demo_request const& request, observer const& watch);

}  // namespace iso::jobs
