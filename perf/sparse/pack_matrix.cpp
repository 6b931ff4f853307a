// SPDX-License-Identifier: BSD-3-Clause
// iso_pack_matrix IN OUT: a matrix of HDF5 or Matrix Market as the raw arrays that
// ISO_BENCH_MATRIX of iso_bench_spmv wants. No Kokkos.
#include "sparse/raw_matrix.hpp"

#include <iso/files/matrix_file.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <type_traits>

namespace {

iso::perf::raw_matrix packed(iso::files::host_matrix matrix) {
  iso::perf::raw_matrix m{
      matrix.rows, matrix.columns, std::move(matrix.offsets), std::move(matrix.indices), {}};
  std::visit(
      [&](auto const& values) {
        m.values.resize(values.size());
        std::transform(values.begin(), values.end(), m.values.begin(), [](auto x) {
          if constexpr (std::is_same_v<decltype(x), std::uint16_t>) {
            return iso::files::from_half(x);
          } else {
            return float(x);
          }
        });
      },
      matrix.values);
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: iso_pack_matrix IN.h5 OUT\n");
    return 2;
  }
  try {
    iso::perf::write_raw_matrix(argv[2], packed(iso::files::read_matrix(argv[1])));
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "iso_pack_matrix: %s\n", failure.what());
    return 1;
  }
  return 0;
}
