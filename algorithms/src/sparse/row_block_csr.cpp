// SPDX-License-Identifier: BSD-3-Clause
// How rows that share their columns are put together, and taken apart again.
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/formats.hpp>

#include <limits>

namespace iso::sparse::detail {
namespace {

constexpr std::int64_t no_column = std::numeric_limits<std::int64_t>::max();

/// f(column, at) for every column of a block of R rows, ascending; at[r] is the entry of row r
/// there, or -1.
template <int R, class Column, class F>
KOKKOS_FUNCTION void merge_rows(pattern<Column> const& p, std::int64_t block, F const& f) {
  std::int64_t at[R] = {};
  std::int64_t end[R] = {};
  std::int64_t column[R] = {};
  auto const look = [&](int r, std::int64_t row) {
    if (at[r] < end[r]) {
      std::int64_t const base = p.row_bases != nullptr ? p.row_bases[row] : 0;
      column[r] = base + std::int64_t(p.columns[at[r]]);
    } else {
      column[r] = no_column;  // there may be no such row
    }
  };
  std::int64_t const first = block * R;
  for (int r = 0; r < R; ++r) {
    bool const exists = first + r < p.num_rows;
    at[r] = exists ? p.row_offsets[first + r] : 0;
    end[r] = exists ? p.row_offsets[first + r + 1] : 0;
    look(r, first + r);
  }
  while (true) {
    std::int64_t next = no_column;
    for (int r = 0; r < R; ++r) {
      next = column[r] < next ? column[r] : next;
    }
    if (next == no_column) {
      return;
    }
    std::int64_t here[R];
    for (int r = 0; r < R; ++r) {
      here[r] = column[r] == next ? at[r] : -1;
      if (column[r] == next) {
        ++at[r];
        look(r, first + r);
      }
    }
    f(next, here);
  }
}

/// Deals ascending columns into chunks.
class chunk_dealer {
 public:
  KOKKOS_FUNCTION void take(std::int64_t column) {
    if (used_ == 32 || column - base_ > 65535) {
      base_ = column;
      used_ = 0;
      ++chunks_;
    }
    ++used_;
    offset_ = column - base_;
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t chunks() const { return chunks_; }
  /// Of the column taken last.
  [[nodiscard]] KOKKOS_FUNCTION int lane() const { return used_ - 1; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t offset() const { return offset_; }
  /// Its chunk's.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t base() const { return base_; }

 private:
  std::int64_t base_ = 0;
  std::int64_t chunks_ = 0;
  int used_ = 32;
  std::int64_t offset_ = 0;
};

template <int R, class Column>
struct chunk_counter {
  pattern<Column> p;
  std::int64_t* chunk_offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    chunk_dealer dealer;
    merge_rows<R>(p, block, [&](std::int64_t column, auto const&) { dealer.take(column); });
    chunk_offsets[block + 1] = dealer.chunks();
  }
};

/// Chunks, and the columns from the first to the last of each.
template <int R, class Column>
struct span_counter {
  pattern<Column> p;

  KOKKOS_FUNCTION void operator()(std::int64_t block, chunk_counts& total) const {
    chunk_dealer dealer;
    chunk_counts counts;
    merge_rows<R>(p, block, [&](std::int64_t column, auto const&) {
      std::int64_t const before = dealer.offset();
      dealer.take(column);
      counts.columns += dealer.lane() == 0 ? 1 : dealer.offset() - before;
    });
    counts.chunks = dealer.chunks();
    total += counts;
  }
};

struct padding_writer {
  row_block_arrays to;
  int rows;
  KOKKOS_FUNCTION void operator()(std::int64_t lane) const {
    to.offsets[lane] = 0;
    for (int r = 0; r < rows; ++r) {
      to.values[lane * rows + r] = padding;
    }
  }
};

template <int R, class Column>
struct block_writer {
  pattern<Column> p;
  std::uint16_t const* values;
  row_block_arrays to;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    chunk_dealer dealer;
    std::int64_t const first = to.chunk_offsets[block];
    merge_rows<R>(p, block, [&](std::int64_t column, std::int64_t const(&at)[R]) {
      dealer.take(column);
      std::int64_t const chunk = first + dealer.chunks() - 1;
      std::int64_t const lane = 32 * chunk + dealer.lane();
      to.bases[chunk] = std::int32_t(dealer.base());
      to.offsets[lane] = std::uint16_t(dealer.offset());
      for (int r = 0; r < R; ++r) {
        if (at[r] >= 0) {
          to.values[lane * R + r] = values[at[r]];
        }
      }
    });
  }
};

/// f(column, value) for the entries of a row, ascending.
template <class F>
KOKKOS_FUNCTION void each_entry(row_block_arrays const& a, int rows, std::int64_t row, F const& f) {
  std::int64_t const block = row / rows;
  std::int64_t const end = 32 * a.chunk_offsets[block + 1];
  for (std::int64_t lane = 32 * a.chunk_offsets[block]; lane < end; ++lane) {
    std::uint16_t const value = a.values[lane * rows + row % rows];
    if (value != padding) {
      f(a.bases[lane / 32] + std::int32_t(a.offsets[lane]), value);
    }
  }
}

struct entry_counter {
  row_block_arrays from;
  int rows;
  std::int64_t* row_offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t count = 0;
    each_entry(from, rows, row, [&](std::int32_t, std::uint16_t) { ++count; });
    row_offsets[row + 1] = count;
  }
};

struct row_writer {
  row_block_arrays from;
  int rows;
  std::int64_t const* row_offsets;
  std::int32_t* columns;
  std::uint16_t* values;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t at = row_offsets[row];
    each_entry(from, rows, row, [&](std::int32_t column, std::uint16_t value) {
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

/// f(R) with the number of rows a block as a type.
template <class F>
void with_rows(int rows, F const& f) {
  if (rows == 4) {
    f(std::integral_constant<int, 4>());
  } else {
    f(std::integral_constant<int, 8>());
  }
}

}  // namespace

template <execution_space Exec, class Column>
std::int64_t launch_chunk_offsets(Exec const& exec, pattern<Column> const& p, int rows,
                                  std::int64_t* chunk_offsets) {
  std::int64_t const blocks = (p.num_rows + rows - 1) / rows;
  with_rows(rows, [&](auto r) {
    Kokkos::parallel_for("iso::sparse::make_row_blocks: chunks", range<Exec>(exec, 0, blocks),
                         chunk_counter<r, Column>{p, chunk_offsets});
  });
  return add_up(exec, blocks, chunk_offsets);
}

template <execution_space Exec, class Column>
chunk_counts launch_count_chunks(Exec const& exec, pattern<Column> const& p, int rows) {
  std::int64_t const blocks = (p.num_rows + rows - 1) / rows;
  chunk_counts total;
  with_rows(rows, [&](auto r) {
    Kokkos::parallel_reduce("iso::sparse::measure_format", range<Exec>(exec, 0, blocks),
                            span_counter<r, Column>{p}, total);
  });
  exec.fence("iso::sparse::measure_format: the number is here");
  return total;
}

template <execution_space Exec, class Column>
void launch_make_blocks(Exec const& exec, pattern<Column> const& p, std::uint16_t const* values,
                        int rows, std::int64_t num_chunks, row_block_arrays const& to) {
  Kokkos::parallel_for("iso::sparse::make_row_blocks: padding",
                       range<Exec>(exec, 0, 32 * num_chunks), padding_writer{to, rows});
  std::int64_t const blocks = (p.num_rows + rows - 1) / rows;
  with_rows(rows, [&](auto r) {
    Kokkos::parallel_for("iso::sparse::make_row_blocks: entries", range<Exec>(exec, 0, blocks),
                         block_writer<r, Column>{p, values, to});
  });
}

template <execution_space Exec>
void launch_row_offsets(Exec const& exec, row_block_arrays const& from, int rows,
                        std::int64_t num_rows, std::int64_t* row_offsets) {
  Kokkos::parallel_for("iso::sparse::to_csr: lengths", range<Exec>(exec, 0, num_rows),
                       entry_counter{from, rows, row_offsets});
  add_up(exec, num_rows, row_offsets);
}

template <execution_space Exec>
void launch_unmake_blocks(Exec const& exec, row_block_arrays const& from, int rows,
                          std::int64_t num_rows, std::int64_t const* row_offsets,
                          std::int32_t* columns, std::uint16_t* values) {
  Kokkos::parallel_for("iso::sparse::to_csr: entries", range<Exec>(exec, 0, num_rows),
                       row_writer{from, rows, row_offsets, columns, values});
}

#define ISO_INSTANTIATE_COLUMN(Exec, Column)                                                    \
  template std::int64_t launch_chunk_offsets<Exec, Column>(Exec const&, pattern<Column> const&, \
                                                           int, std::int64_t*);                 \
  template chunk_counts launch_count_chunks<Exec, Column>(Exec const&, pattern<Column> const&,  \
                                                          int);                                 \
  template void launch_make_blocks<Exec, Column>(Exec const&, pattern<Column> const&,           \
                                                 std::uint16_t const*, int, std::int64_t,       \
                                                 row_block_arrays const&);
#define ISO_INSTANTIATE(Exec)                                                                     \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_COLUMN, Exec)                                               \
  template void launch_row_offsets<Exec>(Exec const&, row_block_arrays const&, int, std::int64_t, \
                                         std::int64_t*);                                          \
  template void launch_unmake_blocks<Exec>(Exec const&, row_block_arrays const&, int,             \
                                           std::int64_t, std::int64_t const*, std::int32_t*,      \
                                           std::uint16_t*);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE

void validate_for_blocks(csr_report const& report) {
  ISO_VALIDATE(report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0,
               "iso::sparse::make_row_blocks: {} entries left of the one before them, {} doubled, "
               "{} negative zeros (rows must ascend, and negative zero marks what is no entry) "
               "sort, add up or drop them",
               report.descending, report.doubled, report.negative_zeros);
  if (!report.sound()) {
    fail_argument("iso::sparse::make_row_blocks: {}", to_string(report));
  }
}

}  // namespace iso::sparse::detail
