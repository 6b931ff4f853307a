// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/matrix_options.hpp
//! Holds what dose matrices and their products may choose, and what they report.
#pragma once

#include <iso/model/core_words.hpp>
#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace iso::sparse {

/// The order in which the arrays of a matrix hold its entries.
enum class entry_order { by_rows, by_columns };

/// The format in which a matrix is stored.
enum class matrix_format {
  csr32,       ///< csr_view, 32-bit columns
  csr16,       ///< csr_view, 16-bit columns from a base per row
  row_block4,  ///< row_block_csr of 4 rows
  row_block8,  ///< row_block_csr of 8 rows
};

/// The cost of a matrix in a format.
struct format_report {
  matrix_format format = matrix_format::csr32;
  std::int64_t chunks = 0;       ///< of 32 columns; 0: a csr_view
  double bytes_per_entry = 0;    ///< of the matrix's arrays
  double fill = 1;               ///< entries over stored values, padding included
  double reads_per_entry = 1;    ///< values of x read per entry
  double columns_per_chunk = 0;  ///< from its first to its last, mean

  /// Returns the rows of a block; 1: a csr_view.
  [[nodiscard]] int rows() const {
    return format == matrix_format::row_block4 ? 4 : format == matrix_format::row_block8 ? 8 : 1;
  }
};

/// The kind of processor on which a product runs.
enum class processor {
  host,         ///< few fast threads; vectors are what compilers make
  avx512_host,  ///< a host with AVX-512: products of 16-bit values by hand
  device,       ///< many lanes that wait for memory: a GPU
};

/// A report on the converted values.
struct value_report {
  std::int64_t overflowed = 0;   ///< finite numbers that became infinite, times the row's scale
  std::int64_t underflowed = 0;  ///< non-zeros that became subnormal: fewer significant bits
  std::int64_t lost = 0;         ///< non-zeros that became (positive) zero
};

enum class row_scaling {
  none,
  /// Divides every row by a power of two, kept in row_scales, so that its largest finite |value|
  /// lies in [2^14, 2^15) for half, in [1, 2) for the others, or as near to that as 2^-1022 to
  /// 2^1022 take it. Exact, but for what was subnormal.
  by_largest,
  /// Does as by_largest, with one power of two for all rows, from the largest finite |value| of
  /// all.
  uniform,
};

struct dose_matrix_options {
  /// The products that are wanted; each direction is a matrix of its own.
  enum class directions { both, forward, transposed } products = directions::both;
  /// The type in which values are stored: as they are given, or rounded to 16 bits. Where that type
  /// cannot hold every value to its full digits, all values are divided by one power of two
  /// (row_scaling::uniform). A and A^T hold the same numbers. Values below 2^-29 of the largest
  /// lose digits in half, those below 2^-40 become zero; the report counts them.
  enum class value_storage { as_given, half, bfloat16 } values = value_storage::as_given;
  /// The largest number of vectors that a product multiplies at once.
  std::int64_t vectors = 1;
  /// The format. Absent: what `choose_format` takes.
  std::optional<matrix_format> format = {};
  /// The kind of processor for which a format is chosen. Absent: that where the matrix lies.
  std::optional<processor> kind = {};
};

/// The format that a dose_matrix chose for one direction, and its cost.
struct dose_matrix_report {
  matrix_format format = matrix_format::csr32;
  std::string values;  ///< half, bfloat16, float or double
  std::int64_t num_entries = 0;
  std::int64_t matrix_bytes = 0;
  std::int64_t plan_bytes = 0;
  value_report rounding;  ///< what became of the values
  double scale = 1;       ///< times what is stored: the matrix
};

constexpr auto words(entry_order) {
  return std::array{word{entry_order::by_rows, "by-rows"},
                    word{entry_order::by_columns, "by-columns"}};
}
constexpr auto words(matrix_format) {
  using enum matrix_format;
  return std::array{word{csr32, "csr32"}, word{csr16, "csr16"}, word{row_block4, "row_block4"},
                    word{row_block8, "row_block8"}};
}
constexpr auto words(processor) {
  return std::array{word{processor::host, "host"}, word{processor::avx512_host, "avx512-host"},
                    word{processor::device, "device"}};
}
constexpr auto words(row_scaling) {
  return std::array{word{row_scaling::none, "none"}, word{row_scaling::by_largest, "by-largest"},
                    word{row_scaling::uniform, "uniform"}};
}
constexpr auto words(dose_matrix_options::directions) {
  using enum dose_matrix_options::directions;
  return std::array{word{both, "both"}, word{forward, "forward"}, word{transposed, "transposed"}};
}
constexpr auto words(dose_matrix_options::value_storage) {
  using enum dose_matrix_options::value_storage;
  return std::array{word{as_given, "as-given"}, word{half, "half"}, word{bfloat16, "bfloat16"}};
}

constexpr void describe(auto&& visit, describes<format_report> auto& x) {
  visit(x.format, field{.name = "format", .says = "in which the matrix is stored"});
  visit(x.chunks, field{.name = "chunks", .says = "of 32 columns; 0: rows are not in blocks"});
  visit(x.bytes_per_entry, field{.name = "bytes-per-entry", .says = "of the matrix's arrays"});
  visit(x.fill, field{.name = "fill", .says = "entries over stored values, padding included"});
  visit(x.reads_per_entry, field{.name = "reads-per-entry", .says = "values of x read per entry"});
  visit(x.columns_per_chunk,
        field{.name = "columns-per-chunk", .says = "from its first to its last, mean"});
}

constexpr void describe(auto&& visit, describes<value_report> auto& x) {
  visit(x.overflowed, field{.name = "overflowed", .says = "finite numbers that became infinite"});
  visit(x.underflowed, field{.name = "underflowed", .says = "numbers that lost digits"});
  visit(x.lost, field{.name = "lost", .says = "numbers that became zero"});
}

constexpr void describe(auto&& visit, describes<dose_matrix_options> auto& x) {
  visit(x.products, field{.name = "products", .says = "that are wanted"});
  visit(x.values, field{.name = "values", .says = "the type in which they are stored"});
  visit(x.vectors, field{.name = "vectors",
                         .says = "the largest number that a product multiplies at once",
                         .low = 1});
  visit(x.format, field{.name = "format", .says = "of the matrix (default: that of least cost)"});
  visit(x.kind,
        field{.name = "processor",
              .says = "for which a format is chosen (default: that where the matrix lies)"});
}

constexpr void describe(auto&& visit, describes<dose_matrix_report> auto& x) {
  visit(x.format, field{.name = "format", .says = "in which the matrix is stored"});
  visit(x.values, field{.name = "values", .says = "half, bfloat16, float or double"});
  visit(x.num_entries, field{.name = "entries", .says = "of the matrix"});
  visit(x.matrix_bytes, field{.name = "matrix-bytes", .says = "of its arrays"});
  visit(x.plan_bytes, field{.name = "plan-bytes", .says = "of what its products have prepared"});
  visit(x.rounding, field{.name = "rounding", .says = "what became of the values", .flat = true});
  visit(x.scale, field{.name = "scale", .says = "times what is stored: the matrix"});
}

}  // namespace iso::sparse
