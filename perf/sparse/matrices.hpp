// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/matrices.hpp
//! Lists the matrices that the products are measured on.
#pragma once

#include "sparse/raw_matrix.hpp"

#include <iso/cases/product.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/synthetic/generate.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace iso::perf {

using namespace cases;

/// How many rows a matrix is to get in the table.
enum class extent {
  full,   ///< everything that can be measured
  brief,  ///< the formats alone
};

struct matrix_source {
  std::string name;
  std::variant<synthetic::matrix_figures, synthetic::pencil_beams, std::filesystem::path> what;
  extent rows = extent::full;
};

/// Where the products are to run: sizes follow from it.
enum class machine { device, threads, one_thread };

/// Lists liver, prostate: after the published table, 4.9e8 and 9.5e7 non-zeros on a GPU, about 1e8
/// on the host; pencil: proton pencil beams in water; uncorrelated: liver whose neighbouring rows
/// have nothing in common; liver_full: 1.48e9 non-zeros, on a GPU; real: the file ISO_BENCH_MATRIX
/// names. ISO_BENCH_NONZEROS overrides the size of liver and prostate. Tiny ones in a smoke run.
std::vector<matrix_source> matrix_sources(machine where);

/// Lists those that formats are chosen for: on the host all of them for one thread too.
std::vector<matrix_source> choice_sources(machine where);

/// Returns liver of this many non-zeros.
matrix_source liver_of(double nonzeros);

/// Returns the matrix in half precision, columns of 32 bits.
template <class Exec>
wide_csr<Exec> make_matrix(Exec const& exec, matrix_source const& source) {
  if (auto const* const figures = std::get_if<synthetic::matrix_figures>(&source.what)) {
    return synthetic::generate<half>(exec, *figures);
  }
  if (auto const* const field = std::get_if<synthetic::pencil_beams>(&source.what)) {
    return synthetic::generate<half>(exec, *field);
  }
  auto const file = read_raw_matrix(std::get<std::filesystem::path>(source.what));
  auto const a = sparse::make_csr<float, std::int32_t>(exec, "iso::perf", file.rows, file.columns,
                                                       std::int64_t(file.values.size()));
  put(exec, a.row_offsets, file.offsets);
  put(exec, a.columns, file.indices);
  put(exec, a.values, file.values);
  return sparse::convert_values<half>(exec, a).matrix;
}

/// The same with values of `Value`.
template <class Value, class Exec>
wide_csr<Exec, Value> with_values(Exec const& exec, wide_csr<Exec> const& a) {
  if constexpr (std::is_same_v<Value, half>) {
    return a;
  } else {
    return sparse::convert_values<Value>(exec, a).matrix;
  }
}

}  // namespace iso::perf
