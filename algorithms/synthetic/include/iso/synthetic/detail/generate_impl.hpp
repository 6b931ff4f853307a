// SPDX-License-Identifier: BSD-3-Clause
//! From a law of rows to a matrix: lengths, their sums, entries. Included by the two sources that
//! instantiate it.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/allocate.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/synthetic/generate.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic::detail {

/// Lengths into offsets(row + 1).
template <class Law, class Space>
struct count_rows {
  Law law;
  Kokkos::View<std::int64_t*, Space> offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const { offsets(row + 1) = law.length(row); }
};

/// Offsets from lengths, in place.
template <class Space>
struct sum_lengths {
  Kokkos::View<std::int64_t*, Space> offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& before, bool final) const {
    std::int64_t const through = before + offsets(row + 1);
    if (final) {
      offsets(row + 1) = through;
    }
    before = through;
  }
};

/// The entries of one row.
template <class Law, class Value, class Space>
struct fill_row {
  Law law;
  Kokkos::View<std::int64_t const*, Space> offsets;
  std::int32_t* columns;
  Value* values;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    std::int64_t const begin = offsets(row);
    if (offsets(row + 1) != begin) {
      law.fill(group, row, columns + begin, values + begin);
    }
  }
};

template <class Value, class Exec, class Law>
sparse::csr_view<Value, std::int32_t, typename Exec::memory_space> generate_by(Exec const& exec,
                                                                               std::int64_t rows,
                                                                               std::int64_t cols,
                                                                               Law const& law) {
  using space = typename Exec::memory_space;
  using matrix = sparse::csr_view<Value, std::int32_t, space>;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  auto const offsets = allocate<Kokkos::View<std::int64_t*, space>>(
      "iso::synthetic::generate: row offsets", {rows + 1}, exec);
  Kokkos::parallel_for("iso::synthetic::generate: lengths", policy(exec, 0, rows),
                       count_rows<Law, space>{law, offsets});
  std::int64_t entries = 0;
  Kokkos::parallel_scan("iso::synthetic::generate: offsets", policy(exec, 0, rows),
                        sum_lengths<space>{offsets}, entries);
  exec.fence("iso::synthetic::generate: number of entries");
  matrix a{rows, cols, offsets, {}, {}, {}, {}};
  a.columns = allocate<decltype(a.columns)>("iso::synthetic::generate: columns", {entries}, exec,
                                            Kokkos::WithoutInitializing);
  a.values = allocate<decltype(a.values)>("iso::synthetic::generate: values", {entries}, exec,
                                          Kokkos::WithoutInitializing);
  backend::for_each_lane_group(
      "iso::synthetic::generate: entries", exec, rows,
      fill_row<Law, Value, space>{law, offsets, a.columns.data(), a.values.data()});
  exec.fence("iso::synthetic::generate");
  return a;
}

}  // namespace iso::synthetic::detail
