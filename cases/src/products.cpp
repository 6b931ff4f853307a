// SPDX-License-Identifier: BSD-3-Clause
//! Products of sparse matrices and vectors.
#include "matrix_inputs.hpp"

#include <iso/cases/catalogue.hpp>
#include <iso/cases/formats.hpp>
#include <iso/cases/product.hpp>
#include <iso/sparse/detail/value_word.hpp>
#include <iso/sparse/ranked_product.hpp>
#include <iso/sparse/spmv.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace iso::cases {
namespace {

template <class Exec, class T>
using one_run = std::function<void(Exec const&, variant const&, T* out)>;

template <class T, class Exec>
device_array<Exec, T> load_vector(Exec const& exec, std::int64_t size, std::uint64_t seed) {
  auto const to = make_array<T>(exec, size);
  put(exec, to, small_vector<T>(size, seed));
  return to;
}

/// alpha A x + beta y of a matrix in any format.
template <class T, class Exec, class Matrix>
one_run<Exec, T> product(Exec const& exec, product_form const& form, summation sum,
                         Matrix const& a) {
  auto const shape = sparse::shape_of(a);
  auto const before = load_vector<T>(exec, shape.num_rows * form.vectors, 2);
  matrix_product<Exec, Matrix, T> const multiply(
      exec, a, load_vector<T>(exec, shape.num_cols * form.vectors, 1), form);
  return [=](Exec const& on, variant const& v, T* out) {
    if (form.beta != 0) {
      Kokkos::deep_copy(on,
                        Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
                            out, before.size()),
                        before);
    }
    multiply(on, out, {.sum = sum, .shape = {v.groups}});
  };
}

/// A x, as the sum of the products of two parts of A by columns, the right one first.
template <class T, class Value, class Exec>
one_run<Exec, T> split_product(Exec const& exec, std::int64_t vectors,
                               host_csr<Value> const& whole) {
  using space = typename Exec::memory_space;
  using part_product = matrix_product<Exec, csr_on<Value, Exec>, T>;
  auto const cut = std::int32_t(whole.num_cols / 3);
  auto const x = load_vector<T>(exec, whole.num_cols * vectors, 1);
  Kokkos::View<double*, space> const maxima("iso::cases::maxima", std::size_t(vectors));
  sparse::max_abs(exec,
                  Kokkos::View<T const**, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>(
                      x.data(), std::size_t(whole.num_cols), std::size_t(vectors)),
                  maxima);
  auto const bounds = sparse::make_bounds(exec, load_csr(exec, whole));
  auto const part = [&](std::int32_t first, std::int32_t last, double beta) {
    auto const of_x =
        Kokkos::subview(x, std::pair(std::size_t(first * vectors), std::size_t(last * vectors)));
    return part_product(exec, load_csr(exec, columns_of(whole, first, last)), of_x,
                        {.beta = beta, .vectors = vectors}, &bounds);
  };
  auto const left = part(0, cut, 1);
  auto const right = part(cut, std::int32_t(whole.num_cols), 0);
  return [=](Exec const& on, variant const& v, T* out) {
    sparse::spmv_options const options{
        .sum = summation::reproducible, .max_abs_x = maxima.data(), .shape = {v.groups}};
    right(on, out, options);
    left(on, out, options);
  };
}

/// The same product by the plainest loop.
template <class T, class Value>
std::function<std::vector<double>(std::int64_t)> exact_of(product_form const& h,
                                                          host_csr<Value> const& a) {
  return [=](std::int64_t) {
    return oracle::exact_product(h.alpha, a, small_vector<T>(a.num_cols * h.vectors, 1), h.beta,
                                 small_vector<T>(a.num_rows * h.vectors, 2), h.vectors);
  };
}

enum class direction { forward, transposed };

/// All products of matrices of `Value`.
template <class Value>
struct products_of {
  static host_csr<Value> matrix(direction d) {
    auto const a = small_matrix<Value>();
    return d == direction::forward ? a : sparse::transpose(Kokkos::Serial(), a);
  }

  /// One format, in the order that it has.
  template <class T>
  struct ordered_case {
    matrix_format format;
    product_form form;

    template <class Exec>
    prepared<Exec, T> prepare(Exec const& exec) const {
      auto const here = matrix(direction::forward);
      auto const a = load_csr(exec, here);
      prepared<Exec, T> ready{a.num_rows * form.vectors, {}, {}, exact_of<T>(form, here)};
      with_format(exec, a, format, [&](auto const& formatted) {
        ready.run = product<T>(exec, form, summation::ordered, formatted);
        ready.least = product_work<T>(sparse::shape_of(formatted), form.vectors, form.beta);
      });
      exec.fence("iso::cases: the matrix");
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
      product_form const form{.vectors = vectors};
      auto const sum = summation::reproducible;
      auto const here = matrix(side);
      auto const a = load_csr(exec, here);
      std::vector<one_run<Exec, T>> runs;
      runs.push_back(product<T>(exec, form, sum, a));
      runs.push_back(product<T>(exec, form, sum, sparse::to_relative_columns(exec, a)));
      runs.push_back(product<T>(exec, form, sum, load_csr(exec, reversed(here))));
      runs.push_back(
          product<T>(exec, form, sum, sparse::transpose(exec, sparse::transpose(exec, a))));
      runs.push_back(split_product<T>(exec, vectors, here));
      if constexpr (sizeof(Value) == 2) {
        for (auto const format : block_formats) {
          with_format(exec, a, format, [&](auto const& formatted) {
            runs.push_back(product<T>(exec, form, sum, formatted));
          });
        }
      }
      exec.fence("iso::cases: the matrices");
      return {a.num_rows * vectors,
              [runs](Exec const& on, variant const& v, T* out) {
                runs[std::size_t(v.layout)](on, v, out);
              },
              product_work<T>(sparse::shape_of(a), vectors), exact_of<T>(form, here)};
    }
  };

  /// What ranks do, of a job of one, by rows or by columns. tests/ranks compares several with it.
  template <class T>
  struct ranked_case {
    bool by_columns;

    template <class Exec>
    prepared<Exec, T> prepare(Exec const& exec) const {
      auto const here = matrix(direction::forward);
      auto const a = load_csr(exec, here);
      product_form const form{.alpha = -0.75, .beta = 1.25};
      auto const x = load_vector<T>(exec, a.num_cols, 1);
      auto const before = load_vector<T>(exec, a.num_rows, 2);
      std::vector<std::int64_t> const offsets(here.row_offsets.data(),
                                              here.row_offsets.data() + a.num_rows + 1);
      exec.fence("iso::cases: the matrix");
      auto const run = [=, columns = by_columns](Exec const& on, variant const&, T* out) {
        backend::one_rank ranks;
        sparse::rank_plan const plan(sparse::divide_rows(offsets, ranks.size()),
                                     sparse::divide_rows(a.num_cols, ranks.size()));
        Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> const y(
            out, before.size());
        Kokkos::deep_copy(on, y, before);
        if (columns) {
          sparse::ranked_column_product(on, ranks, plan, a).apply(form.alpha, x, form.beta, y);
        } else {
          sparse::ranked_product(on, ranks, plan, a)
              .apply(form.alpha, x, form.beta, y, {.sum = summation::reproducible});
        }
        on.fence("iso::cases: the product may go");
      };
      return {a.num_rows, run, {}, exact_of<T>(form, here)};
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
void add_products_of(catalogue& all) {
  std::string const value(sparse::detail::value_word<Value>());
  using products = products_of<Value>;
  product_form const with_scale{.alpha = -0.75, .beta = 1.25};
  product_form const six{.alpha = 0.7, .beta = 0.3, .vectors = 6};
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

/// A point: the liver of the published table with this many non-zeros.
template <class Exec, class Matrix>
ready measured_product(Exec const& exec, point const& p,
                       std::shared_ptr<product_problem<Exec> const> const& problem,
                       Matrix const& a) {
  sparse::spmv_options options;
  options.shape.groups_per_launch = p.groups_per_launch;
  auto const product =
      std::make_shared<library_product<Exec, Matrix, double> const>(exec, a, 1, options);
  return {product->work(), [=] { (*product)(); },
          [=] { return problem->error(exec, product->result()).relative; },
          [=] { return result_values(fetch(exec, product->values())); }};
}

template <class Exec>
ready prepare_product(Exec const& exec, point const& p) {
  constexpr double in_table = 1.48e9;
  auto a = synthetic::generate<half>(
      exec, synthetic::table_of(synthetic::plan_case::liver_1, double(p.size) / in_table));
  if (p.operation == "spmv_transposed") {
    a = sparse::transpose(exec, a);
  }
  auto const problem = std::make_shared<product_problem<Exec> const>(exec, a);
  if (p.operation != "spmv_csr") {
    return measured_product(exec, p, problem, sparse::make_row_blocks<4>(exec, a));
  }
  return p.precision == number_type::f16 ? measured_product(exec, p, problem, a)
         : p.precision == number_type::f32
             ? measured_product(exec, p, problem, sparse::convert_values<float>(exec, a).matrix)
             : measured_product(exec, p, problem, sparse::convert_values<double>(exec, a).matrix);
}

}  // namespace

void add_products(catalogue& all) {
  add_products_of<half>(all);
  add_products_of<bfloat16>(all);
  add_products_of<float>(all);
  add_products_of<double>(all);
  using of_half = products_of<half>;
  all.add_double<of_half::reproducible_case>(
      {"spmv_half_vectors_reproducible", spmv, of_half::layouts()}, direction::forward,
      std::int64_t(6));
  all.add_double<of_half::reproducible_case>({"spmv_half_transposed_reproducible",
                                              {"iso::sparse::spmv", "iso::sparse::transpose"},
                                              of_half::layouts()},
                                             direction::transposed, std::int64_t(1));
  all.add_double<of_half::ranked_case>(
      {.name = "spmv_half_ranked",
       .functions = {"iso::sparse::ranked_product", "iso::sparse::rank_plan",
                     "iso::sparse::divide_rows"},
       .has_model = false},
      false);
  all.add_double<of_half::ranked_case>({.name = "spmv_half_ranked_columns",
                                        .functions = {"iso::sparse::ranked_column_product"},
                                        .has_model = false},
                                       true);
  using of_float = products_of<float>;
  for (auto const format : csr_formats) {
    all.add<of_float::ordered_case>({"spmv_float_vectors_of_type_" + name_of(format), spmv}, format,
                                    product_form{.alpha = -0.75, .beta = 1.25});
  }

  auto const add_sized = [&](std::string_view name, std::string_view about,
                             std::vector<number_type> const& precisions,
                             double (*extra_bytes)(double)) {
    // A non-zero of the matrix: in half 2 bytes and a column of 4, again in the format that is
    // measured, and as much while it is converted.
    all.add_sized(
        {name, about, "non-zeros of the matrix, within 1 per cent", 1000000, 4000000000, precisions,
         1, shapes::any, [](double n) { return 2 * n; }, extra_bytes, [](double n) { return n; }},
        [](auto const& exec, point const& p) { return prepare_product(exec, p); });
  };
  add_sized("spmv_csr", "a liver-like dose matrix in CSR times a vector of double",
            {number_type::f16, number_type::f32, number_type::f64},
            [](double n) { return 20 * n + 1e6; });
  add_sized("spmv_row_block", "the same in blocks of four rows", {number_type::f16},
            [](double n) { return 20 * n + 1e6; });
  add_sized("spmv_transposed", "the transposed matrix in blocks of four rows", {number_type::f16},
            [](double n) { return 32 * n + 1e6; });
}

}  // namespace iso::cases
