// SPDX-License-Identifier: BSD-3-Clause
// By hand, CUDA alone (raw_spmv.hpp):
//
//   raw/<matrix>/<A or AT>/listing1_half_double | listing1_single | atomic_columns/-/cuda
//   configurations/<matrix>/A/<the same>_t<threads a block>/-/cuda
//
// The rival of each is the library's product of plain CSR: `ratio` is its time over the
// hand-written one's, and 1 / ratio what the library reaches.
#include "sparse/raw_spmv.hpp"
#include "sparse/store.hpp"

namespace iso::perf {
namespace {

using exec_type = Kokkos::Cuda;
using store = matrix_store<exec_type>;

template <class Value, class Matrix>
raw_csr<Value> arrays_of(Matrix const& a) {
  return {a.num_rows, a.row_offsets.data(), a.columns.data(), a.values.data()};
}

/// The row of run(y), which reads the matrix `stored` once, beside the library's product of `a`.
template <class T, class Stored, class Matrix, class F>
void measure(benchmark::State& state, product_problem<exec_type> const& problem,
             Stored const& stored, Matrix const& a, char const* library, F const& run) {
  exec_type const exec;
  device_array<exec_type, T> const y("iso::perf::zeros", std::size_t(a.num_rows));
  measure_product(
      state, exec, {double(problem.nonzeros()), product_work<T>(sparse::shape_of(stored)).bytes},
      [&] { run(y.data()); }, library_rival<T>(library, exec, a, {.sum = summation::ordered}),
      [&] { return problem.error(exec, y.data()); });
}

void half_double(benchmark::State& state, matrix_source const& source, way direction, int threads) {
  auto const& problem = store::problem(source, direction);
  auto const& a = problem.matrix;
  measure<double>(state, problem, a, a, "csr32_half ordered", [&](double* y) {
    raw_listing1(exec_type(), arrays_of<half>(a), problem.x.data(), y, threads);
  });
}

void single(benchmark::State& state, matrix_source const& source, way direction, int threads) {
  exec_type const exec;
  auto const& problem = store::problem(source, direction);
  auto const a = with_values<float>(exec, problem.matrix);
  auto const x = make_weights<float>(exec, a.num_cols, 1);
  measure<float>(state, problem, a, a, "csr32_float_single",
                 [&](float* y) { raw_listing1(exec, arrays_of<float>(a), x.data(), y, threads); });
}

/// The columns of a matrix are the rows of the other direction's.
void atomic_columns(benchmark::State& state, matrix_source const& source, way direction,
                    int threads) {
  auto const& problem = store::problem(source, direction);
  auto const& a = problem.matrix;
  auto const other = direction == way::forward ? way::transposed : way::forward;
  auto const& columns = store::problem(source, other).matrix;
  measure<double>(state, problem, columns, a, "csr32_half ordered", [&](double* y) {
    raw_atomic_columns(exec_type(), arrays_of<half>(columns), problem.x.data(), y, a.num_rows,
                       threads);
  });
}

struct published_kernel {
  char const* name;
  void (*measure)(benchmark::State&, matrix_source const&, way, int threads);
  int usual_threads;  ///< a block
};
constexpr published_kernel published[] = {{"listing1_half_double", half_double, 512},
                                          {"listing1_single", single, 512},
                                          {"atomic_columns", atomic_columns, 128}};

void add(row_name const& name, matrix_source const& source, published_kernel const& what,
         int threads) {
  add_row(name, 7,
          [=](benchmark::State& state) { what.measure(state, source, name.direction, threads); });
}

}  // namespace

void add_raw_rows(matrix_source const& source) {
  for (auto const direction : {way::forward, way::transposed}) {
    for (auto const& each : published) {
      add({"raw", source.name, each.name, "-", "cuda", direction}, source, each,
          each.usual_threads);
    }
  }
}

void add_configuration_rows(matrix_source const& source) {
  for (int const threads : {64, 128, 256, 512, 1024}) {
    for (auto const& each : published) {
      auto const label = each.name + ("_t" + std::to_string(threads));
      add({"configurations", source.name, label, "-", "cuda"}, source, each, threads);
    }
  }
}

}  // namespace iso::perf
