// SPDX-License-Identifier: BSD-3-Clause
#include "scan.hpp"

namespace iso::jobs {
ct::geometry behind_volume(ct::geometry g, grid const& volume, bool extend_rays,
                           std::int64_t& views_within) {
  auto const found = ct::find_detectors_within(g, volume);
  views_within = found.views;
  if (!extend_rays || found.views == 0) {
    return g;
  }
  views_within = 0;
  // A little farther: rounding shall not leave a corner outside.
  return ct::move_detector(g, 1.001 * found.factor);
}

}  // namespace iso::jobs
