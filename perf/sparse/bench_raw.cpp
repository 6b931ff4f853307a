// SPDX-License-Identifier: BSD-3-Clause
// By hand, CUDA alone (raw_spmv.hpp):
//
//   raw/<matrix>/<A or AT>/listing1_half_double | listing1_single | atomic_columns/-/cuda
//   raw/<matrix>/<A or AT>/row_block<R>_half/<sum>/cuda
//   configurations/<matrix>/A/<the same>_t<threads a block>/<sum>/cuda
//
// The rival of each is the library's product in the same format: `ratio` is its time over the
// hand-written one's, and 1 / ratio what the library reaches. `equal_bits` of the row blocks: 1
// where both computed the same numbers.
#include "sparse/raw_spmv.hpp"
#include "sparse/store.hpp"

#include <memory>
#include <vector>

namespace iso::perf {
namespace {

using exec_type = Kokkos::Cuda;
using store = matrix_store<exec_type>;

std::string with_threads(std::string const& name, int threads, int usual) {
  return threads == usual ? name : name + "_t" + std::to_string(threads);
}

template <class Value, class Matrix>
raw_csr<Value> arrays_of(Matrix const& a) {
  return {a.num_rows, a.row_offsets.data(), a.columns.data(), a.values.data()};
}

template <class T>
device_array<exec_type, T> zeros(std::int64_t length) {
  return device_array<exec_type, T>("iso::perf::zeros", std::size_t(length));
}

rival library_csr(exec_type const& exec, wide_csr<exec_type> const& a) {
  return library_rival("csr32_half ordered", exec, a, {.sum = summation::ordered});
}

/// The row of `run`, which writes `y`.
template <class F, class T>
void measure(benchmark::State& state, row_name const& name,
             product_problem<exec_type> const& problem, double bytes, F const& run, T const* y,
             rival const& other) {
  exec_type const exec;
  measure_product(state, exec, name, {double(problem.nonzeros()), bytes}, run, other,
                  [&] { return problem.error(exec, y); });
}

/// cases::product_work's of a matrix and both vectors of T.
template <class T, class Matrix>
double bytes_of(Matrix const& a) {
  return product_work<T>(sparse::shape_of(a)).bytes;
}

void half_double(benchmark::State& state, row_name const& name, matrix_source const& source,
                 int threads) {
  exec_type const exec;
  auto const& problem = store::problem(source, name.direction);
  auto const& a = problem.matrix;
  auto const y = zeros<double>(a.num_rows);
  measure(
      state, name, problem, bytes_of<double>(a),
      [&] { raw_listing1(exec, arrays_of<half>(a), problem.x.data(), y.data(), threads); },
      y.data(), library_csr(exec, a));
}

void single(benchmark::State& state, row_name const& name, matrix_source const& source,
            int threads) {
  exec_type const exec;
  auto const& problem = store::problem(source, name.direction);
  auto const a = sparse::convert_values<float>(exec, problem.matrix).matrix;
  auto const x = make_weights<float>(exec, a.num_cols, 1);
  auto const y = zeros<float>(a.num_rows);
  measure(
      state, name, problem, bytes_of<float>(a),
      [&] { raw_listing1(exec, arrays_of<float>(a), x.data(), y.data(), threads); }, y.data(),
      library_rival<float>("csr32_float_single", exec, a, {.sum = summation::ordered}));
}

/// The columns of a matrix are the rows of the other direction's.
void atomic_columns(benchmark::State& state, row_name const& name, matrix_source const& source,
                    int threads) {
  exec_type const exec;
  auto const& problem = store::problem(source, name.direction);
  auto const& columns =
      store::problem(source, name.direction == way::forward ? way::transposed : way::forward)
          .matrix;
  auto const& a = problem.matrix;
  auto const y = zeros<double>(a.num_rows);
  measure(
      state, name, problem, bytes_of<double>(columns),
      [&] {
        raw_atomic_columns(exec, arrays_of<half>(columns), problem.x.data(), y.data(), a.num_rows,
                           threads);
      },
      y.data(), library_csr(exec, a));
}

template <int R>
void twin(benchmark::State& state, row_name const& name, matrix_source const& source, summation sum,
          int threads) {
  exec_type const exec;
  auto const& problem = store::problem(source, name.direction);
  auto const a = sparse::make_row_blocks<R>(exec, problem.matrix);
  using matrix = std::decay_t<decltype(a)>;
  auto const top = zeros<double>(1);
  sparse::max_abs(exec, problem.x, Kokkos::View<double*, Kokkos::CudaSpace>(top));
  auto const ours = std::make_shared<library_product<exec_type, matrix, double>>(
      exec, a, 1, sparse::spmv_options{.sum = sum, .max_abs_x = top.data()});
  auto const y = zeros<double>(a.num_rows());
  auto const parts = zeros<double>(R * ours->plan().num_parts);
  raw_blocks_call const call{ours->plan(), top.data(), problem.x.data(), y.data(),
                             parts.data(), sum,        threads};
  measure(state, name, problem, ours->work().bytes, [&] { raw_blocks(exec, a, call); }, y.data(),
          {"the library's", [ours] { (*ours)(); }});
  state.counters["equal_bits"] = same_bits(ours->values(), y) ? 1 : 0;
}

template <class F>
void add(std::string const& family, matrix_source const& source, way direction,
         std::string const& label, std::string const& sum, F const& f) {
  add_row({family, source.name, label, sum, "cuda", direction}, 7,
          [=](benchmark::State& state, row_name const& name) { f(state, name, source); });
}

template <int R>
void add_twin(std::string const& family, matrix_source const& source, way direction, int threads,
              int usual) {
  std::string const label = with_threads("row_block" + std::to_string(R) + "_half", threads, usual);
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    add(family, source, direction, label,
        sum == summation::ordered ? "ordered" : "reproducible_given",
        [=](benchmark::State& state, row_name const& name, matrix_source const& from) {
          twin<R>(state, name, from, sum, threads);
        });
  }
}

/// The three variants of the paper; `usual` is the block size that the name leaves out.
void add_paper(std::string const& family, matrix_source const& source, way direction, int threads,
               int usual) {
  struct variant {
    char const* name;
    void (*measure)(benchmark::State&, row_name const&, matrix_source const&, int);
  };
  for (auto const& each :
       {variant{"listing1_half_double", half_double}, variant{"listing1_single", single},
        variant{"atomic_columns", atomic_columns}}) {
    int const standard = usual == 0 ? 0 : each.measure == atomic_columns ? 128 : usual;
    int const block = usual == 0 ? threads : standard;
    add(family, source, direction, with_threads(each.name, block, standard), "-",
        [=](benchmark::State& state, row_name const& name, matrix_source const& from) {
          each.measure(state, name, from, block);
        });
  }
}

}  // namespace

void add_raw_rows(matrix_source const& source) {
  for (auto const direction : {way::forward, way::transposed}) {
    add_paper("raw", source, direction, 512, 512);
    add_twin<4>("raw", source, direction, 128, 128);
    if (source.rows == extent::full) {
      add_twin<8>("raw", source, direction, 128, 128);
    }
  }
}

void add_configuration_rows(matrix_source const& source) {
  for (int const threads : {64, 128, 256, 512, 1024}) {
    add_paper("configurations", source, way::forward, threads, 0);
    add_twin<4>("configurations", source, way::forward, threads, 0);
  }
}

}  // namespace iso::perf
