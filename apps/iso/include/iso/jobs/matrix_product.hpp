// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/matrix_product.hpp
//! Applies dose-deposition matrices, and says how fast.
#pragma once

#include <iso/files/matrix_file.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>
#include <iso/sparse/matrix_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

enum class matrix_side {
  forward,     ///< A
  transposed,  ///< A^T
};

struct apply_request {
  std::string backend;
  matrix_side side = matrix_side::forward;
  std::optional<sparse::matrix_format> format{};  ///< absent: that of least cost
  std::optional<summation> sum{};                 ///< absent: as spmv_options
  double alpha = 1;
  double beta = 0;
  std::optional<std::vector<double>> x;  ///< absent: ones
  std::optional<std::vector<double>> y;  ///< absent: zeros; read where beta is not 0
  repeats_request repeats{};
};

struct apply_result {
  std::vector<double> y;
  std::string hash;                    ///< of y
  summation sum = summation::ordered;  ///< that was used
  sparse::matrix_format format = sparse::matrix_format::csr32;
  std::optional<double> bytes_per_entry;  ///< absent: no entries
  double time_ms = 0;                     ///< of one product
  repeats_result repeats{};
};

/// Computes y = alpha A x + beta y.
/// \throws iso::invalid_argument  vectors of other lengths, names not known, a matrix that cannot
///                                become row blocks where that is demanded
/// \throws iso::out_of_memory
apply_result apply_matrix(files::host_matrix const& matrix, apply_request const& request,
                          observer const& watch);

/// One variant of the product on one backend.
struct bench_row {
  std::string backend;
  number_type values = number_type::f16;  ///< of the stored numbers
  sparse::matrix_format format = sparse::matrix_format::csr32;
  summation sum = summation::ordered;
  number_type vectors = number_type::f64;
  int count = 1;        ///< vectors at once
  bool chosen = false;  ///< by iso::sparse::choose_format
  double time_ms = 0;
  double bytes = 0;  ///< matrix, x and y moved once
  double flops = 0;
  double bytes_per_entry = 0;   ///< of the matrix
  double share_of_ceiling = 0;  ///< least time at the measured ceilings over time
  double error = 0;             ///< l1 against the product in long double, over that product's l1
  std::string hash;             ///< of y, of the first vector
};

void describe(auto&& visit, describes<bench_row> auto& x) {
  visit(x.backend, field{.name = "backend", .says = "that it ran on"});
  visit(x.values, field{.name = "values", .says = "type of the stored numbers"});
  visit(x.format, field{.name = "format", .says = "in which the matrix is stored"});
  visit(x.sum, field{.name = "sum", .says = "how a row is added"});
  visit(x.vectors, field{.name = "vectors", .says = "type of the vectors"});
  visit(x.count, field{.name = "count", .says = "vectors at once"});
  visit(x.chosen, field{.name = "chosen", .says = "as the format of least cost"});
  visit(x.time_ms, field{.name = "time-ms", .says = "of one product"});
  visit(x.bytes, field{.name = "bytes", .says = "matrix, x and y moved once"});
  visit(x.flops, field{.name = "flops", .says = "of the product"});
  visit(x.bytes_per_entry, field{.name = "bytes-per-entry", .says = "of the matrix"});
  visit(x.share_of_ceiling,
        field{.name = "share-of-ceiling", .says = "least time at the measured rates over time"});
  visit(x.error, field{.name = "error", .says = "l1 against long double, over that product's l1"});
  visit(x.hash, field{.name = "hash", .says = "of y, of the first vector"});
}

struct bench_request {
  std::vector<std::string> backends;
  matrix_side side = matrix_side::forward;
  double seconds = 0.2;  ///< a variant is repeated for, at least five times; the best counts
};

struct bench_result {
  std::vector<bench_row> rows;
  /// Tells whether every variant gave the same bits on every backend, all formats of one type the
  /// same reproducible ones.
  bool bits_agree = true;
  std::vector<backend_facts> machine;
  std::vector<std::string> notes;  ///< variants left out, and why
};

/// Runs every variant of the product on every backend, with the ceilings measured beforehand.
/// \throws iso::invalid_argument  a matrix that iso::sparse::validate refuses
bench_result bench_matrix(files::host_matrix const& matrix, bench_request const& request,
                          observer const& watch);

}  // namespace iso::jobs
