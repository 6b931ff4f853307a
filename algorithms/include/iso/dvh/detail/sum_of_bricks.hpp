// SPDX-License-Identifier: BSD-3-Clause
//! Adds up terms of bricks in batches, between which a job is asked.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/dvh/detail/placed_region.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>

namespace iso::dvh::detail {

/// Returns the sum of the bricks' terms as iso::sum_of makes it: sums of integers in a unit that
/// follows from the largest term. Passes twice over the bricks.
/// \param terms  terms(part) is a functor that can be copied: its call with (brick, add) calls
///               add(x) for each term, its bound(brick) is at least the largest |x| of them
template <execution_space Exec, class T, class Terms>
double sum_of_bricks(placed_region<Exec, T> const& placed, Terms const& terms, job const& asked) {
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using iso::detail::in_timed_batches;
  using part_terms = decltype(terms(std::declval<typename placed_region<Exec, T>::part>()));
  auto const& exec = placed.exec;
  auto const count = double(size_of(placed.cells.extent));
  double most = 0;
  placed.together(asked, [&] {
    placed.for_each_part(asked, [&](auto const& part) {
      auto const bricks = part.cells.num_bricks();
      in_timed_batches(exec, bricks, asked, [&](std::int64_t first, std::int64_t last) {
        double some = 0;
        Kokkos::parallel_reduce("iso::dvh: range", range(exec, first, last),
                                iso::detail::term_range_kernel<part_terms>{terms(part)},
                                Kokkos::Max<double>(some));
        exec.fence("iso::dvh: the range is here");
        most = some > most ? some : most;
      });
    });
  });
  most = placed.largest(most);
  if (!(most > 0)) {
    return 0;  // there are no terms
  }
  if (!is_finite(most)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  iso::detail::split_scale const scale(most, count);
  iso::detail::split_sum sum;
  placed.together(asked, [&] {
    placed.for_each_part(asked, [&](auto const& part) {
      auto const bricks = part.cells.num_bricks();
      in_timed_batches(exec, bricks, asked, [&](std::int64_t first, std::int64_t last) {
        iso::detail::split_sum some;
        Kokkos::parallel_reduce("iso::dvh: sum", range(exec, first, last),
                                iso::detail::split_sum_kernel<part_terms>{terms(part), scale},
                                some);
        exec.fence("iso::dvh: the sum is here");
        sum += some;
      });
    });
  });
  std::uint64_t words[2] = {sum.coarse, sum.fine};
  placed.add_up(words);
  return scale.value({words[0], words[1]});
}

}  // namespace iso::dvh::detail
