// SPDX-License-Identifier: BSD-3-Clause
// Products in vector registers of every width and in plain arrays: one source, the same bits.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/sparse/detail/product_kernel.hpp>
#include <iso/sparse/detail/product_tuning.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

// Named, and left by name: joined with other files, its using-directives must stay within.
namespace test_widths {

using namespace sparse_support;
using namespace iso::sparse::detail;
namespace lane = iso::backend::detail;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// What a product of whole rows, K vectors, writes.
template <class Sum, int K, class Rows>
class whole_rows {
  using tuning = product_tuning<exec_space, Rows, Sum, K>;
  using kernel_type = iso::sparse::detail::product<double, Rows, Sum, K, tuning>;
  using pack = iso::backend::pack<double, K>;

 public:
  whole_rows(Rows const& rows, std::int64_t num_cols)
      : rows_(rows),
        num_blocks_((rows.num_rows + Rows::rows - 1) / Rows::rows),
        exponents_(std::size_t(num_blocks_ * Rows::rows), 8),
        max_abs_x_(K, 1.0),
        x_(std::size_t(num_cols)) {
    std::mt19937 random(17);
    for (auto& at : x_) {
      for (int k = 0; k < K; ++k) {
        at[k] = std::uniform_real_distribution<double>(-1, 1)(random);
      }
    }
    for (std::int64_t block = 0; block < num_blocks_; ++block) {
      segments_.push_back(rows.whole(block));
    }
  }

  /// The bits of y; run(kernel, index) runs it once.
  template <class Run>
  [[nodiscard]] std::vector<std::uint64_t> bits(Run const& run) const {
    std::vector<double> y(std::size_t(rows_.num_rows * K), -7);
    Kokkos::View<bool*, host> const to_fix("to_fix", segments_.size());
    kernel_type const kernel{rows_,
                             segments_.data(),
                             x_.data(),
                             exponents_.data(),
                             max_abs_x_.data(),
                             0,
                             nullptr,
                             to_fix.data(),
                             {1.5, 0.0, y.data(), K, rows_.num_rows, K, nullptr}};
    for (std::int64_t block = 0; block < num_blocks_; ++block) {
      run(kernel, block);
    }
    std::vector<std::uint64_t> found(y.size());
    std::transform(y.begin(), y.end(), found.begin(),
                   [](double v) { return std::bit_cast<std::uint64_t>(v); });
    return found;
  }

 private:
  Rows rows_;
  std::int64_t num_blocks_;
  std::vector<std::int16_t> exponents_;
  std::vector<double> max_abs_x_;
  std::vector<pack> x_;
  std::vector<iso::sparse::row_segment> segments_;
};

template <class Sum, int K, class Rows>
void check_sum(Rows const& rows, std::int64_t num_cols) {
  CAPTURE(K);
  CAPTURE(Sum::is_reproducible);
  whole_rows<Sum, K, Rows> const problem(rows, num_cols);
  auto const plain = problem.bits([](auto const& kernel, std::int64_t index) {
    lane::portable_body<std::decay_t<decltype(kernel)>>{kernel}(index);
  });
  REQUIRE(std::adjacent_find(plain.begin(), plain.end(), std::not_equal_to<>()) != plain.end());
  for (int const bytes : {32, 64}) {
    CAPTURE(bytes);
    int const taken = std::min(bytes, iso::backend::host_vector_bytes());
    CHECK(problem.bits([taken](auto const& kernel, std::int64_t index) {
      lane::host_kernel<std::decay_t<decltype(kernel)>>(kernel, taken)(index);
    }) == plain);
  }
}

template <class Matrix>
void check(Matrix const& a) {
  auto const rows = rows_of(a);
  std::int64_t const num_cols = iso::sparse::shape_of(a).num_cols;
  auto const check_vectors = [&]<class Sum>(Sum) {
    check_sum<Sum, 1>(rows, num_cols);
    check_sum<Sum, 2>(rows, num_cols);
    check_sum<Sum, 4>(rows, num_cols);
  };
  check_vectors(ordered_sum());
  check_vectors(reproducible_sum());
}

}  // namespace test_widths

TEST_CASE_TEMPLATE("products: the same bits in registers of every width and in plain arrays", Value,
                   iso::half, iso::bfloat16, float, double) {
  test_widths::exec_space const exec;
  test_widths::check(
      sparse_support::csr<Value, std::int32_t>(exec, sparse_support::synthetic(60, 900, 1, 0.1)));
}

TEST_CASE_TEMPLATE("row blocks: the same bits in registers of every width and in plain arrays",
                   Value, iso::half, iso::bfloat16) {
  test_widths::exec_space const exec;
  auto const a =
      sparse_support::csr<Value, std::int32_t>(exec, sparse_support::synthetic(60, 900, 2, 0.1));
  test_widths::check(iso::sparse::make_row_blocks<4>(exec, a));
  test_widths::check(iso::sparse::make_row_blocks<8>(exec, a));
}
