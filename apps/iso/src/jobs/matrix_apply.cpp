// SPDX-License-Identifier: BSD-3-Clause
#include "product_runner.hpp"
#include "sparse_formats.hpp"

#include <iso/backend/registry.hpp>
#include <iso/jobs/bits.hpp>
#include <iso/jobs/matrix_product.hpp>

#include <algorithm>
#include <iterator>

namespace iso::jobs {
namespace {

/// What iso::sparse::spmv takes `automatic` for, or what is named.
template <class Value>
summation sum_used(std::string const& name) {
  ISO_VALIDATE(name == "automatic" || name == "ordered" || name == "reproducible",
               "sum '{}' is not known (automatic, ordered, reproducible)", name);
  bool const free = name == "reproducible" || (name == "automatic" && sizeof(Value) == 2);
  return free ? summation::reproducible : summation::ordered;
}

template <class Exec, class Matrix>
matrix_format format_named(Exec const& exec, Matrix const& a, std::string const& name,
                           column_order order) {
  if (name == "auto") {
    return order == column_order::any ? matrix_format::csr32
                                      : sparse::choose_format(exec, a).format;
  }
  for (auto const format : csr_formats) {
    if (name == name_of(format)) {
      return format;
    }
  }
  for (auto const format : block_formats) {
    if (name == name_of(format)) {
      ISO_VALIDATE(sizeof(typename Matrix::value_type) == 2,
                   "format '{}' (it is for values of 16 bits) convert the matrix: iso "
                   "matrix convert --values half",
                   name);
      return format;
    }
  }
  fail_argument("format '{}' is not known (apply_formats lists them)", name);
}

std::vector<double> filled(std::optional<std::vector<double>> const& given, std::int64_t length,
                           double preset, char const* name) {
  if (!given) {
    return std::vector<double>(std::size_t(length), preset);
  }
  ISO_VALIDATE(std::int64_t(given->size()) == length,
               "{} has {} numbers (the matrix wants {}) is --transpose missing, or too much?", name,
               std::int64_t(given->size()), length);
  return *given;
}

template <class Exec, class Matrix>
apply_result apply_to(Exec const& exec, Matrix const& a, apply_request const& request) {
  auto const sum = sum_used<typename Matrix::value_type>(request.sum);
  auto const x = filled(request.x, a.num_cols, 1, "x");
  auto const y = filled(request.y, a.num_rows, 0, "y");
  apply_result result;
  result.sum = sum == summation::ordered ? "ordered" : "reproducible";
  auto const format = format_named(exec, a, request.format, checked_order(exec, a));
  result.format = name_of(format);
  with_format(exec, a, format, [&](auto const& formatted) {
    using matrix = std::decay_t<decltype(formatted)>;
    product_runner<double, Exec, matrix> const run(exec, formatted, x, y);
    result.time_ms = 1e3 * run.seconds(request.alpha, request.beta, sum);
    result.y = run.result();
    result.bytes_per_entry = double(sparse::shape_of(formatted).bytes) /
                             double(std::max<std::int64_t>(1, a.num_entries()));
  });
  result.hash = hash_text(hash_bits(std::span<double const>(result.y.data(), result.y.size())));
  return result;
}

}  // namespace

std::vector<std::string> const& apply_formats() {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> all = {"auto"};
    std::transform(csr_formats.begin(), csr_formats.end(), std::back_inserter(all), name_of);
    std::transform(block_formats.begin(), block_formats.end(), std::back_inserter(all), name_of);
    return all;
  }();
  return names;
}

apply_result apply_matrix(files::host_matrix const& matrix, apply_request const& request,
                          observer const& watch) {
  apply_result result;
  backend::with_name(request.backend, [&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    exec_space const exec;
    with_values_of(matrix, [&](auto value) {
      bool const turned = request.side == matrix_side::transposed;
      // As it is stored, transposed, and values of 16 bits in row blocks.
      std::int64_t const forms = 1 + (turned ? 1 : 0) + (sizeof(value) == 2 ? 1 : 0);
      check_products(exec, matrix, request.side, forms * std::int64_t(sizeof(value) + 4), 1);
      watch.step(0, "loading the matrix");
      auto const a = load_matrix<decltype(value)>(exec, matrix);
      if (request.side == matrix_side::forward) {
        result = apply_to(exec, a, request);
      } else {
        checked_order(exec, a);  // transpose wants a valid matrix
        result = apply_to(exec, sparse::transpose(exec, a), request);
      }
    });
  });
  watch.step(1, "done");
  return result;
}

}  // namespace iso::jobs
