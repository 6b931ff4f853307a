// SPDX-License-Identifier: BSD-3-Clause
//! Random matrices, gaps and lengths chosen about the limits of the formats; x with numbers of any
//! size, infinities and NaN.
#include <iso/sparse/convert.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;

/// Ascending columns with gaps of 1, of a few, and about 65535.
lists random_lists() {
  lists m;
  m.rows.resize(std::size_t(*rc::gen::inRange(0, 21)));
  std::int64_t widest = 0;
  for (auto& row : m.rows) {
    auto const length = *rc::gen::elementOf(std::vector<int>{0, 0, 1, 2, 31, 32, 33, 70});
    std::int64_t column = *rc::gen::inRange(0, 3) - 1;
    for (int n = 0; n < length; ++n) {
      column += *rc::gen::weightedElement<std::int64_t>(
          {{40, 1}, {6, 3}, {2, 256}, {1, 30000}, {1, 65535}, {1, 65536}});
      auto const mantissa = *rc::gen::inRange(-2048, 2049);
      row.push_back({std::int32_t(column),
                     mantissa == 0 ? 0.0 : std::ldexp(mantissa, *rc::gen::inRange(-34, 5))});
    }
    widest = std::max(widest, column + 1);
  }
  m.cols = widest + *rc::gen::inRange(0, 3);
  return m;
}

std::vector<double> random_x(std::int64_t length) {
  auto const seed = *rc::gen::inRange(0, 1 << 30);
  auto const special = *rc::gen::inRange(0, 3);
  // Of about one size, or of all sizes at once.
  auto const scale = *rc::gen::elementOf(std::vector<int>{0, 0, -1065, -1022, -1000, -500, 900});
  bool const spread = *rc::gen::arbitrary<bool>();
  auto x = some_vector(length, 1, unsigned(seed));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(x[i], spread ? scale / (1 + int(i % 5)) : scale);
  }
  std::mt19937_64 random{std::uint64_t(seed)};
  for (int n = 0; n < special && length > 0; ++n) {
    double const values[] = {infinity, -infinity, nan_value, 0.0};
    x[random() % x.size()] = values[random() % 4];
  }
  return x;
}

template <int R, class Matrix>
void check_format(Matrix const& a, std::vector<double> const& x,
                  std::vector<double> const& expected) {
  Kokkos::Serial const exec;
  auto const g = iso::sparse::make_row_blocks<R>(exec, a);
  auto const back = iso::sparse::to_csr(exec, g);
  RC_ASSERT(difference(to_vector(back.row_offsets), to_vector(a.row_offsets)) == "");
  RC_ASSERT(difference(to_vector(back.columns), to_vector(a.columns)) == "");
  RC_ASSERT(difference(to_vector(back.values), to_vector(a.values)) == "");
  RC_ASSERT(difference(product(exec, g, x), expected) == "");
}

}  // namespace

TEST_CASE("any matrix: formats round-trip, and reproducible sums agree to the bit") {
  CHECK(rc::check("row blocks", [] {
    auto const m = random_lists();
    Kokkos::Serial const exec;
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    // Small numbers may have become negative zeros, which row blocks refuse.
    RC_PRE(iso::sparse::validate(exec, a).negative_zeros == 0);
    auto const x = random_x(m.cols);
    auto const expected = product(exec, a, x);
    check_format<4>(a, x, expected);
    check_format<8>(a, x, expected);
  }));
}

TEST_CASE("any matrix: permuted rows, and the transpose of the transpose") {
  CHECK(rc::check("permutations", [] {
    auto m = random_lists();
    Kokkos::Serial const exec;
    auto const a = csr<double, std::int32_t>(exec, m);
    auto const x = random_x(m.cols);
    how const free{.sum = summation::reproducible};
    auto const expected = product(exec, a, x, free);
    auto const twice = iso::sparse::transpose(exec, iso::sparse::transpose(exec, a));
    RC_ASSERT(difference(to_vector(twice.columns), to_vector(a.columns)) == "");
    RC_ASSERT(difference(to_vector(twice.values), to_vector(a.values)) == "");
    std::mt19937_64 random(std::uint64_t(*rc::gen::inRange(0, 1 << 30)));
    for (auto& row : m.rows) {
      std::shuffle(row.begin(), row.end(), random);
    }
    RC_ASSERT(difference(product(exec, csr<double, std::int32_t>(exec, m), x, free), expected) ==
              "");
  }));
}
