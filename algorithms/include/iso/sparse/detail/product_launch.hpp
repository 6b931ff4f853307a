// SPDX-License-Identifier: BSD-3-Clause
//! Included by the sources that instantiate products only.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/sparse/detail/product_kernel.hpp>
#include <iso/sparse/detail/product_tuning.hpp>
#include <iso/sparse/spmv.hpp>

#include <array>

namespace iso::sparse::detail {

/// K vectors side by side, from `vectors` that lie `stride` apart; zero beyond them.
template <class T, int K>
struct pack_kernel {
  T const* from;
  std::int64_t stride;
  int vectors;
  backend::pack<T, K>* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    backend::pack<T, K> packed;
    for (int k = 0; k < K; ++k) {
      packed[k] = k < vectors ? from[i * stride + k] : T(0);
    }
    to[i] = packed;
  }
};

/// The vectors [first, first + K) of the call, as the kernel reads them.
template <int K, class Exec, class T>
backend::pack<T, K> const* packed(Exec const& exec, product_call<T> const& call, std::int64_t first,
                                  int vectors) {
  auto const at = reinterpret_cast<std::uintptr_t>(call.x + first);
  if (vectors == K && call.x_stride == K && at % alignof(backend::pack<T, K>) == 0) {
    return reinterpret_cast<backend::pack<T, K> const*>(call.x + first);
  }
  std::int64_t const maxima =
      iso::detail::workspace_part(call.vectors * std::int64_t(sizeof(double)));
  auto* const to = reinterpret_cast<backend::pack<T, K>*>(call.scratch + maxima);
  if (call.num_segments > 0) {
    Kokkos::parallel_for(
        "iso::sparse::spmv: vectors side by side",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, call.num_cols),
        pack_kernel<T, K>{call.x + first, call.x_stride, vectors, to});
  }
  return to;
}

template <int K, class Sum, class Exec, class Rows, class T>
void launch_vectors(Exec const& exec, Rows const& rows, product_call<T> const& call,
                    std::int64_t first, int vectors) {
  auto* const part_sums = reinterpret_cast<T*>(call.sums);
  using tuning = product_tuning<Exec, Rows, Sum, K>;
  product<T, Rows, Sum, K, tuning> const working{
      rows,
      call.segments,
      packed<K>(exec, call, first, vectors),
      call.exponents,
      call.max_abs_x + (call.max_abs_x != nullptr ? first : 0),
      call.num_parts,
      part_sums,
      reinterpret_cast<bool*>(part_sums + call.num_parts * Rows::rows * K),
      {call.alpha, call.beta, call.y + first, call.y_stride, rows.num_rows, vectors,
       call.row_scales}};
  backend::for_each_lane_group<tuning::threads, tuning::min_blocks(), backend::sharing::on_demand,
                               backend::beginning::early>("iso::sparse::spmv", exec,
                                                          call.num_segments, working, call.shape);
  product_fix_up<T, Rows, Sum, K, tuning> const fix_up{
      working,    call.first_part, call.num_long,       call.num_segments,
      call.empty, call.num_blocks, call.num_empty_words};
  auto const launch_fix_up = [&]<backend::beginning Beginning>() {
    backend::for_each_lane_group<128, 0, backend::sharing::even, Beginning>(
        "iso::sparse::spmv: fix-up", exec, fix_up.num_launched(), fix_up, call.shape);
  };
  if (call.num_segments > 0) {
    launch_fix_up.template operator()<backend::beginning::early>();
  } else {
    // What came before may still read or write y.
    launch_fix_up.template operator()<backend::beginning::in_turn>();
  }
}

template <class Sum, class Exec, class Rows, class T>
void launch_sum(Exec const& exec, Rows const& rows, product_call<T> const& call) {
  std::int64_t first = 0;
  for (; call.vectors - first > 2; first += 4) {
    launch_vectors<4, Sum>(exec, rows, call, first,
                           call.vectors - first < 4 ? int(call.vectors - first) : 4);
  }
  for (; call.vectors - first > 1; first += 2) {
    launch_vectors<2, Sum>(exec, rows, call, first, 2);
  }
  if (first < call.vectors) {
    launch_vectors<1, Sum>(exec, rows, call, first, 1);
  }
}

template <execution_space Exec, class Rows, real T>
void launch_product(Exec const& exec, Rows const& rows, product_call<T> const& call) {
  if constexpr (std::is_same_v<T, double>) {
    if (call.sum == summation::reproducible) {
      product_call<T> with_max_abs = call;
      if (call.max_abs_x == nullptr && call.num_segments > 0) {
        auto* const maxima = reinterpret_cast<double*>(call.scratch);
        launch_max_abs<Exec, T>(exec, call.x, call.num_cols, call.x_stride, call.vectors, maxima);
        with_max_abs.max_abs_x = maxima;
      }
      return launch_sum<reproducible_sum>(exec, rows, with_max_abs);
    }
  }
  launch_sum<ordered_sum>(exec, rows, call);
}

/// Largest finite |value| and number of entries of every row of a block.
template <class Rows>
struct bounds_kernel {
  static constexpr int rows = Rows::rows;

  Rows matrix;
  double* max_abs;
  std::int32_t* entries;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<double> most[rows];
    typename Group::template lane_array<std::int32_t> number[rows];
    backend::unrolled<rows>([&](auto r) {
      group.each([&](int lane) {
        most[r][lane] = 0;
        number[r][lane] = 0;
      });
    });
    matrix.each(
        group, matrix.whole(index), [](std::int32_t) { return 0; },
        [&](int lane, auto const& a, auto const&) {
          backend::unrolled<rows>([&](auto r) {
            double const size = Kokkos::fabs(backend::widen<double>(a[r]));
            most[r][lane] = is_finite(size) && size > most[r][lane] ? size : most[r][lane];
            number[r][lane] += Rows::has_padding && is_padding(a[r]) ? 0 : 1;
          });
        });
    backend::unrolled<rows>([&](auto r) {
      std::int64_t const row = index * rows + int(r);
      std::int32_t const total = group.sum(number[r]);
      double const top = group.highest(most[r]);
      group.once([&] {
        if (row < matrix.num_rows) {
          max_abs[row] = top;
          entries[row] = total;
        }
      });
    });
  }
};

template <execution_space Exec, class Rows>
void launch_bounds(Exec const& exec, Rows const& rows, std::int64_t num_blocks, double* max_abs,
                   std::int32_t* entries) {
  backend::for_each_lane_group("iso::sparse::make_bounds", exec, num_blocks,
                               bounds_kernel<Rows>{rows, max_abs, entries});
}

KOKKOS_INLINE_FUNCTION std::int64_t parts_of(std::int64_t steps) {
  return (steps + part_steps - 1) / part_steps;
}

template <class Rows>
struct segment_counter {
  Rows rows;

  KOKKOS_FUNCTION void operator()(std::int64_t block, segment_counts& found) const {
    std::int64_t const parts = parts_of(Rows::steps(rows.whole(block)));
    found += parts > 1 ? segment_counts{1, parts, 0} : segment_counts{0, 0, parts};
  }
};

/// The parts of those blocks that have several, in the blocks' order.
template <class Rows>
struct part_writer {
  Rows rows;
  row_segment* segments;
  std::int64_t* first_part;

  KOKKOS_FUNCTION void operator()(std::int64_t block, segment_counts& place, bool last_pass) const {
    row_segment const whole = rows.whole(block);
    std::int64_t const parts = parts_of(Rows::steps(whole));
    if (parts < 2) {
      return;
    }
    if (last_pass) {
      for (std::int64_t part = 0; part < parts; ++part) {
        segments[place.parts + part] = Rows::part(whole, std::int32_t(part) * part_steps);
      }
      first_part[place.longs] = place.parts;
      first_part[place.longs + 1] = place.parts + parts;
    }
    place += segment_counts{1, parts, 0};
  }
};

/// Those blocks whose steps lie in [least, most), in their order.
template <class Rows>
struct whole_writer {
  Rows rows;
  std::int32_t least;
  std::int32_t most;
  row_segment* segments;

  KOKKOS_FUNCTION void operator()(std::int64_t block, std::int64_t& place, bool last_pass) const {
    row_segment const whole = rows.whole(block);
    std::int64_t const number = Rows::steps(whole);
    if (number >= least && number < most) {
      if (last_pass) {
        segments[place] = whole;
      }
      ++place;
    }
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

/// Least steps of the rows of each bin, in the order of their launch. On a GPU, long rows first:
/// what starts last ends soon. A processor's threads take rows on demand, and neighbours in step
/// share what they read of x.
template <class Exec>
constexpr auto least_steps() {
  if constexpr (backend::is_device<Exec>) {
    return std::array{16, 4, 1};
  } else {
    return std::array{1};
  }
}

template <execution_space Exec, class Rows>
segment_counts launch_count_segments(Exec const& exec, Rows const& rows, std::int64_t num_blocks) {
  segment_counts found;
  Kokkos::parallel_reduce(
      "iso::sparse::make_plan: segments",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, num_blocks),
      segment_counter<Rows>{rows}, found);
  exec.fence("iso::sparse::make_plan: the numbers are here");
  return found;
}

template <execution_space Exec, class Rows>
void launch_segments(Exec const& exec, Rows const& rows, std::int64_t num_blocks,
                     segment_counts const& found, row_segment* segments, std::int64_t* first_part,
                     std::uint32_t* empty) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  policy const all(exec, 0, num_blocks);
  if (found.longs > 0) {
    Kokkos::parallel_scan("iso::sparse::make_plan: parts", all,
                          part_writer<Rows>{rows, segments, first_part});
  }
  std::int64_t placed = found.parts;
  std::int32_t most = part_steps + 1;
  for (std::int32_t const least : least_steps<Exec>()) {
    std::int64_t number = 0;
    Kokkos::parallel_scan("iso::sparse::make_plan: whole rows", all,
                          whole_writer<Rows>{rows, least, most, segments + placed}, number);
    placed += number;
    most = least;
  }
  if (empty != nullptr) {
    Kokkos::parallel_for("iso::sparse::make_plan: rows without entries",
                         policy(exec, 0, empty_words(num_blocks)),
                         empty_writer<Rows>{rows, num_blocks, empty});
  }
  exec.fence("iso::sparse::make_plan: the plan is complete");
}

}  // namespace iso::sparse::detail
