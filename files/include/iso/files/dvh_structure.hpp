// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/dvh_structure.hpp
//! Turns a structure that was read into one for dose-volume histograms. Programs that include it
//! link iso::iso beside iso::files.
#pragma once

#include <iso/core/error.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/files/dicom_rt.hpp>

namespace iso::files {

/// Returns the same contours.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::file_error  one with a `refusal`
inline dvh::structure make_structure(rt_structure const& from) {
  if (!from.refusal.empty()) {
    throw file_error(from.refusal);
  }
  dvh::structure s{from.name, {}};
  for (auto const& contour : from.contours) {
    auto& points = s.contours.emplace_back().points;
    for (auto const& [x, y, z] : contour) {
      points.push_back({x, y, z});
    }
  }
  return s;
}

}  // namespace iso::files
