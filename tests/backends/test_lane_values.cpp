// SPDX-License-Identifier: BSD-3-Clause
// Every operation of lane values against scalar loops written out here, to the bit: in portable
// groups, in AVX2 and AVX-512 registers, and on every backend. A NaN counts as any other NaN.
#include "lane_group_support.hpp"
#include "lane_operations.hpp"

#include <iso/backend/detail/cuda_reciprocal.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace lane_operations;

using iso::test::difference;
using lane_group_support::back;
using lane_group_support::on;

template <class T>
struct host_inputs {
  std::vector<T> a, b, c, z, table;
  std::vector<std::int32_t> i, j, place, beyond;

  host_inputs() {
    std::mt19937_64 random(9);
    std::vector<T> const odd = odd_ones();
    auto const any = [&] {
      switch (random() % 3) {
        case 0:
          return odd[random() % odd.size()];
        case 1:  // any bits
          return std::bit_cast<T>(bits_of<T>(random()));
        default:
          return T(std::ldexp(double(std::int64_t(random()) >> 11), -45 - int(random() % 12)));
      }
    };
    std::vector<std::int32_t> const limits{
        0, 1, -1, 7, 1 << 24, (1 << 24) + 1, 2147483647, -2147483647 - 1};
    auto const any_int = [&] {
      return random() % 2 == 0 ? limits[random() % limits.size()]
                               : std::int32_t(std::uint32_t(random()));
    };
    for (std::int64_t n = 0; n < all_lanes; ++n) {
      a.push_back(any());
      b.push_back(random() % 4 == 0 ? a.back() : any());
      c.push_back(any());
      T const size = T(std::ldexp(double(random() >> 11), -31 - int(random() % 60)));
      z.push_back(random() % 4 == 0 ? T(std::floor(size)) : random() % 2 == 0 ? size : -size);
      i.push_back(any_int());
      j.push_back(random() % 4 == 0 ? i.back() : any_int());
      // Near the ends, so that the narrowest windows, of 8 places, hold what a lane wants.
      bool const end = at_end(n / group_lanes);
      auto const step = std::int32_t(random() % 7);
      place.push_back(end ? table_length - 2 - step : step);
      auto const out = std::int32_t(random() % 7) - 2;
      beyond.push_back(end ? table_length - 2 - out : out);
    }
    for (std::int32_t n = 0; n < table_length; ++n) {
      table.push_back(any());
    }
  }

  static std::vector<T> odd_ones() {
    using limits = std::numeric_limits<T>;
    std::vector<T> const positive{0,
                                  1,
                                  T(0.5),
                                  T(1.5),
                                  limits::infinity(),
                                  limits::quiet_NaN(),
                                  limits::denorm_min(),
                                  limits::min(),
                                  limits::max(),
                                  limits::epsilon(),
                                  T(1) - limits::epsilon() / 2,
                                  T(8388607.5),
                                  T(16777217)};
    std::vector<T> both = positive;
    for (T const x : positive) {
      both.push_back(-x);
    }
    return both;
  }
};

template <class T>
struct results {
  std::vector<T> values;
  std::vector<std::int32_t> integers;
};

template <class T>
void expect_values(host_inputs<T> const& in, std::size_t n, auto const& out) {
  T const a = in.a[n];
  T const b = in.b[n];
  T const c = in.c[n];
  out(sum, a + b);
  out(difference_of, a - b);
  out(product, a * b);
  out(quotient, a / b);
  out(fused, std::fma(a, b, c));
  out(down, std::floor(a));
  out(smaller, a < b ? a : b);
  out(larger, a > b ? a : b);
  out(where_less, a < b ? a : c);
  out(where_less_equal, a <= b ? a : c);
  out(where_equal, a == b ? a : c);
  out(where_not, a < b ? c : a);
  out(where_both, a < b && b < c ? a : c);
  out(where_integers, in.i[n] < in.j[n] ? a : c);
  out(fused_where, in.i[n] <= in.j[n] ? std::fma(a, b, c) : c);
  out(blended, std::fma(c, b - a, a));
  T const raised = a > T(-1) ? a : T(-1);
  out(clamped, raised < T(2) ? raised : T(2));
  out(converted, T(in.i[n]));
  out(bits_joined, std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) | std::bit_cast<bits_of<T>>(b)));
  out(stored, a);
  T const z = in.z[n];
  out(rest_signed, z - std::floor(z) + T(0));
  T const positive = z > T(0) ? z : T(0);
  out(rest, positive - std::trunc(positive));
  auto const place = std::size_t(in.place[n]);
  out(gathered, in.table[place]);
  out(gathered_lower, in.table[place]);
  out(gathered_upper, in.table[place + 1]);
  out(lower_of_pair, in.table[place]);
  out(upper_of_pair, in.table[place + 1]);
  out(window_lower, in.table[place]);
  out(window_upper, in.table[place + 1]);
  auto const within = [&](std::int32_t k) {
    return k >= 0 && k < table_length ? in.table[std::size_t(k)] : T(0);
  };
  out(lower_within, within(in.beyond[n]));
  out(upper_within, within(in.beyond[n] + 1));
  auto const from_end = std::int32_t(n % 32) * 3 % wide_places;
  bool const end = at_end(std::int64_t(n) / group_lanes);
  out(wide_window, in.table[std::size_t(end ? table_length - 1 - from_end : from_end)]);
  out(window_lower_within, within(in.beyond[n]));
  out(window_upper_within, within(in.beyond[n] + 1));
}

template <class T>
void expect_integers(host_inputs<T> const& in, std::size_t n, auto const& out) {
  std::int32_t const i = in.i[n];
  std::int32_t const j = in.j[n];
  auto const wrapped = [](std::int64_t x) { return std::int32_t(std::uint32_t(x)); };
  T const z = in.z[n];
  out(truncated, std::int32_t(std::trunc(z)));
  out(rounded, std::int32_t(std::nearbyint(z)));
  out(whole_signed, std::int32_t(std::floor(z)));
  out(whole, z > T(0) ? std::int32_t(std::trunc(z)) : 0);
  out(lane_number, std::int32_t(n % 32));
  out(int_sum, wrapped(std::int64_t(i) + j));
  out(int_difference, wrapped(std::int64_t(i) - j));
  out(int_product, wrapped(std::int64_t(i) * j));
  out(int_smaller, std::min(i, j));
  out(int_larger, std::max(i, j));
  std::int32_t const twice = wrapped(2 * std::int64_t(j));
  out(int_where_less, i < j ? i : twice);
  out(int_where_less_equal, i <= j ? i : twice);
  out(int_where_equal, i == j ? i : twice);
  out(int_gathered, in.i[std::size_t(in.place[n])]);
}

/// As `found` has parts, so must be what is asked of all lanes of a part. On a GPU a part has a
/// lane of each row.
template <class T>
void expect_of_parts(host_inputs<T> const& in, results<T> const& found, results<T>& expected) {
  auto const at = [](of_integers which, std::int64_t n) {
    return std::size_t(which * all_lanes + n);
  };
  for (std::int64_t n = 0; n < all_lanes; ++n) {
    std::int32_t const count = found.integers[at(part_lanes, n)];
    bool const strided = found.integers[at(part_rows, n)] == rows;
    if (count < 1 || (strided ? count != rows : 32 % count != 0)) {
      FAIL("a part of ", count, " lanes");
    }
    std::int64_t const step = strided ? 32 : 1;
    std::int64_t const first = strided ? n / group_lanes * group_lanes + n % 32 : n / count * count;
    bool all = true;
    bool any = false;
    for (std::int64_t m = 0; m < count; ++m) {
      auto const k = std::size_t(first + m * step);
      all = all && in.i[k] < in.j[k];
      any = any || in.a[k] < in.b[k];
    }
    expected.integers[at(all_less, n)] = all ? 1 : 0;
    expected.integers[at(any_less, n)] = any ? 1 : 0;
    expected.integers[at(part_lanes, n)] = count;
    expected.integers[at(part_rows, n)] = strided ? rows : 1;
    expected.integers[at(row_number, n)] = strided ? 0 : std::int32_t(n % group_lanes / 32);
  }
}

template <class T>
results<T> expected_results(host_inputs<T> const& in) {
  results<T> expected{std::vector<T>(count_of_values * all_lanes),
                      std::vector<std::int32_t>(count_of_integers * all_lanes)};
  for (std::size_t n = 0; n < std::size_t(all_lanes); ++n) {
    expect_values(in, n, [&](of_values which, T x) {
      expected.values[std::size_t(which * all_lanes) + n] = iso::canonical(x);
    });
    expect_integers(in, n, [&](of_integers which, std::int32_t x) {
      expected.integers[std::size_t(which * all_lanes) + n] = x;
    });
  }
  return expected;
}

/// By `run(kernel)` on data in memory of `Space`.
template <class Space, int Registers, class T, class Run>
void check(host_inputs<T> const& in, results<T> expected, Run const& run) {
  auto const a = on<Space>(in.a);
  auto const b = on<Space>(in.b);
  auto const c = on<Space>(in.c);
  auto const z = on<Space>(in.z);
  auto const table = on<Space>(in.table);
  auto const i = on<Space>(in.i);
  auto const j = on<Space>(in.j);
  auto const place = on<Space>(in.place);
  auto const beyond = on<Space>(in.beyond);
  Kokkos::View<T*, Space> const values("values", expected.values.size());
  Kokkos::View<std::int32_t*, Space> const integers("integers", expected.integers.size());
  run(every_operation<T, Registers>{{a.data(), b.data(), c.data(), z.data(), table.data(), i.data(),
                                     j.data(), place.data(), beyond.data()},
                                    values.data(),
                                    integers.data()});
  Kokkos::fence("test: results are here");
  results<T> found{back(values), back(integers)};
  for (T& x : found.values) {
    x = iso::canonical(x);
  }
  expect_of_parts(in, found, expected);
  for (std::int64_t n = 0; n < count_of_values; ++n) {
    CAPTURE(n);
    auto const part_of = [n](std::vector<T> const& x) {
      return std::vector<T>(x.begin() + n * all_lanes, x.begin() + (n + 1) * all_lanes);
    };
    CHECK(difference(part_of(expected.values), part_of(found.values)) == "");
  }
  for (std::int64_t n = 0; n < count_of_integers; ++n) {
    CAPTURE(n);
    auto const part_of = [n](std::vector<std::int32_t> const& x) {
      return std::vector<std::int32_t>(x.begin() + n * all_lanes, x.begin() + (n + 1) * all_lanes);
    };
    CHECK(difference(part_of(expected.integers), part_of(found.integers)) == "");
  }
}

template <int Registers, class T>
void check_all_forms(host_inputs<T> const& in, results<T> const& expected) {
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    check<typename exec_space::memory_space, Registers>(in, expected, [](auto const& kernel) {
      iso::backend::for_each_lane_group("test", exec_space(), groups, kernel);
    });
  });
  auto const here = [&](auto const& body_of) {
    check<Kokkos::HostSpace, Registers>(in, expected, [&](auto const& kernel) {
      auto const body = body_of(kernel);
      for (std::int64_t index = 0; index < groups; ++index) {
        body(index);
      }
    });
  };
  using iso::backend::detail::host_kernel;
  using iso::backend::detail::portable_body;
  {
    INFO("portable");
    here([](auto const& kernel) { return portable_body<std::decay_t<decltype(kernel)>>{kernel}; });
  }
  for (int const bytes : {32, 64}) {
    if (bytes <= iso::backend::host_vector_bytes()) {
      CAPTURE(bytes);
      here([bytes](auto const& kernel) {
        return host_kernel<std::decay_t<decltype(kernel)>>(kernel, bytes);
      });
    }
  }
}

/// Counts numbers of one binade whose reciprocal is not the quotient.
struct wrong_reciprocals {
  std::uint32_t exponent;

  KOKKOS_FUNCTION void operator()(std::int64_t mantissa, std::int64_t& wrong) const {
    auto const x = Kokkos::bit_cast<float>(exponent << 23U | std::uint32_t(mantissa));
    wrong += iso::backend::detail::reciprocal(x) == 1.0F / x ? 0 : 1;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("lane values: every operation has the scalar one's bits in every form", T, float,
                   double) {
  host_inputs<T> const in;
  auto const expected = expected_results(in);
  check_all_forms<1>(in, expected);
  check_all_forms<2>(in, expected);
}

TEST_CASE("reciprocal: every number of the first, a middle and the last binade is rounded once") {
  iso::backend::for_each([](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    for (std::uint32_t const exponent : {63U, 127U, 190U}) {
      std::int64_t wrong = 0;
      Kokkos::parallel_reduce(
          "reciprocals",
          Kokkos::RangePolicy<exec_space, Kokkos::IndexType<std::int64_t>>(0, 1 << 23),
          wrong_reciprocals{exponent}, wrong);
      CAPTURE(tag.name);
      CHECK(wrong == 0);
    }
  });
}
