// SPDX-License-Identifier: BSD-3-Clause
#include "product_launch.hpp"

#include <iso/backend/for_each_index.hpp>
#include <iso/sparse/plan.hpp>

#include <algorithm>
#include <limits>

namespace iso::sparse::detail {
namespace {

/// What reproducible sums of every row begin with.
struct exponent_kernel {
  std::int64_t num_rows;
  double const* max_abs;
  std::int32_t const* entries;
  std::int16_t* exponents;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    exponents[row] = std::int16_t(row < num_rows ? exponent(max_abs[row], entries[row]) : -1200);
  }

  /// The least e with 2^e >= most max(2 min(n, 64), n / 2) (1 + 2^-20): a lane adds at most 64
  /// terms before its sum must have stayed within a power of two, and all n must add exactly.
  KOKKOS_FUNCTION static int exponent(double most, std::int32_t n) {
    if (!(most > 0) || n == 0) {
      return -1200;
    }
    double const terms = n <= 64 ? 2.0 * n : (n <= 256 ? 128 : 0.5 * n);
    // Neither the product nor its exponent may leave the range of normal numbers on the way.
    int const shift = most < 1 ? 100 : -100;
    double const bound = most * (shift > 0 ? 0x1p100 : 0x1p-100) * terms * (1 + 0x1p-20);
    return ceil_log2(bound) - shift;
  }
  static_assert(part_steps == 64);
};

/// Blocks, and their segments.
struct segment_counts {
  std::int64_t blocks = 0;
  std::int64_t segments = 0;
  KOKKOS_FUNCTION segment_counts& operator+=(segment_counts const& more) {
    blocks += more.blocks;
    segments += more.segments;
    return *this;
  }
};

/// Counts and writes, in the blocks' order, the segments of those whose steps lie in [least, most).
template <class Rows>
struct segment_writer {
  Rows rows;
  std::int64_t least;
  std::int64_t most;
  row_segment* segments;     ///< null: they are counted
  std::int64_t* first_part;  ///< null: one segment each

  KOKKOS_FUNCTION void operator()(std::int64_t block, segment_counts& place, bool last_pass) const {
    row_segment const whole = rows.whole(block);
    std::int64_t const steps = Rows::steps(whole);
    if (steps < least || steps >= most) {
      return;
    }
    std::int64_t const parts = (steps + part_steps - 1) / part_steps;
    if (last_pass && segments != nullptr) {
      for (std::int64_t part = 0; part < parts; ++part) {
        segments[place.segments + part] = Rows::part(whole, std::int32_t(part) * part_steps);
      }
      if (first_part != nullptr) {
        first_part[place.blocks] = place.segments;
        first_part[place.blocks + 1] = place.segments + parts;
      }
    }
    place += segment_counts{1, parts};
  }
};

/// The word of 32 blocks: which of them have no entries.
template <class Rows>
struct empty_writer {
  Rows rows;
  std::int64_t num_blocks;
  std::uint32_t* empty;

  KOKKOS_FUNCTION void operator()(std::int64_t word) const {
    std::uint32_t bits = 0;
    for (int bit = 0; bit < 32; ++bit) {
      std::int64_t const block = 32 * word + bit;
      bool const none = block < num_blocks && Rows::steps(rows.whole(block)) == 0;
      bits |= std::uint32_t(none) << bit;
    }
    empty[word] = bits;
  }
};

}  // namespace

template <execution_space Exec, class Rows>
spmv_plan<typename Exec::memory_space> plan_of(Exec const& exec, Rows const& rows,
                                               matrix_shape const& shape,
                                               bounds<typename Exec::memory_space> const& whole) {
  auto const known = std::int64_t(whole.entries.extent(0));
  ISO_VALIDATE(std::int64_t(whole.max_abs.extent(0)) == shape.num_rows && known == shape.num_rows,
               "iso::sparse::make_plan: bounds of {} and {} rows for a matrix of {} (each row has "
               "one bound); take bounds of this matrix",
               whole.max_abs.extent(0), known, shape.num_rows);
  spmv_plan<typename Exec::memory_space> plan;
  plan.rows = whole;
  plan.matrix = shape;
  // Up to whole blocks of eight: what lanes read of a block's rows at once.
  std::int64_t const padded = (shape.num_rows + 7) / 8 * 8;
  make_array(exec, plan.exponents, "iso::sparse::spmv_plan: exponents", padded);
  backend::for_each_index("iso::sparse::make_plan: exponents", exec, padded,
                          exponent_kernel{shape.num_rows, whole.max_abs.data(),
                                          whole.entries.data(), plan.exponents.data()});
  std::int64_t const num_blocks = shape.num_blocks();
  auto const place = [&](std::int64_t least, std::int64_t most, row_segment* segments,
                         std::int64_t* first_part) {
    segment_counts found;
    Kokkos::parallel_scan("iso::sparse::make_plan: segments", range<Exec>(exec, 0, num_blocks),
                          segment_writer<Rows>{rows, least, most, segments, first_part}, found);
    exec.fence("iso::sparse::make_plan: the numbers are here");
    return found;
  };
  constexpr std::int64_t several = part_steps + 1;
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  auto const longs = place(several, any, nullptr, nullptr);
  auto const others = place(1, several, nullptr, nullptr);
  plan.num_long = longs.blocks;
  plan.num_parts = longs.segments;
  plan.num_segments = longs.segments + others.segments;
  make_array(exec, plan.segments, "iso::sparse::spmv_plan: segments", plan.num_segments);
  if (plan.num_long > 0) {
    make_array(exec, plan.first_part, "iso::sparse::spmv_plan: parts", plan.num_long + 1);
    place(several, any, plan.segments.data(), plan.first_part.data());
  }
  std::int64_t placed = plan.num_parts;
  std::int64_t most = several;
  for (std::int64_t const least : min_steps<Exec>) {
    placed += place(least, most, plan.segments.data() + placed, nullptr).segments;
    most = least;
  }
  if (longs.blocks + others.blocks < num_blocks) {
    std::int64_t const words = empty_words(num_blocks);
    make_array(exec, plan.empty, "iso::sparse::spmv_plan: empty", words);
    backend::for_each_index("iso::sparse::make_plan: rows without entries", exec, words,
                            empty_writer<Rows>{rows, num_blocks, plan.empty.data()});
  }
  exec.fence("iso::sparse::make_plan: the plan is complete");
  return plan;
}

#define ISO_SPARSE_PLAN(Exec, PerStep)                                                    \
  template spmv_plan<Exec::memory_space> plan_of(Exec const&, row_starts<PerStep> const&, \
                                                 matrix_shape const&,                     \
                                                 bounds<Exec::memory_space> const&);
ISO_FOR_EACH_BACKEND(ISO_SPARSE_PLAN, 32)
ISO_FOR_EACH_BACKEND(ISO_SPARSE_PLAN, 1)

}  // namespace iso::sparse::detail
