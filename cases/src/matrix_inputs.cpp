// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_inputs.hpp"

#include <cmath>

namespace iso::cases {

synthetic::matrix_figures small_figures() {
  synthetic::matrix_figures figures;
  figures.rows = 3000;
  figures.columns = 7000;
  figures.nonzeros = 300000;
  figures.empty_share = 0.5;
  figures.longest = 2900;  // more than a part of a row (iso::sparse::part_steps)
  figures.similarity = 0.75;
  return figures;
}

synthetic::pencil_beams small_field() {
  synthetic::pencil_beams field;
  field.voxels = grid::centred({20, 18, 22}, {5, 5, 5});
  field.angle = 0.7;
  field.entrance = 80;
  field.radius = 12;
  field.layer_spacing = 12;
  field.target = {3, -2, 1.5};
  field.slabs = {{30, 1.0}, {20, 0.3}, {15, 1.6}};
  return field;
}

template <class Value>
host_csr<Value> small_matrix() {
  return synthetic::generate<Value>(Kokkos::Serial(), small_figures());
}

namespace {

template <class Value>
host_csr<Value> empty_like(host_csr<Value> const& a, std::int64_t columns, std::int64_t entries) {
  auto const to = sparse::make_csr<Value, std::int32_t>(Kokkos::Serial(), "iso::cases", a.num_rows,
                                                        columns, entries);
  Kokkos::Serial().fence("iso::cases: zeros are there");
  return to;
}

}  // namespace

template <class Value>
host_csr<Value> reversed(host_csr<Value> const& a) {
  auto const to = empty_like(a, a.num_cols, a.num_entries());
  std::int64_t const* const offsets = a.row_offsets.data();
  to.row_offsets.data()[0] = 0;
  for (std::int64_t row = 0; row < a.num_rows; ++row) {
    to.row_offsets.data()[row + 1] = offsets[row + 1];
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      std::int64_t const other = offsets[row + 1] - 1 - (i - offsets[row]);
      to.columns.data()[i] = a.columns.data()[other];
      to.values.data()[i] = a.values.data()[other];
    }
  }
  return to;
}

template <class Value>
host_csr<Value> columns_of(host_csr<Value> const& a, std::int32_t first, std::int32_t last) {
  auto const inside = [&](std::int64_t i) {
    return a.columns.data()[i] >= first && a.columns.data()[i] < last;
  };
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < a.num_entries(); ++i) {
    entries += inside(i) ? 1 : 0;
  }
  auto const to = empty_like(a, last - first, entries);
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < a.num_rows; ++row) {
    for (std::int64_t i = a.row_offsets.data()[row]; i < a.row_offsets.data()[row + 1]; ++i) {
      if (inside(i)) {
        to.columns.data()[at] = a.columns.data()[i] - first;
        to.values.data()[at++] = a.values.data()[i];
      }
    }
    to.row_offsets.data()[row + 1] = at;
  }
  return to;
}

template <class T>
std::vector<T> small_vector(std::int64_t size, std::uint64_t seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < size; ++i) {
    std::uint64_t const index = (seed << 40) + std::uint64_t(3 * i);
    double const x = in_unit(index) + 0x1p-24 * in_unit(index + 1);
    values.push_back(T(std::ldexp(x, int(scrambled(index + 2) % 9))));
  }
  return values;
}

#define ISO_VERIFY_MATRIX(Value)                             \
  template host_csr<Value> small_matrix<Value>();            \
  template host_csr<Value> reversed(host_csr<Value> const&); \
  template host_csr<Value> columns_of(host_csr<Value> const&, std::int32_t, std::int32_t);
ISO_VERIFY_MATRIX(half)
ISO_VERIFY_MATRIX(bfloat16)
ISO_VERIFY_MATRIX(float)
ISO_VERIFY_MATRIX(double)
#undef ISO_VERIFY_MATRIX
template std::vector<float> small_vector(std::int64_t, std::uint64_t);
template std::vector<double> small_vector(std::int64_t, std::uint64_t);

}  // namespace iso::cases
