// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/lattice/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace iso::dose::detail {
namespace {

/// Items begin together where their first planes lie among the same so many.
constexpr std::int32_t planes_together = 8;
/// A group walks so many.
constexpr std::int32_t lanes_together = 32;

/// Rows of a line, and the planes in which they meet the box: an item for each group of lanes.
struct line_rows {
  std::int32_t line;
  std::int32_t row;
  met_planes::range planes;
};

/// Appends a line's rows.
void add_rows(lattice_path const& l, lattice_plane<double> const* planes, std::int32_t line,
              int rows, std::vector<line_rows>& all) {
  std::vector<std::int32_t> shifts;
  shifts.reserve(std::size_t(l.planes));
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

/// Wraps the shifts of a line's lanes round, from plane to plane: a division takes longer.
void wrap_lanes(lattice_path const& l, lattice_plane<double>* planes) {
  std::int32_t wrapped = l.planes > 0 ? planes[0].lane_shift % l.lanes : 0;
  for (std::int32_t k = 0; k < l.planes; ++k) {
    wrapped += k > 0 ? planes[k].lane_step() : 0;
    wrapped += wrapped < 0 ? l.lanes : wrapped >= l.lanes ? -l.lanes : 0;
    planes[k].lane_shift = wrapped;
  }
}

/// Puts rows in the order of where they begin, and leaves those that begin together in theirs.
/// `begins` and `sorted` are memory that it uses again.
void sort_rows(std::vector<line_rows>& all, std::vector<std::size_t>& begins,
               std::vector<line_rows>& sorted) {
  auto const group = [](line_rows const& some) {
    return std::size_t(some.planes.first / planes_together);
  };
  begins.clear();
  for (line_rows const& some : all) {
    begins.resize(std::max(begins.size(), group(some) + 2));
    ++begins[group(some) + 1];
  }
  for (std::size_t n = 1; n < begins.size(); ++n) {
    begins[n] += begins[n - 1];
  }
  sorted.resize(all.size());
  for (line_rows const& some : all) {
    sorted[begins[group(some)]++] = some;
  }
  all.swap(sorted);
}

/// Returns no less than the number of items.
std::size_t max_items(lattice_tables const& tables, int rows) {
  std::size_t most = 0;
  for (auto const& line : tables.lines) {
    lattice_path const& l = line.path;
    most += std::size_t((l.rows + l.max_row_shift - l.min_row_shift) / rows + 1) *
            std::size_t(l.lanes / lanes_together + 1);
  }
  return most;
}

}  // namespace

std::vector<lattice_item> make_items(lattice_tables& tables, int rows, std::size_t together) {
  std::vector<lattice_item> items;
  items.reserve(max_items(tables, rows));
  std::vector<line_rows> all;
  std::vector<line_rows> sorted;
  std::vector<std::size_t> begins;
  for (std::size_t from = 0; from < tables.lines.size(); from += together) {
    all.clear();
    for (std::size_t n = from; n < std::min(from + together, tables.lines.size()); ++n) {
      lattice_path const& l = tables.lines[n].path;
      lattice_plane<double>* const planes = tables.planes.data() + l.table;
      add_rows(l, planes, std::int32_t(n), rows, all);
      wrap_lanes(l, planes);
    }
    sort_rows(all, begins, sorted);
    for (line_rows const& some : all) {
      std::int32_t const lanes = tables.lines[std::size_t(some.line)].path.lanes;
      for (std::int32_t lane = 0; lane < lanes; lane += lanes_together) {
        items.push_back({some.line, some.row, lane, some.planes.first, some.planes.last});
      }
    }
  }
  return items;
}

}  // namespace iso::dose::detail
