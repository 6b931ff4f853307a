// SPDX-License-Identifier: BSD-3-Clause
//! Included by the sources that instantiate products only.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/sparse/detail/product_kernel.hpp>
#include <iso/sparse/spmv.hpp>

#include <array>

namespace iso::sparse::detail {

/// K vectors side by side, from `vectors` that lie `stride` apart; zero beyond them.
template <class T, int K>
struct pack_kernel {
  T const* from;
  std::int64_t stride;
  int vectors;
  x_entry<T, K>* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    x_entry<T, K> packed;
    for (int k = 0; k < K; ++k) {
      packed.vector[k] = k < vectors ? from[i * stride + k] : T(0);
    }
    to[i] = packed;
  }
};

/// The vectors [first, first + K) of the call, as the kernel reads them.
template <int K, class Exec, class T>
x_entry<T, K> const* packed(Exec const& exec, product_call<T> const& call, std::int64_t first,
                            int vectors) {
  auto const at = reinterpret_cast<std::uintptr_t>(call.x + first);
  if (vectors == K && call.x_stride == K && at % alignof(x_entry<T, K>) == 0) {
    return reinterpret_cast<x_entry<T, K> const*>(call.x + first);
  }
  std::int64_t const largest =
      iso::detail::workspace_part(call.vectors * std::int64_t(sizeof(double)));
  auto* const to = reinterpret_cast<x_entry<T, K>*>(call.scratch + largest);
  if (call.num_pieces > 0) {
    Kokkos::parallel_for(
        "iso::sparse::spmv: vectors side by side",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, call.num_cols),
        pack_kernel<T, K>{call.x + first, call.x_stride, vectors, to});
  }
  return to;
}

template <class Rows, int K>
inline constexpr bool by_matrices =
    backend::detail::cuda_multiplies_matrices && adds_in_chains<Rows, K>;

/// Blocks of 128 threads that must fit a multiprocessor, which limits registers: fastest on an
/// H200; 0: the compiler's choice.
template <class Rows, class Sum, int K>
constexpr unsigned least_blocks() {
  if (by_matrices<Rows, K>) {
    return Sum::is_order_free ? 7 : 8;
  }
  switch (Rows::rows * K) {
    case 1:
      return 12;
    case 2:
      return Sum::is_order_free ? 10 : 0;
    case 4:
      return 8;
    case 8:
      return Sum::is_order_free && reads_a_piece<Rows> == 1 ? 6 : 7;
    case 16:
      return 5;
    default:
      return Sum::is_order_free ? 3 : 4;
  }
}

/// Threads a block: small ones make room sooner where a group ends, large ones start sooner.
/// Fastest on an H200: by 2 to 10 per cent at 32 sums that are not made by matrix instructions, by
/// half a per cent at 4 (prostate's A alone loses one or two).
template <class Rows, class Sum, int K>
constexpr unsigned block_threads() {
  if (by_matrices<Rows, K>) {
    return 64;
  }
  if (Rows::rows * K >= 32) {
    return 32;
  }
  return Rows::rows * K == 4 && Sum::is_order_free ? 64 : 128;
}

template <int K, class Sum, class Exec, class Rows, class T>
void launch_vectors(Exec const& exec, Rows const& rows, product_call<T> const& call,
                    std::int64_t first, int vectors) {
  auto* const part_sums = reinterpret_cast<T*>(call.sums);
  product<T, Rows, Sum, K> const working{
      rows,
      reinterpret_cast<typename Rows::piece_type const*>(call.pieces),
      packed<K>(exec, call, first, vectors),
      call.exponents,
      call.largest_x + (call.largest_x != nullptr ? first : 0),
      call.num_parts,
      part_sums,
      reinterpret_cast<bool*>(part_sums + call.num_parts * Rows::rows * K),
      {call.alpha, call.beta, call.y + first, call.y_stride, rows.num_rows, vectors,
       call.row_scales}};
  constexpr unsigned threads = block_threads<Rows, Sum, K>();
  backend::for_each_lane_group<threads, least_blocks<Rows, Sum, K>() * (128 / threads),
                               backend::sharing::on_demand, backend::beginning::early>(
      "iso::sparse::spmv", exec, call.num_pieces, working, call.shape);
  product_rest<T, Rows, Sum, K> const rest{
      working,    call.first_part, call.num_long,       call.num_pieces,
      call.empty, call.num_groups, call.num_empty_words};
  auto const launch_rest = [&]<backend::beginning Beginning>() {
    backend::for_each_lane_group<128, 0, backend::sharing::even, Beginning>(
        "iso::sparse::spmv: rest", exec, rest.num_launched(), rest, call.shape);
  };
  if (call.num_pieces > 0) {
    launch_rest.template operator()<backend::beginning::early>();
  } else {
    // What came before may still read or write y.
    launch_rest.template operator()<backend::beginning::in_turn>();
  }
}

template <class Sum, class Exec, class Rows, class T>
void launch_sum(Exec const& exec, Rows const& rows, product_call<T> const& call) {
  std::int64_t first = 0;
  // Chains are the order of a pass of four: of more vectors than two, all go so.
  bool const in_chains = adds_in_chains<Rows, 4> && !Sum::is_order_free && call.vectors > 2;
  for (; call.vectors - first > (in_chains ? 0 : 2); first += 4) {
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
    if (call.sum == sum_order::order_free) {
      product_call<T> with_largest = call;
      if (call.largest_x == nullptr && call.num_pieces > 0) {
        auto* const largest = reinterpret_cast<double*>(call.scratch);
        launch_largest<Exec, T>(exec, call.x, call.num_cols, call.x_stride, call.vectors, largest);
        with_largest.largest_x = largest;
      }
      return launch_sum<order_free_sum>(exec, rows, with_largest);
    }
  }
  launch_sum<ordered_sum>(exec, rows, call);
}

/// Largest finite |value| and number of entries of every row of a group.
template <class Rows>
struct bounds_kernel {
  static constexpr int rows = Rows::rows;

  Rows matrix;
  double* largest;
  std::int32_t* entries;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<double> most[rows];
    typename Group::template per_lane<std::int32_t> number[rows];
    backend::unrolled<rows>([&](auto r) {
      group.each([&](int lane) {
        most[r][lane] = 0;
        number[r][lane] = 0;
      });
    });
    matrix.template each<0>(
        group, matrix.whole(index), [](std::int32_t) { return 0; },
        [&](int lane, auto const& a, auto const&, auto first_row) {
          backend::unrolled<std::decay_t<decltype(a)>::rows>([&](auto r) {
            constexpr int row = int(first_row) + int(r);
            double const size = Kokkos::fabs(backend::widen<double>(a.row[r]));
            most[row][lane] = is_finite(size) && size > most[row][lane] ? size : most[row][lane];
            number[row][lane] += Rows::has_fill && is_fill(a.row[r]) ? 0 : 1;
          });
        });
    backend::unrolled<rows>([&](auto r) {
      std::int64_t const row = index * rows + int(r);
      std::int32_t const total = group.sum(number[r]);
      double const top = group.highest(most[r]);
      group.once([&] {
        if (row < matrix.num_rows) {
          largest[row] = top;
          entries[row] = total;
        }
      });
    });
  }
};

template <execution_space Exec, class Rows>
void launch_bounds(Exec const& exec, Rows const& rows, std::int64_t num_groups, double* largest,
                   std::int32_t* entries) {
  backend::for_each_lane_group("iso::sparse::make_bounds", exec, num_groups,
                               bounds_kernel<Rows>{rows, largest, entries});
}

KOKKOS_INLINE_FUNCTION std::int64_t parts_of(std::int64_t turns) {
  return (turns + part_turns - 1) / part_turns;
}

template <class Rows>
struct piece_counter {
  Rows rows;

  KOKKOS_FUNCTION void operator()(std::int64_t group, piece_counts& found) const {
    std::int64_t const parts = parts_of(Rows::turns(rows.whole(group)));
    found += parts > 1 ? piece_counts{1, parts, 0} : piece_counts{0, 0, parts};
  }
};

/// The parts of those groups that have several, in the groups' order.
template <class Rows>
struct part_writer {
  Rows rows;
  typename Rows::piece_type* pieces;
  std::int64_t* first_part;

  KOKKOS_FUNCTION void operator()(std::int64_t group, piece_counts& place, bool last_pass) const {
    typename Rows::piece_type const whole = rows.whole(group);
    std::int64_t const parts = parts_of(Rows::turns(whole));
    if (parts < 2) {
      return;
    }
    if (last_pass) {
      for (std::int64_t part = 0; part < parts; ++part) {
        pieces[place.parts + part] = Rows::part(whole, std::int32_t(part) * part_turns);
      }
      first_part[place.longs] = place.parts;
      first_part[place.longs + 1] = place.parts + parts;
    }
    place += piece_counts{1, parts, 0};
  }
};

/// Those groups whose turns lie in [least, most), in their order.
template <class Rows>
struct whole_writer {
  Rows rows;
  std::int32_t least;
  std::int32_t most;
  typename Rows::piece_type* pieces;

  KOKKOS_FUNCTION void operator()(std::int64_t group, std::int64_t& place, bool last_pass) const {
    typename Rows::piece_type const whole = rows.whole(group);
    std::int64_t const number = Rows::turns(whole);
    if (number >= least && number < most) {
      if (last_pass) {
        pieces[place] = whole;
      }
      ++place;
    }
  }
};

/// The word of 32 groups: which of them have no entries.
template <class Rows>
struct empty_writer {
  Rows rows;
  std::int64_t num_groups;
  std::uint32_t* empty;

  KOKKOS_FUNCTION void operator()(std::int64_t word) const {
    std::uint32_t bits = 0;
    for (int bit = 0; bit < 32; ++bit) {
      std::int64_t const group = 32 * word + bit;
      bool const none = group < num_groups && Rows::turns(rows.whole(group)) == 0;
      bits |= std::uint32_t(none) << bit;
    }
    empty[word] = bits;
  }
};

/// Least turns of the rows of each bin, in the order of their launch. On a GPU, long rows first:
/// what starts last ends soon. A processor's threads take rows on demand, and neighbours in turn
/// share what they read of x.
template <class Exec>
constexpr auto least_turns() {
  if constexpr (backend::is_device<Exec>) {
    return std::array{16, 4, 1};
  } else {
    return std::array{1};
  }
}

template <execution_space Exec, class Rows>
piece_counts launch_count_pieces(Exec const& exec, Rows const& rows, std::int64_t num_groups) {
  piece_counts found;
  Kokkos::parallel_reduce(
      "iso::sparse::make_plan: pieces",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, num_groups),
      piece_counter<Rows>{rows}, found);
  exec.fence("iso::sparse::make_plan: the numbers are here");
  return found;
}

template <execution_space Exec, class Rows>
void launch_pieces(Exec const& exec, Rows const& rows, std::int64_t num_groups,
                   piece_counts const& found, row_piece* to, std::int64_t* first_part,
                   std::uint32_t* empty) {
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  auto* const pieces = reinterpret_cast<typename Rows::piece_type*>(to);
  policy const all(exec, 0, num_groups);
  if (found.longs > 0) {
    Kokkos::parallel_scan("iso::sparse::make_plan: parts", all,
                          part_writer<Rows>{rows, pieces, first_part});
  }
  std::int64_t placed = found.parts;
  std::int32_t most = part_turns + 1;
  for (std::int32_t const least : least_turns<Exec>()) {
    std::int64_t number = 0;
    Kokkos::parallel_scan("iso::sparse::make_plan: whole rows", all,
                          whole_writer<Rows>{rows, least, most, pieces + placed}, number);
    placed += number;
    most = least;
  }
  if (empty != nullptr) {
    Kokkos::parallel_for("iso::sparse::make_plan: rows without entries",
                         policy(exec, 0, empty_words(num_groups)),
                         empty_writer<Rows>{rows, num_groups, empty});
  }
  exec.fence("iso::sparse::make_plan: the plan is complete");
}

}  // namespace iso::sparse::detail
