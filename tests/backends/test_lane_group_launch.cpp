// SPDX-License-Identifier: BSD-3-Clause
// When a launch of lane groups begins, into which stream it goes, and that one of no groups does
// nothing.
#include "lane_group_launch_kernels.hpp"
#include "lane_group_support.hpp"

#include <iso/backend/lane_group.hpp>

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace lane_launch_kernels;

using iso::test::same_bits;
using lane_group_support::back;
using lane_group_support::everywhere;
using lane_group_support::on;

// Read too soon, a number of the round before would be found: every round's differ.
TEST_CASE("lane group: an early launch sees what was written before it, once it awaits that") {
  constexpr std::int64_t groups = 3000;
  constexpr int rounds = 12;
  std::vector<double> expected(std::size_t(32 * groups));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = 3.0 + double(i % 1013);
  }
  auto const first = expected;
  for (int round = 0; round < rounds; ++round) {
    auto const from = expected;
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t lane = 0; lane < 32; ++lane) {
        double x = from[std::size_t(32 * (groups - 1 - g) + lane)];
        for (int n = 0; n < 20 + round; ++n) {
          x = std::fma(x, 1.25, -1.0);
        }
        expected[std::size_t(32 * g + lane)] = x;
      }
    }
  }
  everywhere([&](auto const& exec, iso::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto from = on<space>(first);
    auto to = on<space>(first);
    for (int round = 0; round < rounds; ++round) {
      iso::backend::for_each_lane_group<128, 0, iso::backend::sharing::even,
                                        iso::backend::launch_dependency::programmatic>(
          "test", exec, groups, write_late{from.data(), to.data(), groups, 20 + round}, shape);
      std::swap(from, to);
    }
    exec.fence();
    CHECK(same_bits(back(from), expected));
  });
}

TEST_CASE("lane group: no groups, no calls") {
  everywhere([](auto const& exec, iso::launch_shape shape) {
    iso::backend::for_each_lane_group("test", exec, 0, index_kernel{nullptr}, shape);
    exec.fence();
  });
}

#if ISO_HAS_CUDA
/// Waits for the host's word, but not for ever.
struct waiting_kernel {
  int const volatile* released;

  KOKKOS_FUNCTION void operator()(int) const {
    for (std::int64_t n = 0; *released == 0 && n < 5'000'000; ++n) {
    }
  }
};

/// What `exec` has done while the default instance waits.
std::vector<double> done_meanwhile(Kokkos::Cuda const& exec) {
  constexpr std::int64_t groups = 100;
  Kokkos::View<double*, Kokkos::CudaSpace> const out("out", groups * 32);
  Kokkos::View<double*, Kokkos::CudaHostPinnedSpace> const seen("seen", groups * 32);
  Kokkos::View<int, Kokkos::CudaHostPinnedSpace> const released("released");
  Kokkos::Cuda const reader = Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0];
  // A kernel's code is loaded at its first launch, and that may wait for what runs already.
  *static_cast<int volatile*>(released.data()) = 1;
  auto const wait = [&] {
    Kokkos::parallel_for("waits", Kokkos::RangePolicy<Kokkos::Cuda>(Kokkos::Cuda(), 0, 1),
                         waiting_kernel{released.data()});
  };
  wait();
  iso::backend::for_each_lane_group("beside", exec, groups, index_kernel{out.data()});
  Kokkos::fence("test_lane_group_launch: loaded");
  Kokkos::deep_copy(out, 0.0);
  *static_cast<int volatile*>(released.data()) = 0;
  Kokkos::fence("test_lane_group_launch: set up");
  wait();
  iso::backend::for_each_lane_group("beside", exec, groups, index_kernel{out.data()});
  exec == Kokkos::Cuda() ? void() : exec.fence("test_lane_group_launch: beside");
  Kokkos::deep_copy(reader, seen, out);
  reader.fence("test_lane_group_launch: what is there now");
  std::vector<double> const now(seen.data(), seen.data() + seen.size());
  *static_cast<int volatile*>(released.data()) = 1;
  Kokkos::fence("test_lane_group_launch: released");
  return now;
}

TEST_CASE("lane group: on CUDA a launch goes into the stream of its instance") {
  std::vector<double> expected(3200);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = double(i);
  }
  CHECK(done_meanwhile(Kokkos::Experimental::partition_space(Kokkos::Cuda(), 1)[0]) == expected);
  // The default instance waits, and so does what is launched there.
  CHECK(done_meanwhile(Kokkos::Cuda()) == std::vector<double>(3200, 0.0));
}
#endif

}  // namespace
