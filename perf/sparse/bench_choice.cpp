// SPDX-License-Identifier: BSD-3-Clause
// choice/<matrix>/<A or AT>/<format>_half/<sum>/<backend>: every format that `choose_format`
// chooses from, beside plain CSR of the same sum, in turn. Counter `chosen` marks the one it takes
// (1 or 0; none: plain CSR); `fill`, `reads` and `cost` are those of the format's report and its
// product_cost, `csr_cost` that of plain CSR. choice.py reads them.
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>
#include <iso/sparse/convert.hpp>

namespace iso::perf {
namespace {

/// `make` (exec, matrix) gives the format.
template <class Exec, class Make>
void add(matrix_source const& source, std::string const& backend, way direction, summation sum,
         sparse::matrix_format format, Make const& make) {
  row_name const name{"choice",
                      source.name,
                      std::string(sparse::to_string(format)) + "_half",
                      sum == summation::ordered ? "ordered" : "reproducible",
                      backend,
                      direction};
  add_row(name, 9, [=](benchmark::State& state, row_name const& row) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, direction);
    auto const& a = problem.matrix;
    auto const kind = sparse::processor_of<Exec>();
    auto const report = sparse::measure_format(exec, a, format);
    auto const chosen = sparse::choose_format(exec, a);
    sparse::spmv_options const options{.sum = sum};
    auto const made = make(exec, a);
    library_product<Exec, std::remove_const_t<decltype(made)>, double> const ours(exec, made, 1,
                                                                                  options);
    measure_product(state, exec, row, {double(problem.nonzeros()), ours.work().bytes}, ours,
                    library_rival("csr32_half", exec, a, options),
                    [&] { return problem.error(exec, ours.result()); });
    state.counters["chosen"] = chosen.format == format ? 1 : 0;
    state.counters["fill"] = report.fill;
    state.counters["reads"] = report.reads_per_entry;
    state.counters["cost"] = sparse::product_cost(report, kind);
    state.counters["csr_cost"] =
        sparse::product_cost(sparse::measure_format(exec, a, sparse::matrix_format::csr32), kind);
  });
}

}  // namespace

template <class Exec>
void add_choice_rows(matrix_source const& source, std::string const& backend) {
  for (auto const direction : {way::forward, way::transposed}) {
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      using sparse::matrix_format;
      add<Exec>(
          source, backend, direction, sum, matrix_format::csr16,
          [](Exec const& exec, auto const& a) { return sparse::to_relative_columns(exec, a); });
      add<Exec>(
          source, backend, direction, sum, matrix_format::row_block4,
          [](Exec const& exec, auto const& a) { return sparse::make_row_blocks<4>(exec, a); });
      add<Exec>(
          source, backend, direction, sum, matrix_format::row_block8,
          [](Exec const& exec, auto const& a) { return sparse::make_row_blocks<8>(exec, a); });
    }
  }
}

#define ISO_INSTANTIATE_CHOICE(Exec) \
  template void add_choice_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_CHOICE)
#undef ISO_INSTANTIATE_CHOICE

}  // namespace iso::perf
