// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/fdk_options.hpp
#pragma once

#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace iso::ct {

/// The part of the circle that the views cover.
enum class scan_arc {
  automatic,   ///< cone: `short_scan` where one gap between views is wider than 12 degrees and
               ///< three times the mean one, and no other nearly so, else `full`; parallel: `full`
  full,        ///< cone: the circle; parallel: half of it or more
  short_scan,  ///< an arc of at least half a circle and the fan's angle, by Parker's weights
};

/// The place on the detector where the z axis is seen.
enum class detector_placement {
  automatic,  ///< `displaced` where it is seen beside the detector's middle by more than a tenth of
              ///< the detector's width, else `centred`
  centred,    ///< near the middle: both sides see the whole object
  displaced,  ///< near one edge: opposite views complete each other (half-fan)
};

struct scan_options {
  scan_arc arc = scan_arc::automatic;
  detector_placement detector = detector_placement::automatic;
  /// The number of columns of pixels beyond the detector's edges over which readings fall to zero,
  /// for objects wider than the detector; at most four times its columns. 0: readings are zero
  /// there.
  std::int64_t truncation_correction = 0;
  /// The largest angle, in rad, by which rows of u may leave the plane of rotation, at most 0.2.
  /// The filter runs along them, so that a volume is wrong where it changes along z (by how much:
  /// docs/algorithms/reconstruction.md). Without: 5 degrees, or 1.5 where rays are measured once,
  /// whose errors do not cancel (half circles of parallel rays, short scans, displaced detectors).
  std::optional<double> max_roll{};
};

/// The window by which the ramp |f| is multiplied, where f is the frequency divided by the cut-off.
enum class ramp_window {
  ram_lak,      ///< 1
  shepp_logan,  ///< sin(pi f / 2) / (pi f / 2)
  cosine,       ///< cos(pi f / 2)
  hamming,      ///< 0.54 + 0.46 cos(pi f)
  hann,         ///< 0.5 + 0.5 cos(pi f)
};

struct fdk_options {
  ramp_window window = ramp_window::ram_lak;
  double cutoff = 1;       ///< of the detector's Nyquist frequency, in (0, 1]
  scan_options scan = {};  ///< which readings count how much
};

constexpr auto words(scan_arc) {
  return std::array{word{scan_arc::automatic, "automatic"}, word{scan_arc::full, "full"},
                    word{scan_arc::short_scan, "short"}};
}
constexpr auto words(detector_placement) {
  return std::array{word{detector_placement::automatic, "automatic"},
                    word{detector_placement::centred, "centred"},
                    word{detector_placement::displaced, "displaced"}};
}
constexpr auto words(ramp_window) {
  return std::array{word{ramp_window::ram_lak, "ram-lak"},
                    word{ramp_window::shepp_logan, "shepp-logan"},
                    word{ramp_window::cosine, "cosine"}, word{ramp_window::hamming, "hamming"},
                    word{ramp_window::hann, "hann"}};
}

constexpr void describe(auto&& visit, describes<scan_options> auto& x) {
  visit(x.arc,
        field{.name = "arc",
              .says = "full: the whole circle; short: an arc of half a circle and the fan or more, "
                      "by Parker's weights; automatic: by the views' angles"});
  visit(x.detector,
        field{.name = "detector",
              .says = "displaced: opposite views complete each other (half-fan); centred: they do "
                      "not; automatic: displaced where the axis is seen beside the middle by more "
                      "than a tenth of the width"});
  visit(x.truncation_correction,
        field{.name = "truncation-correction",
              .says = "objects wider than the detector: columns beyond its edges over which "
                      "readings fall to zero",
              .low = 0,
              .high = 65536});
  visit(
      x.max_roll,
      field{.name = "max-roll",
            .says = "degrees by which the detector's rows may leave the plane of rotation: more "
                    "makes what changes along z visibly wrong (default: 5 over a full circle; 1.5 "
                    "over an arc, half a circle of parallel rays, or with a displaced detector)",
            .unit = units::degrees,
            .low = 0,
            .high = 11.45});
}

constexpr void describe(auto&& visit, describes<fdk_options> auto& x) {
  visit(x.window, field{.name = "window", .says = "window of the ramp filter"});
  visit(
      x.cutoff,
      field{
          .name = "cutoff", .says = "of the detector's Nyquist frequency", .low = 1e-3, .high = 1});
  visit(x.scan, field{.name = "scan", .says = "which readings count how much", .flat = true});
}

}  // namespace iso::ct
