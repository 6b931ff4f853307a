// SPDX-License-Identifier: BSD-3-Clause
//! Depth doses of a 10 cm x 10 cm field of 6 MV in water, and the dose on a beam's axis.
#pragma once

#include "dose_support.hpp"

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

/// The dose along y in the middle of a volume whose extents along x and z are even.
class depth_dose {
 public:
  explicit depth_dose(host_volume<float> dose) : dose_(std::move(dose)) {}

  [[nodiscard]] double at(double depth) const {
    double const y = depth / dose_.grid.spacing.y - 0.5;
    auto const j = std::int64_t(std::floor(y));
    return mean(j) + (y - double(j)) * (mean(j + 1) - mean(j));
  }

 private:
  [[nodiscard]] double mean(std::int64_t j) const {
    std::int64_t const i = dose_.grid.extent[0] / 2;
    std::int64_t const k = dose_.grid.extent[2] / 2;
    return 0.25 * (double(dose_.data(i - 1, j, k - 1)) + dose_.data(i, j, k - 1) +
                   dose_.data(i - 1, j, k) + dose_.data(i, j, k));
  }

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
