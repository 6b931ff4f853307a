// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "merge_rows.hpp"
#include "to_rows.hpp"

namespace iso::sparse::detail {
namespace {

/// Deals the columns of a group into its shared slots and the lists of its halves.
class pair_dealer {
 public:
  /// Which list took the column.
  enum class list { shared, upper, lower };

  KOKKOS_FUNCTION list take(std::int64_t column, std::int64_t const (&at)[8]) {
    bool const upper = at[0] >= 0 || at[1] >= 0 || at[2] >= 0 || at[3] >= 0;
    bool const lower = at[4] >= 0 || at[5] >= 0 || at[6] >= 0 || at[7] >= 0;
    list const to = upper && lower ? list::shared : (upper ? list::upper : list::lower);
    dealers_[int(to)].take(column);
    return to;
  }
  [[nodiscard]] KOKKOS_FUNCTION slot_dealer const& of(list which) const {
    return dealers_[int(which)];
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t shared() const { return dealers_[0].slots(); }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pairs() const {
    return dealers_[1].slots() > dealers_[2].slots() ? dealers_[1].slots() : dealers_[2].slots();
  }

 private:
  slot_dealer dealers_[3] = {slot_dealer(16), slot_dealer(16), slot_dealer(16)};
};

template <class Column>
struct pair_counter {
  pattern<Column> p;
  std::int64_t* shared_offsets;  ///< null: not wanted
  std::int64_t* pair_offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t group, paired_counts& total) const {
    pair_dealer dealer;
    std::int64_t entries = 0;
    merge_rows<8>(p, group, [&](std::int64_t column, std::int64_t const(&at)[8]) {
      if (dealer.take(column, at) == pair_dealer::list::shared) {
        for (std::int64_t const entry : at) {
          entries += entry >= 0 ? 1 : 0;
        }
      }
    });
    if (shared_offsets != nullptr) {
      shared_offsets[group + 1] = dealer.shared();
      pair_offsets[group + 1] = dealer.pairs();
    }
    total += paired_counts{dealer.shared(), dealer.pairs(), entries};
  }
};

struct pair_cleaner {
  paired_arrays to;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    if (place % 32 == 0) {
      to.bases[place / 32] = {0, 0};
    }
    to.offsets[place] = {0, 0};
    for (int r = 0; r < 8; ++r) {
      to.values[place * 8 + r] = fill;
    }
  }
};

template <class Column>
struct pair_writer {
  pattern<Column> p;
  std::uint16_t const* values;
  paired_arrays to;

  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    using list = pair_dealer::list;
    pair_dealer dealer;
    std::int64_t const first_shared = to.shared.slot_offsets[group];
    std::int64_t const first_pairs = to.slot_offsets[group];
    merge_rows<8>(p, group, [&](std::int64_t column, std::int64_t const(&at)[8]) {
      list const which = dealer.take(column, at);
      slot_dealer const& taken = dealer.of(which);
      bool const is_shared = which == list::shared;
      std::int64_t const slot = (is_shared ? first_shared : first_pairs) + taken.slots() - 1;
      std::int64_t const place = 32 * slot + taken.place();
      slot_base<std::uint16_t> base{};
      taken.write(base);
      auto const offset = std::uint16_t(taken.offset());
      if (is_shared) {
        to.shared.bases[slot] = base;
        to.shared.offsets[place] = offset;
      } else if (which == list::upper) {
        to.bases[slot].upper = base.first;
        to.offsets[place].upper = offset;
      } else {
        to.bases[slot].lower = base.first;
        to.offsets[place].lower = offset;
      }
      std::uint16_t* const here = (is_shared ? to.shared.values : to.values) + 8 * place;
      for (int r = 0; r < 8; ++r) {
        if (at[r] >= 0) {
          here[r] = values[at[r]];
        }
      }
    });
  }
};

/// The entries of a row in one of a group's two kinds of slots, ascending.
class entry_walk {
 public:
  KOKKOS_FUNCTION entry_walk(std::uint16_t const* values, std::int64_t first_slot,
                             std::int64_t end_slot, int row)
      : values_(values + row), place_(32 * first_slot - 1), end_(32 * end_slot) {
    next();
  }
  KOKKOS_FUNCTION void next() {
    do {
      ++place_;
    } while (place_ < end_ && values_[8 * place_] == fill);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_over() const { return place_ >= end_; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t place() const { return place_; }
  [[nodiscard]] KOKKOS_FUNCTION std::uint16_t value() const { return values_[8 * place_]; }

 private:
  std::uint16_t const* values_;
  std::int64_t place_;
  std::int64_t end_;
};

}  // namespace

// Named: CUDA's compiler wants to name what a kernel of a header is made for.
struct paired_entries {
  paired_arrays a;

  template <class F>
  KOKKOS_FUNCTION void each(std::int64_t row, F const& f) const {
    std::int64_t const group = row / 8;
    int const in_group = int(row % 8);
    entry_walk shared(a.shared.values, a.shared.slot_offsets[group],
                      a.shared.slot_offsets[group + 1], in_group);
    entry_walk pairs(a.values, a.slot_offsets[group], a.slot_offsets[group + 1], in_group);
    auto const shared_column = [&] {
      return a.shared.bases[shared.place() / 32].first + a.shared.offsets[shared.place()];
    };
    auto const pair_column = [&] {
      return a.bases[pairs.place() / 32].of(in_group / 4) +
             std::int32_t(a.offsets[pairs.place()].of(in_group / 4));
    };
    while (!shared.is_over() || !pairs.is_over()) {
      bool const take_shared =
          pairs.is_over() || (!shared.is_over() && shared_column() < pair_column());
      if (take_shared) {
        f(shared_column(), shared.value());
        shared.next();
      } else {
        f(pair_column(), pairs.value());
        pairs.next();
      }
    }
  }
};

namespace {

template <class Exec, class Column>
paired_counts count_pairs(Exec const& exec, pair_counter<Column> const& counter) {
  paired_counts total;
  Kokkos::parallel_reduce("iso::sparse::make_paired: slots",
                          range<Exec>(exec, 0, (counter.p.num_rows + 7) / 8), counter, total);
  exec.fence("iso::sparse::make_paired: the numbers are here");
  return total;
}

}  // namespace

template <execution_space Exec, class Column>
paired_counts launch_count_pairs(Exec const& exec, pattern<Column> const& p) {
  return count_pairs(exec, pair_counter<Column>{p, nullptr, nullptr});
}

template <execution_space Exec, class Column>
paired_counts launch_pair_offsets(Exec const& exec, pattern<Column> const& p,
                                  std::int64_t* shared_offsets, std::int64_t* pair_offsets) {
  auto const total = count_pairs(exec, pair_counter<Column>{p, shared_offsets, pair_offsets});
  std::int64_t const groups = (p.num_rows + 7) / 8;
  add_up(exec, groups, shared_offsets);
  add_up(exec, groups, pair_offsets);
  return total;
}

template <execution_space Exec, class Column>
void launch_pair(Exec const& exec, pattern<Column> const& p, std::uint16_t const* values,
                 paired_counts const& counts, paired_arrays const& to) {
  Kokkos::parallel_for("iso::sparse::make_paired: fill", range<Exec>(exec, 0, 32 * counts.shared),
                       place_cleaner<std::uint16_t>{to.shared, 8});
  Kokkos::parallel_for("iso::sparse::make_paired: fill of pairs",
                       range<Exec>(exec, 0, 32 * counts.pairs), pair_cleaner{to});
  Kokkos::parallel_for("iso::sparse::make_paired: entries",
                       range<Exec>(exec, 0, (p.num_rows + 7) / 8),
                       pair_writer<Column>{p, values, to});
}

template <execution_space Exec>
std::int64_t launch_paired_row_offsets(Exec const& exec, paired_arrays const& from,
                                       std::int64_t num_rows, std::int64_t* row_offsets) {
  return count_entries(exec, paired_entries{from}, num_rows, row_offsets);
}

template <execution_space Exec>
void launch_unpair(Exec const& exec, paired_arrays const& from, std::int64_t num_rows,
                   std::int64_t const* row_offsets, std::int32_t* columns, std::uint16_t* values) {
  write_rows(exec, paired_entries{from}, num_rows, row_offsets, columns, values);
}

#define ISO_INSTANTIATE_COLUMN(Exec, Column)                                                    \
  template paired_counts launch_count_pairs<Exec, Column>(Exec const&, pattern<Column> const&); \
  template paired_counts launch_pair_offsets<Exec, Column>(Exec const&, pattern<Column> const&, \
                                                           std::int64_t*, std::int64_t*);       \
  template void launch_pair<Exec, Column>(Exec const&, pattern<Column> const&,                  \
                                          std::uint16_t const*, paired_counts const&,           \
                                          paired_arrays const&);
#define ISO_INSTANTIATE(Exec)                                                              \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_COLUMN, Exec)                                        \
  template std::int64_t launch_paired_row_offsets<Exec>(Exec const&, paired_arrays const&, \
                                                        std::int64_t, std::int64_t*);      \
  template void launch_unpair<Exec>(Exec const&, paired_arrays const&, std::int64_t,       \
                                    std::int64_t const*, std::int32_t*, std::uint16_t*);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE

void validate_shared(char const* function, std::int64_t num_rows, std::int64_t num_cols,
                     std::int64_t entries, std::int64_t shared_rows, std::int64_t shared_cols,
                     std::int64_t shared_entries, bool scaled) {
  ISO_VALIDATE(shared_rows == num_rows && shared_cols == num_cols,
               "{}: shared columns of a matrix of {} x {} (the whole is {} x {})", function,
               shared_rows, shared_cols, num_rows, num_cols);
  ISO_VALIDATE(shared_entries <= entries, "{}: {} entries in shared columns (the whole has {})",
               function, shared_entries, entries);
  ISO_VALIDATE(!scaled, "{}: row scales at the shared columns (they belong to the whole)",
               function);
}

}  // namespace iso::sparse::detail
