// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/sparse/grouped.hpp>

#include <algorithm>

namespace iso::sparse::detail {
namespace {

constexpr std::int64_t beyond = std::numeric_limits<std::int64_t>::max();

/// f(column, at) for every column of a group of R rows, ascending; at[r] is the entry of row r
/// there, or -1.
template <int R, class Column, class F>
KOKKOS_FUNCTION void merge_rows(pattern<Column> const& p, std::int64_t group, F const& f) {
  std::int64_t at[R] = {};
  std::int64_t end[R] = {};
  std::int64_t column[R] = {};
  auto const look = [&](int r, std::int64_t row) {
    if (at[r] < end[r]) {
      std::int64_t const base = p.row_bases != nullptr ? p.row_bases[row] : 0;
      column[r] = base + std::int64_t(p.columns[at[r]]);
    } else {
      column[r] = beyond;  // there may be no such row
    }
  };
  std::int64_t const first = group * R;
  for (int r = 0; r < R; ++r) {
    bool const exists = first + r < p.num_rows;
    at[r] = exists ? p.row_offsets[first + r] : 0;
    end[r] = exists ? p.row_offsets[first + r + 1] : 0;
    look(r, first + r);
  }
  while (true) {
    std::int64_t next = beyond;
    for (int r = 0; r < R; ++r) {
      next = column[r] < next ? column[r] : next;
    }
    if (next == beyond) {
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

template <class Column>
struct width_kernel {
  pattern<Column> p;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& most) const {
    std::int64_t const first = p.row_offsets[row];
    std::int64_t const end = p.row_offsets[row + 1];
    if (end > first) {
      std::int64_t const width = std::int64_t(p.columns[end - 1]) - p.columns[first];
      most = width > most ? width : most;
    }
  }
};

/// Deals ascending columns into slots.
class slot_dealer {
 public:
  KOKKOS_FUNCTION explicit slot_dealer(int offset_bits)
      : widest_((std::int64_t(1) << offset_bits) - 1), may_jump_(offset_bits == 8) {}

  KOKKOS_FUNCTION void take(std::int64_t column) {
    bool fits = used_ < 32;
    if (fits && column - from_ > widest_) {
      fits = may_jump_ && jump_ == 0 && column - from_ < std::int64_t(1) << 27;
      if (fits) {
        jump_ = std::uint32_t(column - from_) * 32 + std::uint32_t(used_);
        from_ = column;
      }
    }
    if (!fits) {
      first_ = column;
      from_ = column;
      jump_ = 0;
      used_ = 0;
      ++slots_;
    }
    ++used_;
    offset_ = column - from_;
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t slots() const { return slots_; }
  /// Of the column taken last.
  [[nodiscard]] KOKKOS_FUNCTION int place() const { return used_ - 1; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t offset() const { return offset_; }
  /// Its slot's, so far.
  KOKKOS_FUNCTION void write(slot_base<std::uint8_t>& to) const {
    to = {std::int32_t(first_), jump_};
  }
  KOKKOS_FUNCTION void write(slot_base<std::uint16_t>& to) const { to = {std::int32_t(first_)}; }

 private:
  std::int64_t widest_;
  bool may_jump_;
  std::int64_t first_ = 0;
  std::int64_t from_ = 0;  ///< what offsets are counted from
  std::uint32_t jump_ = 0;
  std::int64_t slots_ = 0;
  int used_ = 32;
  std::int64_t offset_ = 0;
};

template <int R, class Column>
struct slot_counter {
  pattern<Column> p;
  int offset_bits;
  std::int64_t* slot_offsets;

  KOKKOS_FUNCTION std::int64_t slots(std::int64_t group) const {
    slot_dealer dealer(offset_bits);
    merge_rows<R>(p, group, [&](std::int64_t column, auto const&) { dealer.take(column); });
    return dealer.slots();
  }
  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    slot_offsets[group + 1] = slots(group);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t group, std::int64_t& total) const {
    total += slots(group);
  }
};

template <class Offset>
struct place_cleaner {
  grouped_arrays<Offset> to;
  int rows;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    to.offsets[place] = 0;
    for (int r = 0; r < rows; ++r) {
      to.values[place * rows + r] = fill;
    }
  }
};

template <int R, class Column, class Offset>
struct group_writer {
  pattern<Column> p;
  std::uint16_t const* values;
  grouped_arrays<Offset> to;

  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    slot_dealer dealer(8 * int(sizeof(Offset)));
    std::int64_t const first = to.slot_offsets[group];
    merge_rows<R>(p, group, [&](std::int64_t column, std::int64_t const(&at)[R]) {
      dealer.take(column);
      std::int64_t const slot = first + dealer.slots() - 1;
      std::int64_t const place = 32 * slot + dealer.place();
      dealer.write(to.bases[slot]);
      to.offsets[place] = Offset(dealer.offset());
      for (int r = 0; r < R; ++r) {
        if (at[r] >= 0) {
          to.values[place * R + r] = values[at[r]];
        }
      }
    });
  }
};

/// f(place) for every entry of a row.
template <class Offset, class F>
KOKKOS_FUNCTION void each_entry(grouped_arrays<Offset> const& a, int rows, std::int64_t row,
                                F const& f) {
  std::int64_t const group = row / rows;
  for (std::int64_t place = 32 * a.slot_offsets[group]; place < 32 * a.slot_offsets[group + 1];
       ++place) {
    if (a.values[place * rows + row % rows] != fill) {
      f(place);
    }
  }
}

template <class Offset>
struct entry_counter {
  grouped_arrays<Offset> from;
  int rows;
  std::int64_t* row_offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t count = 0;
    each_entry(from, rows, row, [&](std::int64_t) { ++count; });
    row_offsets[row + 1] = count;
  }
};

template <class Offset>
struct row_writer {
  grouped_arrays<Offset> from;
  int rows;
  std::int64_t const* row_offsets;
  std::int32_t* columns;
  std::uint16_t* values;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t at = row_offsets[row];
    each_entry(from, rows, row, [&](std::int64_t place) {
      columns[at] = from.bases[place / 32].column(int(place % 32), from.offsets[place]);
      values[at] = from.values[place * rows + row % rows];
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

}  // namespace

template <execution_space Exec, class Column>
std::int64_t launch_slot_offsets(Exec const& exec, pattern<Column> const& p, int rows,
                                 int offset_bits, std::int64_t* slot_offsets) {
  std::int64_t const groups = (p.num_rows + rows - 1) / rows;
  with_rows(rows, [&](auto r) {
    Kokkos::parallel_for("iso::sparse::make_grouped: slots", range<Exec>(exec, 0, groups),
                         slot_counter<r, Column>{p, offset_bits, slot_offsets});
  });
  return add_up(exec, groups, slot_offsets);
}

template <execution_space Exec, class Column>
std::int64_t launch_count_slots(Exec const& exec, pattern<Column> const& p, int rows,
                                int offset_bits) {
  std::int64_t const groups = (p.num_rows + rows - 1) / rows;
  std::int64_t total = 0;
  with_rows(rows, [&](auto r) {
    Kokkos::parallel_reduce("iso::sparse::measure_format", range<Exec>(exec, 0, groups),
                            slot_counter<r, Column>{p, offset_bits, nullptr}, total);
  });
  exec.fence("iso::sparse::measure_format: the number is here");
  return total;
}

template <execution_space Exec, class Column>
std::int64_t launch_widest_row(Exec const& exec, pattern<Column> const& p) {
  std::int64_t widest = 0;
  Kokkos::parallel_reduce("iso::sparse::choose_format: widths", range<Exec>(exec, 0, p.num_rows),
                          width_kernel<Column>{p}, Kokkos::Max<std::int64_t>(widest));
  exec.fence("iso::sparse::choose_format: the width is here");
  return widest > 0 ? widest : 0;
}

template <execution_space Exec, class Column, class Offset>
void launch_group(Exec const& exec, pattern<Column> const& p, std::uint16_t const* values, int rows,
                  std::int64_t num_slots, grouped_arrays<Offset> const& to) {
  Kokkos::parallel_for("iso::sparse::make_grouped: fill", range<Exec>(exec, 0, 32 * num_slots),
                       place_cleaner<Offset>{to, rows});
  std::int64_t const groups = (p.num_rows + rows - 1) / rows;
  with_rows(rows, [&](auto r) {
    Kokkos::parallel_for("iso::sparse::make_grouped: entries", range<Exec>(exec, 0, groups),
                         group_writer<r, Column, Offset>{p, values, to});
  });
}

template <execution_space Exec, class Offset>
std::int64_t launch_row_offsets(Exec const& exec, grouped_arrays<Offset> const& from, int rows,
                                std::int64_t num_rows, std::int64_t* row_offsets) {
  Kokkos::parallel_for("iso::sparse::to_csr: lengths", range<Exec>(exec, 0, num_rows),
                       entry_counter<Offset>{from, rows, row_offsets});
  return add_up(exec, num_rows, row_offsets);
}

template <execution_space Exec, class Offset>
void launch_ungroup(Exec const& exec, grouped_arrays<Offset> const& from, int rows,
                    std::int64_t num_rows, std::int64_t const* row_offsets, std::int32_t* columns,
                    std::uint16_t* values) {
  Kokkos::parallel_for("iso::sparse::to_csr: entries", range<Exec>(exec, 0, num_rows),
                       row_writer<Offset>{from, rows, row_offsets, columns, values});
}

#define ISO_INSTANTIATE_BOTH(Exec, Column, Offset)                                          \
  template void launch_group<Exec, Column, Offset>(Exec const&, pattern<Column> const&,     \
                                                   std::uint16_t const*, int, std::int64_t, \
                                                   grouped_arrays<Offset> const&);
#define ISO_INSTANTIATE_COLUMN(Exec, Column)                                                       \
  template std::int64_t launch_slot_offsets<Exec, Column>(Exec const&, pattern<Column> const&,     \
                                                          int, int, std::int64_t*);                \
  template std::int64_t launch_count_slots<Exec, Column>(Exec const&, pattern<Column> const&, int, \
                                                         int);                                     \
  template std::int64_t launch_widest_row<Exec, Column>(Exec const&, pattern<Column> const&);      \
  ISO_FOR_EACH_OFFSET(ISO_INSTANTIATE_BOTH, Exec, Column)
#define ISO_INSTANTIATE_OFFSET(Exec, Offset)                                                   \
  template std::int64_t launch_row_offsets<Exec, Offset>(                                      \
      Exec const&, grouped_arrays<Offset> const&, int, std::int64_t, std::int64_t*);           \
  template void launch_ungroup<Exec, Offset>(Exec const&, grouped_arrays<Offset> const&, int,  \
                                             std::int64_t, std::int64_t const*, std::int32_t*, \
                                             std::uint16_t*);
#define ISO_INSTANTIATE(Exec)                       \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_COLUMN, Exec) \
  ISO_FOR_EACH_OFFSET(ISO_INSTANTIATE_OFFSET, Exec)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)

void refuse_to_group(csr_report const& report) {
  ISO_VALIDATE(report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0,
               "iso::sparse::make_grouped: {} entries left of the one before them, {} doubled, {} "
               "negative zeros (rows must ascend, and negative zero marks what is no entry) sort, "
               "add up or drop them",
               report.descending, report.doubled, report.negative_zeros);
  if (!report.sound()) {
    fail_argument("iso::sparse::make_grouped: {}", sentence(report));
  }
}

void validate_format(int rows, int offset_bits) {
  bool const grouped =
      (rows == 2 || rows == 4 || rows == 8) && (offset_bits == 8 || offset_bits == 16);
  ISO_VALIDATE(
      (rows == 1 && (offset_bits == 16 || offset_bits == 32)) || grouped,
      "iso::sparse::measure_format: {} rows a group, offsets of {} bits (2, 4 or 8 rows go "
      "with 8 or 16 bits, 1 with 16 or 32)",
      rows, offset_bits);
}

format_report format_cost(std::int64_t num_rows, std::int64_t entries, int value_bytes, int rows,
                          int offset_bits, std::int64_t slots) {
  format_report f{.rows = rows, .offset_bits = offset_bits, .slots = slots};
  auto const number = double(std::max<std::int64_t>(entries, 1));
  double const offsets = 8.0 * (double(num_rows) / rows + 1);
  if (rows == 1) {
    double const bases = offset_bits == 16 ? 4.0 * double(num_rows) : 0;
    f.bytes_per_entry =
        (double(entries) * (value_bytes + offset_bits / 8.0) + offsets + bases) / number;
  } else {
    double const places = 32.0 * double(slots);
    std::size_t const base =
        offset_bits == 8 ? sizeof(slot_base<std::uint8_t>) : sizeof(slot_base<std::uint16_t>);
    f.bytes_per_entry = (places * (value_bytes * rows + offset_bits / 8.0) +
                         double(slots) * double(base) + offsets) /
                        number;
    f.fill = double(entries) / (places * rows);
    f.reads_per_entry = places / number;
  }
  return f;
}

format_report cheapest(format_report const* formats, int count, processor kind) {
  format_report best = formats[0];
  double least = product_cost(best, kind);
  for (int n = 1; n < count; ++n) {
    double const cost = product_cost(formats[n], kind);
    bool const leaves_csr = best.rows == 1 && formats[n].rows > 1;
    // The same rows with 8-bit offsets stand before those with 16 bits.
    bool const scattered =
        formats[n].offset_bits == 16 && formats[n - 1].slots > 2 * formats[n].slots;
    if (cost < (leaves_csr ? 0.9 : 1.0) * least && !(kind == processor::host && scattered)) {
      best = formats[n];
      least = cost;
    }
  }
  return best;
}

}  // namespace iso::sparse::detail

namespace iso::sparse {

double product_cost(format_report const& format, processor kind) {
  bool const narrow_csr = format.rows == 1 && format.offset_bits == 16;
  if (kind == processor::device) {
    constexpr double bytes_of_read = 6.3;
    constexpr double fewer_bytes = 0.9;
    return std::max(format.bytes_per_entry, bytes_of_read * format.reads_per_entry) *
           (narrow_csr ? fewer_bytes : 1.0);
  }
  bool const wide = kind == processor::wide_host;
  double const reads_of_value = wide ? 0.6 : 1.95;
  double const jumps = wide ? 1.3 : 1.4;
  double const bases = wide ? 1.0 : 1.3;
  return (1 + reads_of_value * format.rows) * format.reads_per_entry *
         (format.offset_bits == 8 ? jumps
          : narrow_csr            ? bases
                                  : 1.0);
}

}  // namespace iso::sparse
