// SPDX-License-Identifier: BSD-3-Clause
// How rows that share their columns are put together, and taken apart again.
#include "merge_rows.hpp"

#include <iso/sparse/detail/row_block_rows.hpp>
#include <iso/sparse/validate.hpp>

namespace iso::sparse {
namespace detail {
namespace {

template <int R, class Rows>
struct chunk_counter {
  Rows p;
  std::int64_t* chunk_offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    chunk_offsets[block + 1] = chunks_of<R>(p, block).chunks;
  }
};

template <int R, class Rows>
struct block_writer {
  Rows p;
  std::int64_t const* chunk_offsets;
  std::int32_t* bases;
  std::uint16_t* offsets;
  std::uint16_t* values;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    chunk_dealer dealer;
    std::int64_t const first = chunk_offsets[block];
    merge_rows<R>(p, block, [&](std::int64_t column, std::int64_t const(&at)[R]) {
      dealer.take(column);
      std::int64_t const chunk = first + dealer.chunks - 1;
      std::int64_t const lane = 32 * chunk + dealer.lane;
      bases[chunk] = std::int32_t(dealer.base);
      offsets[lane] = std::uint16_t(dealer.offset);
      for (int r = 0; r < R; ++r) {
        if (at[r] >= 0) {
          values[lane * R + r] = p.values[at[r]];
        }
      }
    });
  }
};

/// The entries of a row block, values as their bits.
template <int R>
struct block_entries {
  std::int64_t const* chunk_offsets;
  std::int32_t const* bases;
  std::uint16_t const* offsets;
  std::uint16_t const* values;

  /// f(column, value) for the entries of a row, ascending.
  template <class F>
  KOKKOS_FUNCTION void each(std::int64_t row, F const& f) const {
    std::int64_t const end = 32 * chunk_offsets[row / R + 1];
    for (std::int64_t lane = 32 * chunk_offsets[row / R]; lane < end; ++lane) {
      std::uint16_t const value = values[lane * R + row % R];
      if (value != padding) {
        f(bases[lane / 32] + std::int32_t(offsets[lane]), value);
      }
    }
  }
};

template <int R>
struct entry_counter {
  block_entries<R> from;
  std::int64_t* row_offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t count = 0;
    from.each(row, [&](std::int32_t, std::uint16_t) { ++count; });
    row_offsets[row + 1] = count;
  }
};

template <int R>
struct row_writer {
  block_entries<R> from;
  std::int64_t const* row_offsets;
  std::int32_t* columns;
  std::uint16_t* values;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t at = row_offsets[row];
    from.each(row, [&](std::int32_t column, std::uint16_t value) {
      columns[at] = column;
      values[at] = value;
      ++at;
    });
  }
};

template <class Exec>
std::int64_t add_up(Exec const& exec, std::int64_t count, std::int64_t* offsets) {
  std::int64_t total = 0;
  Kokkos::parallel_scan("iso::sparse: running totals", range<Exec>(exec, 0, count),
                        running_total{offsets}, total);
  exec.fence("iso::sparse: the total is here");
  return total;
}

template <class T, class Exec, class... Properties>
auto array_of(Exec const& exec, char const* label, std::int64_t length,
              Properties const&... properties) {
  return allocate<Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space>>(
      label, {length}, exec, properties...);
}

}  // namespace

/// A maker of row blocks of ascending rows.
struct row_block_access {
  template <int R, class Value, class Exec, class Matrix>
  static auto make(Exec const& exec, Matrix const& a, job const& control) {
    row_block_csr<Value, R, typename Exec::memory_space> b;
    b.num_rows_ = a.num_rows;
    b.num_cols_ = a.num_cols;
    b.num_entries_ = a.num_entries();
    auto const p = rows_of_bits(a);
    using rows_type = std::remove_const_t<decltype(p)>;
    auto const chunk_offsets = array_of<std::int64_t>(
        exec, "iso::sparse::row_block_csr: chunk offsets", b.num_blocks() + 1);
    iso::detail::for_each_index_in_batches("iso::sparse::make_row_blocks: chunks", exec,
                                           b.num_blocks(), iso::detail::part_of(control, 0, 0.5),
                                           chunk_counter<R, rows_type>{p, chunk_offsets.data()});
    std::int64_t const lanes = 32 * add_up(exec, b.num_blocks(), chunk_offsets.data());
    auto const bases =
        array_of<std::int32_t>(exec, "iso::sparse::row_block_csr: bases", lanes / 32);
    auto const offsets =
        array_of<std::uint16_t>(exec, "iso::sparse::row_block_csr: offsets", lanes);
    auto const values = array_of<Value>(exec, "iso::sparse::row_block_csr: values", R * lanes,
                                        Kokkos::WithoutInitializing);
    Kokkos::deep_copy(exec, values, Value(-0.0));
    iso::detail::for_each_index_in_batches(
        "iso::sparse::make_row_blocks: entries", exec, b.num_blocks(),
        iso::detail::part_of(control, 0.5, 1),
        block_writer<R, rows_type>{p, chunk_offsets.data(), bases.data(), offsets.data(),
                                   reinterpret_cast<std::uint16_t*>(values.data())});
    auto const scales = array_of<double>(exec, "iso::sparse::row_block_csr: row scales",
                                         std::int64_t(a.row_scales.extent(0)));
    Kokkos::deep_copy(exec, scales, a.row_scales);
    exec.fence("iso::sparse::make_row_blocks: done");
    b.chunk_offsets_ = chunk_offsets;
    b.bases_ = bases;
    b.offsets_ = offsets;
    b.values_ = values;
    b.row_scales_ = scales;
    return b;
  }
};

}  // namespace detail

template <int R, execution_space Exec, class Value, column_index Column>
row_block_csr<std::remove_const_t<Value>, R, typename Exec::memory_space> make_row_blocks(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    job const& control) {
  detail::validate_shape(a, "iso::sparse::make_row_blocks");
  csr_report const report = validate(exec, a, {.columns = csr_demands::of_columns::ascending},
                                     iso::detail::part_of(control, 0, 0.3));
  ISO_VALIDATE(report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0,
               "iso::sparse::make_row_blocks: {} entries left of the one before them, {} doubled, "
               "{} negative zeros (rows must ascend, and negative zero marks what is no entry); "
               "sort, add up or drop them",
               report.descending, report.doubled, report.negative_zeros);
  detail::throw_unless_sound(report, "iso::sparse::make_row_blocks");
  return detail::row_block_access::make<R, std::remove_const_t<Value>>(
      exec, a, iso::detail::part_of(control, 0.3, 1));
}

template <execution_space Exec, class Value, int R>
csr_view<Value, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, row_block_csr<Value, R, typename Exec::memory_space> const& a,
    job const& control) {
  auto csr = make_csr<Value, std::int32_t>(exec, "iso::sparse::to_csr", a.num_rows(), a.num_cols(),
                                           a.num_entries());
  csr.row_scales = a.row_scales();
  detail::block_entries<R> const from{a.chunk_offsets().data(), a.bases().data(),
                                      a.offsets().data(),
                                      reinterpret_cast<std::uint16_t const*>(a.values().data())};
  iso::detail::for_each_index_in_batches("iso::sparse::to_csr: lengths", exec, a.num_rows(),
                                         iso::detail::part_of(control, 0, 0.5),
                                         detail::entry_counter<R>{from, csr.row_offsets.data()});
  detail::add_up(exec, a.num_rows(), csr.row_offsets.data());
  iso::detail::for_each_index_in_batches(
      "iso::sparse::to_csr: entries", exec, a.num_rows(), iso::detail::part_of(control, 0.5, 1),
      detail::row_writer<R>{from, csr.row_offsets.data(), csr.columns.data(),
                            reinterpret_cast<std::uint16_t*>(csr.values.data())});
  exec.fence("iso::sparse::to_csr: done");
  return csr;
}

#define ISO_SPARSE_BLOCKS_FROM(Exec, Value, Column, R)                                      \
  template row_block_csr<std::remove_const_t<Value>, R, Exec::memory_space>                 \
  make_row_blocks<R, Exec, Value, Column>(Exec const&, ISO_CSR(Exec, Value, Column) const&, \
                                          job const&);
#define ISO_SPARSE_BLOCKS(Exec, Value, Column)   \
  ISO_SPARSE_BLOCKS_FROM(Exec, Value, Column, 4) \
  ISO_SPARSE_BLOCKS_FROM(Exec, Value, Column, 8)
#define ISO_SPARSE_TO_CSR(Exec, Value, R)                             \
  template ISO_CSR(Exec, Value, std::int32_t) to_csr<Exec, Value, R>( \
      Exec const&, row_block_csr<Value, R, Exec::memory_space> const&, job const&);
#define ISO_SPARSE_ROW_BLOCKS(Exec, Value)          \
  ISO_CSRS_OF_VALUE(Exec, Value, ISO_SPARSE_BLOCKS) \
  ISO_SPARSE_TO_CSR(Exec, Value, 4)                 \
  ISO_SPARSE_TO_CSR(Exec, Value, 8)
ISO_FOR_EACH_BACKEND(ISO_SPARSE_ROW_BLOCKS, half)
ISO_FOR_EACH_BACKEND(ISO_SPARSE_ROW_BLOCKS, bfloat16)

}  // namespace iso::sparse
