// SPDX-License-Identifier: BSD-3-Clause
//! From a law of rows to a matrix: lengths, their sums, entries. Included by the two sources that
//! instantiate it.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/allocate.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/synthetic/generate.hpp>

#include <sparse/launch.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::synthetic::detail {

/// Lengths into offsets(row + 1), by a loop; from these the offsets, in place, by a scan.
template <class Law, class Space>
struct row_offsets {
  Law law;
  Kokkos::View<std::int64_t*, Space> offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const { offsets(row + 1) = law.length(row); }
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& before, bool final) const {
    before += offsets(row + 1);
    if (final) {
      offsets(row + 1) = before;
    }
  }
};

/// The entries of the rows from `first` on.
template <class Law, class Value, class Space>
struct fill_row {
  Law law;
  Kokkos::View<std::int64_t const*, Space> offsets;
  std::int32_t* columns;
  Value* values;
  std::int64_t first = 0;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const row = first + index;
    std::int64_t const begin = offsets(row);
    if (offsets(row + 1) != begin) {
      law.fill(group, row, columns + begin, values + begin);
    }
  }
};

template <class Value, class Exec, class Law>
generated<Value, Exec> generate_by(Exec const& exec, std::int64_t rows, std::int64_t cols,
                                   Law const& law, job const& control) {
  using space = typename Exec::memory_space;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  auto const offsets = allocate<Kokkos::View<std::int64_t*, space>>(
      "iso::synthetic::generate: row offsets", {rows + 1}, exec);
  row_offsets<Law, space> const count{law, offsets};
  iso::detail::for_each_index_in_batches("iso::synthetic::generate: lengths", exec, rows,
                                         iso::detail::part_of(control, 0, 0.2), count);
  std::int64_t entries = 0;
  Kokkos::parallel_scan("iso::synthetic::generate: offsets", policy(exec, 0, rows), count, entries);
  exec.fence("iso::synthetic::generate: number of entries");
  generated<Value, Exec> a{rows, cols, offsets, {}, {}, {}, {}};
  a.columns = allocate<decltype(a.columns)>("iso::synthetic::generate: columns", {entries}, exec,
                                            Kokkos::WithoutInitializing);
  a.values = allocate<decltype(a.values)>("iso::synthetic::generate: values", {entries}, exec,
                                          Kokkos::WithoutInitializing);
  fill_row<Law, Value, space> fill{law, offsets, a.columns.data(), a.values.data()};
  iso::detail::in_timed_batches(exec, rows, iso::detail::part_of(control, 0.2, 1),
                                [&](std::int64_t first, std::int64_t last) {
                                  fill.first = first;
                                  backend::for_each_lane_group("iso::synthetic::generate: entries",
                                                               exec, last - first, fill);
                                });
  exec.fence("iso::synthetic::generate");
  return a;
}

}  // namespace iso::synthetic::detail

#define ISO_SYNTHETIC_GENERATE(Exec, Value, Figures) \
  template generated<Value, Exec> generate<Value>(Exec const&, Figures const&, job const&);
