// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/product.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/synthetic/generate.hpp>

namespace iso::cases {
namespace {

/// The liver of the published table with this many non-zeros.
synthetic::matrix_figures figures_of(std::int64_t nonzeros) {
  constexpr double in_table = 1.48e9;
  return synthetic::table_of(synthetic::plan_case::liver_1, double(nonzeros) / in_table);
}

template <class Exec, class Matrix>
ready ready_of(Exec const& exec, point const& p,
               std::shared_ptr<product_problem<Exec> const> const& problem, Matrix const& a) {
  sparse::spmv_options options;
  options.shape.groups_per_launch = p.groups_per_launch;
  auto const product =
      std::make_shared<library_product<Exec, Matrix, double> const>(exec, a, 1, options);
  return {product->work(), [=] { (*product)(); },
          [=] { return problem->error(exec, product->result()).relative; },
          [=] { return values_of(exec, product->values()); }};
}

}  // namespace

template <class Exec>
ready prepare_product(Exec const& exec, point const& p) {
  auto a = synthetic::generate<half>(exec, figures_of(p.size));
  if (p.operation == "spmv_transposed") {
    a = sparse::transpose(exec, a);
  }
  auto const problem = std::make_shared<product_problem<Exec> const>(exec, a);
  if (p.operation != "spmv_csr") {
    return ready_of(exec, p, problem, sparse::make_row_blocks<4>(exec, a));
  }
  if (p.precision == "half") {
    return ready_of(exec, p, problem, a);
  }
  if (p.precision == "float") {
    return ready_of(exec, p, problem, sparse::convert_values<float>(exec, a).matrix);
  }
  return ready_of(exec, p, problem, sparse::convert_values<double>(exec, a).matrix);
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_product)

}  // namespace iso::cases
