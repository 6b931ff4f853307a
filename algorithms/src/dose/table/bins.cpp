// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/table/bins.hpp>

#include <algorithm>
#include <cstddef>

namespace iso::dose::detail {

void add_bins(std::vector<double> const& radii, std::vector<double> const& absorbed, double unit,
              std::vector<double>& out) {
  auto const within = [&](double r) {
    double low = 0;
    double before = 0;
    for (std::size_t j = 0; j < radii.size(); ++j) {
      if (r < radii[j]) {
        return before + (absorbed[j] - before) * (r - low) / (radii[j] - low);
      }
      low = radii[j];
      before = absorbed[j];
    }
    return before;
  };
  using bins = radius_bins<double>;
  auto const edge = [](std::int32_t i) {
    return Kokkos::bit_cast<double>(std::uint64_t(bins::first + i) << bins::shift);
  };
  std::size_t const first = out.size();
  auto const pitch = std::size_t(bins::pitch);
  out.resize(first + std::size_t(bins::of_cone), 0);
  for (std::int32_t i = 0; i < bins::count; ++i) {
    // The bin before distance 0 goes on with the line of the one behind it.
    std::int32_t const from = std::max(i, 1);
    double const low = within(edge(from) - bins::offset);
    double const slope =
        (within(edge(from + 1) - bins::offset) - low) / (edge(from + 1) - edge(from));
    double const constant = (low - slope * edge(from)) / unit;
    out[first + std::size_t(i)] = constant;
    out[first + pitch + std::size_t(i)] = slope / unit;
    out[first + 2 * pitch + 2 * std::size_t(i)] = constant;
    out[first + 2 * pitch + 2 * std::size_t(i) + 1] = slope / unit;
  }
}

}  // namespace iso::dose::detail
