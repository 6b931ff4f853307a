// SPDX-License-Identifier: BSD-3-Clause
// Products in vector registers of every width and in plain arrays: one source, the same bits.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <iso/backend/host_vectors.hpp>

// Named, and left by name: joined with other files, its using-directives must stay within.
namespace test_widths {

using namespace sparse_support;

/// Products of one, two and four vectors in registers of `bytes` at most, one behind the other.
template <class Matrix>
std::vector<double> products(Matrix const& a, int bytes) {
  int const widest = iso::backend::host_vector_bytes();
  iso::backend::set_host_vector_bytes(bytes);
  std::vector<double> all;
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    for (std::int64_t const vectors : {1, 2, 4}) {
      auto const x = some_vector(iso::sparse::shape_of(a).num_cols, vectors, 17);
      auto const y =
          product(Kokkos::Serial(), a, x, {.sum = sum, .alpha = 1.5, .vectors = vectors});
      all.insert(all.end(), y.begin(), y.end());
    }
  }
  iso::backend::set_host_vector_bytes(widest);
  return all;
}

template <class Matrix>
void check(Matrix const& a) {
  auto const plain = products(a, 0);
  REQUIRE(std::adjacent_find(plain.begin(), plain.end(), std::not_equal_to<>()) != plain.end());
  for (int const bytes : {32, 64}) {
    CAPTURE(bytes);
    CHECK(difference(plain, products(a, bytes)) == "");
  }
}

}  // namespace test_widths

TEST_CASE_TEMPLATE("products: the same bits in registers of every width and in plain arrays", Value,
                   iso::half, iso::bfloat16, float, double) {
  Kokkos::Serial const exec;
  auto const m = sparse_support::synthetic(60, 900, 1, 0.1);
  test_widths::check(sparse_support::csr<Value, std::int32_t>(exec, m));
  test_widths::check(sparse_support::csr<Value, std::uint16_t>(exec, m));
}

TEST_CASE_TEMPLATE("row blocks: the same bits in registers of every width and in plain arrays",
                   Value, iso::half, iso::bfloat16) {
  Kokkos::Serial const exec;
  auto const a =
      sparse_support::csr<Value, std::int32_t>(exec, sparse_support::synthetic(60, 900, 2, 0.1));
  test_widths::check(iso::sparse::make_row_blocks<4>(exec, a));
  test_widths::check(iso::sparse::make_row_blocks<8>(exec, a));
}
