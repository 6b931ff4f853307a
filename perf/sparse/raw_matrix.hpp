// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/raw_matrix.hpp
//! Reads matrices as files of raw arrays, which the benchmark reads without any library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace iso::perf {

/// A matrix by compressed rows, values as float.
struct raw_matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  std::vector<float> values;
};

/// Reads the bytes "isocsr01", three 64-bit integers (rows, columns, entries), then the arrays: row
/// offsets of 64 bits, columns of 32 bits, values as float. Little-endian.
/// \throws iso::file_error  not such a file, or truncated
raw_matrix read_raw_matrix(std::filesystem::path const& path);
void write_raw_matrix(std::filesystem::path const& path, raw_matrix const& matrix);

}  // namespace iso::perf
