// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/lattice/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace iso::dose::detail {
namespace {

/// Items begin together where their first planes lie among the same so many.
constexpr std::int32_t planes_together = 8;

/// Rows of a line, and the planes in which they meet the box: an item for each 32 lanes.
struct line_rows {
  std::int32_t line;
  std::int32_t row;
  met_planes::range planes;
};

/// Appends a line's rows.
void add_rows(lattice_path const& l, lattice_plane<double> const* planes, std::int32_t line,
              int rows, std::vector<line_rows>& all) {
  std::vector<std::int32_t> shifts;
  for (std::int32_t k = 0; k < l.planes; ++k) {
    shifts.push_back(planes[k].row_shift());
  }
  met_planes met(std::move(shifts), l.rows);
  for (std::int32_t row = -l.max_row_shift; row < l.rows - l.min_row_shift; row += rows) {
    auto const of_row = met.of(row, rows);
    if (of_row.first < of_row.last) {
      all.push_back({line, row, of_row});
    }
  }
}

}  // namespace

std::vector<lattice_item> make_items(lattice_tables& tables, int rows, std::size_t together) {
  std::vector<lattice_item> items;
  std::vector<line_rows> all;
  for (std::size_t from = 0; from < tables.lines.size(); from += together) {
    all.clear();
    for (std::size_t n = from; n < std::min(from + together, tables.lines.size()); ++n) {
      lattice_path const& l = tables.lines[n].path;
      lattice_plane<double>* const planes = tables.planes.data() + l.table;
      add_rows(l, planes, std::int32_t(n), rows, all);
      for (std::int32_t k = 0; k < l.planes; ++k) {
        std::int32_t const wrapped = planes[k].lane_shift % l.lanes;
        planes[k].lane_shift = wrapped < 0 ? wrapped + l.lanes : wrapped;
      }
    }
    std::stable_sort(all.begin(), all.end(), [](line_rows const& a, line_rows const& b) {
      return a.planes.first / planes_together < b.planes.first / planes_together;
    });
    for (line_rows const& some : all) {
      std::int32_t const lanes = tables.lines[std::size_t(some.line)].path.lanes;
      for (std::int32_t lane = 0; lane < lanes; lane += 32) {
        items.push_back({some.line, some.row, lane, some.planes.first, some.planes.last});
      }
    }
  }
  return items;
}

}  // namespace iso::dose::detail
