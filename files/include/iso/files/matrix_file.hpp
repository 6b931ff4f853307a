// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/matrix_file.hpp
//! Reads and writes sparse matrices as HDF5, in SciPy's layout, and as Matrix Market text:
//! docs/formats.md.
//!
//! Functions that take an iso::job ask it several times a second as a rule, and throw
//! iso::cancelled as job::step does; no file is left then.
#pragma once

#include <iso/files/atomic_file.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace iso::files {

/// A matrix by compressed rows in host memory.
struct host_matrix {
  /// The values as they are stored: the bits of IEEE half precision, float, or double.
  using half_bits = std::vector<std::uint16_t>;
  using value_array = std::variant<half_bits, std::vector<float>, std::vector<double>>;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> offsets;  ///< [rows + 1], from 0 to the number of entries
  std::vector<std::int32_t> indices;  ///< columns of the entries, from 0
  value_array values;
  std::map<std::string, std::string> notes{};  ///< HDF5: texts `rows`, `columns`, `unit`, `source`

  [[nodiscard]] std::int64_t entries() const { return std::int64_t(indices.size()); }
};

/// Converts bits of half precision to the number, exactly.
float from_half(std::uint16_t bits);

/// Throws iso::file_error naming `path` and the first thing that is wrong: lengths that disagree,
/// offsets that do not start at 0, fall, or do not end at the number of entries, a column outside
/// the matrix, a value that is not finite. Columns of a row may stand in any order.
void check_matrix(std::filesystem::path const& path, host_matrix const& matrix,
                  job const& control = {});

/// Reads `.h5` and `.hdf5`, or `.mtx`, by the ending, and checks the result.
/// \throws iso::file_error     another ending; the format's own errors, below
/// \throws iso::out_of_memory  more than this machine has
host_matrix read_matrix(std::filesystem::path const& path, job const& control = {});
/// Prepares a file by its ending, which a commit puts in place.
/// \throws iso::file_error
[[nodiscard]] atomic_file prepare_matrix(std::filesystem::path const& path,
                                         host_matrix const& matrix, job const& control = {});
/// Throws iso::file_error unless the ending is one that prepare_matrix knows.
void check_matrix_ending(std::filesystem::path const& path);

/// Reads datasets `data`, `indices`, `indptr`, `shape`, attribute `format` = "csr":
/// `scipy.sparse.csr_matrix((data, indices, indptr), shape)`.
/// \throws iso::file_error  not HDF5, truncated, a dataset missing or of the wrong kind, a length
///                          that the file does not hold, a matrix that check_matrix refuses, a
///                          value that no double is
host_matrix read_hdf5_matrix(std::filesystem::path const& path, job const& control = {});
[[nodiscard]] atomic_file prepare_hdf5_matrix(std::filesystem::path const& path,
                                              host_matrix const& matrix, job const& control = {});

/// Reads dataset `values` [n], finite numbers of any type: a vector that goes with a matrix.
/// \throws iso::file_error  another ending than `.h5` or `.hdf5`; as read_hdf5_matrix; a number
///                          that is not finite
std::vector<double> read_vector(std::filesystem::path const& path, job const& control = {});
/// Prepares a file of float64 that a commit puts in place; numbers need not be finite.
/// \throws iso::file_error
[[nodiscard]] atomic_file prepare_vector(std::filesystem::path const& path,
                                         std::vector<double> const& values,
                                         job const& control = {});
/// Throws iso::file_error unless the ending is one that vectors have.
void check_vector_ending(std::filesystem::path const& path);

/// Reads coordinate format; real, integer (both become double) or pattern (ones); general or
/// symmetric. Rows come out ascending.
/// \throws iso::file_error  with the number of the line: another kind of matrix, something that is
///                          no number, not finite, or out of range, too few or too many entries, an
///                          entry twice, more rows than the entries make likely
host_matrix read_matrix_market(std::filesystem::path const& path, job const& control = {});
/// Writes coordinate, real, general; the shortest decimals that are the stored ones as doubles.
/// \throws iso::file_error  as check_matrix; an entry twice, or more rows than are read
[[nodiscard]] atomic_file prepare_matrix_market(std::filesystem::path const& path,
                                                host_matrix const& matrix, job const& control = {});

}  // namespace iso::files
