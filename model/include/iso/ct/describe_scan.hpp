// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/describe_scan.hpp
//! Describes the fields of scans as files have them. Apart from the types, since kernels do not
//! need it.
#pragma once

#include <iso/ct/circular_scan.hpp>
#include <iso/model/limits.hpp>
#include <iso/model/list_field.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace iso::ct {

inline constexpr int max_views = 1000000;

/// What a file says of a detector, which stands at several places of a scan.
template <class Scan>
struct detector_of {
  Scan& scan;
};
template <class Scan>
detector_of(Scan&) -> detector_of<Scan>;

namespace detail {

constexpr void describe_pixels(auto&& visit, auto& num_u, auto& num_v) {
  auto pixels = std::tie(num_u, num_v);
  visit(pixels, required{field{
                    .name = "pixels", .says = "of the detector [u, v]", .low = 1, .high = 65536}});
}

}  // namespace detail

constexpr void describe(auto&& visit, describes<detector_turn> auto& x) {
  auto const angle = [&](auto& a, std::string_view name, std::string_view says) {
    visit(a, field{.name = name,
                   .says = says,
                   .unit = {"deg", "", units::degrees.to_library},
                   .low = -max_degrees,
                   .high = max_degrees});
  };
  angle(x.yaw, "yaw", "about v");
  angle(x.pitch, "pitch", "about u");
  angle(x.roll, "roll", "about the normal");
}

template <class Scan>
constexpr void describe(auto&& visit, detector_of<Scan> const& x) {
  auto& d = x.scan.detector;
  detail::describe_pixels(visit, d.num_u, d.num_v);
  auto pitch = std::tie(d.pitch_u, d.pitch_v);
  visit(pitch, required{field{.name = "pitch",
                              .says = "distances of pixel centres [along u, along v]",
                              .unit = units::mm,
                              .low = 1e-6,
                              .high = max_distance}});
  auto offset = std::tie(d.offset_u, d.offset_v);
  visit(offset, field{.name = "offset",
                      .says = "displacement of the detector's middle [along u, along v]",
                      .unit = units::mm,
                      .low = -max_distance,
                      .high = max_distance});
  visit(x.scan.turn, field{.name = "turn",
                           .says = "how the detector is turned about its middle",
                           .key = "turn_deg"});
  visit(x.scan.detector_shifts,
        list_field{{.name = "shifts",
                    .says = "one for each view",
                    .unit = units::mm,
                    .low = -max_distance,
                    .high = max_distance},
                   1,
                   max_views,
                   "how far a view's detector is shifted [along u, along v] in mm"});
}

/// Describes what its beam has. The beam itself is not described: a file's type says it.
constexpr void describe(auto&& visit, describes<circular_scan> auto& x) {
  detector_of detector{x};
  visit(detector, required{field{.name = "detector", .says = "a flat detector"}});
  auto const shift = [&](auto& value, std::string_view name, std::string_view says) {
    visit(value, field{.name = name,
                       .says = says,
                       .unit = units::mm,
                       .low = -max_distance,
                       .high = max_distance});
  };
  if (x.rays == beam::cone) {
    auto const distance = [&](auto& value, std::string_view name, std::string_view says) {
      visit(value,
            required{field{
                .name = name, .says = says, .unit = units::mm, .low = 1e-6, .high = max_distance}});
    };
    distance(x.source_axis, "source-axis", "from the source to the axis of rotation");
    distance(x.source_detector, "source-detector", "from the source to the detector's plane");
    shift(x.axis_offset, "axis-offset",
          "where the axis lies along u, seen from the middle of the beam");
  }
  visit(x.axis_tilt, field{.name = "axis-tilt",
                           .says = "tilt of the axis of rotation towards the source (laminography)",
                           .unit = units::degrees,
                           .low = -89,
                           .high = 89});
  shift(x.helix_pitch, "helix-pitch", "along the axis in a turn, of a helix");
  if (x.rays == beam::cone) {
    visit(x.source_shifts,
          list_field{{.name = "source-shifts",
                      .says = "one for each view",
                      .unit = units::mm,
                      .low = -max_distance,
                      .high = max_distance},
                     1,
                     max_views,
                     "how far a view's source is shifted [along u, along v, away from the "
                     "detector] in mm"});
  }
  visit(x.angles, required{list_field{{.name = "angles",
                                       .says = "the angle of every view",
                                       .unit = units::degrees,
                                       .low = -max_degrees,
                                       .high = max_degrees},
                                      1,
                                      max_views}});
}

}  // namespace iso::ct
