// SPDX-License-Identifier: BSD-3-Clause
//! Depth doses of a 10 cm x 10 cm field of 6 MV in water, and the dose on a beam's axis.
#pragma once

#include "dose_support.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace dose_support {

/// Per cent of the measured maximum, curves equal at 100 mm
/// (tests/dose/data/depth_dose_6mv_10x10.csv says how they were made).
struct depth_dose_point {
  double depth;  ///< mm
  double measured;
  double exact;    ///< superposition with one kernel
  double by_bins;  ///< with the kernel of each bin of the spectrum
};

inline std::vector<depth_dose_point> reference() {
  std::ifstream in(ISO_DOSE_TEST_DATA "/depth_dose_6mv_10x10.csv");
  std::vector<depth_dose_point> out;
  for (std::string line; std::getline(in, line);) {
    depth_dose_point p{};
    char comma = 0;
    double another_spectrum = 0;
    std::istringstream fields(line);
    if (fields >> p.depth >> comma >> p.measured >> comma >> p.exact >> comma >> another_spectrum >>
        comma >> p.by_bins) {
      out.push_back(p);
    }
  }
  return out;
}

inline constexpr double surface_distance = 900;  ///< mm

/// A field onto 400 mm of water, in voxels of `voxel` mm, whose surface lies across the beam. That
/// of a beam oblique to the grid is cut out of a larger volume.
struct water_field {
  setup s;
  bool oblique;

  water_field(double side, double voxel, bool is_oblique) : s(), oblique(is_oblique) {
    auto const n = std::int64_t(std::lround((oblique ? 640 : 400) / voxel));
    s = turned(
        setup::square(grid::centred({n, n, n}, {voxel, voxel, voxel}), side, surface_distance),
        oblique);
    if (oblique) {
      s.field.isocentre = -100.0 * frame_of(s.field).along;
    }
  }

  template <class T>
  [[nodiscard]] host_volume<T> density() const {
    auto const frame = frame_of(s.field);
    grid const& g = s.phantom;
    return volume_of<T>(g, [&](auto i, auto j, auto k) {
      if (!oblique) {
        return 1.0;
      }
      vec3<double> const from_source = middle_of(g, i, j, k) - frame.source;
      double const depth = dot(from_source, frame.along) - surface_distance;
      bool const within = std::fabs(dot(from_source, frame.x)) < 200 &&
                          std::fabs(dot(from_source, frame.y)) < 200 && depth < 400;
      // The surface cuts voxels.
      return within ? std::clamp(0.5 + depth / g.spacing.x, 0.0, 1.0) : 0.0;
    });
  }
};

/// The dose on the axis of a beam.
class depth_dose {
 public:
  depth_dose(beam const& b, host_volume<float> dose)
      : frame_(frame_of(b)), dose_(std::move(dose)) {}

  [[nodiscard]] double at(double depth) const {
    return interpolated(dose_, frame_.source + (surface_distance + depth) * frame_.along);
  }

 private:
  beam_frame frame_;
  host_volume<float> dose_;
};

/// The largest difference from 30 to 300 mm, curves equal at 100 mm, in per cent of the measured
/// maximum.
template <class Column>
double worst(depth_dose const& d, Column const& column) {
  auto const points = reference();
  double at_100 = 0;
  for (depth_dose_point const& p : points) {
    at_100 = p.depth == 100 ? column(p) : at_100;
  }
  double largest = points.size() < 15 ? 1e9 : 0;
  for (depth_dose_point const& p : points) {
    if (p.depth >= 30 && p.depth <= 300) {
      largest = std::fmax(largest, std::fabs(d.at(p.depth) / d.at(100) * at_100 - column(p)));
    }
  }
  return largest;
}

}  // namespace dose_support
