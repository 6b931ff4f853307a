// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/detail/check_speeds.hpp>
#include <iso/core/divide_planes.hpp>

#include <cmath>
#include <cstddef>
#include <string_view>

namespace iso {

namespace detail {

double sum_of_speeds(std::vector<double> const& speeds, int parts, char const* what,
                     char const* function) {
  std::string_view const name = what;
  ISO_VALIDATE(parts >= 1, "{}: {} {} (there must be one at least); give their number", function,
               parts, name);
  ISO_VALIDATE(speeds.empty() || speeds.size() == std::size_t(parts),
               "{}: {} speeds of {} {} (each has one); give one for each, or none", function,
               speeds.size(), parts, name);
  double all = 0;
  for (double const speed : speeds) {
    ISO_VALIDATE(std::isfinite(speed) && speed >= 0,
                 "{}: a speed of {} (must be finite and not negative); measure it again", function,
                 speed);
    all += speed;
  }
  ISO_VALIDATE(speeds.empty() || (all > 0 && std::isfinite(all)),
               "{}: speeds that add up to {} (must be above 0 and finite); give one that works",
               function, all);
  return all;
}

}  // namespace detail

std::vector<slab> divide_planes(grid const& whole, int parts, std::vector<double> const& speeds) {
  char const* const function = "iso::divide_planes";
  validate(whole, function);
  double const all = detail::sum_of_speeds(speeds, parts, "parts", function);
  double const planes = double(whole.extent[2]);
  std::vector<slab> slabs;
  double before = 0;
  std::int64_t first = 0;
  for (int part = 0; part < parts; ++part) {
    before += speeds.empty() ? 1 : speeds[std::size_t(part)];
    double const share = before / (speeds.empty() ? double(parts) : all);
    std::int64_t const last =
        part + 1 == parts ? whole.extent[2] : std::int64_t(std::floor(planes * share + 0.5));
    slabs.push_back({first, last});
    first = last;
  }
  return slabs;
}

void validate(std::vector<slab> const& slabs, grid const& whole, char const* function) {
  validate(whole, function);
  std::int64_t next = 0;
  for (std::size_t n = 0; n < slabs.size(); ++n) {
    slab const& s = slabs[n];
    ISO_VALIDATE(
        s.first == next && s.last >= s.first && s.last <= whole.extent[2],
        "{}: slab {} of {} planes from plane {} on (of {} planes in all it must begin at {}, where "
        "the one before ends); take the slabs from iso::divide_planes",
        function, n, s.count(), s.first, whole.extent[2], next);
    next = s.last;
  }
  ISO_VALIDATE(next == whole.extent[2],
               "{}: slabs that end at plane {} (the grid has {}); take the slabs from "
               "iso::divide_planes",
               function, next, whole.extent[2]);
}

}  // namespace iso
