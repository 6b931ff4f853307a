// SPDX-License-Identifier: BSD-3-Clause
//! From a law of rows to a matrix: lengths, their sums, entries. Included by the two sources that
//! instantiate it.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/core/check.hpp>
#include <iso/core/error.hpp>
#include <iso/core/workspace.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/generate.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <exception>
#include <string>

namespace iso::sparse::detail {

/// Runs `allocate`; whatever an allocator throws becomes iso::out_of_memory.
template <class Space, class Allocate>
auto allocated(std::int64_t bytes, Allocate const& allocate) {
  try {
    return allocate();
  } catch (error const&) {
    throw;
  } catch (std::exception const&) {
    std::uint64_t const available = iso::detail::free_bytes<Space>();
    throw out_of_memory(
        message("iso::sparse::generate: {} bytes do not fit {} (of {} bytes that are free, where "
                "it says) make a smaller matrix",
                {std::int64_t(bytes), std::string_view(Space::name()), available}),
        std::uint64_t(bytes), available);
  }
}

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
csr_view<Value, std::int32_t, typename Exec::memory_space> generate_by(Exec const& exec,
                                                                       std::int64_t rows,
                                                                       std::int64_t cols,
                                                                       Law const& law) {
  using space = typename Exec::memory_space;
  using matrix = csr_view<Value, std::int32_t, space>;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::View<std::int64_t*, space> const offsets = allocated<space>(8 * rows + 8, [&] {
    return Kokkos::View<std::int64_t*, space>(
        Kokkos::view_alloc(exec, "iso::sparse::generate: row offsets"), std::size_t(rows) + 1);
  });
  Kokkos::parallel_for("iso::sparse::generate: lengths", policy(exec, 0, rows),
                       count_rows<Law, space>{law, offsets});
  std::int64_t entries = 0;
  Kokkos::parallel_scan("iso::sparse::generate: offsets", policy(exec, 0, rows),
                        sum_lengths<space>{offsets}, entries);
  exec.fence("iso::sparse::generate: number of entries");
  auto const bytes = entries * std::int64_t(sizeof(Value) + sizeof(std::int32_t));
  matrix a = allocated<space>(bytes, [&] {
    auto const raw = [&](std::string const& name) {
      return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, name);
    };
    matrix made{rows, cols, offsets, {}, {}, {}, {}};
    made.columns = typename matrix::template array<std::int32_t>(
        raw("iso::sparse::generate: columns"), std::size_t(entries));
    made.values = typename matrix::template array<Value>(raw("iso::sparse::generate: values"),
                                                         std::size_t(entries));
    return made;
  });
  backend::for_each_lane_group(
      "iso::sparse::generate: entries", exec, rows,
      fill_row<Law, Value, space>{law, offsets, a.columns.data(), a.values.data()});
  exec.fence("iso::sparse::generate");
  return a;
}

}  // namespace iso::sparse::detail
