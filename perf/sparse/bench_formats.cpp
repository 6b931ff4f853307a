// SPDX-License-Identifier: BSD-3-Clause
// convert/<matrix>/A/<what>/-/<backend>: what is done to a matrix once. Counters beside the usual:
// `products`, the time in ordered products csr32_half of the same run. Bytes: the matrix once.
// What choose_format chose stands in the rows choice/.
//
// choice/<matrix>/<A or AT>/<format>_half/<sum>/<backend>: every format that `choose_format`
// chooses from, beside plain CSR of the same sum, in turn. Counter `chosen` marks the one it takes
// (1 or 0; none: plain CSR); `fill`, `reads` and `cost` are those of the format's report and its
// product_cost, `csr_cost` that of plain CSR. choice.py reads them.
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/formats.hpp>
#include <iso/sparse/validate.hpp>

namespace iso::perf {
namespace {

/// Times f(exec, the matrix).
template <class Exec, class F>
void add_conversion(matrix_source const& source, std::string const& backend, char const* what,
                    F const& f) {
  row_name const name{"convert", source.name, what, "-", backend};
  add_row(name, 3, [=](benchmark::State& state) {
    Exec const exec;
    auto const& a = matrix_store<Exec>::problem(source, way::forward).matrix;
    rival const other =
        library_rival("products csr32_half ordered", exec, a, {.sum = summation::ordered});
    double const seconds = time_in_turn(state, exec, [&] { f(exec, a); }, other);
    state.counters["products"] = 1 / state.counters["ratio"];
    for (char const* const of_rival : {"ratio", "rival_ms", "processor_ratio"}) {
      state.counters.erase(of_rival);
    }
    state.SetLabel("");
    double const bytes = double(sparse::shape_of(a).bytes);
    state.counters["nonzeros"] = double(a.num_entries());
    state.counters["bytes_per_nonzero"] = bytes / double(a.num_entries());
    set_counters(state, exec, seconds, {.bytes = bytes}, 0);
  });
}

template <class Exec>
void add_choice(matrix_source const& source, std::string const& backend, way direction,
                summation sum, matrix_format format) {
  row_name const name{
      "choice", source.name, cases::name_of(format) + "_half", std::string(to_word(sum)),
      backend,  direction};
  add_row(name, 9, [=](benchmark::State& state) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, direction);
    auto const& a = problem.matrix;
    sparse::spmv_options const options{.sum = sum};
    with_format(exec, a, format, [&]<class Matrix>(Matrix const& made) {
      library_product<Exec, Matrix, double> const ours(exec, made, 1, options);
      measure_product(state, exec, {double(problem.nonzeros()), ours.work().bytes}, ours,
                      library_rival("csr32_half", exec, a, options),
                      [&] { return problem.error(exec, ours.result()); });
    });
    auto const kind = sparse::processor_of<Exec>();
    auto const report = sparse::measure_format(exec, a, format);
    state.counters["chosen"] = sparse::choose_format(exec, a).format == format ? 1 : 0;
    state.counters["fill"] = report.fill;
    state.counters["reads"] = report.reads_per_entry;
    state.counters["cost"] = sparse::product_cost(report, kind);
    state.counters["csr_cost"] =
        sparse::product_cost(sparse::measure_format(exec, a, matrix_format::csr32), kind);
  });
}

}  // namespace

template <class Exec>
void add_conversion_rows(matrix_source const& source, std::string const& backend) {
  auto const add = [&](char const* what, auto const& f) {
    add_conversion<Exec>(source, backend, what, f);
  };
  add("validate", [](auto const& exec, auto const& a) { sparse::validate(exec, a); });
  add("validate_all", [](auto const& exec, auto const& a) {
    sparse::validate(exec, a,
                     {.values = sparse::csr_demands::of_values::finite,
                      .columns = sparse::csr_demands::of_columns::ascending});
  });
  add("make_bounds", [](auto const& exec, auto const& a) { sparse::make_bounds(exec, a); });
  add("make_plan", [](auto const& exec, auto const& a) { sparse::make_plan(exec, a); });
  add("choose_format", [](auto const& exec, auto const& a) { sparse::choose_format(exec, a); });
  add("make_row_block4",
      [](auto const& exec, auto const& a) { sparse::make_row_blocks<4>(exec, a); });
  add("make_row_block8",
      [](auto const& exec, auto const& a) { sparse::make_row_blocks<8>(exec, a); });
  add("to_relative_columns",
      [](auto const& exec, auto const& a) { sparse::to_relative_columns(exec, a); });
  add("transpose", [](auto const& exec, auto const& a) { sparse::transpose(exec, a); });
  if (source.rows == extent::full) {
    add("generate", [=](auto const& exec, auto const&) { make_matrix(exec, source); });
  }
}

template <class Exec>
void add_choice_rows(matrix_source const& source, std::string const& backend) {
  for (auto const direction : {way::forward, way::transposed}) {
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      for (auto const format :
           {matrix_format::csr16, matrix_format::row_block4, matrix_format::row_block8}) {
        add_choice<Exec>(source, backend, direction, sum, format);
      }
    }
  }
}

#define ISO_INSTANTIATE_FORMATS(Exec)                                                \
  template void add_conversion_rows<Exec>(matrix_source const&, std::string const&); \
  template void add_choice_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_FORMATS)
#undef ISO_INSTANTIATE_FORMATS

}  // namespace iso::perf
