// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5.hpp"

#include <iso/core/detail/seldom_asked.hpp>
#include <iso/core/error.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <limits>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

enum class format { hdf5, matrix_market };

format format_of(fs::path const& path) {
  if (detail::is_hdf5_path(path)) {
    return format::hdf5;
  }
  auto const end = ending(path);
  if (end != ".mtx") {
    refuse(path, fmt::format("ending '{}' is not a format for matrices (.h5, .hdf5 and .mtx are); "
                             "name it with one of these",
                             end));
  }
  return format::matrix_market;
}

double number(std::uint16_t bits) { return double(from_half(bits)); }
double number(float x) { return double(x); }
double number(double x) { return x; }

void check_offsets(fs::path const& path, host_matrix const& m) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (m.rows < 0 || m.columns < 0 || m.rows > most || m.columns > most) {
    refuse(path, fmt::format("the matrix is {} x {} (each must be from 0 to {}); split it", m.rows,
                             m.columns, most));
  }
  if (std::int64_t(m.offsets.size()) != m.rows + 1) {
    refuse(path,
           fmt::format(
               "{} row offsets (a matrix of {} rows has {}); give one more than there are rows",
               m.offsets.size(), m.rows, m.rows + 1));
  }
  if (m.offsets.front() != 0) {
    refuse(path, fmt::format("the first row offset is {} (must be 0); start row offsets at 0",
                             m.offsets.front()));
  }
  for (std::size_t r = 1; r < m.offsets.size(); ++r) {
    if (m.offsets[r] < m.offsets[r - 1]) {
      refuse(path, fmt::format("row {} ends at entry {}, before it begins at {} (row offsets must "
                               "not fall); make them running totals of row lengths",
                               r - 1, m.offsets[r], m.offsets[r - 1]));
    }
  }
  if (m.offsets.back() != m.entries()) {
    refuse(path, fmt::format("the last row ends at entry {} (there are {} columns); end row "
                             "offsets at the number of entries",
                             m.offsets.back(), m.entries()));
  }
}

}  // namespace

float from_half(std::uint16_t bits) {
  std::uint32_t const sign = std::uint32_t(bits & 0x8000U) << 16;
  std::uint32_t const magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) {
    return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  }
  // The exponent is too small by 112; the product is exact, subnormal numbers included.
  float const size = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(size));
}

void check_matrix(fs::path const& path, host_matrix const& m, job const& control) {
  iso::detail::seldom_asked ask(control);
  auto const values =
      std::visit([](auto const& all) { return std::int64_t(all.size()); }, m.values);
  if (values != m.entries()) {
    refuse(path,
           fmt::format("{} values for {} columns (one each is expected); give as many of both",
                       values, m.entries()));
  }
  check_offsets(path, m);
  for (std::size_t r = 0; r + 1 < m.offsets.size(); ++r) {
    for (auto i = std::size_t(m.offsets[r]); i < std::size_t(m.offsets[r + 1]); ++i) {
      ask();
      if (m.indices[i] < 0 || m.indices[i] >= m.columns) {
        refuse(path, fmt::format("entry {}, in row {}, is in column {} (must be from 0 to {} of {} "
                                 "columns); count columns from 0, or give a larger shape",
                                 i, r, m.indices[i], m.columns - 1, m.columns));
      }
    }
  }
  std::visit(
      [&](auto const& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          ask();
          if (!std::isfinite(number(all[i]))) {
            refuse(path, fmt::format("the value of entry {} is {} (every value must be finite); "
                                     "replace it by a number",
                                     i, number(all[i])));
          }
        }
      },
      m.values);
}

host_matrix read_matrix(fs::path const& path, job const& control) {
  return format_of(path) == format::hdf5 ? read_hdf5_matrix(path, control)
                                         : read_matrix_market(path, control);
}

atomic_file prepare_matrix(fs::path const& path, host_matrix const& matrix, job const& control) {
  return format_of(path) == format::hdf5 ? prepare_hdf5_matrix(path, matrix, control)
                                         : prepare_matrix_market(path, matrix, control);
}

void check_matrix_ending(fs::path const& path) { format_of(path); }

}  // namespace iso::files
