// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/fdk_kinds.hpp
//! Scans of every kind that filtered backprojection weighs, with few pixels.
#pragma once

#include <iso/ct/circular_scan.hpp>
#include <iso/ct/fdk_options.hpp>

#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace fdk_support {

struct fdk_kind {
  std::string name;
  iso::ct::geometry scan;
  iso::ct::fdk_options options;
};

/// Returns scans of so many views, at least 20.
inline std::vector<fdk_kind> fdk_kinds(std::int64_t views) {
  using iso::ct::circular_cone;
  using iso::ct::circular_parallel;
  using iso::ct::even_angles;
  using iso::ct::turn_detector;
  double const pi = std::numbers::pi;
  auto const turn = even_angles(views, 2 * pi, 0.1);
  auto const arc = even_angles(views, pi + 0.5, 0.1);  // the fan has 0.32
  iso::ct::flat_detector const centred{21, 34, 2.1, 1.7, 0.3, -1};
  iso::ct::flat_detector const aside{21, 34, 2.1, 1.7, 12, -1};
  auto const full = circular_cone(centred, 90, 140, turn);
  auto const half = circular_cone(centred, 90, 140, arc);
  auto const displaced = circular_cone(aside, 90, 140, turn);
  auto const parallel = circular_parallel({21, 34, 1.3, 0.8, 0.3, -1}, even_angles(views, pi, 0.1));
  iso::ct::detector_turn const lean{.yaw = 0.05, .pitch = 0.1, .roll = 0.01};
  iso::ct::fdk_options const some{.scan = {.max_roll = 0.125}};
  iso::ct::fdk_options const wider{.scan = {.truncation_correction = 8, .max_roll = 0.125}};
  return {{"full", full, some},
          {"full, rolled", turn_detector(full, {.roll = 0.02}), some},
          {"full, leaning", turn_detector(full, lean), some},
          {"full, truncated", full, wider},
          {"short", half, some},
          {"short, truncated", half, wider},
          {"short, leaning", turn_detector(half, lean), some},
          {"displaced", displaced, some},
          {"displaced, truncated", displaced, wider},
          {"displaced, leaning", turn_detector(displaced, lean), some},
          {"displaced, pitched", turn_detector(displaced, {.pitch = 0.2}), some},
          {"parallel", parallel, some},
          {"parallel, rolled", turn_detector(parallel, {.roll = 0.02}), some},
          {"parallel, leaning", turn_detector(parallel, lean), some}};
}

}  // namespace fdk_support
