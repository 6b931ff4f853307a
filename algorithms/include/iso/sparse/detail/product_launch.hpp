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
  std::int64_t const largest = (call.vectors * std::int64_t(sizeof(double)) + 255) / 256 * 256;
  auto* const to = reinterpret_cast<x_entry<T, K>*>(call.scratch + largest);
  if (call.num_working > 0) {
    Kokkos::parallel_for(
        "iso::sparse::spmv: vectors side by side",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, call.num_cols),
        pack_kernel<T, K>{call.x + first, call.x_stride, vectors, to});
  }
  return to;
}

/// Blocks of 128 threads that must fit a multiprocessor, which limits registers: fastest on an H200
/// for one vector; 0: the compiler's choice.
template <class Rows, class Sum, int K>
inline constexpr unsigned least_blocks = K > 1             ? 0
                                         : Rows::rows == 1 ? 12
                                         : Rows::rows == 4 ? (Sum::has_constants ? 8 : 9)
                                                           : 0;

template <int K, class Sum, class Exec, class Rows, class T>
void launch_vectors(Exec const& exec, Rows const& rows, product_call<T> const& call,
                    std::int64_t first, int vectors) {
  product_kernel<T, Rows, Sum, K> const kernel{
      rows,
      call.groups,
      call.num_long,
      call.num_working,
      call.first_part,
      call.part_owner,
      call.num_parts,
      call.num_groups,
      call.alpha,
      call.beta,
      packed<K>(exec, call, first, vectors),
      call.y + first,
      call.y_stride,
      vectors,
      call.row_scales,
      call.reach,
      call.largest_x + (call.largest_x != nullptr ? first : 0),
      reinterpret_cast<T*>(call.part_sums)};
  backend::for_each_lane_group<128, least_blocks<Rows, Sum, K>, backend::sharing::on_demand>(
      "iso::sparse::spmv", exec, kernel.num_launched(), kernel, call.shape);
  if (call.num_long > 0) {
    Kokkos::parallel_for("iso::sparse::spmv: long rows",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, call.num_long * kernel.count),
                         kernel);
  }
}

template <class Sum, class Exec, class Rows, class T>
void launch_sum(Exec const& exec, Rows const& rows, product_call<T> const& call) {
  std::int64_t first = 0;
  if constexpr (most_vectors<Rows> >= 4) {
    for (; call.vectors - first > 2; first += 4) {
      launch_vectors<4, Sum>(exec, rows, call, first,
                             call.vectors - first < 4 ? int(call.vectors - first) : 4);
    }
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
      if (call.largest_x == nullptr && call.num_working > 0) {
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
    using value = typename Rows::value_type;
    typename Group::template per_lane<double> most[rows];
    typename Group::template per_lane<std::int32_t> number[rows];
    backend::unrolled<rows>([&](auto r) {
      group.each([&](int lane) {
        most[r][lane] = 0;
        number[r][lane] = 0;
      });
    });
    matrix.each(group, index, {0, matrix.turns(index)},
                [&](int lane, std::int32_t, entry<value, rows> const& a) {
                  backend::unrolled<rows>([&](auto r) {
                    double const size = Kokkos::fabs(backend::widen<double>(a.row[r]));
                    most[r][lane] = is_finite(size) && size > most[r][lane] ? size : most[r][lane];
                    number[r][lane] += Rows::has_fill && is_fill(a.row[r]) ? 0 : 1;
                  });
                });
    backend::unrolled<rows>([&](auto r) {
      std::int64_t const row = index * rows + int(r);
      std::int32_t const total = group.sum(number[r]);
      double const top = highest(group, most[r]);
      group.once([&] {
        if (row < matrix.num_rows) {
          largest[row] = top;
          entries[row] = total;
        }
      });
    });
  }

 private:
  template <class Group, class Lanes>
  KOKKOS_FUNCTION static double highest(Group const& group, Lanes& x) {
    for (int offset = 16; offset > 0; offset /= 2) {
      typename Group::template per_lane<int> from;
      group.each([&](int lane) { from[lane] = lane ^ offset; });
      auto const other = group.shuffle(x, from);
      group.each([&](int lane) { x[lane] = other[lane] > x[lane] ? other[lane] : x[lane]; });
    }
    return group.broadcast(x, 0);
  }
};

template <execution_space Exec, class Rows>
void launch_bounds(Exec const& exec, Rows const& rows, std::int64_t num_groups, double* largest,
                   std::int32_t* entries) {
  backend::for_each_lane_group("iso::sparse::make_bounds", exec, num_groups,
                               bounds_kernel<Rows>{rows, largest, entries});
}

/// Those groups whose turns lie in [least, most), in their order.
template <class Rows>
struct schedule_kernel {
  Rows rows;
  std::int32_t least;
  std::int32_t most;
  std::int32_t* groups;

  KOKKOS_FUNCTION void operator()(std::int64_t group, std::int64_t& place, bool last_pass) const {
    std::int32_t const turns = rows.turns(group);
    if (turns >= least && turns < most) {
      if (last_pass) {
        groups[place] = std::int32_t(group);
      }
      ++place;
    }
  }
};

/// Least turns of the rows of each bin, in the order of their launch; the first bin is of those of
/// several parts, the last of those without entries. On a GPU, long rows first: what starts last
/// ends soon. A processor's threads take rows on demand, and neighbours in turn share what they
/// read of x.
template <class Exec>
constexpr auto least_turns() {
  if constexpr (backend::is_device<Exec>) {
    return std::array{part_turns + 1, 16, 4, 1, 0};
  } else {
    return std::array{part_turns + 1, 1, 0};
  }
}

template <execution_space Exec, class Rows>
schedule launch_schedule(Exec const& exec, Rows const& rows, std::int64_t num_groups,
                         std::int32_t* groups) {
  constexpr std::int32_t endless = std::numeric_limits<std::int32_t>::max();
  constexpr auto bins = least_turns<Exec>();
  schedule result{};
  std::int64_t placed = 0;
  std::int32_t most = endless;
  for (std::int32_t const least : bins) {
    result.num_working = placed;  // the last bin holds those without entries
    std::int64_t found = 0;
    Kokkos::parallel_scan(
        "iso::sparse::make_plan",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, num_groups),
        schedule_kernel<Rows>{rows, least, most, groups + placed}, found);
    placed += found;
    most = least;
    result.num_long = least > part_turns ? placed : result.num_long;
  }
  return result;
}

/// Where the parts of each long group begin.
template <class Rows>
struct parts_kernel {
  Rows rows;
  std::int64_t num_long;
  std::int32_t const* groups;
  std::int64_t* first_part;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& parts, bool last_pass) const {
    if (last_pass) {
      first_part[i] = parts;
    }
    parts += (rows.turns(groups[i]) + part_turns - 1) / part_turns;
    if (last_pass && i + 1 == num_long) {
      first_part[num_long] = parts;
    }
  }
};

template <execution_space Exec, class Rows>
std::int64_t launch_parts(Exec const& exec, Rows const& rows, std::int64_t num_long,
                          std::int32_t const* groups, std::int64_t* first_part) {
  std::int64_t parts = 0;
  Kokkos::parallel_scan(
      "iso::sparse::make_plan: parts",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, num_long),
      parts_kernel<Rows>{rows, num_long, groups, first_part}, parts);
  return parts;
}

}  // namespace iso::sparse::detail
