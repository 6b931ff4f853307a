// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/matrix.hpp
//! Makes dose-deposition matrices, looks at them and converts them.
#pragma once

#include <iso/files/matrix_file.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>
#include <iso/synthetic/matrix_options.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace iso::jobs {

struct matrix_request {
  std::string backend;
  std::optional<synthetic::plan_case> table;  ///< absent: pencil beams
  number_type values = number_type::f16;
  double factor = 1;       ///< of a table's rows and non-zeros
  double similarity = 1;   ///< share of rows that are like their neighbours
  std::uint64_t seed = 0;  ///< 0: the table's own
  synthetic::pencil_beams field;
};

/// What a matrix looks like.
struct matrix_facts {
  synthetic::matrix_statistics counts;
  bool ascending = true;  ///< else runs, gaps, what rows share and unions mean nothing
  std::int64_t stored_zeros = 0;
};

struct matrix_result {
  files::host_matrix matrix;
  matrix_facts facts;
  std::string hash;    ///< of offsets, columns and values
  double time_ms = 0;  ///< of making it, transfers left out
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
