// SPDX-License-Identifier: BSD-3-Clause
//! A small matrix.
#pragma once

#include "file_support.hpp"

#include <iso/files/matrix_file.hpp>

#include <cstdint>

namespace iso::test {

// 1 0 2 / 0 0 0 / 0 -0.5 0
template <class T>
files::host_matrix small_matrix(std::vector<T> values) {
  files::host_matrix m;
  m.rows = 3;
  m.columns = 3;
  m.offsets = {0, 2, 2, 3};
  m.indices = {0, 2, 1};
  m.values = std::move(values);
  return m;
}

inline files::host_matrix small_half() {
  return small_matrix(files::host_matrix::half_bits{0x3c00, 0x4000, 0xb800});
}

inline bool same(files::host_matrix const& a, files::host_matrix const& b) {
  return a.rows == b.rows && a.columns == b.columns && a.offsets == b.offsets &&
         a.indices == b.indices && a.values == b.values;
}

}  // namespace iso::test
