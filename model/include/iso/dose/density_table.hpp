// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/density_table.hpp
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iso::dose {

/// One corner of the piecewise-linear table from CT number to density.
struct density_point {
  double hounsfield;
  double density;  ///< g/cm3
};

/// A table from CT number to density. Density is linear between neighbouring points, that of the
/// first point below it, and that of the last point above it.
struct density_table {
  std::vector<density_point> points;  ///< in ascending order of CT number
};

/// Returns a table of the library: "schneider_2000" (Schneider, Bortfeld, Schlegel 2000, as GATE
/// distributes it). model/data/density_schneider_2000.csv tells where the numbers are from.
/// Determinism: backend_to_backend, constants.
/// \throws iso::invalid_argument  no such table
density_table named_density_table(std::string_view name);

/// Reads lines of "CT number, density" (Hounsfield units, g/cm3). Lines that begin with # and one
/// line of names are left out.
/// \param name  of the table, for messages
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a line with other than two numbers, CT numbers that do not rise,
///                                a density that is negative or above max_density, fewer than two
///                                points
density_table parse_density_table(std::string_view csv, std::string_view name);

namespace detail {

/// The line from one point of a table to the next; that of the last point is flat.
struct density_segment {
  double hounsfield;
  double density;  ///< g/cm3
  double slope;    ///< g/cm3 per Hounsfield unit
};

std::vector<density_segment> segments_of(density_table const& table);

}  // namespace detail

/// The largest number that counts as a density, g/cm3: no element is denser.
inline constexpr double max_density = 25;

/// The number of voxels with one fault, and the first of them.
struct density_fault {
  std::int64_t count = 0;
  std::array<std::int64_t, 3> first{};  ///< the first such voxel, z fastest; of a count above 0
  double value = 0;                     ///< of that voxel
};

/// The faults that iso::dose::validate found.
struct density_report {
  std::int64_t voxels = 0;
  density_fault not_finite;  ///< NaN or infinite
  density_fault negative;
  density_fault absurd;  ///< above max_density

  [[nodiscard]] bool sound() const {
    return not_finite.count == 0 && negative.count == 0 && absurd.count == 0;
  }
};

/// Returns `problem (reason); advice`; empty for a sound density.
/// Determinism: backend_to_backend; made on the host.
std::string to_string(density_report const& report);

}  // namespace iso::dose
