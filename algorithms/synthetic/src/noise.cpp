// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/synthetic/detector_readings.hpp>

namespace iso::synthetic {
namespace detail {

void validate(detector const& d) {
  auto const in = [](double value, double low, double high, char const* name) {
    ISO_VALIDATE(value >= low && value <= high,
                 "iso::synthetic::detector_readings: {} is {} (must be from {} to {}); choose a "
                 "number between",
                 name, value, low, high);
  };
  in(d.photons, 0, 0x1p28, "photons");
  in(d.level, 1e-6, 1e6, "level");
  in(d.dark_level, 0, 65535, "dark level");
  in(d.dark_counts, 0, 0x1p20, "dark counts");
  in(d.gain_spread, 0, 0.999, "gain spread");
  in(d.dead_share, 0, 1, "dead share");
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_SYNTHETIC_POISSON, )
ISO_FOR_EACH_INSTANCE(ISO_SYNTHETIC_DETECTOR, )

}  // namespace iso::synthetic
