// SPDX-License-Identifier: BSD-3-Clause
// Sparse products of every format, type of values and sum.
#include "parity.hpp"

#include <iso/sparse/formats.hpp>
#include <iso/sparse/row_block_csr.hpp>
#include <iso/sparse/spmv.hpp>

#include <cmath>
#include <type_traits>

namespace iso::test {
namespace {

constexpr std::int32_t num_cols = 5000;

/// Rows of 0, a few, hundreds and thousands of entries, in runs.
struct some_matrix {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  some_matrix() {
    std::mt19937 random(5);
    for (int row = 0; row < 61; ++row) {
      std::int32_t const every[] = {0, 1999, 37, 7, 3, 1};
      std::int32_t const step = every[random() % 6];
      for (std::int32_t c = std::int32_t(random() % 40U); step > 0 && c < num_cols; c += step) {
        columns.push_back(c);
      }
      offsets.push_back(std::int64_t(columns.size()));
    }
    values = even_numbers<double>(columns.size(), 6, 0x1p-10, 1);
    for (double& x : values) {
      x = std::ldexp(x, -int(random() % 12U));
    }
  }
};

template <class Value, class Column, class Exec>
auto make_csr(Exec const& exec, some_matrix const& m) {
  sparse::csr_view<Value, Column, typename Exec::memory_space> a;
  a.num_rows = std::int64_t(m.offsets.size()) - 1;
  a.num_cols = num_cols;
  a.row_offsets = moved_to(exec, m.offsets);
  a.columns = moved_to(exec, std::vector<Column>(m.columns.begin(), m.columns.end()));
  std::vector<Value> values;
  for (double const x : m.values) {
    values.push_back(Value(x));
  }
  a.values = moved_to(exec, values);
  if (a.relative) {
    a.row_bases = moved_to(exec, std::vector<std::int32_t>(std::size_t(a.num_rows), 0));
  }
  return a;
}

template <class T, class Exec, class Matrix>
std::vector<T> product(Exec const& exec, Matrix const& a, summation sum, std::size_t vectors) {
  using space = typename Exec::memory_space;
  using several = Kokkos::View<T**, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>;
  auto const shape = sparse::shape_of(a);
  auto const plan = sparse::make_plan(exec, a);
  workspace<space> const scratch(sparse::spmv_bytes_needed<T>(a, plan, std::int64_t(vectors)));
  auto const x = moved_to(exec, even_numbers<T>(num_cols * vectors, 7, -1, 1));
  auto const y = moved_to(exec, even_numbers<T>(std::size_t(shape.num_rows) * vectors, 8, -1, 1));
  sparse::spmv(exec, 0.7, a, several(x.data(), num_cols, vectors), 1.25,
               several(y.data(), std::size_t(shape.num_rows), vectors), plan, scratch,
               {.sum = sum});
  return moved_back(exec, static_cast<T const*>(y.data()), y.size());
}

/// `make(exec)` is the matrix.
template <class T, class Make>
void compare_sums(parity& all, std::string const& name, Make const& make) {
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    if (sizeof(T) == 4 && sum == summation::reproducible) {
      continue;  // of vectors of double alone
    }
    for (std::size_t const vectors : {1, 2, 4}) {
      all.compare("spmv " + name + (sizeof(T) == 4 ? " on floats" : "") +
                      (sum == summation::ordered ? " ordered " : " reproducible ") +
                      std::to_string(vectors),
                  [&](auto const& exec) { return product<T>(exec, make(exec), sum, vectors); });
    }
  }
}

template <class Value>
void compare_formats(parity& all, some_matrix const& m, std::string const& value) {
  auto const csr32 = [&](auto const& exec) { return make_csr<Value, std::int32_t>(exec, m); };
  auto const csr16 = [&](auto const& exec) { return make_csr<Value, std::uint16_t>(exec, m); };
  compare_sums<double>(all, value + " csr32", csr32);
  compare_sums<double>(all, value + " csr16", csr16);
  if constexpr (std::is_same_v<Value, float>) {
    compare_sums<float>(all, value + " csr32", csr32);
  }
  if constexpr (sizeof(Value) == 2) {
    compare_sums<double>(all, value + " row_block4", [&](auto const& exec) {
      return sparse::make_row_blocks<4>(exec, csr32(exec));
    });
    compare_sums<double>(all, value + " row_block8", [&](auto const& exec) {
      return sparse::make_row_blocks<8>(exec, csr32(exec));
    });
  }
}

}  // namespace

void compare_products(parity& all) {
  some_matrix const m;
  compare_formats<half>(all, m, "half");
  compare_formats<bfloat16>(all, m, "bfloat16");
  compare_formats<float>(all, m, "float");
  compare_formats<double>(all, m, "double");
}

}  // namespace iso::test
