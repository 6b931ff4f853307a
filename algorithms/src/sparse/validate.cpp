// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/sparse/detail/product_tuning.hpp>
#include <iso/sparse/detail/row_block_rows.hpp>
#include <iso/sparse/validate.hpp>

#include <Kokkos_NumericTraits.hpp>

#include <limits>

namespace iso::sparse::detail {
namespace {

constexpr std::int64_t no_row = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t longest_allowed = std::numeric_limits<std::int32_t>::max() - 63;

/// What is wrong with row offset i, being `at` behind `before`.
KOKKOS_FUNCTION fault wrong_offset(std::int64_t i, std::int64_t before, std::int64_t at,
                                   std::int64_t rows, std::int64_t entries) {
  return i == 0 && at != 0                              ? fault::first_row_offset
         : at < 0                                       ? fault::negative_row_offset
         : at < before                                  ? fault::non_monotone_row_offset
         : at > entries                                 ? fault::row_offset_beyond
         : i == rows && at != entries                   ? fault::last_row_offset
         : before >= 0 && at - before > longest_allowed ? fault::row_too_long
                                                        : fault::none;
}

/// How many row offsets are wrong, and the first.
struct offsets_kernel {
  std::int64_t const* offsets;
  std::int64_t rows;
  std::int64_t entries;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count, std::int64_t& first) const {
    std::int64_t const before = offsets[i - (i > 0 ? 1 : 0)];
    if (wrong_offset(i, before, offsets[i], rows, entries) != fault::none) {
      ++count;
      first = i < first ? i : first;
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

/// What is counted: of the entries of a row, whose flags are bits of these numbers, and row scales.
enum { out_of_range, not_finite, descent, twice, zero, negative_zero, bad_scale, num_kinds };
constexpr int num_flags = bad_scale;

struct row_facts {
  std::int32_t counts[num_flags];
  std::int64_t width;  ///< from the lowest column to the highest
};

/// Looks at a row by flags, and counts only where one was seen.
template <class Value, class Column>
struct check_rows_kernel {
  csr_rows<Value, Column> rows;
  std::int64_t num_cols;
  row_facts* facts;
  std::int64_t first_row;  ///< of the launch

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const row = first_row + of_launch;
    if (rows.length(row) == 0) {
      return group.once([&] { facts[row] = row_facts{}; });
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
    result.width = std::int64_t(group.highest(most)) - group.lowest(least);
    group.once([&] { facts[row] = result; });
  }

 private:
  KOKKOS_FUNCTION static std::int32_t within(std::int64_t x) {
    using namespace Kokkos::Experimental;
    return Kokkos::clamp<std::int64_t>(x, finite_min_v<std::int32_t>, finite_max_v<std::int32_t>);
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
      auto const flag = [](bool is, int kind) { return std::uint32_t(is) << kind; };
      f(lane, column,
        flag((column < low) | (column >= high), out_of_range) |
            flag((value & all_ones) == all_ones, not_finite) | flag(column < before, descent) |
            flag((column == before) & (j > 0), twice) | flag(bits(value & bits(~sign)) == 0, zero) |
            flag(value == sign, negative_zero));
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
    backend::unrolled<num_flags>([&](auto n) { result.counts[n] = group.sum(number[n]); });
  }
};

/// All rows' counts in one, and the first row of each kind.
struct totals {
  std::int64_t counts[num_kinds];
  std::int64_t first[num_kinds];
  std::int64_t longest, widest, wide, empty;
};

struct totals_kernel {
  using value_type = totals;
  std::int64_t const* offsets;
  double const* scales;
  row_facts const* facts;

  KOKKOS_FUNCTION void init(totals& t) const {
    t = {};
    for (std::int64_t& first : t.first) {
      first = no_row;
    }
  }
  KOKKOS_FUNCTION void join(totals& t, totals const& o) const {
    for (int kind = 0; kind < num_kinds; ++kind) {
      t.counts[kind] += o.counts[kind];
      t.first[kind] = o.first[kind] < t.first[kind] ? o.first[kind] : t.first[kind];
    }
    t.longest = o.longest > t.longest ? o.longest : t.longest;
    t.widest = o.widest > t.widest ? o.widest : t.widest;
    t.wide += o.wide;
    t.empty += o.empty;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row, totals& t) const {
    row_facts const& f = facts[row];
    totals of{};
    for (int kind = 0; kind < num_kinds; ++kind) {
      of.counts[kind] = kind < num_flags ? f.counts[kind] : !good_scale(scales, row);
      of.first[kind] = of.counts[kind] > 0 ? row : no_row;
    }
    of.longest = offsets[row + 1] - offsets[row];
    of.empty = of.longest == 0 ? 1 : 0;
    of.widest = f.width;
    of.wide = f.width > 65535 ? 1 : 0;
    join(t, of);
  }
};

/// `count` elements of an array on the host. Fences `exec`.
template <class Exec, class T>
auto fetched(Exec const& exec, T const* from, std::int64_t count) {
  using array = Kokkos::View<T*, Kokkos::HostSpace>;
  auto const to = allocate<array>("iso::sparse::validate", {count}, Kokkos::WithoutInitializing);
  Kokkos::deep_copy(
      exec, to,
      Kokkos::View<T const*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(from, count));
  exec.fence("iso::sparse::validate: the elements are here");
  return to;
}

template <class Exec>
void check_offsets(Exec const& exec, std::int64_t const* offsets, std::int64_t rows,
                   std::int64_t entries, csr_report& report) {
  std::int64_t count = 0;
  std::int64_t first = no_row;
  Kokkos::parallel_reduce("iso::sparse::validate: row offsets", range<Exec>(exec, 0, rows + 1),
                          offsets_kernel{offsets, rows, entries}, count,
                          Kokkos::Min<std::int64_t>(first));
  exec.fence("iso::sparse::validate: row offsets are read");
  report.bad_row_offsets = count;
  if (count == 0) {
    return;
  }
  std::int64_t const from = first > 0 ? first - 1 : 0;
  auto const seen = fetched(exec, offsets + from, first - from + 1);
  std::int64_t const before = seen(0);
  std::int64_t const at = seen(first - from);
  report.found = wrong_offset(first, before, at, rows, entries);
  bool const too_long = report.found == fault::row_too_long;
  report.row = first - (too_long ? 1 : 0);
  report.value = too_long ? at - before : at;
  report.limit = too_long                                         ? longest_allowed
                 : report.found == fault::non_monotone_row_offset ? before
                                                                  : entries;
}

/// Names the first entry of a row, report.row, whose column is out of range.
template <class Exec, class Value, class Column>
void find_column(Exec const& exec, csr_rows<Value, Column> const& a, std::int64_t num_cols,
                 csr_report& report) {
  auto const ends = fetched(exec, a.row_offsets + report.row, 2);
  auto const columns = fetched(exec, a.columns + ends(0), ends(1) - ends(0));
  std::int64_t const base = a.relative ? fetched(exec, a.row_bases + report.row, 1)(0) : 0;
  auto const column = [&](std::int64_t i) { return base + std::int64_t(columns(i)); };
  std::int64_t i = 0;
  while (column(i) >= 0 && column(i) < num_cols) {
    ++i;
  }
  report.entry = ends(0) + i;
  report.value = column(i);
  report.limit = num_cols;
  report.found = column(i) < 0 ? fault::column_negative : fault::column_beyond;
}

/// The rest of the report, of sound row offsets.
template <class Exec, class Value, class Column>
void check_rows(Exec const& exec, csr_rows<Value, Column> const& a, double const* scales,
                std::int64_t num_cols, csr_demands const& demands, job const& control,
                csr_report& report) {
  auto const facts = allocate<Kokkos::View<row_facts*, typename Exec::memory_space>>(
      "iso::sparse: row facts", {a.num_rows}, exec, Kokkos::WithoutInitializing);
  iso::detail::in_timed_batches(
      exec, a.num_rows, control, [&](std::int64_t first, std::int64_t last) {
        backend::for_each_lane_group<block_threads, 0, backend::sharing::on_demand>(
            "iso::sparse::validate: rows", exec, last - first,
            check_rows_kernel<Value, Column>{a, num_cols, facts.data(), first});
      });
  totals t{};
  Kokkos::parallel_reduce("iso::sparse::validate: totals", range<Exec>(exec, 0, a.num_rows),
                          totals_kernel{a.row_offsets, scales, facts.data()}, t);
  exec.fence("iso::sparse::validate: the counts are here");
  report.longest_row = t.longest;
  report.widest_row = t.widest;
  report.wide_rows = t.wide;
  report.empty_rows = t.empty;
  report.bad_columns = t.counts[out_of_range];
  report.bad_row_scales = t.counts[bad_scale];
  report.not_finite = t.counts[not_finite];
  report.descending = t.counts[descent];
  report.doubled = t.counts[twice];
  report.stored_zeros = t.counts[zero];
  report.negative_zeros = t.counts[negative_zero];
  auto const look = [&](bool wanted, int kind, fault what) {
    if (wanted && report.sound() && t.counts[kind] > 0) {
      report.found = what;
      report.row = t.first[kind];
    }
  };
  bool const ascending = demands.columns == csr_demands::of_columns::ascending;
  look(true, out_of_range, fault::column_beyond);
  look(true, bad_scale, fault::row_scale);
  look(demands.values == csr_demands::of_values::finite, not_finite, fault::value_not_finite);
  look(ascending, descent, fault::columns_descend);
  look(ascending, twice, fault::column_doubled);
  if (report.found == fault::column_beyond) {
    find_column(exec, a, num_cols, report);
  }
}

template <class Exec, class Matrix>
csr_report report_of(Exec const& exec, Matrix const& a, csr_demands const& demands,
                     job const& control) {
  csr_report report = check_lengths(a);
  if (report.sound()) {
    check_offsets(exec, a.row_offsets.data(), a.num_rows, a.num_entries(), report);
  }
  if (report.sound()) {
    check_rows(exec, rows_of(a), row_scales_of(a), a.num_cols, demands, control, report);
  }
  return report;
}

}  // namespace
}  // namespace iso::sparse::detail

namespace iso::sparse {

template <execution_space Exec, class Value, column_index Column>
csr_report validate(Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
                    csr_demands const& demands, job const& control) {
  return detail::report_of(exec, a.as_const(), demands, control);
}

#define ISO_SPARSE_VALIDATE(Exec, Value, Column)     \
  template csr_report validate<Exec, Value, Column>( \
      Exec const&, ISO_CSR(Exec, Value, Column) const&, csr_demands const&, job const&);
ISO_FOR_EACH_CSR(ISO_SPARSE_VALIDATE)

}  // namespace iso::sparse
