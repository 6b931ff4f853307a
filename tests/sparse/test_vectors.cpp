// SPDX-License-Identifier: BSD-3-Clause
// Several vectors have the bits of as many single products, in every format and order of sums.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;

/// In vector registers of every width: how many vectors a pass multiplies depends on it.
template <class Exec, class Matrix>
void check_vectors(Exec const& exec, Matrix const& a, std::int64_t rows, std::int64_t cols,
                   std::vector<std::int64_t> const& of_vectors) {
  int const widest = iso::backend::host_vector_bytes();
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    CAPTURE(int(sum));
    for (std::int64_t const k : of_vectors) {
      CAPTURE(k);
      auto const x = some_vector(cols, k);
      auto const y = some_vector(rows, k, 11);
      how const h{.sum = sum, .alpha = 1.5, .beta = 0.25, .vectors = k};
      auto const together = product(exec, a, x, y, h);
      iso::backend::set_host_vector_bytes(32);
      auto const narrow = product(exec, a, x, y, h);
      iso::backend::set_host_vector_bytes(widest);
      REQUIRE(difference(together, narrow) == "");
      for (std::int64_t n = 0; n < k; ++n) {
        auto const one = [&](std::vector<double> const& all) {
          std::vector<double> picked;
          for (auto i = std::size_t(n); i < all.size(); i += std::size_t(k)) {
            picked.push_back(all[i]);
          }
          return picked;
        };
        auto const alone =
            product(exec, a, one(x), one(y), {.sum = sum, .alpha = 1.5, .beta = 0.25});
        REQUIRE(difference(alone, one(together)) == "");
      }
    }
  }
}

template <class Value>
void check_rows_in_parts(std::vector<std::int64_t> const& of_vectors) {
  auto m = synthetic(45, 3000, 4, 0.3);
  // One row in parts: 2048 entries or 64 chunks each.
  for (std::int32_t c = 0; c < 3000; ++c) {
    m.rows[9].push_back({c, 0.5 + 0.125 * (c % 5)});
  }
  std::sort(m.rows[9].begin(), m.rows[9].end(),
            [](item const& a, item const& b) { return a.column < b.column; });
  auto const same = [](item const& a, item const& b) { return a.column == b.column; };
  m.rows[9].erase(std::unique(m.rows[9].begin(), m.rows[9].end(), same), m.rows[9].end());
  for_each_instance([&](auto const& exec) {
    auto const a = csr<Value, std::int32_t>(exec, m);
    check_vectors(exec, a, m.num_rows(), m.cols, of_vectors);
    check_vectors(exec, csr<Value, std::uint16_t>(exec, m), m.num_rows(), m.cols, of_vectors);
    if constexpr (sizeof(Value) == 2) {
      check_vectors(exec, iso::sparse::make_row_blocks<4>(exec, a), m.num_rows(), m.cols,
                    of_vectors);
      check_vectors(exec, iso::sparse::make_row_blocks<8>(exec, a), m.num_rows(), m.cols,
                    of_vectors);
    }
  });
}

template <class Value>
void check_full_rows(std::vector<std::int64_t> const& of_vectors) {
  // Enough for each number of the vectors that AVX-512 multiplies vector by vector.
  lists m{100, std::vector<std::vector<item>>(101)};
  for (std::int32_t r = 0; r < 101; ++r) {
    for (std::int32_t c = r % 5; c < 100; ++c) {
      m.rows[std::size_t(r)].push_back({c, 0.5 + 0.125 * ((r + 3 * c) % 11)});
    }
  }
  REQUIRE(m.entries() / 32 >= m.num_rows() + m.cols);
  for_each_instance([&](auto const& exec) {
    auto const a = csr<Value, std::int32_t>(exec, m);
    check_vectors(exec, iso::sparse::make_row_blocks<4>(exec, a), m.num_rows(), m.cols, of_vectors);
    check_vectors(exec, iso::sparse::make_row_blocks<8>(exec, a), m.num_rows(), m.cols, of_vectors);
  });
}

}  // namespace

// Passes of four and eight vectors, and of one that is left over.
TEST_CASE_TEMPLATE("spmv: k vectors have the bits of k single products", Value, iso::half, bfloat16,
                   float, double) {
  check_rows_in_parts<Value>({4, 9});
}

TEST_CASE_TEMPLATE("spmv: k vectors of a matrix with many entries a row and a column", Value,
                   iso::half, bfloat16) {
  check_full_rows<Value>({4, 9});
}

TEST_CASE_TEMPLATE("spmv: two vectors and more have the bits of single products", Value, iso::half,
                   bfloat16, float, double) {
  check_rows_in_parts<Value>({2, 3, 5, 6, 7, 8});
}

TEST_CASE_TEMPLATE("spmv: two vectors and more of a matrix with many entries a row and a column",
                   Value, iso::half, bfloat16) {
  check_full_rows<Value>({2, 3, 5, 6, 7, 8});
}
