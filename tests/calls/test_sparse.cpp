// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/backend/communicator.hpp>
#include <iso/core/half.hpp>
#include <iso/core/workspace.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/plan.hpp>
#include <iso/sparse/rank_plan.hpp>
#include <iso/sparse/ranked_product.hpp>
#include <iso/sparse/row_block_csr.hpp>
#include <iso/sparse/spmv.hpp>
#include <iso/sparse/validate.hpp>

#include <string>
#include <vector>

namespace {

using namespace calls;
namespace sparse = iso::sparse;

/// The unit matrix of 2 x 2.
sparse::csr_view<float, std::int32_t, space> unit() {
  exec_space const exec;
  auto const a = iso::sparse::make_csr<float, std::int32_t>(exec, "unit", 2, 2, 2);
  std::vector<std::int64_t> const offsets{0, 1, 2};
  std::vector<std::int32_t> const columns{0, 1};
  auto const put = [&](auto const& to, auto const& from) {
    using value = std::remove_cvref_t<decltype(from[0])>;
    Kokkos::deep_copy(exec, to,
                      Kokkos::View<value const*, iso::space::host, Kokkos::MemoryUnmanaged>(
                          from.data(), from.size()));
  };
  put(a.row_offsets, offsets);
  put(a.columns, columns);
  Kokkos::deep_copy(exec, a.values, 1.0F);
  exec.fence();
  return a;
}

Kokkos::View<double*, space> numbers(double value) {
  exec_space const exec;
  Kokkos::View<double*, space> const x("x", 2);
  Kokkos::deep_copy(exec, x, value);
  return x;
}

double first(Kokkos::View<double*, space> const& x) {
  return Kokkos::create_mirror_view_and_copy(iso::space::host(), x)(0);
}

}  // namespace

TEST_CASE("products") {
  exec_space const exec;
  auto const a = unit();
  auto const y = numbers(0);
  auto const plan = iso::sparse::make_plan(exec, a);
  auto const same = iso::sparse::make_plan(exec, a.as_const(), iso::sparse::make_bounds(exec, a));
  iso::workspace<space> const scratch(iso::sparse::spmv_bytes_needed<double>(exec, a, plan, 1));
  iso::sparse::spmv(exec, 1, a, numbers(3), 0, y, plan, scratch);
  CHECK(first(y) == 3);
  iso::sparse::spmv(exec, 2, a, Kokkos::View<double const*, space>(numbers(3)), 1, y, same, scratch,
                    {.sum = iso::summation::reproducible});
  CHECK(first(y) == 9);
  Kokkos::View<double*, space> const largest("largest", 1);
  iso::sparse::max_abs(exec, y, largest);
  CHECK(iso::sparse::shape_of(a).num_entries == 2);
}

TEST_CASE("products on ranks") {
  exec_space const exec;
  iso::backend::one_rank ranks;
  std::vector<std::int64_t> const offsets{0, 1, 2};
  iso::sparse::rank_plan const plan(iso::sparse::divide_rows(offsets, ranks.size()),
                                    iso::sparse::divide_rows(2, ranks.size()));
  auto const y = numbers(0);
  iso::sparse::ranked_product by_rows(exec, ranks, plan, unit());
  by_rows.apply(numbers(3), y);
  by_rows.apply(2, Kokkos::View<double const*, space>(numbers(3)), 1, y,
                {.sum = iso::summation::reproducible});
  CHECK(first(y) == 9);
  iso::sparse::ranked_product<exec_space, decltype(unit()), float> of_floats(
      exec, ranks, plan.transposed(), unit(), 4);
  CHECK(of_floats.report().bytes_sent == 0);
  iso::sparse::ranked_column_product by_columns(exec, ranks, plan, unit());
  by_columns.apply(numbers(3), y);
  CHECK(first(y) == 3);
}

TEST_CASE("formats") {
  exec_space const exec;
  auto const a = unit();
  auto const halves = iso::sparse::convert_values<iso::half>(exec, a).matrix;
  iso::sparse::convert_values<iso::half>(exec, a.as_const(), iso::sparse::row_scaling::by_largest);
  auto const narrow = iso::sparse::to_relative_columns(exec, a);
  CHECK(iso::sparse::to_absolute_columns(exec, narrow).num_rows == 2);
  CHECK(iso::sparse::transpose(exec, a).num_rows == 2);
  iso::sparse::row_block_csr const blocks = iso::sparse::make_row_blocks<4>(exec, halves);
  CHECK(iso::sparse::shape_of(blocks).num_rows == 2);
  CHECK(iso::sparse::to_csr(exec, blocks).num_entries() == 2);
  auto const csr32 = iso::sparse::measure_format(exec, a, iso::sparse::matrix_format::csr32);
  CHECK(iso::sparse::product_cost(csr32, iso::sparse::processor::host) > 0);
  CHECK(iso::sparse::product_cost({}, iso::sparse::processor_of<exec_space>()) > 0);
  CHECK(iso::sparse::to_string(iso::sparse::choose_format(exec, a).format) == "csr32");
  auto const report = iso::sparse::validate(exec, a);
  CHECK(report.sound());
  CHECK(iso::sparse::to_string(report).empty());
  iso::sparse::validate(exec, a.as_const(),
                        {.columns = iso::sparse::csr_demands::of_columns::ascending});
}

TEST_CASE("a dose matrix of arrays") {
  exec_space const exec;
  std::vector<std::int64_t> const offsets{0, 1, 2};
  std::vector<std::int32_t> indices{0, 1};
  iso::sparse::dose_matrix const a(
      exec, iso::sparse::csr_arrays(2, 2, offsets, indices, std::vector<float>{1, 1}));
  auto const y = numbers(0);
  a.apply(exec, numbers(2), y);
  CHECK(first(y) == 2);
  a.apply_transposed(exec, 2, numbers(2), 1, y);
  CHECK(first(y) == 6);
  CHECK(!iso::sparse::to_string(a.report()).empty());
  iso::sparse::dose_matrix<space> const by_columns(
      exec, iso::sparse::csc_arrays(2, 2, offsets, indices, std::vector{1.0, 1.0}),
      {.values = iso::sparse::dose_matrix_options::value_storage::half});
  CHECK(by_columns.num_entries() == 2);
}
