// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/reconstruct.hpp
#pragma once

#include <iso/core/grid.hpp>
#include <iso/ct/fdk_options.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/ct/streaming.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/hounsfield.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace iso::jobs {

/// Names linear Joseph by texture units, which iterations alone take.
inline constexpr char const* texture_projector = "joseph-texture";
/// Returns the words of ct::projector and that one.
std::vector<std::string> iterative_projector_names();
/// Returns the one of these that the options stand for, and the options that a name stands for.
std::string name_of(ct::projector_options const& options);
ct::projector_options projector_named(std::string const& name, ct::projector_options options);

/// The way in which each of the ranks that share a job reads some views of a stack.
struct views_reader {
  /// Reads [views, u, v] from a first view on; empty: the whole stack has been read.
  std::function<void(std::int64_t first_view, std::span<float> values)> read{};
  std::int64_t piece = 1;  ///< views that the file has as one
};
/// The way in which it reads some planes of a volume: [nx, ny, planes].
using planes_reader = std::function<std::vector<float>(slab const& planes)>;

/// How to reconstruct by iterations.
struct iterative_request {
  ct::iterative_method method = ct::iterative_method::sirt;
  ct::iterative_options options{};  ///< of that method: ct::default_options, with what is chosen
  ct::stopping_rules rules{};       ///< ct::default_rules, with what is chosen; but for `noise`
  /// Photons of the open beam, each ray's: stop where the residual is what their noise leaves.
  std::optional<double> stop_noise{};
  /// Start: on the result's grid, 1/mm; none: zeros (MLEM, OSEM: ones)
  std::optional<files::host_volume> start{};
  /// Voxels that count are not 0; on the result's grid. None: all do.
  std::optional<files::host_volume> mask{};
  /// Readings that count are not 0; of the scan's shape. None: all do.
  std::optional<files::projection_stack<float>> reading_mask{};
  // On ranks, where the volumes and the mask above have no values.
  planes_reader read_start{};
  planes_reader read_mask{};
  views_reader read_reading_mask{};
  bool final_residual = false;         ///< project the result once more
  std::string checkpoint{};            ///< file to go on from, and to write; empty: none
  std::int64_t checkpoint_every = 10;  ///< iterations

  /// Returns the options of the method's projector.
  [[nodiscard]] ct::projector_options const& projector() const {
    return std::visit([](auto const& of) -> auto const& { return of.projector; }, options);
  }
};

struct reconstruct_request {
  std::string backend;
  /// Given: the adjoint of this projector, and nothing is reconstructed.
  std::optional<ct::projector> adjoint_of{};
  int oversampling = 1;  ///< of an exact adjoint: rays a pixel each way
  ct::fdk_options filter{};
  iso::precision precision = iso::precision::f32;
  std::optional<iterative_request> iterative{};  ///< none: filtered backprojection
  bool extend_rays = false;  ///< move detectors along their rays to behind the volume
  files::geometry_file geometry;
  std::array<std::int64_t, 3> shape{};  ///< of `projections`: views, u, v
  std::vector<float> projections;       ///< [views, u, v]; empty with phantom_width or `stored`
  views_reader read_views{};            ///< on ranks, where `projections` is empty
  /// Integers of 16 bits in their place, which are held and pass through as such. With `memory`, by
  /// one process, without iterations, and in float.
  std::optional<files::stored_stack> stored{};
  std::optional<double> phantom_width{};  ///< mm; given: of the Shepp-Logan head's cube
  std::array<std::int64_t, 3> extent{};   ///< voxels along x, y, z; 0: as many as pixels
  std::array<double, 3> spacing{};        ///< mm; 0: the pixels' distance at the z axis
  std::optional<std::array<double, 3>>
      origin{};  ///< mm; centre of the first voxel, as the geometry
                 ///< counts; none: the isocentre in the middle
  std::optional<files::attenuation_table> table{};  ///< given: the result is in Hounsfield units
  repeats_request repeats{};                        ///< none with a checkpoint
  /// Bytes of the backend's memory that volume and readings, in host memory, pass through; none:
  /// they lie in it. With it, the sums of an iterative method's projector are reproducible.
  std::optional<std::int64_t> memory{};
  bool keeps_planes = false;  ///< leave the planes of a result where the ranks have them
};

struct reconstruct_result {
  /// With its unit: "1/mm", "HU", or "mm" of an adjoint. Its values are on rank 0 alone, or those
  /// of `planes`, where ranks keep them.
  files::host_volume volume;
  slab planes{};
  ct::scan_arc arc{};                 ///< that was chosen
  ct::detector_placement detector{};  ///< likewise
  /// Holds the mean absolute and root mean square difference from the phantom's voxels, 1/mm, where
  /// a phantom is reconstructed.
  std::optional<std::array<double, 2>> error{};
  std::vector<ct::iteration> history;  ///< of an iterative method, all runs of a checkpoint
  /// Holds ||b - A x|| of the result, and its part of ||b||, where it was asked for.
  std::optional<std::array<double, 2>> final_residual{};
  /// With a stop by noise: readings of rays that less than one of the photons came through.
  std::int64_t dark_readings = 0;
  /// With a stop by noise: readings that equal the largest, where it is more than a thousandth of
  /// them and not above that of one photon, and that one.
  std::int64_t clipped_readings = 0;
  double largest_reading = 0;
  bool are_clipped_left_out = false;  ///< of the noise, since it is the reading of one photon
  double noise = 0;                   ///< with a stop by noise: ||b - A x|| that ends the run
  std::int64_t resumed = 0;           ///< iterations that a checkpoint had made
  /// TV: the values that voxels may have, on which the gap was taken, 1/mm
  std::optional<std::array<double, 2>> box{};
  bool rule_met = true;  ///< a rule for stopping ended the iterations, and not their number
  std::int64_t views = 0;
  std::int64_t blind_views = 0;  ///< those that see nothing of the volume
  /// Those whose detector stands in the volume or before it, where that counts.
  std::int64_t views_within = 0;
  /// Of iterations: the part of the rays with readings that pass the volume by, or cross too little
  /// of it for what they read, where it is more than a thousandth or a hundredth.
  double part_outside = 0;
  /// The part of the detector's rows that end within the body, where it is more than a hundredth.
  double part_cut = 0;
  /// Of iterations: the voxels of a volume about the same middle that holds what rays cross, where
  /// the volume is too small for it; else 0.
  std::array<std::int64_t, 3> voxels_wanted{};
  std::string hash;
  double time_ms = 0;  ///< of the reconstruction alone, data in place
  repeats_result repeats{};
  std::optional<ct::streaming_report> streaming{};  ///< how it was divided, and what it carried
  /// Of iterations, and of what ranks do: what it was to take in the backend's memory, and takes
  /// within a tenth; of ranks this one's.
  std::int64_t bytes_needed = 0;
};

/// Throws iso::invalid_argument where the readings have another shape than the scan, or the start
/// or a mask of iterations another than the scan or the result, or another place. Looks at shapes
/// and places alone, so that what headers say may be checked before any value is read.
void check_shapes(reconstruct_request const& request);

/// Does filtered backprojection, iterations, or the adjoint of a projection, on the backend that
/// the request names.
/// \throws iso::file_error        a checkpoint that is of another scan, volume or method, or
///                                is damaged
/// \throws iso::invalid_argument  geometry, option; a checkpoint with more iterations than are
///                                wanted; projections of another shape, that are all zero
///                                or not finite; a volume of which no view sees anything
/// \throws iso::out_of_memory     before anything runs, with what is needed and what is free
/// \throws iso::cancelled
reconstruct_result reconstruct(reconstruct_request const& request, observer const& watch);

}  // namespace iso::jobs
