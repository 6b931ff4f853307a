// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/lattice/schedule.hpp>

#include <algorithm>
#include <cstddef>

namespace iso::dose::detail {

std::vector<lattice_item> make_items(lattice_tables& tables, int rows, std::size_t together) {
  std::vector<lattice_item> items;
  for (std::size_t from = 0; from < tables.lines.size(); from += together) {
    auto const begin = std::ptrdiff_t(items.size());
    for (std::size_t n = from; n < std::min(from + together, tables.lines.size()); ++n) {
      lattice_path const& l = tables.lines[n].path;
      lattice_plane<double>* const planes = tables.planes.data() + l.table;
      for (std::int32_t row = -l.max_row_shift; row < l.rows - l.min_row_shift; row += rows) {
        std::int32_t first = -1;
        std::int32_t last = 0;
        for (std::int32_t k = 0; k < l.planes; ++k) {
          std::int32_t const j = row + planes[k].row_shift();
          if (j + rows > 0 && j < l.rows) {
            first = first < 0 ? k : first;
            last = k + 1;
          }
        }
        for (std::int32_t lane = 0; first >= 0 && lane < l.lanes; lane += 32) {
          items.push_back({std::int32_t(n), row, lane, first, last});
        }
      }
      for (std::int32_t k = 0; k < l.planes; ++k) {
        std::int32_t const wrapped = planes[k].lane_shift % l.lanes;
        planes[k].lane_shift = wrapped < 0 ? wrapped + l.lanes : wrapped;
      }
    }
    std::stable_sort(
        items.begin() + begin, items.end(),
        [](lattice_item const& a, lattice_item const& b) { return a.first / 8 < b.first / 8; });
  }
  return items;
}

}  // namespace iso::dose::detail
