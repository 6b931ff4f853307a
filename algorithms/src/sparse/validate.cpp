// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/sparse/detail/number_bits.hpp>
#include <iso/sparse/validate.hpp>

#include <Kokkos_NumericTraits.hpp>

#include <limits>

namespace iso::sparse::detail {
namespace {

/// What a reduction over rows carries: how many are bad, and the first with what is wrong there.
struct first_bad {
  std::int64_t count;
  std::int64_t first;
  fault what;
};

constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t longest_allowed = std::numeric_limits<std::int32_t>::max() - 63;

struct first_bad_reducer {
  using value_type = first_bad;

  KOKKOS_FUNCTION void init(first_bad& b) const { b = {0, no_row, fault::none}; }
  KOKKOS_FUNCTION void join(first_bad& into, first_bad const& from) const {
    into.count += from.count;
    if (from.first < into.first) {
      into.first = from.first;
      into.what = from.what;
    }
  }
};

/// What is wrong with row offset i.
struct offsets_kernel : first_bad_reducer {
  std::int64_t const* offsets;
  std::int64_t rows;
  std::int64_t entries;

  KOKKOS_FUNCTION fault wrong_with(std::int64_t i) const {
    std::int64_t const at = offsets[i];
    if (i == 0 && at != 0) {
      return fault::first_row_offset;
    }
    if (at < 0) {
      return fault::negative_row_offset;
    }
    if (i > 0 && at < offsets[i - 1]) {
      return fault::non_monotone_row_offset;
    }
    if (at > entries) {
      return fault::row_offset_beyond;
    }
    if (i == rows && at != entries) {
      return fault::last_row_offset;
    }
    if (i > 0 && offsets[i - 1] >= 0 && at - offsets[i - 1] > longest_allowed) {
      return fault::row_too_long;
    }
    return fault::none;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, first_bad& b) const {
    fault const what = wrong_with(i);
    if (what != fault::none) {
      join(b, {1, i, what});
    }
  }
};

/// A normal power of two above zero; no scales: all are good.
KOKKOS_FUNCTION bool good_scale(double const* scales, std::int64_t row) {
  if (scales == nullptr) {
    return true;
  }
  auto const bits = Kokkos::bit_cast<std::uint64_t>(scales[row]);
  return (bits & 0x000fffffffffffffULL) == 0 && bits > 0 && bits < 0x7ff0000000000000ULL;
}

/// What can be wrong with an entry, as bits.
enum : std::uint32_t {
  bad_column = 1,
  infinite = 2,
  descent = 4,
  twice = 8,
  zero = 16,
  negative_zero = 32,
};
constexpr int num_flags = 6;

/// Looks at a row by flags, and counts only where one was seen.
template <class Value, class Column>
struct check_rows_kernel {
  csr_rows<Value, Column> rows;
  std::int64_t num_cols;
  row_facts* facts;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    if (rows.length(row) == 0) {
      group.once([&] {
        row_facts empty{};
        empty.least_column = Kokkos::Experimental::finite_max_v<std::int32_t>;
        empty.most_column = Kokkos::Experimental::finite_min_v<std::int32_t>;
        facts[row] = empty;
      });
      return;
    }
    typename Group::template lane_array<std::uint32_t> seen(0U);
    typename Group::template lane_array<std::int32_t> least(
        Kokkos::Experimental::finite_max_v<std::int32_t>);
    typename Group::template lane_array<std::int32_t> most(
        Kokkos::Experimental::finite_min_v<std::int32_t>);
    each(group, row, [&](int lane, std::int32_t column, std::uint32_t flags) {
      seen[lane] |= flags;
      least[lane] = column < least[lane] ? column : least[lane];
      most[lane] = column > most[lane] ? column : most[lane];
    });
    typename Group::template lane_array<bool> any;
    group.each([&](int lane) { any[lane] = seen[lane] != 0; });
    row_facts result{};
    if (group.any(any)) {
      count(group, row, result);
    }
    std::int32_t const low = group.lowest(least);
    std::int32_t const high = group.highest(most);
    group.once([&] {
      result.least_column = within(std::int64_t(low) + rows.base(row));
      result.most_column = within(std::int64_t(high) + rows.base(row));
      facts[row] = result;
    });
  }

 private:
  KOKKOS_FUNCTION static std::int32_t within(std::int64_t x) {
    constexpr std::int64_t least = Kokkos::Experimental::finite_min_v<std::int32_t>;
    constexpr std::int64_t most = Kokkos::Experimental::finite_max_v<std::int32_t>;
    return std::int32_t(x < least ? least : x > most ? most : x);
  }

  /// f(lane, stored column, flags) for all entries of a row.
  template <class Group, class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(Group const& group, std::int64_t row, F const& f) const {
    using bits = decltype(stored_bits(Value()));
    constexpr bits sign = sign_bit<bits>();
    bits const all_ones = stored_bits(Value(Kokkos::Experimental::infinity_v<double>));
    std::int64_t const first = rows.row_offsets[row];
    // The range of columns as they are stored.
    std::int32_t const low = within(-std::int64_t(rows.base(row)));
    std::int32_t const high = within(num_cols - rows.base(row));
    Column const* KOKKOS_RESTRICT const columns = rows.columns + first;
    Value const* KOKKOS_RESTRICT const values = rows.values + first;
    group.strided(std::int32_t(0), rows.length(row), [&](int lane, std::int32_t j) {
      auto const column = std::int32_t(columns[j]);
      auto const before = std::int32_t(columns[j - (j > 0 ? 1 : 0)]);
      bits const value = stored_bits(values[j]);
      bool const outside = (column < low) | (column >= high);
      bool const not_first = j > 0;
      f(lane, column,
        (outside ? bad_column : 0U) | ((value & all_ones) == all_ones ? infinite : 0U) |
            (column < before ? descent : 0U) | (((column == before) & not_first) ? twice : 0U) |
            (bits(value & bits(~sign)) == 0 ? zero : 0U) | (value == sign ? negative_zero : 0U));
    });
  }

  template <class Group>
  KOKKOS_FUNCTION void count(Group const& group, std::int64_t row, row_facts& result) const {
    typename Group::template lane_array<std::int32_t> number[num_flags];
    backend::unrolled<num_flags>([&](auto n) { group.each([&](int l) { number[n][l] = 0; }); });
    each(group, row, [&](int lane, std::int32_t, std::uint32_t flags) {
      backend::unrolled<num_flags>(
          [&](auto n) { number[n][lane] += std::int32_t(flags >> int(n) & 1U); });
    });
    result.bad_columns = group.sum(number[0]);
    result.not_finite = group.sum(number[1]);
    result.descending = group.sum(number[2]);
    result.doubled = group.sum(number[3]);
    result.stored_zeros = group.sum(number[4]);
    result.negative_zeros = group.sum(number[5]);
  }
};

/// All rows' counts in one, and the first row of each kind.
struct totals {
  std::int64_t bad_columns, not_finite, descending, doubled, stored_zeros, negative_zeros;
  std::int64_t bad_scales;
  std::int64_t first_column, first_scale, first_value, first_descent, first_double;
  std::int64_t longest, widest, empty;
};

struct totals_kernel {
  using value_type = totals;
  std::int64_t const* offsets;
  double const* scales;
  row_facts const* facts;

  KOKKOS_FUNCTION static void to_least(std::int64_t& a, std::int64_t b) { a = b < a ? b : a; }

  KOKKOS_FUNCTION void init(totals& t) const {
    t = {0, 0, 0, 0, 0, 0, 0, no_row, no_row, no_row, no_row, no_row, 0, 0, 0};
  }
  KOKKOS_FUNCTION void join(totals& t, totals const& o) const {
    t.bad_columns += o.bad_columns;
    t.not_finite += o.not_finite;
    t.descending += o.descending;
    t.doubled += o.doubled;
    t.stored_zeros += o.stored_zeros;
    t.negative_zeros += o.negative_zeros;
    t.bad_scales += o.bad_scales;
    to_least(t.first_column, o.first_column);
    to_least(t.first_scale, o.first_scale);
    to_least(t.first_value, o.first_value);
    to_least(t.first_descent, o.first_descent);
    to_least(t.first_double, o.first_double);
    t.longest = o.longest > t.longest ? o.longest : t.longest;
    t.widest = o.widest > t.widest ? o.widest : t.widest;
    t.empty += o.empty;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row, totals& t) const {
    row_facts const& f = facts[row];
    bool const scale = good_scale(scales, row);
    std::int64_t const length = offsets[row + 1] - offsets[row];
    join(t, {f.bad_columns, f.not_finite, f.descending, f.doubled, f.stored_zeros, f.negative_zeros,
             scale ? 0 : 1, f.bad_columns > 0 ? row : no_row, scale ? no_row : row,
             f.not_finite > 0 ? row : no_row, f.descending > 0 ? row : no_row,
             f.doubled > 0 ? row : no_row, length,
             length > 0 ? std::int64_t(f.most_column) - f.least_column : 0, length == 0 ? 1 : 0});
  }
};

/// The first entry of a row whose column is out of range.
template <class Column>
struct column_finder {
  std::int64_t const* offsets;
  Column const* columns;
  std::int64_t base;
  std::int64_t row;
  std::int64_t num_cols;
  std::int64_t* found;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      std::int64_t const at = base + columns[i];
      if (at < 0 || at >= num_cols) {
        found[0] = i;
        found[1] = at;
        return;
      }
    }
  }
};

}  // namespace

template <execution_space Exec>
void check_offsets(Exec const& exec, std::int64_t const* offsets, std::int64_t rows,
                   std::int64_t entries, csr_report& report) {
  first_bad bad{};
  offsets_kernel const kernel{{}, offsets, rows, entries};
  Kokkos::parallel_reduce("iso::sparse::validate: row offsets", range<Exec>(exec, 0, rows + 1),
                          kernel, bad);
  exec.fence("iso::sparse::validate: row offsets are read");
  report.bad_row_offsets = bad.count;
  if (bad.count == 0) {
    return;
  }
  report.found = bad.what;
  report.row = bad.first;
  std::int64_t at[2] = {0, 0};
  std::size_t const from = bad.first > 0 ? 1 : 0;
  Kokkos::deep_copy(
      exec, Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(at, from + 1),
      Kokkos::View<std::int64_t const*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
          offsets + bad.first - std::int64_t(from), from + 1));
  exec.fence("iso::sparse::validate: the row offset is here");
  report.value = at[from];
  report.limit = bad.what == fault::non_monotone_row_offset ? at[0] : entries;
  if (bad.what == fault::row_too_long) {
    report.row -= 1;
    report.value = at[1] - at[0];
    report.limit = longest_allowed;
  }
}

template <execution_space Exec, class Value, class Column>
void launch_check_rows(Exec const& exec, csr_rows<Value, Column> const& rows, std::int64_t num_cols,
                       row_facts* facts) {
  backend::for_each_lane_group<128, 0, backend::sharing::on_demand>(
      "iso::sparse::validate: rows", exec, rows.num_rows,
      check_rows_kernel<Value, Column>{rows, num_cols, facts});
}

namespace {

template <class Exec, class Column>
void find_column(Exec const& exec, std::int64_t const* offsets, Column const* columns,
                 std::int32_t const* bases, std::int64_t num_cols, csr_report& report) {
  using space = typename Exec::memory_space;
  std::int32_t base = 0;
  if (bases != nullptr) {
    Kokkos::deep_copy(
        exec, Kokkos::View<std::int32_t, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&base),
        Kokkos::View<std::int32_t const, space, Kokkos::MemoryUnmanaged>(bases + report.row));
    exec.fence("iso::sparse::validate: the row's base is here");
  }
  auto const found =
      allocate<Kokkos::View<std::int64_t*, space>>("iso::sparse::validate: found", {2}, exec);
  Kokkos::parallel_for(
      "iso::sparse::validate: the column", range<Exec>(exec, 0, 1),
      column_finder<Column>{offsets, columns, base, report.row, num_cols, found.data()});
  std::int64_t at[2];
  Kokkos::deep_copy(
      exec, Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(at, 2), found);
  exec.fence("iso::sparse::validate: the column is here");
  report.entry = at[0];
  report.value = at[1];
  report.limit = num_cols;
  report.found = at[1] < 0 ? fault::column_negative : fault::column_beyond;
}

}  // namespace

template <execution_space Exec, class Column>
void total_facts(Exec const& exec, std::int64_t const* offsets, Column const* columns,
                 std::int32_t const* bases, double const* scales, row_facts const* facts,
                 std::int64_t num_rows, std::int64_t num_cols, csr_demands const& demands,
                 csr_report& report) {
  totals t{};
  Kokkos::parallel_reduce("iso::sparse::validate: totals", range<Exec>(exec, 0, num_rows),
                          totals_kernel{offsets, scales, facts}, t);
  exec.fence("iso::sparse::validate: the counts are here");
  report.longest_row = t.longest;
  report.widest_row = t.widest;
  report.empty_rows = t.empty;
  report.bad_columns = t.bad_columns;
  report.bad_row_scales = t.bad_scales;
  report.not_finite = t.not_finite;
  report.descending = t.descending;
  report.doubled = t.doubled;
  report.stored_zeros = t.stored_zeros;
  report.negative_zeros = t.negative_zeros;
  auto const found = [&](fault what, std::int64_t row) {
    report.found = what;
    report.row = row;
  };
  bool const ascending = demands.columns == csr_demands::of_columns::ascending;
  if (t.bad_columns > 0) {
    report.row = t.first_column;
    find_column(exec, offsets, columns, bases, num_cols, report);
  } else if (t.bad_scales > 0) {
    found(fault::row_scale, t.first_scale);
  } else if (demands.values == csr_demands::of_values::finite && t.not_finite > 0) {
    found(fault::value_not_finite, t.first_value);
  } else if (ascending && t.descending > 0) {
    found(fault::columns_descend, t.first_descent);
  } else if (ascending && t.doubled > 0) {
    found(fault::column_doubled, t.first_double);
  }
}

#define ISO_INSTANTIATE_ROWS(Exec, Column, Value)       \
  template void launch_check_rows<Exec, Value, Column>( \
      Exec const&, csr_rows<Value, Column> const&, std::int64_t, row_facts*);
#define ISO_INSTANTIATE_COLUMN(Exec, Column)                                               \
  ISO_FOR_EACH_VALUE(ISO_INSTANTIATE_ROWS, Exec, Column)                                   \
  template void total_facts<Exec, Column>(                                                 \
      Exec const&, std::int64_t const*, Column const*, std::int32_t const*, double const*, \
      row_facts const*, std::int64_t, std::int64_t, csr_demands const&, csr_report&);
#define ISO_INSTANTIATE(Exec)                                                                     \
  ISO_FOR_EACH_COLUMN(ISO_INSTANTIATE_COLUMN, Exec)                                               \
  template void check_offsets<Exec>(Exec const&, std::int64_t const*, std::int64_t, std::int64_t, \
                                    csr_report&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_ROWS
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE

}  // namespace iso::sparse::detail
