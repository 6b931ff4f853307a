// SPDX-License-Identifier: BSD-3-Clause
//! Names the formats of iso/sparse, chosen at run time.
#pragma once

#include <iso/sparse/convert.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/row_block_csr.hpp>

#include <array>
#include <optional>
#include <string>

namespace iso::cases {

using sparse::matrix_format;

inline constexpr std::array csr_formats = {matrix_format::csr32, matrix_format::csr16};
inline constexpr std::array block_formats = {matrix_format::row_block4, matrix_format::row_block8};

inline constexpr std::array all_formats = {matrix_format::csr32, matrix_format::csr16,
                                           matrix_format::row_block4, matrix_format::row_block8};

inline bool is_row_block(std::optional<matrix_format> format) {
  return format == matrix_format::row_block4 || format == matrix_format::row_block8;
}

inline std::string name_of(matrix_format format) { return std::string(sparse::to_string(format)); }

/// Calls f with `a`, a csr_view with 32-bit columns, in the format. Row blocks take values of 16
/// bits.
template <class Exec, class Csr, class F>
void with_format(Exec const& exec, Csr const& a, matrix_format format, F&& f) {
  if constexpr (sizeof(typename Csr::value_type) == 2) {
    if (format == matrix_format::row_block4) {
      return f(sparse::make_row_blocks<4>(exec, a));
    }
    if (format == matrix_format::row_block8) {
      return f(sparse::make_row_blocks<8>(exec, a));
    }
  }
  format == matrix_format::csr16 ? f(sparse::to_relative_columns(exec, a)) : f(a);
}

}  // namespace iso::cases
