// SPDX-License-Identifier: BSD-3-Clause
// The lane group against loops written by hand for one backend, in the same run: rows of 64 to 500
// entries as a dose matrix has them, values in float (and half on a GPU), x and y in double.
//
// Counters beside the usual: `ratio`, the time by hand over the time by lane group (both medians of
// alternating runs; 1: parity), and `twin_ms`. Twins: `warp` on CUDA, `blocked` (the same order by
// hand) and `scalar` (one running sum) on the host. Where the order is the same, so must the bits
// be: a row that differs is an error of the benchmark. `error`: of some 2000 rows, sum of
// |difference| from sums in long double over the sum of those.
#include "row_sum.hpp"
#include "support/bench.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/cases/operation.hpp>
#include <iso/oracle/products.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace iso::perf {

using namespace cases;

namespace {

constexpr std::int32_t num_columns = 65536;
constexpr std::uint32_t shortest = 64;
constexpr std::uint32_t longest = 500;

KOKKOS_FUNCTION std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  return x ^ (x >> 16U);
}

/// Every entry of a row from hashes: columns ascend by one to three.
KOKKOS_FUNCTION std::int32_t column_of(std::int64_t row, std::int32_t begin, std::int32_t i) {
  auto const first = std::int32_t(mix(std::uint32_t(row) / 8U) % (num_columns - 2U * longest));
  return first + 2 * (i - begin) + std::int32_t(mix(std::uint32_t(i) ^ 0x5bd1e995U) & 1U);
}
KOKKOS_FUNCTION float value_of(std::int32_t i) {
  return 0.25F + float(mix(std::uint32_t(i) ^ 0x5bd1e995U) >> 16U) * 0x1p-17F;
}
double weight_of(std::int32_t column) { return 0.5 + double(mix(std::uint32_t(column))) * 0x1p-32; }

template <class T, class Exec>
void fill_rows(Exec const& exec, std::int64_t rows, std::int32_t const* begin, std::int32_t* column,
               T* value) {
  Kokkos::parallel_for(
      "iso::perf::fill_rows", flat_range(exec, rows), KOKKOS_LAMBDA(std::int64_t row) {
        for (std::int32_t i = begin[row]; i < begin[row + 1]; ++i) {
          column[i] = column_of(row, begin[row], i);
          value[i] = T(value_of(i));
        }
      });
}

template <class Exec, class T>
struct sparse_rows {
  template <class U>
  using array = Kokkos::View<U*, typename Exec::memory_space>;

  std::vector<std::int32_t> host_begin{0};
  array<std::int32_t> begin;
  array<std::int32_t> column;
  array<T> value;
  array<double> x{"x", std::size_t(num_columns)};

  explicit sparse_rows(Exec const& exec) {
    std::int64_t const rows = smoke() ? 2000 : backend::is_device<Exec> ? 1500000 : 30000;
    for (std::int64_t row = 0; row < rows; ++row) {
      auto const more = shortest + mix(std::uint32_t(row)) % (longest - shortest + 1);
      host_begin.push_back(host_begin.back() + std::int32_t(more));
    }
    auto const entries = std::size_t(host_begin.back());
    begin = array<std::int32_t>("begin", host_begin.size());
    column =
        array<std::int32_t>(Kokkos::view_alloc("column", Kokkos::WithoutInitializing), entries);
    value = array<T>(Kokkos::view_alloc("value", Kokkos::WithoutInitializing), entries);
    put(exec, begin, host_begin);
    fill_rows(exec, rows, begin.data(), column.data(), value.data());
    std::vector<double> weights;
    for (std::int32_t i = 0; i < num_columns; ++i) {
      weights.push_back(weight_of(i));
    }
    put(exec, x, weights);
  }

  [[nodiscard]] std::int64_t num_rows() const { return std::int64_t(host_begin.size()) - 1; }
  [[nodiscard]] row_arrays<T> arrays(array<double> const& y) const {
    return {num_rows(), begin.data(), column.data(), value.data(), x.data(), y.data()};
  }
  [[nodiscard]] least_work work() const {
    auto const bytes = host_begin.size() * 4 + value.size() * (sizeof(T) + 4);
    return product_work<double>({.num_rows = num_rows(),
                                 .num_cols = num_columns,
                                 .num_entries = std::int64_t(value.size()),
                                 .bytes = std::int64_t(bytes)});
  }
  [[nodiscard]] std::vector<double> exact() const {
    std::vector<double> sums(std::size_t(num_rows()), std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t row = 0; row < num_rows(); row += stride_for(num_rows(), 2000)) {
      long double sum = 0;
      auto const* const ends = &host_begin[std::size_t(row)];
      for (std::int32_t i = ends[0]; i < ends[1]; ++i) {
        sum += static_cast<long double>(double(T(value_of(i)))) *
               weight_of(column_of(row, ends[0], i));
      }
      sums[std::size_t(row)] = double(sum);
    }
    return sums;
  }
};

enum class order { as_lane_group, other };

/// Twin: void(row_arrays<T>), enqueues on exec.
template <class T, class Exec, class Twin>
void compare(benchmark::State& state, Exec const& exec, Twin const& twin, order twin_order) {
  sparse_rows<Exec, T> const rows(exec);
  Kokkos::View<double*, typename Exec::memory_space> const y("y", std::size_t(rows.num_rows()));
  Kokkos::View<double*, typename Exec::memory_space> const y_twin("y", y.size());
  auto const by_group = [&] {
    // As many threads a block as the twin has, and room for 64 warps a multiprocessor.
    backend::for_each_lane_group<256, 8>("iso::perf::row_sum", exec, rows.num_rows(),
                                         row_sum_kernel<T>{rows.arrays(y)});
  };
  auto const by_hand = [&] { twin(rows.arrays(y_twin)); };
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
  set_counters(state, seconds, rows.work(), {.bytes_per_second = ceilings_of(exec).read},
               oracle::relative_l1(fetch(exec, y), rows.exact()));
}

template <template <class> class Twin, class Exec>
void add_host_loop(std::string const& name, Exec const& exec, order twin_order) {
  add_row("lane_group/row_sum/" + name, 30, [=](benchmark::State& state) {
    auto const twin = [&](row_arrays<float> const& rows) {
      Kokkos::parallel_for("iso::perf::twin", flat_range(exec, rows.num_rows), Twin<float>{rows});
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
    add_host_loop<blocked_row_sum>(name + "/float/blocked", Exec(), order::as_lane_group);
    add_host_loop<scalar_row_sum>(name + "/float/scalar", Exec(), order::other);
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
