// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "merge_rows.hpp"
#include "to_rows.hpp"

namespace iso::sparse::detail {
namespace {

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

}  // namespace

template <class Offset>
struct grouped_entries {
  grouped_arrays<Offset> a;
  int rows;

  template <class F>
  KOKKOS_FUNCTION void each(std::int64_t row, F const& f) const {
    std::int64_t const group = row / rows;
    for (std::int64_t place = 32 * a.slot_offsets[group]; place < 32 * a.slot_offsets[group + 1];
         ++place) {
      std::uint16_t const value = a.values[place * rows + row % rows];
      if (value != fill) {
        f(a.bases[place / 32].column(int(place % 32), a.offsets[place]), value);
      }
    }
  }
};

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
  return count_entries(exec, grouped_entries<Offset>{from, rows}, num_rows, row_offsets);
}

template <execution_space Exec, class Offset>
void launch_ungroup(Exec const& exec, grouped_arrays<Offset> const& from, int rows,
                    std::int64_t num_rows, std::int64_t const* row_offsets, std::int32_t* columns,
                    std::uint16_t* values) {
  write_rows(exec, grouped_entries<Offset>{from, rows}, num_rows, row_offsets, columns, values);
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
#undef ISO_INSTANTIATE_BOTH
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE_OFFSET
#undef ISO_INSTANTIATE

void refuse_to_group(csr_report const& report, char const* function) {
  ISO_VALIDATE(report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0,
               "{}: {} entries left of the one before them, {} doubled, {} negative zeros (rows "
               "must ascend, and negative zero marks what is no entry) sort, add up or drop them",
               function, report.descending, report.doubled, report.negative_zeros);
  if (!report.sound()) {
    fail_argument("{}: {}", function, sentence(report));
  }
}

void validate_found(std::int64_t found, std::int64_t said) {
  ISO_VALIDATE(found == said,
               "iso::sparse::to_csr: {} entries (the matrix says {}) was it made by make_grouped "
               "or make_paired?",
               found, said);
}

}  // namespace iso::sparse::detail
