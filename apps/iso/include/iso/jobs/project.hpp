// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/project.hpp
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/ct/streaming.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/rank_files.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace iso::jobs {

struct project_request {
  std::string backend;
  ct::projector method = ct::projector::joseph_linear;
  summation sum = summation::ordered;
  iso::precision precision = iso::precision::f32;
  int oversampling = 1;      ///< exact methods: rays a pixel each way
  bool extend_rays = false;  ///< move detectors along their rays to behind the volume
  files::geometry_file geometry;
  files::host_volume volume;  ///< 1/mm; without values where a phantom is wanted
  /// On ranks, where `volume` has no values: returns those of some of its planes, [nx, ny, planes].
  std::function<std::vector<float>(slab const& planes)> read_planes{};
  /// On ranks, where rank 0 does not get all values: the file into which they write their views;
  /// null: none.
  shared_views* shared_output = nullptr;
  bool gathers = true;  ///< rank 0 gets all values; else the result has none
  /// The view that rank 0 gets where it does not get all.
  std::optional<std::int64_t> shown_view{};
  std::int64_t phantom_size = 0;  ///< voxels along each side; 0: `volume`
  double phantom_width = 256;     ///< mm, of the phantom's cube
  /// Bytes of the backend's memory that volume and stack, in host memory, pass through; none: both
  /// lie in it. With it, `sum` is reproducible.
  std::optional<std::int64_t> memory{};
  repeats_request repeats{};
};

struct projection_result {
  std::array<std::int64_t, 3> extent{};                          ///< views, u, v
  std::int64_t voxels = 0;                                       ///< of the volume
  std::variant<std::vector<float>, std::vector<double>> values;  ///< [views, u, v]
  std::variant<std::vector<float>, std::vector<double>> shown;   ///< [u, v] of the shown view
  std::int64_t not_finite = 0;                                   ///< of the values
  std::int64_t bytes_needed = 0;  ///< on ranks, what this one takes where it computes
  std::int64_t blind_views = 0;   ///< those of which no ray meets the volume: they are zero
  std::int64_t views_within = 0;  ///< those whose detector stands in the volume or before it
  std::string hash;
  double time_ms = 0;                               ///< of the projection alone, data in place
  std::optional<ct::streaming_report> streaming{};  ///< how it was divided, and what it carried
  repeats_result repeats{};
};

/// Projects on the backend that the request names.
/// \throws iso::invalid_argument  geometry or option
/// \throws iso::out_of_memory     before anything runs, with what is asked for and what is free
/// \throws iso::cancelled
projection_result project(project_request const& request, observer const& watch);

}  // namespace iso::jobs
