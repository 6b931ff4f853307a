// SPDX-License-Identifier: BSD-3-Clause
// The lane group against loops written by hand for one backend, in the same run: rows of 64 to 500
// entries as a dose matrix has them, values in float (and half on a GPU), x and y in double.
//
// Counters beside the usual: `ratio`, the time by hand over the time by lane group (both medians of
// alternating runs; 1: parity), and `twin_ms`. Twins: `warp` on CUDA, `blocked` (the same order by
// hand) and `scalar` (one running sum) on the host. Where the order is the same, so must the bits
// be: a row that differs is an error of the benchmark. `error`: l2 distance, relative, from sums
// with twice the digits of double.
#include "row_sum.hpp"
#include "support/bench.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/cases/inputs.hpp>
#include <iso/cases/product.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/csr.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

/// Columns ascend by one to three, from where those of neighbouring rows begin.
template <class Exec>
wide_csr<Exec> make_rows(Exec const& exec) {
  constexpr std::int64_t shortest = 64;
  constexpr std::int64_t longest = 500;
  constexpr std::int64_t num_columns = 65536;
  std::int64_t const rows = smoke() ? 2000 : backend::is_device<Exec> ? 1500000 : 30000;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t row = 0; row < rows; ++row) {
    auto const more = scrambled(std::uint64_t(row)) % std::uint64_t(longest - shortest + 1);
    offsets.push_back(offsets.back() + shortest + std::int64_t(more));
  }
  auto const a = sparse::make_csr<half, std::int32_t>(exec, "iso::perf::rows", rows, num_columns,
                                                      offsets.back());
  put(exec, a.row_offsets, offsets);
  Kokkos::parallel_for(
      "iso::perf::fill_rows", flat_range(exec, rows), KOKKOS_LAMBDA(std::int64_t row) {
        std::int64_t const begin = a.row_offsets(row);
        auto const first = scrambled(std::uint64_t(row / 8)) % (num_columns - 2 * longest);
        for (std::int64_t i = begin; i < a.row_offsets(row + 1); ++i) {
          auto const random = scrambled(std::uint64_t(i));
          a.columns(i) = std::int32_t(first + 2 * std::uint64_t(i - begin) + (random & 1U));
          a.values(i) = half(0.25 + double(random >> 48) * 0x1p-17);
        }
      });
  exec.fence("iso::perf: rows are there");
  return a;
}

enum class order { as_lane_group, other };

/// T: float, or a half of the device's. Twin: void(row_arrays<T>), enqueues on exec.
template <class T, class Exec, class Twin>
void compare(benchmark::State& state, Exec const& exec, Twin const& twin, order twin_order) {
  product_problem<Exec> const problem(exec, make_rows(exec));
  auto const a = [&] {
    if constexpr (sizeof(T) == sizeof(half)) {
      return problem.matrix;
    } else {
      return sparse::convert_values<T>(exec, problem.matrix).matrix;
    }
  }();
  auto const y = make_array<double>(exec, a.num_rows);
  auto const y_twin = make_array<double>(exec, a.num_rows);
  auto const rows_to = [&](device_array<Exec> const& to) {
    return row_arrays<T>{a.num_rows,       a.row_offsets.data(),
                         a.columns.data(), reinterpret_cast<T const*>(a.values.data()),
                         problem.x.data(), to.data()};
  };
  auto const by_group = [&] {
    // As many threads a block as the twin has, and room for 64 warps a multiprocessor.
    backend::for_each_lane_group<256, 8>("iso::perf::row_sum", exec, a.num_rows,
                                         row_sum_kernel<T>{rows_to(y)});
  };
  auto const by_hand = [&] { twin(rows_to(y_twin)); };
  by_group();
  by_hand();
  exec.fence("iso::perf: warm");
  if (twin_order == order::as_lane_group && !same_bits(y, y_twin)) {
    fail(state, "the lane group and the loop by hand differ in bits");
    return;
  }
  int const calls = backend::is_device<Exec> ? 10 : 1;
  stopwatch group_times;
  stopwatch twin_times;
  for (auto _ : state) {
    state.SetIterationTime(group_times.run(exec, by_group, calls));
    twin_times.run(exec, by_hand, calls);
  }
  double const seconds = median(group_times.wall);
  state.counters["ratio"] = median(twin_times.wall) / seconds;
  state.counters["twin_ms"] = 1e3 * median(twin_times.wall);
  set_counters(state, exec, seconds, product_work<double>(sparse::shape_of(a)),
               problem.error(exec, y.data()).relative);
}

template <class Twin, class Exec>
void add_host_loop(std::string const& name, order twin_order) {
  add_row("lane_group/row_sum/" + name, 30, [=](benchmark::State& state) {
    Exec const exec;
    auto const twin = [&](row_arrays<float> const& rows) {
      Kokkos::parallel_for("iso::perf::twin", flat_range(exec, rows.num_rows), Twin{rows});
    };
    compare<float>(state, exec, twin, twin_order);
  });
}

#if ISO_HAS_CUDA
template <class T>
void add_warp(std::string const& name) {
  add_row("lane_group/row_sum/" + name, 30, [](benchmark::State& state) {
    Kokkos::Cuda const exec;
    compare<T>(
        state, exec, [&](auto const& rows) { raw_row_sum(exec, rows); }, order::as_lane_group);
  });
}
#endif

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  if constexpr (!backend::is_device<Exec>) {
    add_host_loop<blocked_row_sum, Exec>(name + "/float/blocked", order::as_lane_group);
    add_host_loop<scalar_row_sum, Exec>(name + "/float/scalar", order::other);
  }
#if ISO_HAS_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    add_warp<float>(name + "/float/warp");
    add_warp<Kokkos::Experimental::half_t>(name + "/half/warp");
  }
#endif
});

}  // namespace
}  // namespace iso::perf
