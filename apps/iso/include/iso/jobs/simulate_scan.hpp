// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/simulate_scan.hpp
#pragma once

#include <iso/jobs/session.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::jobs {

/// A detector as iso::synthetic::detector has it, and how often it looks.
struct simulated_scan_request {
  std::string backend;
  std::array<std::int64_t, 3> extent{};  ///< views, u, v
  std::vector<float> integrals;          ///< line integrals
  double photons = 20000;                ///< of an open beam's pixel
  double gain_spread = 0.1;              ///< of the pixels' gains about 1
  double dead_share = 0.001;             ///< of the pixels
  std::int64_t flats = 10;               ///< images of the open beam
  std::int64_t darks = 10;               ///< images without beam
  std::uint64_t seed = 1;
};

/// Readings of 16 bits, [images, u, v] each.
struct simulated_scan {
  std::vector<float> readings;
  std::vector<float> flats;
  std::vector<float> darks;
};

/// \throws iso::invalid_argument, iso::out_of_memory
simulated_scan simulate_scan(simulated_scan_request const& request, observer const& watch);

}  // namespace iso::jobs
