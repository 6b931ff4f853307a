// SPDX-License-Identifier: BSD-3-Clause
// The lane group against loops written by hand for one backend, in the same run: rows of 64 to 500
// entries as a dose matrix has them, values in float (and half on a GPU), x and y in double.
//
// Counters beside the usual: `ratio`, the time by hand over the time by lane group (both medians of
// alternating runs; 1: parity), and `twin_ms`. Twins: `warp` on CUDA, `blocked` (the same order by
// hand) and `scalar` (one running sum) on the host. Where the order is the same, so must the bits
// be: a row that differs is an error of the benchmark.
#include "row_sum.hpp"
#include "support/bench.hpp"

#include <iso/backend/lane_group.hpp>

#include <benchmark/benchmark.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace iso::perf {
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
template <class T>
struct fill_rows {
  std::int32_t const* begin;
  std::int32_t* column;
  T* value;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    auto const first = std::int32_t(mix(std::uint32_t(row) / 8U) % (num_columns - 2U * longest));
    for (std::int32_t i = begin[row]; i < begin[row + 1]; ++i) {
      std::uint32_t const h = mix(std::uint32_t(i) ^ 0x5bd1e995U);
      column[i] = first + 2 * (i - begin[row]) + std::int32_t(h & 1U);
      value[i] = T(0.25F + float(h >> 16U) * 0x1p-17F);
    }
  }
};

template <class Exec, class T>
class sparse_rows {
  using space = typename Exec::memory_space;

 public:
  explicit sparse_rows(Exec const& exec) : exec_(exec), host_begin_("begin", num_rows() + 1) {
    for (std::size_t row = 0; row < num_rows(); ++row) {
      host_begin_(row + 1) =
          host_begin_(row) +
          std::int32_t(shortest + mix(std::uint32_t(row)) % (longest - shortest + 1));
    }
    begin_ = Kokkos::create_mirror_view_and_copy(space(), host_begin_);
    Kokkos::resize(Kokkos::WithoutInitializing, column_, num_entries());
    Kokkos::resize(Kokkos::WithoutInitializing, value_, num_entries());
    using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("iso::perf::fill_rows", policy(exec, 0, std::int64_t(num_rows())),
                         fill_rows<T>{begin_.data(), column_.data(), value_.data()});
    auto const x = Kokkos::create_mirror_view(x_);
    for (std::int32_t i = 0; i < num_columns; ++i) {
      x(std::size_t(i)) = 0.5 + double(mix(std::uint32_t(i))) * 0x1p-32;
    }
    Kokkos::deep_copy(x_, x);
    exec.fence("iso::perf: rows are there");
  }

  [[nodiscard]] row_arrays<T> arrays(Kokkos::View<double*, space> const& y) const {
    return {std::int64_t(num_rows()),
            begin_.data(),
            column_.data(),
            value_.data(),
            x_.data(),
            y.data()};
  }
  [[nodiscard]] Kokkos::View<double*, space> make_result() const {
    return Kokkos::View<double*, space>("y", num_rows());
  }
  /// cases::product_work of CSR arrays with 32-bit offsets.
  [[nodiscard]] model work() const {
    std::size_t const bytes = num_entries() * (sizeof(T) + sizeof(std::int32_t)) +
                              (num_rows() + 1) * sizeof(std::int32_t);
    auto const product = cases::product_work<double>({.num_rows = std::int64_t(num_rows()),
                                                      .num_cols = num_columns,
                                                      .num_entries = std::int64_t(num_entries()),
                                                      .bytes = std::int64_t(bytes)});
    return {product.bytes, product.flops};
  }

  /// Largest relative difference of y from sums in extended precision, over the first rows.
  [[nodiscard]] double error_of(Kokkos::View<double*, space> const& y) const {
    std::size_t const some = std::min<std::size_t>(num_rows(), 1000);
    auto const part = std::make_pair(std::size_t(0), std::size_t(host_begin_(some)));
    auto const column =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(column_, part));
    auto const value =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(value_, part));
    auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x_);
    auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    double worst = 0;
    for (std::size_t row = 0; row < some; ++row) {
      long double sum = 0;
      for (auto i = std::size_t(host_begin_(row)); i < std::size_t(host_begin_(row + 1)); ++i) {
        sum += static_cast<long double>(double(value(i))) * x(std::size_t(column(i)));
      }
      worst = std::max(worst, double(std::fabs((result(row) - sum) / sum)));
    }
    return worst;
  }

 private:
  [[nodiscard]] static std::size_t num_rows() {
    if (smoke()) {
      return 2000;
    }
    return backend::is_device<Exec> ? 1500000 : 30000;
  }
  [[nodiscard]] std::size_t num_entries() const { return std::size_t(host_begin_(num_rows())); }

  Exec exec_;
  Kokkos::View<std::int32_t*, Kokkos::HostSpace> host_begin_;
  Kokkos::View<std::int32_t*, space> begin_;
  Kokkos::View<std::int32_t*, space> column_;
  Kokkos::View<T*, space> value_;
  Kokkos::View<double*, space> x_{"x", std::size_t(num_columns)};
};

enum class order { as_lane_group, other };

/// Twin: void(row_arrays<T>), enqueues on exec.
template <class T, class Exec, class Twin>
void compare(benchmark::State& state, Exec const& exec, Twin const& twin, order twin_order) {
  sparse_rows<Exec, T> const rows(exec);
  auto const y = rows.make_result();
  auto const y_twin = rows.make_result();
  auto const by_group = [&] {
    auto const arrays = rows.arrays(y);
    // As many threads a block as the twin has, and room for 64 warps a multiprocessor.
    backend::for_each_lane_group<256, 8>("iso::perf::row_sum", exec, arrays.num_rows,
                                         row_sum_kernel<T>{arrays});
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
  std::vector<double> group_seconds;
  std::vector<double> twin_seconds;
  for (auto _ : state) {
    group_seconds.push_back(seconds_of(exec, by_group, calls));
    twin_seconds.push_back(seconds_of(exec, by_hand, calls));
    state.SetIterationTime(group_seconds.back());
  }
  double const seconds = median(group_seconds);
  state.counters["ratio"] = median(twin_seconds) / seconds;
  state.counters["twin_ms"] = 1e3 * median(twin_seconds);
  set_counters(state, seconds, rows.work(), {.bytes_per_second = ceilings_of(exec).read},
               rows.error_of(y));
}

template <class Exec, template <class> class Twin, class T>
void against_host_loop(benchmark::State& state, order twin_order) {
  Exec const exec;
  using policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  compare<T>(
      state, exec,
      [&](row_arrays<T> const& rows) {
        Kokkos::parallel_for("iso::perf::twin", policy(exec, 0, rows.num_rows), Twin<T>{rows});
      },
      twin_order);
}

template <class F>
void add(std::string const& name, F const& f) {
  benchmark::RegisterBenchmark(("lane_group/row_sum/" + name).c_str(), f)
      ->UseManualTime()
      ->Iterations(smoke() ? 1 : 30)
      ->Unit(benchmark::kMillisecond);
}

template <class Exec>
void add_rows_of(std::string const& name) {
  if constexpr (!backend::is_device<Exec>) {
    add(name + "/float/blocked", [](benchmark::State& state) {
      against_host_loop<Exec, blocked_row_sum, float>(state, order::as_lane_group);
    });
    add(name + "/float/scalar", [](benchmark::State& state) {
      against_host_loop<Exec, scalar_row_sum, float>(state, order::other);
    });
  }
#if ISO_HAS_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    add(name + "/float/warp", [](benchmark::State& state) {
      Kokkos::Cuda const exec;
      compare<float>(
          state, exec, [&](auto const& rows) { raw_row_sum(exec, rows); }, order::as_lane_group);
    });
    add(name + "/half/warp", [](benchmark::State& state) {
      Kokkos::Cuda const exec;
      compare<Kokkos::Experimental::half_t>(
          state, exec, [&](auto const& rows) { raw_row_sum(exec, rows); }, order::as_lane_group);
    });
  }
#endif
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
