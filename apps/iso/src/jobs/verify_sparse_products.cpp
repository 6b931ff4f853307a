// SPDX-License-Identifier: BSD-3-Clause
//! The products in verify's table.
#include "csr_memory.hpp"
#include "product_runner.hpp"
#include "sparse_formats.hpp"
#include "verify_sparse_inputs.hpp"

#include <iso/sparse/spmv.hpp>

#include <algorithm>
#include <memory>

namespace iso::jobs {
namespace {

template <class Exec, class T>
using one_run = std::function<void(Exec const&, variant const&, T* out)>;

/// Vectors side by side, their number fastest.
template <class T, class Space>
using several = Kokkos::View<T**, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;
template <class T, class Space>
using one = Kokkos::View<T*, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;

struct how {
  double alpha = 1;
  double beta = 0;
  summation sum = summation::ordered;
  std::int64_t vectors = 1;
};

template <class Exec, class T, class Matrix>
void multiply(Exec const& exec, how const& h, Matrix const& a, T const* x, T* y,
              sparse::spmv_plan<typename Exec::memory_space> const& plan,
              workspace<typename Exec::memory_space> const& scratch,
              sparse::spmv_options const& options) {
  using space = typename Exec::memory_space;
  auto const shape = sparse::shape_of(a);
  auto const rows = std::size_t(shape.num_rows);
  auto const cols = std::size_t(shape.num_cols);
  if (h.vectors == 1) {
    sparse::spmv(exec, h.alpha, a, one<T const, space>(x, cols), h.beta, one<T, space>(y, rows),
                 plan, scratch, options);
  } else {
    auto const k = std::size_t(h.vectors);
    sparse::spmv(exec, h.alpha, a, several<T const, space>(x, cols, k), h.beta,
                 several<T, space>(y, rows, k), plan, scratch, options);
  }
}

template <class T, class Exec>
Kokkos::View<T*, typename Exec::memory_space> load_vector(Exec const& exec, std::int64_t size,
                                                          std::uint64_t seed) {
  Kokkos::View<T*, typename Exec::memory_space> const to(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::vector"),
      std::size_t(size));
  auto const from = verify_vector<T>(size, seed);
  copy_in(exec, to, from);
  exec.fence("iso::jobs::load_vector");
  return to;
}

/// alpha A x + beta y of a matrix in any format.
template <class T, class Exec, class Matrix>
one_run<Exec, T> product(Exec const& exec, how const& h, Matrix const& a) {
  using space = typename Exec::memory_space;
  auto const shape = sparse::shape_of(a);
  auto const x = load_vector<T>(exec, shape.num_cols * h.vectors, 1);
  auto const before = load_vector<T>(exec, shape.num_rows * h.vectors, 2);
  auto const plan = sparse::make_plan(exec, a);
  workspace<space> const scratch(sparse::spmv_bytes_needed<T>(a, plan, h.vectors));
  return [=](Exec const& on, variant const& v, T* out) {
    if (h.beta != 0) {
      Kokkos::deep_copy(on, one<T, space>(out, before.size()), before);
    }
    multiply<Exec, T>(on, h, a, x.data(), out, plan, scratch, {.sum = h.sum, .shape = {v.groups}});
  };
}

/// A x, as the sum of the products of two parts of A by columns, the right one first.
template <class T, class Value, class Exec>
one_run<Exec, T> split_product(Exec const& exec, how const& h, host_csr<Value> const& whole) {
  using space = typename Exec::memory_space;
  auto const cut = std::int32_t(whole.num_cols / 3);
  auto const x = load_vector<T>(exec, whole.num_cols * h.vectors, 1);
  Kokkos::View<double*, space> const maxima("iso::jobs::maxima", std::size_t(h.vectors));
  sparse::max_abs(
      exec, several<T const, space>(x.data(), std::size_t(whole.num_cols), std::size_t(h.vectors)),
      maxima);
  auto const bounds = sparse::make_bounds(exec, load_csr(exec, whole));
  auto const left = load_csr(exec, columns_of(whole, 0, cut));
  auto const right = load_csr(exec, columns_of(whole, cut, std::int32_t(whole.num_cols)));
  auto const left_plan = sparse::make_plan(exec, left, bounds);
  auto const right_plan = sparse::make_plan(exec, right, bounds);
  workspace<space> const scratch(
      std::max(sparse::spmv_bytes_needed<T>(left, left_plan, h.vectors),
               sparse::spmv_bytes_needed<T>(right, right_plan, h.vectors)));
  return [=](Exec const& on, variant const& v, T* out) {
    sparse::spmv_options const options{
        .sum = h.sum, .max_abs_x = maxima.data(), .shape = {v.groups}};
    how part = h;
    multiply<Exec, T>(on, part, right, x.data() + cut * h.vectors, out, right_plan, scratch,
                      options);
    part.beta = 1;
    multiply<Exec, T>(on, part, left, x.data(), out, left_plan, scratch, options);
  };
}

/// The same product by the plainest loop.
template <class T, class Value>
std::function<std::vector<double>()> exact_of(how const& h, host_csr<Value> const& a) {
  return [=] {
    return exact_product(h.alpha, a, verify_vector<T>(a.num_cols * h.vectors, 1), h.beta,
                         verify_vector<T>(a.num_rows * h.vectors, 2), h.vectors);
  };
}

enum class direction { forward, transposed };

/// All products of matrices of `Value`.
template <class Value>
struct products_of {
  static host_csr<Value> matrix(direction d) {
    auto const a = verify_matrix<Value>();
    return d == direction::forward ? a : sparse::transpose(Kokkos::Serial(), a);
  }

  /// One format, in the order that it has.
  template <class T>
  struct ordered_case {
    matrix_format format;
    how h;

    template <class Exec>
    prepared<Exec, T> prepare(Exec const& exec) const {
      auto const here = matrix(direction::forward);
      auto const a = load_csr(exec, here);
      prepared<Exec, T> ready{a.num_rows * h.vectors, {}, {}, exact_of<T>(h, here)};
      with_format(exec, a, format, [&](auto const& formatted) {
        ready.run = product<T>(exec, h, formatted);
        ready.least = product_work<T>(sparse::shape_of(formatted), h.vectors, h.beta);
      });
      exec.fence("iso::jobs::verify: the matrix");
      return ready;
    }
  };

  /// Reproducible sums: variant::layout counts layouts(), and none of them changes a bit.
  template <class T>
  struct reproducible_case {
    direction side;
    std::int64_t vectors;

    template <class Exec>
    prepared<Exec, T> prepare(Exec const& exec) const {
      how const h{.sum = summation::reproducible, .vectors = vectors};
      auto const here = matrix(side);
      auto const a = load_csr(exec, here);
      std::vector<one_run<Exec, T>> runs;
      runs.push_back(product<T>(exec, h, a));
      runs.push_back(product<T>(exec, h, sparse::to_relative_columns(exec, a)));
      runs.push_back(product<T>(exec, h, load_csr(exec, reversed(here))));
      runs.push_back(product<T>(exec, h, sparse::transpose(exec, sparse::transpose(exec, a))));
      runs.push_back(split_product<T>(exec, h, here));
      if constexpr (sizeof(Value) == 2) {
        for (auto const format : block_formats) {
          with_format(exec, a, format, [&](auto const& formatted) {
            runs.push_back(product<T>(exec, h, formatted));
          });
        }
      }
      exec.fence("iso::jobs::verify: the matrices");
      return {a.num_rows * vectors,
              [runs](Exec const& on, variant const& v, T* out) {
                runs[std::size_t(v.layout)](on, v, out);
              },
              product_work<T>(sparse::shape_of(a), vectors, h.beta), exact_of<T>(h, here)};
    }
  };

  /// Each layout of a reproducible_case, in two launch shapes.
  static std::vector<variant> layouts() {
    std::vector<variant> all;
    std::int32_t const count = 5 + (sizeof(Value) == 2 ? std::int32_t(block_formats.size()) : 0);
    for (std::int32_t layout = 0; layout < count; ++layout) {
      all.push_back({.layout = layout});
      all.push_back({.groups = 57, .layout = layout});
    }
    return all;
  }
};

std::vector<std::string> const spmv = {"iso::sparse::spmv"};

template <class Value>
void add_products(plan& all, std::string const& value) {
  using products = products_of<Value>;
  how const with_scale{.alpha = -0.75, .beta = 1.25};
  how const six{.alpha = 0.7, .beta = 0.3, .vectors = 6};
  auto const add = [&](matrix_format format) {
    std::string const name = "spmv_" + value + "_" + name_of(format);
    all.add_double<products::template ordered_case>({name, spmv}, format, with_scale);
  };
  for (auto const format : csr_formats) {
    add(format);
  }
  if constexpr (sizeof(Value) == 2) {
    for (auto const format : block_formats) {
      add(format);
    }
    for (auto const format : block_formats) {
      all.add_double<products::template ordered_case>(
          {"spmv_" + value + "_vectors_" + name_of(format), spmv}, format, six);
    }
  }
  all.add_double<products::template ordered_case>({"spmv_" + value + "_vectors_csr32", spmv},
                                                  matrix_format::csr32, six);
  all.add_double<products::template reproducible_case>(
      {"spmv_" + value + "_reproducible", spmv, products::layouts()}, direction::forward,
      std::int64_t(1));
}

}  // namespace

void add_sparse_products(plan& all) {
  add_products<half>(all, "half");
  add_products<bfloat16>(all, "bfloat16");
  add_products<float>(all, "float");
  add_products<double>(all, "double");
  using of_half = products_of<half>;
  all.add_double<of_half::reproducible_case>(
      {"spmv_half_vectors_reproducible", spmv, of_half::layouts()}, direction::forward,
      std::int64_t(6));
  all.add_double<of_half::reproducible_case>({"spmv_half_transposed_reproducible",
                                              {"iso::sparse::spmv", "iso::sparse::transpose"},
                                              of_half::layouts()},
                                             direction::transposed, std::int64_t(1));
  using of_float = products_of<float>;
  for (auto const format : csr_formats) {
    all.add<of_float::ordered_case>({"spmv_float_vectors_of_type_" + name_of(format), spmv}, format,
                                    how{.alpha = -0.75, .beta = 1.25});
  }
}

}  // namespace iso::jobs
