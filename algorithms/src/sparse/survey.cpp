// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix has nothing to report, found at the speed of reading it.
#include "inspect_offsets.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/detail/grouped_rows.hpp>
#include <iso/sparse/detail/validate_impl.hpp>

#include <algorithm>

namespace iso::sparse::detail {
namespace {

/// A column that does not lie right of the one before it, whatever rows they are in. The first
/// entry of all is compared with itself, so that it counts as one.
template <class Column>
KOKKOS_FORCEINLINE_FUNCTION bool falls(Column const* columns, std::int64_t j) {
  return columns[j] <= columns[j - (j > 0 ? 1 : 0)];
}

/// Of a stretch of entries: how many columns fall; -1 where a value is not finite or zero.
template <class Value, class Column>
struct stretch_kernel {
  Column const* columns;
  Value const* values;
  std::int64_t entries;
  std::int32_t length;
  std::int32_t* falling;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    using bits = decltype(stored_bits(Value()));
    constexpr bits sign = bits(bits(1) << (8 * sizeof(bits) - 1));
    bits const all_ones = stored_bits(Value(std::numeric_limits<double>::infinity()));
    std::int64_t const first = index * length;
    std::int64_t const left = entries - first;
    Column const* KOKKOS_RESTRICT const here = columns + first;
    Value const* KOKKOS_RESTRICT const value = values + first;
    std::int32_t const back = index > 0 ? 1 : 0;
    typename Group::template per_lane<std::int32_t> number(0);
    typename Group::template per_lane<std::uint32_t> odd(0U);
    group.strided(std::int32_t(0), left < length ? std::int32_t(left) : length,
                  [&](int lane, std::int32_t j) {
                    bits const size = bits(stored_bits(value[j]) & bits(~sign));
                    odd[lane] |= (size & all_ones) == all_ones || size == 0 ? 1U : 0U;
                    number[lane] += here[j] <= here[j - (j > 0 ? 1 : back)] ? 1 : 0;
                  });
    typename Group::template per_lane<bool> any;
    group.each([&](int lane) { any[lane] = odd[lane] != 0; });
    bool const remarkable = group.any(any);
    std::int32_t const total = group.sum(number);
    group.once([&] { falling[index] = remarkable ? -1 : total; });
  }
};

struct survey_sums {
  std::int64_t falling;     ///< columns, wherever they stand
  std::int64_t at_starts;   ///< of them, in first entries of rows
  std::int64_t remarkable;  ///< above zero: something
  std::int64_t longest;
  std::int64_t widest;
  std::int64_t empty;
};

/// Row i of a matrix of which nothing is trusted yet, and stretch i.
template <class Column>
struct survey_kernel {
  using value_type = survey_sums;

  offsets_kernel of_offsets;
  Column const* columns;
  std::int32_t const* bases;
  double const* scales;
  std::int64_t num_cols;
  std::int32_t const* falling;
  std::int64_t stretches;

  KOKKOS_FUNCTION void init(survey_sums& s) const { s = {0, 0, 0, 0, 0, 0}; }
  KOKKOS_FUNCTION void join(survey_sums& s, survey_sums const& o) const {
    s.falling += o.falling;
    s.at_starts += o.at_starts;
    s.remarkable |= o.remarkable;
    s.longest = o.longest > s.longest ? o.longest : s.longest;
    s.widest = o.widest > s.widest ? o.widest : s.widest;
    s.empty += o.empty;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, survey_sums& s) const {
    if (i < stretches) {
      s.falling += falling[i];
      s.remarkable |= falling[i] < 0 ? 1 : 0;
    }
    if (i > of_offsets.rows) {
      return;
    }
    if (of_offsets.wrong_with(i) != fault::none) {
      s.remarkable |= 1;
    } else if (i < of_offsets.rows) {
      look_at(i, s);
    }
  }

 private:
  KOKKOS_FUNCTION void look_at(std::int64_t row, survey_sums& s) const {
    std::int64_t const first = of_offsets.offsets[row];
    std::int64_t const end = of_offsets.offsets[row + 1];
    if (end == first || end > of_offsets.entries || end < first) {
      s.empty += 1;  // or wrong, as offset row + 1 says
      s.remarkable |= good_scale(scales, row) ? 0 : 1;
      return;
    }
    std::int64_t const base = bases != nullptr ? bases[row] : 0;
    // First and last where columns ascend; where they do not, something is remarkable anyway.
    std::int64_t const low = base + columns[first];
    std::int64_t const high = base + columns[end - 1];
    bool const good = low >= 0 && high < num_cols && good_scale(scales, row);
    join(s, {0, falls(columns, first) ? 1 : 0, good ? 0 : 1, end - first, high - low, 0});
  }
};

}  // namespace

template <execution_space Exec, class Value, class Column>
survey survey_rows(Exec const& exec, csr_rows<Value, Column> const& rows, std::int64_t num_cols,
                   std::int64_t entries, double const* scales) {
  // Stretches enough for a GPU's multiprocessors, and short enough for a processor's cache.
  std::int64_t const even = (entries / 16384 + 31) / 32 * 32;
  auto const length = std::int32_t(std::clamp<std::int64_t>(even, 256, 4096));
  std::int64_t const stretches = (entries + length - 1) / length;
  auto const falling = allocate<Kokkos::View<std::int32_t*, typename Exec::memory_space>>(
      "iso::sparse::validate: stretches", {stretches}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group(
      "iso::sparse::validate: entries", exec, stretches,
      stretch_kernel<Value, Column>{rows.columns, rows.values, entries, length, falling.data()});
  survey_sums sums{};
  Kokkos::parallel_reduce("iso::sparse::validate: rows at a glance",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                              exec, 0, std::max(rows.num_rows + 1, stretches)),
                          survey_kernel<Column>{{{}, rows.row_offsets, rows.num_rows, entries},
                                                rows.columns,
                                                rows.row_bases,
                                                scales,
                                                num_cols,
                                                falling.data(),
                                                stretches},
                          sums);
  exec.fence("iso::sparse::validate: the sums are here");
  return {sums.remarkable == 0 && sums.falling == sums.at_starts, sums.longest, sums.widest,
          sums.empty};
}

#define ISO_INSTANTIATE_ROWS(Exec, Value, Column)                                               \
  template survey survey_rows<Exec, Value, Column>(Exec const&, csr_rows<Value, Column> const&, \
                                                   std::int64_t, std::int64_t, double const*);
#define ISO_INSTANTIATE_COLUMN(Exec, Column)   \
  ISO_INSTANTIATE_ROWS(Exec, half, Column)     \
  ISO_INSTANTIATE_ROWS(Exec, bfloat16, Column) \
  ISO_INSTANTIATE_ROWS(Exec, float, Column)    \
  ISO_INSTANTIATE_ROWS(Exec, double, Column)
#define ISO_INSTANTIATE(Exec)                \
  ISO_INSTANTIATE_COLUMN(Exec, std::int32_t) \
  ISO_INSTANTIATE_COLUMN(Exec, std::uint16_t)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE
#undef ISO_INSTANTIATE_COLUMN
#undef ISO_INSTANTIATE_ROWS

}  // namespace iso::sparse::detail
