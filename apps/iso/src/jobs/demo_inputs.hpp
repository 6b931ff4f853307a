// SPDX-License-Identifier: BSD-3-Clause
//! The phantoms, scans and fields of the demo.
#pragma once

#include <iso/cases/dose.hpp>
#include <iso/cases/dvh.hpp>
#include <iso/cases/projection.hpp>
#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/synthetic/generate.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace iso::jobs {

/// Of a source at 1000 mm from the axis and a detector at 1536 mm from the source.
inline constexpr double demo_magnification = 1.536;
/// Returns a scan about z with these distances.
ct::geometry circle(std::int64_t num_u, std::int64_t num_v, double pixel, std::int64_t views);

/// The phantom in a cube of 256 mm, whatever the number of voxels, and scans with pixels that see a
/// voxel at the axis.
struct head_scan {
  std::vector<ct::ellipsoid> bodies = ct::shepp_logan(128);
  grid box;
  ct::geometry projection;
  ct::geometry reconstruction;  ///< with views enough for it

  head_scan(std::int64_t n, std::int64_t views);

  [[nodiscard]] cases::input_volume volume() const {
    return {box, cases::input_volume::contents::ellipsoids, bodies};
  }
};

/// Returns a field of 100 mm of 6 MV onto the slab phantom, its isocentre 100 mm behind the
/// surface.
cases::irradiation slab_irradiation(std::int64_t voxels);

/// Returns a ball about the field's isocentre.
cases::organ target_of(dose::beam const& field, double diameter);

/// Returns a layer of the slab phantom, 120 mm wide along x and 60 mm along z, about the beam's
/// axis.
cases::organ layer_of(std::string const& name, std::size_t number);

/// Returns a field of proton pencil beams on a sphere behind bone and lung, in a cube of 192 mm.
synthetic::pencil_beams pencil_field(std::int64_t size);

/// Returns weights of spots of which the deepest layer's lift the others' sum to a plateau.
std::vector<double> spot_weights(synthetic::pencil_beams const& field);

}  // namespace iso::jobs
