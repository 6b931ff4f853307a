// SPDX-License-Identifier: BSD-3-Clause
//! The formats of iso/sparse, chosen at run time.
#pragma once

#include <iso/sparse/convert.hpp>
#include <iso/sparse/formats.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace iso::jobs {

/// Rows a group; 1 is csr_view. Bits of a column: 8 or 16 in groups, 16 or 32 in csr_view; whether
/// it is paired_view, of 8 rows and 16 bits.
struct matrix_format {
  int rows = 1;
  int bits = 32;
  bool paired = false;

  friend bool operator==(matrix_format const&, matrix_format const&) = default;
};

inline constexpr std::array<matrix_format, 2> csr_formats = {{{1, 32}, {1, 16}}};
inline constexpr std::array<matrix_format, 7> grouped_formats = {
    {{2, 8}, {2, 16}, {4, 8}, {4, 16}, {8, 8}, {8, 16}, {8, 16, true}}};

/// "csr32", "grouped4x8": rows a group and bits of an offset; "paired8".
inline std::string name_of(matrix_format const& f) {
  if (f.paired) {
    return "paired8";
  }
  return f.rows == 1 ? "csr" + std::to_string(f.bits)
                     : "grouped" + std::to_string(f.rows) + "x" + std::to_string(f.bits);
}

namespace detail {

template <class Exec, class Csr, class F>
void with_grouped(Exec const& exec, Csr const& a, matrix_format const& format, F&& f) {
  if (format.paired) {
    f(sparse::make_paired(exec, a));
    return;
  }
  auto const with_rows = [&]<class Offset>(Offset) {
    format.rows == 2   ? f(sparse::make_grouped<2, Offset>(exec, a))
    : format.rows == 4 ? f(sparse::make_grouped<4, Offset>(exec, a))
                       : f(sparse::make_grouped<8, Offset>(exec, a));
  };
  format.bits == 8 ? with_rows(std::uint8_t{}) : with_rows(std::uint16_t{});
}

}  // namespace detail

/// What `a` costs in a format.
template <class Exec, class Csr>
sparse::format_report measured(Exec const& exec, Csr const& a, matrix_format const& format) {
  return format.paired ? sparse::measure_paired(exec, a)
                       : sparse::measure_format(exec, a, format.rows, format.bits);
}

/// Calls f with `a`, a csr_view with 32-bit columns, in the format. Groups take values of 16 bits.
template <class Exec, class Csr, class F>
void with_format(Exec const& exec, Csr const& a, matrix_format const& format, F&& f) {
  if constexpr (sizeof(typename Csr::value_type) == 2) {
    if (format.rows > 1) {
      detail::with_grouped(exec, a, format, f);
      return;
    }
  }
  format.bits == 16 ? f(sparse::to_relative_columns(exec, a)) : f(a);
}

}  // namespace iso::jobs
