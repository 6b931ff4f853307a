// SPDX-License-Identifier: BSD-3-Clause
//! Describes columns that FDK adds to a detector beside its edges.
#pragma once

#include <iso/ct/scan_weights.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Counts of columns that the filter adds to a detector, on either side.
struct row_extension {
  std::int64_t before;
  std::int64_t after;
};

/// Returns those of a scan: until a displaced detector is as wide on both sides of the axis, and
/// enough for the truncation correction. Throws iso::invalid_argument as weigh_scan.
row_extension extension_of(geometry const& g, scan_options const& options);

/// Returns the same rays with the added columns.
geometry extended(geometry const& g, row_extension const& by);

}  // namespace iso::ct::detail
