// SPDX-License-Identifier: BSD-3-Clause
// What runs by hand on processors with AVX-512, against the definition written out lane by lane.
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/backend/detail/host_products.hpp>
#include <iso/core/half.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#ifdef ISO_HOST_WIDE

namespace {

using namespace iso::backend::detail;
using bits = std::uint64_t;

template <narrow Kind>
using number = std::conditional_t<Kind == narrow::half, iso::half, iso::bfloat16>;

template <narrow Kind>
double widened(std::uint16_t stored) {
  number<Kind> x;
  x.bits = stored;
  return double(x);
}

template <lane_sums Sums>
double prepared(double x) {
  return Sums == lane_sums::exact ? std::bit_cast<double>(std::bit_cast<bits>(x) | 1U) : x;
}

/// The tree of group.sum, of lanes that begin at `origin`.
template <lane_sums Sums>
double total(std::array<double, 32> sum) {
  if (Sums == lane_sums::exact) {
    for (double& s : sum) {
      s -= std::ldexp(1.5, std::ilogb(s));
    }
  }
  for (int half = 16; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      sum[std::size_t(lane)] += sum[std::size_t(lane + half)];
    }
  }
  return sum[0];
}

/// Columns in runs with gaps, in no order, at both ends of the range.
struct columns_of {
  std::mt19937 random{7};

  template <class Column>
  std::vector<Column> operator()(int count, std::int64_t range, int longest_run) {
    std::vector<Column> columns;
    auto const draw = [&](std::int64_t n) {
      return std::int64_t(std::uniform_int_distribution<std::int64_t>(0, n - 1)(random));
    };
    while (int(columns.size()) < count) {
      std::int64_t const run = 1 + draw(longest_run);
      std::int64_t const where = draw(4);
      // From the start, across the end (sixteen bits wrap there), up to the end, anywhere.
      std::int64_t const first = where == 0   ? 0
                                 : where == 1 ? range - (run + 1) / 2
                                 : where == 2 ? range - run
                                              : draw(range - run);
      for (std::int64_t i = 0; i < run && int(columns.size()) < count; ++i) {
        columns.push_back(Column((first + i) % range));
      }
    }
    return columns;
  }
};

constexpr std::int64_t range = 65536;

/// K vectors side by side.
template <std::size_t K>
std::vector<double> weights() {
  std::mt19937 random(3);
  std::vector<double> x(K * range);
  for (double& v : x) {
    v = std::uniform_real_distribution<double>(-1, 1)(random);
  }
  x.front() = 0;
  x.back() = -0.0;
  return x;
}

/// Finite numbers of every size, subnormal ones included.
template <narrow Kind>
std::vector<std::uint16_t> values_of(std::size_t count) {
  std::mt19937 random(5);
  std::vector<std::uint16_t> values(count);
  for (auto& v : values) {
    do {
      v = std::uint16_t(random());
    } while (!(std::abs(widened<Kind>(v)) < 1e4));
  }
  return values;
}

template <lane_sums Sums>
constexpr double origin = Sums == lane_sums::exact ? 0x1.8p30 : 0.0;

/// Where the sum of (row, vector) begins.
template <lane_sums Sums, std::size_t Count>
std::array<double, Count> origins_of() {
  std::array<double, Count> origins;
  for (std::size_t n = 0; n < Count; ++n) {
    origins[n] = std::ldexp(origin<Sums>, int(n % 3));
  }
  return origins;
}

/// Of R rows and K vectors, value r of place j being values[R j + r]: place j belongs to lane j
/// % 32.
template <narrow Kind, lane_sums Sums, std::size_t R, std::size_t K>
void require_definition(std::array<double, R * K> const& found,
                        std::array<double, R * K> const& origins, std::vector<double> const& x,
                        std::vector<std::int32_t> const& columns,
                        std::vector<std::uint16_t> const& values) {
  for (std::size_t n = 0; n < R * K; ++n) {
    std::array<double, 32> sum;
    sum.fill(origins[n]);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      double const at = x[std::size_t(columns[j]) * K + n % K];
      sum[j % 32] = std::fma(widened<Kind>(values[j * R + n / K]), prepared<Sums>(at), sum[j % 32]);
    }
    CAPTURE(n);
    REQUIRE(std::bit_cast<bits>(found[n]) == std::bit_cast<bits>(total<Sums>(sum)));
  }
}

template <narrow Kind, lane_sums Sums, int K, class Column>
void check_rows() {
  auto const x = weights<K>();
  auto const origins = origins_of<Sums, K>();
  columns_of draw;
  for (int count = 0; count < 200; ++count) {
    for (int const longest_run : {1, 5, 20, 100}) {
      CAPTURE(count);
      CAPTURE(longest_run);
      auto const columns = draw.operator()<Column>(count, range, longest_run);
      auto const values = values_of<Kind>(std::size_t(count));
      std::array<double, K> found;
      row_products<Kind, Sums, K>(x.data(), columns.data(), values.data(), count, origins.data(),
                                  found.data());
      require_definition<Kind, Sums, 1, K>(found, origins, x, {columns.begin(), columns.end()},
                                           values);
    }
  }
}

/// Chunks of 32 lanes, and the column of each lane.
struct drawn_chunks {
  std::vector<std::int32_t> bases;
  std::vector<std::uint16_t> offsets;
  std::vector<std::int32_t> columns;

  drawn_chunks(std::mt19937& random, int chunks) {
    for (int c = 0; c < chunks; ++c) {
      bases.push_back(std::int32_t(random() % 2000));
      for (int lane = 0; lane < 32; ++lane) {
        offsets.push_back(std::uint16_t(random() % 60000));
        columns.push_back(bases.back() + offsets.back());
      }
    }
  }
};

template <narrow Kind, lane_sums Sums, int K, int R>
void check_chunks() {
  auto const x = weights<K>();
  auto const origins = origins_of<Sums, R * K>();
  std::mt19937 random(11);
  for (int chunks = 0; chunks < 20; ++chunks) {
    CAPTURE(chunks);
    drawn_chunks const drawn(random, chunks);
    auto const values = values_of<Kind>(std::size_t(32 * R * chunks));
    std::array<double, R * K> found;
    chunk_products<Kind, Sums, R, K>(x.data(), drawn.bases.data(), drawn.offsets.data(),
                                     values.data(), chunks, origins.data(), found.data());
    require_definition<Kind, Sums, R, K>(found, origins, x, drawn.columns, values);
  }
}

template <narrow Kind, lane_sums Sums, int K>
void check_vectors() {
  CAPTURE(K);
  check_rows<Kind, Sums, K, std::int32_t>();
  check_rows<Kind, Sums, K, std::uint16_t>();
  check_chunks<Kind, Sums, K, 4>();
  check_chunks<Kind, Sums, K, 8>();
}

template <narrow Kind, lane_sums Sums>
void check_all() {
  check_vectors<Kind, Sums, 1>();
  check_vectors<Kind, Sums, 2>();
  check_vectors<Kind, Sums, 4>();
}

bool runs_here() { return host_vector_bytes() == 64; }

}  // namespace

TEST_CASE("products by hand: the bits of the definition") {
  if (!runs_here()) {
    MESSAGE("left out: this processor has no AVX-512");
    return;
  }
  check_all<narrow::half, lane_sums::plain>();
  check_all<narrow::half, lane_sums::exact>();
  check_all<narrow::bfloat16, lane_sums::plain>();
  check_all<narrow::bfloat16, lane_sums::exact>();
}

TEST_CASE_TEMPLATE("products by hand: no more of x, columns and values is read than there is",
                   Count, std::integral_constant<int, 1>, std::integral_constant<int, 2>,
                   std::integral_constant<int, 4>) {
  if (!runs_here()) {
    MESSAGE("left out: this processor has no AVX-512");
    return;
  }
  constexpr int K = Count::value;
  // What lies beside x is NaN, and would be seen; what lies beside columns leads there.
  std::vector<double> guarded(64 * K, std::numeric_limits<double>::quiet_NaN());
  double* const x = guarded.data() + 16 * K;
  std::fill_n(x, 32 * K, 1.0);
  std::array<double, K> const origins{};
  auto const require_count = [&](std::vector<std::int32_t> const& columns, int count) {
    std::vector<std::uint16_t> const ones(columns.size(), iso::half(1.0).bits);
    std::array<double, K> found;
    row_products<narrow::half, lane_sums::plain, K>(x, columns.data(), ones.data(), count,
                                                    origins.data(), found.data());
    for (double const sum : found) {
      REQUIRE(sum == count);
    }
  };
  for (int count = 0; count <= 32; ++count) {
    std::vector<std::int32_t> columns(64, 40);
    for (int j = 0; j < count; ++j) {
      columns[std::size_t(j)] = j;
    }
    require_count(columns, count);
  }
  // The two runs of eight columns each reach to an end.
  require_count({0, 1,  2,  27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 30, 31,
                 0, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6,  31},
                32);
}
#endif
