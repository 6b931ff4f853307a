// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/matrix_options.hpp
//! Holds what synthetic dose matrices are made of, and what a matrix looks like.
#pragma once

#include <iso/core/array.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/vec3.hpp>
#include <iso/model/word.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace iso::synthetic {

/// Figures that a synthetic dose matrix has. The matrix is a function of them alone.
struct matrix_figures {
  std::int64_t rows = 100000;
  std::int64_t columns = 5000;      ///< at least 256
  std::int64_t nonzeros = 9000000;  ///< met within 1 % from 5 000 rows on
  double empty_share = 0.7;         ///< of the rows
  double short_share = 0.1;         ///< of the other rows: they have fewer than 32 entries
  std::int64_t longest = 1800;      ///< entries of a row; at most about 0.43 of the columns
  double similarity = 1;            ///< share of rows that are similar to their neighbours
  std::uint64_t seed = 1;
};

/// The six matrices of the table.
enum class plan_case { liver_1, liver_2, liver_3, liver_4, prostate_1, prostate_2 };

constexpr auto words(plan_case) {
  using enum plan_case;
  return std::array{word{liver_1, "liver-1"},       word{liver_2, "liver-2"},
                    word{liver_3, "liver-3"},       word{liver_4, "liver-4"},
                    word{prostate_1, "prostate-1"}, word{prostate_2, "prostate-2"}};
}

/// A layer of the phantom, normal to the beam.
struct slab {
  double thickness = 0;       ///< mm
  double stopping_power = 1;  ///< relative to water
};

/// One field of scanned proton pencil beams over a spherical target.
///
/// The beam runs along (cos a, sin a, 0), parallel; spots lie on a square lattice along
/// u = (-sin a, cos a, 0) and v = z through the target's centre. The phantom begins at a plane
/// normal to the beam, `entrance` mm before the isocentre; behind its slabs there is water.
struct pencil_beams {
  iso::grid voxels;
  double angle = 0;            ///< rad, from x to y
  double entrance = 150;       ///< mm
  std::vector<slab> slabs;     ///< at most 16, from the entrance on
  vec3<double> target{};       ///< mm, centre
  double radius = 30;          ///< mm
  double margin = 5;           ///< mm: spots this far outside the target still belong to it
  double spot_spacing = 5;     ///< mm
  double layer_spacing = 5;    ///< mm of water
  double initial_sigma = 4;    ///< mm, at the entrance
  double energy_spread = 1;    ///< % of the mean energy
  double lateral_loss = 0.01;  ///< of a spot's dose in each plane, cut off at its edge
  double distal_cut = 0.001;   ///< of a layer's peak, behind the peak
};

/// The statistics of a matrix, as counts; element k of a histogram is that of sizes from 2^k to
/// below 2^(k+1).
struct matrix_statistics {
  static constexpr int bins = 32;
  using histogram = array<std::int64_t, bins>;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  std::int64_t empty_rows = 0;
  std::int64_t short_rows = 0;  ///< not empty, fewer than 32 entries
  std::int64_t longest = 0;     ///< entries of a row
  histogram row_lengths{};      ///< of rows that are not empty
  std::int64_t runs = 0;        ///< of consecutive columns
  histogram run_lengths{};
  std::int64_t gaps = 0;       ///< between runs of one row
  std::int64_t wide_gaps = 0;  ///< columns that differ by more than 255
  /// Entries in a column that the row before has too, and rows for whom there is a row before that
  /// is not empty either: the Jaccard similarity of neighbours.
  std::int64_t shared = 0;
  std::int64_t neighbour_rows = 0;
  std::int64_t neighbour_entries = 0;  ///< of both rows of all pairs
  /// Of those pairs, by what they have in common: element k counts the pairs of whose columns, in
  /// either row, 10 k to below 10 k + 10 percent stand in both; element 10 those of equal rows.
  array<std::int64_t, 11> jaccard_histogram{};
  /// Columns of the union of 2, 4, 8 rows from a multiple of that number on, over all such blocks.
  array<std::int64_t, 3> unions{};

  [[nodiscard]] double empty_share() const { return ratio(empty_rows, rows); }
  /// Returns the share of short rows among those that are not empty.
  [[nodiscard]] double short_share() const { return ratio(short_rows, rows - empty_rows); }
  [[nodiscard]] double mean_length() const { return ratio(nonzeros, rows - empty_rows); }
  [[nodiscard]] double mean_run() const { return ratio(nonzeros, runs); }
  /// Returns the share of the steps from entry to entry of a row that exceed 255 columns.
  [[nodiscard]] double wide_share() const {
    return ratio(wide_gaps, nonzeros - (rows - empty_rows));
  }
  /// Returns entries over stored values, where blocks of 2, 4 or 8 rows share one list of columns:
  /// element 0, 1, 2.
  [[nodiscard]] double fill(int block) const {
    return ratio(nonzeros, unions[block] << (block + 1));
  }
  /// Returns the number of columns in both rows over that of columns in either, over all pairs of
  /// neighbours that are not empty.
  [[nodiscard]] double jaccard() const { return ratio(shared, neighbour_entries - shared); }

 private:
  static double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? double(part) / double(whole) : 0;
  }
};

}  // namespace iso::synthetic
