// SPDX-License-Identifier: BSD-3-Clause
// The lane group's operations against serial loops that spell out what each lane does and in which
// order sums are taken, with the same bits demanded of every backend, number of threads, launch
// shape and host vector width.
#include "lane_group_support.hpp"

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/lane_group.hpp>
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
using lane_group_support::back;
using lane_group_support::everywhere;
using lane_group_support::on;

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
    typename Group::template lane_array<T> mine(T(0));
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
    if (vector_bytes > iso::backend::host_vector_bytes()) {
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
    typename Group::template lane_array<int> visits(0);
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

/// Group g < 32: only lane g says yes; 32: none; 33: all.
struct any_kernel {
  double* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<bool> yes(false);
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

/// Lane l writes its number where lane 31 - l reads it; a second round, that a late reader would
/// see what the next writes.
struct shared_kernel {
  static constexpr int shared_bytes = 32 * 4;
  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template shared_array<float, 32> shared(group);
    typename Group::template lane_array<float> seen(0.0F);
    for (int round = 0; round < 3; ++round) {
      group.each([&](int lane) { shared[lane] = float(index + 100 * round + lane); });
      group.sync();
      group.each([&](int lane) { seen[lane] += shared[31 - lane]; });
      group.sync();
    }
    typename Group::template lane_array<bool> odd;
    group.each([&](int lane) { odd[lane] = (int(seen[lane]) & 1) != 0; });
    std::uint32_t const bits = group.uniform(group.mask(odd));
    std::int32_t const same = group.uniform(-std::int32_t(index));
    group.each([&](int lane) {
      out[32 * index + lane] = seen[lane] + float((bits >> lane) & 1U) + float(same);
    });
  }
};

TEST_CASE("lane group: lanes read what others wrote to the array they share") {
  std::vector<float> expected;
  for (int index = 0; index < 300; ++index) {
    for (int lane = 0; lane < lanes; ++lane) {
      int const seen = 3 * (index + 31 - lane) + 300;
      expected.push_back(float(seen + (seen & 1) - index));
    }
  }
  check_everywhere(expected, 300, [](auto const&, auto const& out, auto const& run) {
    run(shared_kernel{out.data()});
  });
}

template <int Count, class T, class Group>
struct load_numbers {
  using numbers = typename Group::template lane_array<T, Count>;
  using array = typename Group::template stepped_array<iso::backend::pack<T, Count>>;
  array const& values;
  numbers& mine;

  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Part const& part) const {
    typename Part::template per_lane<T> found;
    ISO_EACH_REGISTER(int i = 0; i < Part::template per_lane<T>::shape::registers; ++i) {
      found.set(i, part.template widened<T, 1>(values.ask(0), i));
    }
    part.store(mine, found);
  }
};

struct twice {
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(V const& x) const {
    return x + x;
  }
};

template <int Count, class T>
struct sums_kernel {
  iso::backend::pack<T, Count> const* values;
  T* out;
  bool* above;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename load_numbers<Count, T, Group>::numbers mine;
    typename load_numbers<Count, T, Group>::array const array(group, values + index * lanes);
    group.template parts_of_sums<T, Count>(load_numbers<Count, T, Group>{array, mine});
    auto const sums = group.template sums<Count>(mine, twice());
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
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        T const number = values[std::size_t((g * lanes + lane) * Count + n)];
        x[std::size_t(lane)] = number + number;
      }
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
        "test", exec, groups,
        sums_kernel<Count, T>{reinterpret_cast<iso::backend::pack<T, Count> const*>(in.data()),
                              out.data(), above.data()},
        shape);
    exec.fence();
    CHECK(same_bits(back(out), expected));
    auto const seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), above);
    for (std::size_t g = 0; g < groups; ++g) {
      CHECK(seen(g) == expected_above[g]);
    }
  });
}

/// The multiples of three below `count`, squared, and which lanes had none, two tables in turn.
struct tabled_squares {
  std::int32_t count;
  std::int32_t* squares;  ///< [group][round][32]
  std::int32_t* kept;     ///< [group][round]
  std::uint32_t* left;    ///< [group][round]

  struct entry {
    std::int32_t number;
    double square;
  };

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template table<entry, 32> table(group);
    for (std::int32_t round = 0; round < 2; ++round) {
      typename Group::template lane_array<bool> none(false);
      int const found = table.fill(count, [&](int n, entry& e) {
        e = {n, double(n) * n + double(index)};
        none[n] = (n + round) % 3 != 0;
        return (n + round) % 3 == 0;
      });
      std::int64_t const row = 2 * index + round;
      group.each([&](int lane) {
        squares[32 * row + lane] =
            lane < found ? std::int32_t(table[lane].square) + 1000 * table[found - 1].number : -1;
      });
      auto const bits = group.mask(none);
      group.once([&] {
        kept[row] = found;
        left[row] = bits;
      });
    }
  }
};

TEST_CASE("a table holds the entries that lanes keep, in order") {
  constexpr std::int64_t groups = 77;
  everywhere([&](auto const& exec, iso::backend::launch_shape shape) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    for (std::int32_t const count : {0, 1, 2, 16, 31, 32}) {
      CAPTURE(count);
      auto const squares = on<space>(std::vector<std::int32_t>(groups * 64));
      auto const kept = on<space>(std::vector<std::int32_t>(groups * 2));
      auto const left = on<space>(std::vector<std::uint32_t>(groups * 2));
      iso::backend::for_each_lane_group(
          "test: table", exec, groups,
          tabled_squares{count, squares.data(), kept.data(), left.data()}, shape);
      exec.fence("test");
      std::vector<std::int32_t> expected_squares;
      std::vector<std::int32_t> expected_kept;
      std::vector<std::uint32_t> expected_left;
      for (std::int32_t row = 0; row < 2 * groups; ++row) {
        std::vector<std::int32_t> numbers;
        std::uint32_t bits = 0;
        for (std::int32_t n = 0; n < count; ++n) {
          if ((n + row % 2) % 3 == 0) {
            numbers.push_back(n);
          } else {
            bits |= 1U << unsigned(n);
          }
        }
        expected_kept.push_back(std::int32_t(numbers.size()));
        expected_left.push_back(bits);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          expected_squares.push_back(lane < numbers.size() ? numbers[lane] * numbers[lane] +
                                                                 row / 2 + 1000 * numbers.back()
                                                           : -1);
        }
      }
      CHECK(back(kept) == expected_kept);
      CHECK(back(left) == expected_left);
      CHECK(back(squares) == expected_squares);
    }
  });
}

}  // namespace

// Outside: nvcc mistakes one unnamed namespace for another where a template test lies within.
TEST_CASE_TEMPLATE("lane group: several sums at once have the order of one", T, float, double) {
  check_sums<1, T>();
  check_sums<2, T>();
  check_sums<4, T>();
  check_sums<8, T>();
  check_sums<16, T>();
  check_sums<32, T>();
}
