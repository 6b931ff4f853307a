// SPDX-License-Identifier: BSD-3-Clause
// The lane group's operations against serial loops that spell out what each lane does and in which
// order sums are taken, with the same bits demanded of every backend, number of threads, launch
// shape and host vector width.
#include "instances.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/numerics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using iso::backend::lanes;
using iso::test::same_bits;

// 64 lengths about every multiple of 32 that matters, then a thousand that a sparse matrix has.
std::vector<std::int64_t> row_begins() {
  std::vector<std::int64_t> begins = {0};
  std::mt19937_64 random(1);
  for (std::int64_t row = 0; row < 1064; ++row) {
    auto const drawn = std::int64_t(64 + random() % 437);
    begins.push_back(begins.back() + (row < 64 ? row + (row > 32 ? 32 : 0) : drawn));
  }
  return begins;
}

// Magnitudes over 12 decades and both signs: another order of the sum gives other bits.
template <class T>
std::vector<T> entries(std::int64_t count) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-6, 6);
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const size = std::pow(10.0, exponent(random));
    all.push_back(T((random() & 1U) != 0 ? size : -size));
  }
  return all;
}

template <class T>
struct serial {
  static T tree(std::array<T, lanes> x) {
    for (std::size_t const offset : {16, 8, 4, 2, 1}) {
      for (std::size_t lane = 0; lane < offset; ++lane) {
        x[lane] = x[lane] + x[lane + offset];
      }
    }
    return x[0];
  }

  static T row(std::vector<T> const& a, std::vector<T> const& b, std::int64_t begin,
               std::int64_t end) {
    std::array<T, lanes> sums{};
    for (std::int64_t i = begin; i < end; ++i) {
      auto& mine = sums[std::size_t((i - begin) % lanes)];
      mine = std::fma(a[std::size_t(i)], b[std::size_t(i)], mine);
    }
    return tree(sums);
  }
};

template <class T>
struct row_sum {
  std::int64_t const* begin;
  T const* a;
  T const* b;
  T* sum;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    typename Group::template per_lane<T> mine(T(0));
    group.strided(begin[row], begin[row + 1], [&](int lane, std::int64_t i) {
      mine[lane] = Kokkos::fma(a[i], b[i], mine[lane]);
    });
    T const total = group.sum(mine);
    group.each([&](int lane) {
      if (lane == 0) {
        sum[row] = total;
      }
    });
  }
};

template <class Space, class T>
Kokkos::View<T*, Space> on(std::vector<T> const& host) {
  Kokkos::View<T*, Space> there("there", host.size());
  Kokkos::deep_copy(there, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                               host.data(), host.size()));
  return there;
}

template <class V>
auto back(V const& there) {
  auto const here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
  return std::vector<std::remove_const_t<typename V::value_type>>(here.data(),
                                                                  here.data() + here.size());
}

/// Calls f(exec, shape) for each instance and three launch shapes.
template <class F>
void everywhere(F const& f) {
  iso::test::for_each_instance([&](auto const& exec) {
    for (std::int64_t const groups : {0, 37, 500}) {
      CAPTURE(groups);
      f(exec, iso::backend::launch_shape{groups});
    }
  });
}

/// All kernels over one fixed number of groups; the results of `kernel(exec)`, made for its memory.
template <class T, class Make>
void check_everywhere(std::vector<T> const& expected, std::int64_t count, Make const& make) {
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    Kokkos::View<T*, space> out("out", expected.size());
    Kokkos::deep_copy(out, T(-77));
    make(exec, out, [&](auto const& kernel) {
      iso::backend::for_each_lane_group("test", exec, count, kernel, shape);
    });
    exec.fence();
    CHECK(same_bits(back(out), expected));
  });
  for (int const vector_bytes : {32, 64}) {
    if (vector_bytes > iso::backend::detail::host_vector_bytes()) {
      continue;
    }
    CAPTURE(vector_bytes);
    Kokkos::Serial const exec;
    Kokkos::View<T*, Kokkos::HostSpace> out("out", expected.size());
    make(exec, out, [&](auto const& kernel) {
      iso::backend::detail::host_body<std::decay_t<decltype(kernel)>> const body{kernel,
                                                                                 vector_bytes};
      for (std::int64_t index = 0; index < count; ++index) {
        body(index);
      }
    });
    CHECK(same_bits(back(out), expected));
  }
}

template <class T>
void row_sums() {
  auto const begins = row_begins();
  auto const rows = std::int64_t(begins.size()) - 1;
  auto const a = entries<T>(begins.back());
  auto const b = entries<T>(begins.back());
  std::vector<T> expected;
  std::int64_t other_order = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    auto const begin = begins[std::size_t(row)];
    auto const end = begins[std::size_t(row) + 1];
    expected.push_back(serial<T>::row(a, b, begin, end));
    T running = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      running = std::fma(a[std::size_t(i)], b[std::size_t(i)], running);
    }
    other_order += running != expected.back() ? 1 : 0;
  }
  CHECK(other_order > rows / 2);  // else the data could not tell one order from another
  check_everywhere(expected, rows, [&](auto const& exec, auto const& out, auto const& run) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const begin = on<space>(begins);
    auto const left = on<space>(a);
    auto const right = on<space>(b);
    run(row_sum<T>{begin.data(), left.data(), right.data(), out.data()});
    exec.fence();
  });
}

TEST_CASE("lane group: a row reduction has one order everywhere") {
  SUBCASE("float") { row_sums<float>(); }
  SUBCASE("double") { row_sums<double>(); }
}

/// Which lane saw which index: out[i] = lane + 32 visits.
struct strided_kernel {
  std::int64_t length;
  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<int> visits(0);
    std::int64_t const begin = index * length;
    group.strided(begin, begin + length, [&](int lane, std::int64_t i) {
      out[i] = lane + 32 * visits[lane];
      ++visits[lane];
    });
  }
};

TEST_CASE("lane group: strided gives lane l the indices begin + l, begin + l + 32, ...") {
  for (std::int64_t const length : {1, 31, 32, 33, 64, 100}) {
    CAPTURE(length);
    std::int64_t const groups = 130;
    std::vector<double> expected;
    for (std::int64_t i = 0; i < groups * length; ++i) {
      expected.push_back(double(i % length));  // lane + 32 visits, counted from begin
    }
    check_everywhere(expected, groups, [&](auto const&, auto const& out, auto const& run) {
      run(strided_kernel{length, out.data()});
    });
  }
}

/// out[32 index + lane]: the value of the lane that a rotation and a reversal point to, and one
/// that lane 5 gives to all.
struct shuffle_kernel {
  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<double> value(0.0);
    typename Group::template per_lane<int> rotated(0);
    typename Group::template per_lane<int> reversed(0);
    group.each([&](int lane) {
      value[lane] = double(100 * index + lane);
      rotated[lane] = (lane + int(index)) % 32;
      reversed[lane] = 31 - lane;
    });
    auto const once = group.shuffle(value, rotated);
    auto const twice = group.shuffle(once, reversed);
    double const five = group.broadcast(value, 5);
    group.each([&](int lane) { out[32 * index + lane] = twice[lane] + 1e6 * five; });
  }
};

TEST_CASE(
    "lane group: shuffle takes each lane's value from the lane it names, broadcast from one") {
  std::int64_t const groups = 70;
  std::vector<double> expected;
  for (std::int64_t index = 0; index < groups; ++index) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      auto const from = (31 - lane + index) % 32;
      expected.push_back(double(100 * index + from) + 1e6 * double(100 * index + 5));
    }
  }
  check_everywhere(expected, groups, [](auto const&, auto const& out, auto const& run) {
    run(shuffle_kernel{out.data()});
  });
}

/// Group g < 32: only lane g says yes; 32: none; 33: all.
struct any_kernel {
  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<bool> yes(false);
    group.each([&](int lane) { yes[lane] = lane == int(index) || index == 33; });
    double const found = group.any(yes) ? 1 : 0;
    group.each([&](int lane) { out[32 * index + lane] = found; });
  }
};

TEST_CASE("lane group: any is true for all lanes where one lane's value is") {
  std::vector<double> expected;
  for (int index = 0; index < 34; ++index) {
    expected.insert(expected.end(), std::size_t(lanes), index == 32 ? 0 : 1);
  }
  check_everywhere(expected, 34, [](auto const&, auto const& out, auto const& run) {
    run(any_kernel{out.data()});
  });
}

/// Lets the next launch begin, and only then, slowly where `turns` are many, writes what that
/// reads.
struct write_late {
  double const* from;
  double* to;
  std::int64_t groups;
  int turns;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.await_previous();
    group.let_next_begin();
    group.each([&](int lane) {
      // Other groups' numbers, in the other direction.
      double x = from[32 * (groups - 1 - index) + lane];
      for (int turn = 0; turn < turns; ++turn) {
        x = Kokkos::fma(x, 1.25, -1.0);
      }
      to[32 * index + lane] = x;
    });
  }
};

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
        for (int turn = 0; turn < 20 + round; ++turn) {
          x = std::fma(x, 1.25, -1.0);
        }
        expected[std::size_t(32 * g + lane)] = x;
      }
    }
  }
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto from = on<space>(first);
    auto to = on<space>(first);
    for (int round = 0; round < rounds; ++round) {
      iso::backend::for_each_lane_group<128, 0, iso::backend::sharing::even,
                                        iso::backend::beginning::early>(
          "test", exec, groups, write_late{from.data(), to.data(), groups, 20 + round}, shape);
      std::swap(from, to);
    }
    exec.fence();
    CHECK(same_bits(back(from), expected));
  });
}

TEST_CASE("lane group: no groups, no calls") {
  everywhere([](auto const& exec, iso::backend::launch_shape shape) {
    iso::backend::for_each_lane_group("test", exec, 0, shuffle_kernel{nullptr}, shape);
    exec.fence();
  });
}

}  // namespace

namespace {

template <int Count, class T>
struct sums_kernel {
  T const* values;
  T* out;
  bool* above;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template per_lane<T> mine[Count];
    for (int n = 0; n < Count; ++n) {
      group.each([&](int lane) { mine[n][lane] = values[(index * Count + n) * lanes + lane]; });
    }
    auto const sums = group.template sums<Count>(mine);
    sums.each([&](int n, T sum) { out[index * Count + n] = sum; });
    bool const any = sums.any([](T sum) { return sum > T(1e5); });
    group.once([&] { above[index] = any; });
  }
};

template <int Count, class T>
void check_sums() {
  constexpr std::int64_t groups = 40;
  auto const values = entries<T>(groups * Count * lanes);
  std::vector<T> expected;
  std::vector<bool> expected_above;
  for (std::int64_t g = 0; g < groups; ++g) {
    bool above = false;
    for (std::int64_t n = 0; n < Count; ++n) {
      std::array<T, lanes> x;
      std::copy_n(values.begin() + (g * Count + n) * lanes, lanes, x.begin());
      expected.push_back(serial<T>::tree(x));
      above = above || expected.back() > T(1e5);
    }
    expected_above.push_back(above);
  }
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const in = on<space>(values);
    Kokkos::View<T*, space> const out("out", std::size_t(groups * Count));
    Kokkos::View<bool*, space> const above("above", std::size_t(groups));
    iso::backend::for_each_lane_group(
        "test", exec, groups, sums_kernel<Count, T>{in.data(), out.data(), above.data()}, shape);
    exec.fence();
    CHECK(same_bits(back(out), expected));
    auto const seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), above);
    for (std::size_t g = 0; g < groups; ++g) {
      CHECK(seen(g) == expected_above[g]);
    }
  });
}

}  // namespace

TEST_CASE_TEMPLATE("lane group: several sums at once have the order of one", T, float, double) {
  check_sums<1, T>();
  check_sums<2, T>();
  check_sums<4, T>();
  check_sums<8, T>();
  check_sums<16, T>();
  check_sums<32, T>();
}

#if ISO_HAS_CUDA
namespace {

/// Waits for the host's word, but not for ever.
struct waiting_kernel {
  int const volatile* released;

  KOKKOS_FUNCTION void operator()(int) const {
    for (std::int64_t turn = 0; *released == 0 && turn < 5'000'000; ++turn) {
    }
  }
};

struct index_kernel {
  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.each([&](int lane) { out[32 * index + lane] = double(32 * index + lane); });
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
  Kokkos::fence("test_lane_group: loaded");
  Kokkos::deep_copy(out, 0.0);
  *static_cast<int volatile*>(released.data()) = 0;
  Kokkos::fence("test_lane_group: set up");
  wait();
  iso::backend::for_each_lane_group("beside", exec, groups, index_kernel{out.data()});
  exec == Kokkos::Cuda() ? void() : exec.fence("test_lane_group: beside");
  Kokkos::deep_copy(reader, seen, out);
  reader.fence("test_lane_group: what is there now");
  std::vector<double> const now(seen.data(), seen.data() + seen.size());
  *static_cast<int volatile*>(released.data()) = 1;
  Kokkos::fence("test_lane_group: released");
  return now;
}

}  // namespace

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
