// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/sparse/sparse_support.hpp
//! Matrices on the host as lists, the same on a backend, and products in extended precision.
#pragma once

#include "instances.hpp"

#include <iso/backend/registry.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/row_block_csr.hpp>
#include <iso/sparse/spmv.hpp>
#include <iso/sparse/validate.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sparse_support {

using host = Kokkos::HostSpace;
using iso::bfloat16;
using iso::summation;
using iso::sparse::csr_view;
using iso::test::difference;
using iso::test::for_each_instance;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
/// Of row blocks: where no entry is.
inline iso::half const padding(-0.0);

struct item {
  std::int32_t column;
  double value;
};

/// A matrix as lists of rows.
struct lists {
  std::int64_t cols = 0;
  std::vector<std::vector<item>> rows;

  [[nodiscard]] std::int64_t num_rows() const { return std::int64_t(rows.size()); }
  [[nodiscard]] std::int64_t entries() const {
    std::int64_t sum = 0;
    for (auto const& row : rows) {
      sum += std::int64_t(row.size());
    }
    return sum;
  }
};

/// Rows as a dose matrix has them: most empty, runs of columns, similar neighbours.
inline lists synthetic(std::int64_t rows, std::int32_t cols, unsigned seed, double empty = 0.5,
                       double similarity = 0.8) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  lists m{cols, std::vector<std::vector<item>>(std::size_t(rows))};
  std::vector<std::int32_t> columns;
  for (auto& row : m.rows) {
    if (unit(random) < empty) {
      continue;
    }
    if (columns.empty() || unit(random) > similarity) {
      columns.clear();
      double const keep = unit(random) * unit(random);
      for (std::int32_t c = 0; c < cols;) {
        auto const run = std::int32_t(1 + random() % 20);
        bool const kept = unit(random) < keep;
        for (std::int32_t end = std::min(cols, c + run); c < end; ++c) {
          if (kept) {
            columns.push_back(c);
          }
        }
      }
    }
    for (std::int32_t const c : columns) {
      if (unit(random) < 0.9) {
        row.push_back({c, std::ldexp(unit(random), -int(random() % 12))});
      }
    }
  }
  return m;
}

/// Columns [first, last) of a matrix.
inline lists columns_of(lists const& m, std::int32_t first, std::int32_t last) {
  lists part{last - first, std::vector<std::vector<item>>(m.rows.size())};
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    for (auto const& e : m.rows[r]) {
      if (e.column >= first && e.column < last) {
        part.rows[r].push_back({e.column - first, e.value});
      }
    }
  }
  return part;
}

/// A View of `values` in the memory of `exec`.
template <class T, class Exec>
Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space> on(
    Exec const& exec, std::vector<T> const& values) {
  Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space> const out("test",
                                                                               values.size());
  Kokkos::deep_copy(exec, out,
                    Kokkos::View<T const*, Kokkos::LayoutRight, host, Kokkos::MemoryUnmanaged>(
                        values.data(), values.size()));
  exec.fence();
  return out;
}

template <class View>
std::vector<typename View::non_const_value_type> to_vector(View const& v) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(host(), v);
  return {mirror.data(), mirror.data() + mirror.size()};
}

/// The matrix by rows, its values rounded to `Value`.
template <class Value, class Column, class Exec>
csr_view<Value, Column, typename Exec::memory_space> csr(Exec const& exec, lists const& m) {
  std::vector<std::int64_t> offsets{0};
  std::vector<Column> columns;
  std::vector<Value> values;
  std::vector<std::int32_t> bases;
  for (auto const& row : m.rows) {
    std::int32_t base = 0;
    if (std::is_same_v<Column, std::uint16_t> && !row.empty()) {
      base = std::min_element(row.begin(), row.end(), [](item const& a, item const& b) {
               return a.column < b.column;
             })->column;
    }
    for (auto const& e : row) {
      columns.push_back(Column(e.column - base));
      values.push_back(Value(e.value));
    }
    bases.push_back(base);
    offsets.push_back(std::int64_t(columns.size()));
  }
  csr_view<Value, Column, typename Exec::memory_space> a;
  a.num_rows = m.num_rows();
  a.num_cols = m.cols;
  a.row_offsets = on(exec, offsets);
  a.columns = on(exec, columns);
  a.values = on(exec, values);
  if (a.relative) {
    a.row_bases = on(exec, bases);
  }
  return a;
}

/// `length` numbers for each of `vectors`, that of vector k at place i being [i vectors + k].
template <class T = double>
std::vector<T> some_vector(std::int64_t length, std::int64_t vectors = 1, unsigned seed = 7) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<T> x(std::size_t(length * vectors));
  for (auto& v : x) {
    v = T(std::ldexp(unit(random), int(random() % 9)));
  }
  return x;
}

struct how {
  std::optional<summation> sum = {};
  double alpha = 1;
  double beta = 0;
  std::int64_t vectors = 1;
  iso::launch_shape shape = {};
};

/// alpha A x + beta y of any format as a host vector. Scratch begins as NaN.
template <class T, class Exec, class Matrix>
std::vector<T> product(Exec const& exec, Matrix const& a, std::vector<T> const& x,
                       std::vector<T> const& y, how const& h = {}) {
  using space = typename Exec::memory_space;
  auto const plan = iso::sparse::make_plan(exec, a);
  iso::workspace<space> const scratch(iso::sparse::spmv_bytes_needed<T>(exec, a, plan, h.vectors));
  Kokkos::deep_copy(
      exec,
      Kokkos::View<unsigned char*, space, Kokkos::MemoryUnmanaged>(
          reinterpret_cast<unsigned char*>(scratch.data()), std::size_t(scratch.size())),
      static_cast<unsigned char>(0xff));
  auto const in = on(exec, x);
  auto const out = on(exec, y);
  iso::sparse::spmv_options const options{.sum = h.sum, .shape = h.shape};
  if (h.vectors == 1) {
    iso::sparse::spmv(exec, h.alpha, a, in, h.beta, out, plan, scratch, options);
  } else {
    using several = Kokkos::View<T**, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>;
    auto const k = std::size_t(h.vectors);
    iso::sparse::spmv(exec, h.alpha, a, several(in.data(), in.size() / k, k), h.beta,
                      several(out.data(), out.size() / k, k), plan, scratch, options);
  }
  exec.fence();
  return to_vector(out);
}

template <class T = double, class Exec, class Matrix>
std::vector<T> product(Exec const& exec, Matrix const& a, std::vector<T> const& x,
                       how const& h = {}) {
  return product(
      exec, a, x,
      std::vector<T>(std::size_t(iso::sparse::shape_of(a).num_rows * h.vectors), T(nan_value)), h);
}

}  // namespace sparse_support
