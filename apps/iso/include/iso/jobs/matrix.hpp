// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/matrix.hpp
//! Makes dose-deposition matrices, looks at them and converts them.
#pragma once

#include <iso/files/matrix_file.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace iso::jobs {

/// The kinds of matrices that can be made: after a published table, or of proton pencil beams.
enum class matrix_kind {
  liver_1,
  liver_2,
  liver_3,
  liver_4,
  prostate_1,
  prostate_2,
  pencil_beams,
};

constexpr auto words(matrix_kind) {
  return std::array{
      word{matrix_kind::liver_1, "liver-1"},          word{matrix_kind::liver_2, "liver-2"},
      word{matrix_kind::liver_3, "liver-3"},          word{matrix_kind::liver_4, "liver-4"},
      word{matrix_kind::prostate_1, "prostate-1"},    word{matrix_kind::prostate_2, "prostate-2"},
      word{matrix_kind::pencil_beams, "pencil-beams"}};
}

struct matrix_request {
  std::string backend;
  matrix_kind kind = matrix_kind::pencil_beams;
  number_type values = number_type::f16;
  // Of the matrices after a published table:
  double factor = 1;       ///< of rows and non-zeros
  double similarity = 1;   ///< share of rows that are like their neighbours
  std::uint64_t seed = 0;  ///< 0: the kind's own
  // Of pencil beams:
  std::int64_t size = 100;  ///< voxels along each side
  double spacing = 3;       ///< mm
  double angle = 0;         ///< degrees, from x to y
  double entrance = 150;    ///< mm before the isocentre
  double radius = 30;       ///< mm, of the target
  double spot_spacing = 5;
  double layer_spacing = 5;
  double initial_sigma = 4;
  double lateral_loss = 0.01;
  double distal_cut = 0.001;
  std::vector<std::pair<double, double>> slabs;  ///< thickness in mm, stopping power over water's
};

/// What a matrix looks like. Element k of a histogram counts sizes from 2^k to below 2^(k+1).
struct matrix_facts {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  std::int64_t empty_rows = 0;
  std::int64_t short_rows = 0;  ///< not empty, fewer than 32 entries
  std::int64_t longest = 0;
  double mean_length = 0;  ///< of the rows that are not empty
  double mean_run = 0;
  double wide_share = 0;         ///< of the steps between entries: above 255 columns
  double jaccard = 0;            ///< of neighbouring rows
  std::array<double, 3> fill{};  ///< of groups of 2, 4, 8 rows
  std::vector<std::int64_t> row_lengths;
  std::vector<std::int64_t> run_lengths;
  std::array<std::int64_t, 11>
      jaccard_histogram{};  ///< pairs of neighbours, as matrix_statistics has them
  bool ascending = true;    ///< else runs, gaps, jaccard_histogram and fill mean nothing
  std::int64_t stored_zeros = 0;
};

struct matrix_result {
  files::host_matrix matrix;
  matrix_facts facts;
  std::string hash;       ///< of offsets, columns and values
  double time_ms = 0;     ///< of making it, transfers left out
  double cut_radius = 0;  ///< pencil beams: standard deviations that are kept
};

/// \throws iso::invalid_argument  what cannot be made
/// \throws iso::out_of_memory
/// \throws iso::cancelled
matrix_result generate_matrix(matrix_request const& request, observer const& watch);

/// Checks a matrix on `backend` and counts.
/// \throws iso::invalid_argument  what iso::sparse::validate finds
matrix_facts inspect_matrix(std::string const& backend, files::host_matrix const& matrix,
                            observer const& watch);

/// What storing numbers in fewer bits did.
struct conversion_counts {
  std::int64_t lost = 0;       ///< became zero, and were dropped
  std::int64_t subnormal = 0;  ///< kept, with fewer digits
};

/// Stores values in another type, rounded to nearest and even.
/// \throws iso::invalid_argument  a value that the type cannot hold
/// \throws iso::cancelled         as job::step; the matrix is as it was
conversion_counts convert_values(files::host_matrix& matrix, number_type values, job const& asked);

/// Returns sixteen hexadecimal digits over everything that makes the matrix.
/// \throws iso::cancelled  as job::step
std::string hash_matrix(files::host_matrix const& matrix, job const& asked);

}  // namespace iso::jobs
