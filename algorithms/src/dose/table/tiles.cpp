// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/table/tiles.hpp>

#include <iso/dose/detail/lattice/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace iso::dose::detail {

std::vector<lattice_item> make_tiles(lattice_tables const& tables) {
  std::vector<lattice_item> tiles;
  for (std::size_t n = 0; n < tables.lines.size(); ++n) {
    lattice_path const& l = tables.lines[n].path;
    lattice_plane<double> const* const planes = tables.planes.data() + l.table;
    std::vector<std::int32_t> lane_shifts;
    std::vector<std::int32_t> row_shifts;
    for (std::int32_t k = 0; k < l.planes; ++k) {
      lane_shifts.push_back(planes[k].lane_shift);
      row_shifts.push_back(planes[k].row_shift());
    }
    met_planes lanes_met(std::move(lane_shifts), l.lanes);
    std::vector<met_planes::range> of_lanes;
    for (std::int32_t lane = -l.max_lane_shift; lane < l.lanes - l.min_lane_shift; lane += 32) {
      of_lanes.push_back(lanes_met.of(lane, 32));
    }
    met_planes rows_met(std::move(row_shifts), l.rows);
    for (std::int32_t row = -l.max_row_shift; row < l.rows - l.min_row_shift; ++row) {
      auto const of_row = rows_met.of(row, 1);
      for (std::size_t tile = 0; tile < of_lanes.size(); ++tile) {
        std::int32_t const first = std::max(of_row.first, of_lanes[tile].first);
        std::int32_t const last = std::min(of_row.last, of_lanes[tile].last);
        if (first < last) {
          tiles.push_back(
              {std::int32_t(n), row, -l.max_lane_shift + 32 * std::int32_t(tile), first, last});
        }
      }
    }
  }
  return tiles;
}

tile_batches::tile_batches(std::vector<lattice_item> const& tiles, std::int64_t bytes_per_plane,
                           std::int64_t max_bytes) {
  for (lattice_item const& t : tiles) {
    max_planes = std::max(max_planes, t.last - t.first);
  }
  std::int64_t const bytes_per_tile = bytes_per_plane * max_planes;
  std::int64_t begin = 0;
  auto const end_at = [&](std::int64_t end) {
    ends.push_back(end);
    max_tiles = std::max(max_tiles, end - begin);
    begin = end;
  };
  std::int64_t end_of_line = 0;
  for (std::size_t n = 1; n <= tiles.size(); ++n) {
    if (n < tiles.size() && tiles[n].line == tiles[n - 1].line) {
      continue;
    }
    if (end_of_line > begin && (std::int64_t(n) - begin) * bytes_per_tile > max_bytes) {
      end_at(end_of_line);
    }
    end_of_line = std::int64_t(n);
  }
  if (end_of_line > begin) {
    end_at(end_of_line);
  }
}

}  // namespace iso::dose::detail
